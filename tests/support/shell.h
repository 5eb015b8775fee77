/* Shell commands that a test runs to their end: compilers, make, programs of other languages. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SHELL_H
#define TEST_SHELL_H

/* What the command wrote to both its outputs, to be freed. Fails the test, with that, unless the
 * command exits with 0. printf-like; the command runs in the folder of the test. */
__attribute__((format(printf, 1, 2))) char *shell(const char *format, ...);
/* The same without an interest in what it wrote. */
__attribute__((format(printf, 1, 2))) void shell_do(const char *format, ...);

/* A folder for the test, removed with all in it by scratch_remove. */
const char *scratch_folder(void);
void scratch_remove(void);
/* Writes `text` into `name` in that folder. */
void scratch_write(const char *name, const char *text);

#endif
