/* Text as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/json.h"

#include <string.h>

/* The length of the UTF-8 character at `at`; 0: there is none (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). The text ends in NUL, which continues no character. */
static size_t utf8_length(const unsigned char *at)
{
    static const struct {
        unsigned char first, last; /* of the first byte */
        unsigned char low, high;   /* of the second */
        size_t length;
    } forms[] = {
        {0x00, 0x7F, 0x00, 0xFF, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (at[0] < forms[i].first || at[0] > forms[i].last)
            continue;
        if (forms[i].length > 1 && (at[1] < forms[i].low || at[1] > forms[i].high))
            return 0;
        for (size_t n = 2; n < forms[i].length; n++) {
            if ((at[n] & 0xC0) != 0x80)
                return 0;
        }
        return forms[i].length;
    }
    return 0;
}

static void ascii(FILE *out, unsigned char byte)
{
    static const char plain[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
    const char *found = strchr(plain, byte);
    if (found)
        fprintf(out, "\\%c", escaped[found - plain]);
    else if (byte < 0x20 || byte == 0x7F)
        fprintf(out, "\\u%04x", byte);
    else
        fputc(byte, out);
}

void json_string(FILE *out, const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    fputc('"', out);
    while (at < end) {
        size_t bytes = utf8_length(at);
        if (bytes == 1)
            ascii(out, *at);
        else if (bytes)
            fwrite(at, 1, bytes, out);
        else
            fputs("\\ufffd", out);
        at += bytes ? bytes : 1;
    }
    fputc('"', out);
}
