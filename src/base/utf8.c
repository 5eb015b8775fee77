/* UTF-8: where a character ends, and how one is printed safely. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Follows RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. Never reads past the terminating 0, as
 * that is no continuation byte. */
size_t rli_utf8_read(const char *text, uint32_t *code)
{
    static const struct {
        unsigned char first, last, low, high; /* ranges of the first and of the second byte */
        unsigned char length, bits;           /* length in bytes; mask of the first byte's payload bits */
    } forms[] = {
        {0x00, 0x7F, 0x00, 0xFF, 1, 0x7F}, {0xC2, 0xDF, 0x80, 0xBF, 2, 0x1F}, {0xE0, 0xE0, 0xA0, 0xBF, 3, 0x0F},
        {0xE1, 0xEC, 0x80, 0xBF, 3, 0x0F}, {0xED, 0xED, 0x80, 0x9F, 3, 0x0F}, {0xEE, 0xEF, 0x80, 0xBF, 3, 0x0F},
        {0xF0, 0xF0, 0x90, 0xBF, 4, 0x07}, {0xF1, 0xF3, 0x80, 0xBF, 4, 0x07}, {0xF4, 0xF4, 0x80, 0x8F, 4, 0x07},
    };
    const unsigned char *at = (const unsigned char *)text;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (at[0] < forms[i].first || at[0] > forms[i].last)
            continue;
        size_t length = forms[i].length;
        if (length > 1 && (at[1] < forms[i].low || at[1] > forms[i].high))
            return 0;
        *code = at[0] & forms[i].bits;
        for (size_t n = 1; n < length; n++) {
            if (!continues(text[n]))
                return 0;
            *code = *code << 6 | (at[n] & 0x3F);
        }
        return length;
    }
    return 0;
}

bool rli_utf8_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

size_t rli_utf8_show(const char **text, char shown[RLI_UTF8_SHOWN])
{
    uint32_t code = (unsigned char)**text;
    size_t length = rli_utf8_read(*text, &code);
    const char *from = *text;
    *text += length ? length : 1;
    if (length && !rli_utf8_is_control(code)) {
        memcpy(shown, from, length);
        return length;
    }
    if (code == '\n')
        return (size_t)snprintf(shown, RLI_UTF8_SHOWN, "\\n");
    return (size_t)snprintf(shown, RLI_UTF8_SHOWN, length > 1 ? "\\u%04x" : "\\x%02x",
                            length ? code : (unsigned char)*from);
}

size_t rli_utf8_cut(const char *text, size_t length)
{
    while (length > 0 && continues(text[length]))
        length--;
    return length;
}
