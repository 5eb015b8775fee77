/* Words on the agent's lines: any bytes but NUL, percent-encoded, so that none has a blank. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WORDS_H
#define WORDS_H

#include <stdio.h>

void word_encode(FILE *out, const char *word);
char *word_decode(const char *word); /* '+' is a blank, as Java writes it; to be freed */

#endif
