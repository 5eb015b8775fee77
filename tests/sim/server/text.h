/* Texts: bytes with a length, and buffers that they are appended to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_TEXT_H
#define SIM_SERVER_TEXT_H

#include "tests/sim/server/word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef sim_word text;

#define TEXT(literal) ((text){literal, sizeof literal - 1})
#define NUMBER_SIZE 24 /* of the digits of an integer */

text text_of(const char *terminated);
bool text_is(text one, text other);
bool text_is_word(text one, const char *word); /* in any case of letters */
int text_order(text one, text other);          /* as memcmp; a prefix comes first */
/* Redis's own patterns, with * ? [a-z] and \. */
bool text_matches(text pattern, text subject);

/* Strict as Redis: no spaces, no +, no leading zeros. */
bool text_integer(text digits, int64_t *value);
/* A number as a score: also inf, 1e3, 0x10, but no NaN and nothing behind it. */
bool text_number(text digits, double *value);
/* Writes the digits; how many. `to` has NUMBER_SIZE bytes. */
size_t integer_write(char *to, int64_t value);

typedef struct bytes {
    char *at;
    size_t length, room;
} bytes;

void bytes_add(bytes *to, const char *at, size_t length);
__attribute__((format(printf, 2, 3))) void bytes_print(bytes *to, const char *format, ...);
void bytes_drop(bytes *of, size_t first); /* removes so many at the beginning */
void bytes_free(bytes *own);

#endif
