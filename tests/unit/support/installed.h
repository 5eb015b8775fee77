/* Running make from a test, to install in the test's folder. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_INSTALLED_H
#define TEST_INSTALLED_H

/* A variable of the environment, or `otherwise` when it is not set or empty. */
const char *environment(const char *name, const char *otherwise);

/* Runs make, with the build folder, compiler and sanitizer of this run, on words that a shell reads; printf-like.
 * Fails the test unless make succeeds. Returns its output, to be freed. */
__attribute__((format(printf, 1, 2))) char *make_says(const char *format, ...);
/* The same without the output. */
__attribute__((format(printf, 1, 2))) void make_do(const char *format, ...);

/* Installs under "prefix" of the scratch folder. */
void install(void);

#endif
