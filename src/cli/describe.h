/* Describe: holders of a lock, and remaining times, in words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include <rlock/inspect.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* An owner on the server is "<client id>:<number>". The length of the client id; the whole length if the text is not of
 * this form. */
size_t describe_client_length(const char *owner);
/* The digits of the number, inside `owner`; NULL: it has none. */
const char *describe_number(const char *owner);

/* Whether holders are tokens, which programs write as they like. */
bool describe_is_token(const rlock_inspection *found);

/* Prints ", for 9.9 s more", followed by `unless`, for example " unless renewed". */
void describe_left(FILE *out, int64_t left_ms, const char *unless);
/* Prints "client …, number 1 (process 4711 on web-3, 10.0.0.7:51234)", as far as known. */
void describe_owner(FILE *out, const rlock_inspection *found, const char *owner);
/* Prints "held by …, count 1". */
void describe_holder(FILE *out, const rlock_inspection *found, const rlock_holder *holder);

#endif
