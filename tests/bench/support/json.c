/* Members of a JSON object, one after another. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/json.h"

#include <math.h>

static void begin(FILE *to, bool *first, const char *name)
{
    fprintf(to, "%s\"%s\": ", *first ? "" : ", ", name);
    *first = false;
}

void json_text(FILE *to, bool *first, const char *name, const char *text)
{
    begin(to, first, name);
    if (!text) {
        fputs("null", to);
        return;
    }
    putc('"', to);
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20)
            fprintf(to, "\\u%04x", (unsigned)*text);
        else
            fprintf(to, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    }
    putc('"', to);
}

void json_exactly(FILE *to, bool *first, const char *name, double number)
{
    begin(to, first, name);
    if (isfinite(number))
        fprintf(to, "%.8g", number);
    else
        fputs("null", to);
}

void json_number(FILE *to, bool *first, const char *name, double number)
{
    json_exactly(to, first, name, number < 0 || number > 0 ? number : NAN);
}

void json_word(FILE *to, bool *first, const char *name, const char *word)
{
    begin(to, first, name);
    fputs(word, to);
}
