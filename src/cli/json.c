/* Writes text as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/json.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* RFC 8259 requires escapes only below 0x20; other control characters are escaped so that they cannot affect
 * a terminal. */
static void character(FILE *out, const char *bytes, size_t length, uint32_t code)
{
    static const char plain[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
    const char *found = code && code < 0x80 ? strchr(plain, (int)code) : NULL;
    if (found)
        fprintf(out, "\\%c", escaped[found - plain]);
    else if (rli_utf8_is_control(code))
        fprintf(out, "\\u%04x", code);
    else
        fwrite(bytes, 1, length, out);
}

void json_string(FILE *out, const char *text, size_t length)
{
    const char *end = text + length;
    fputc('"', out);
    while (text < end) {
        uint32_t code;
        size_t bytes = rli_utf8_read(text, &code);
        if (bytes)
            character(out, text, bytes, code);
        else
            fputs("\\ufffd", out);
        text += bytes ? bytes : 1;
    }
    fputc('"', out);
}
