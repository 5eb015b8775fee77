/* Texts that a fixture makes and keeps until it ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_TEXTS_H
#define TEST_TEXTS_H

#define TEXTS 64

typedef struct texts {
    char *all[TEXTS];
    int count;
} texts;

/* printf-like. Fails the test at more than TEXTS of them. */
__attribute__((format(printf, 2, 3))) const char *texts_add(texts *texts, const char *format, ...);
void texts_free(texts *texts);

/* One array of arguments for a server, NULL-terminated, of two such; NULL: none. The array lives as long
 * as `texts`; what it points to is the caller's. */
const char *const *texts_args(texts *texts, const char *const *first, const char *const *second);
#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
