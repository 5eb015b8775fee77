/* Members of a JSON object, one after another. `first` is true before the first one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdbool.h>
#include <stdio.h>

void json_text(FILE *to, bool *first, const char *name, const char *text); /* NULL: null */
void json_number(FILE *to, bool *first, const char *name, double number);  /* 0: null */
void json_exactly(FILE *to, bool *first, const char *name, double number); /* 0 is 0 */
void json_word(FILE *to, bool *first, const char *name, const char *word); /* as it is: true, null */

#endif
