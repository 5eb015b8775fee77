/* Words on the agent's lines: any bytes but NUL, percent-encoded, so that none has a blank. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void word_encode(FILE *out, const char *word)
{
    for (; *word; word++) {
        unsigned char byte = (unsigned char)*word;
        if (byte < 0x80 && (isalnum(byte) || strchr("-._*", byte)))
            fputc(byte, out);
        else
            fprintf(out, "%%%02X", byte);
    }
}

char *word_decode(const char *word)
{
    char *text = malloc(strlen(word) + 1), *end = text;
    if (!text)
        abort();
    for (; *word; word++) {
        unsigned byte;
        if (*word == '%' && sscanf(word + 1, "%2x", &byte) == 1) {
            *end++ = (char)byte;
            word += 2;
        } else {
            *end++ = *word == '+' ? ' ' : *word;
        }
    }
    *end = 0;
    return text;
}
