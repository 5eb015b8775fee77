/* Output: durations for people, and text as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char *duration_show(int64_t ms, char shown[DURATION_SHOWN])
{
    if (ms < 1000)
        snprintf(shown, DURATION_SHOWN, "%" PRId64 " ms", ms);
    else if (ms < 120000)
        snprintf(shown, DURATION_SHOWN, "%" PRId64 ".%" PRId64 " s", ms / 1000, ms % 1000 / 100);
    else if (ms < 7200000)
        snprintf(shown, DURATION_SHOWN, "%" PRId64 " min %" PRId64 " s", ms / 60000, ms / 1000 % 60);
    else
        snprintf(shown, DURATION_SHOWN, "%" PRId64 " h %" PRId64 " min", ms / 3600000, ms / 60000 % 60);
    return shown;
}

const char *duration_show_given(int64_t ms, char shown[DURATION_SHOWN])
{
    if (ms < 1000 || ms >= 120000 || ms % 1000 != 0)
        return duration_show(ms, shown);
    snprintf(shown, DURATION_SHOWN, "%" PRId64 " s", ms / 1000);
    return shown;
}

/* RFC 8259 requires escapes only below 0x20; other control characters are escaped so that they cannot affect
 * a terminal. */
static void character(const char *bytes, size_t length, uint32_t code)
{
    static const char plain[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
    const char *found = code && code < 0x80 ? strchr(plain, (int)code) : NULL;
    if (found)
        printf("\\%c", escaped[found - plain]);
    else if (rli_utf8_is_control(code))
        printf("\\u%04x", code);
    else
        fwrite(bytes, 1, length, stdout);
}

void json_string(const char *text, size_t length)
{
    const char *end = text + length;
    putchar('"');
    while (text < end) {
        uint32_t code;
        size_t bytes = rli_utf8_read(text, &code);
        if (bytes)
            character(text, bytes, code);
        else
            fputs("\\ufffd", stdout);
        text += bytes ? bytes : 1;
    }
    putchar('"');
}
