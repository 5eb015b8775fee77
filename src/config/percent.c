/* Percent-encoding of URLs (RFC 3986): %XX stands for a byte. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/percent.h"

#include <string.h>

static const char digits[] = "0123456789ABCDEF0123456789abcdef";

/* -1: not a hex digit. */
static int value_of(char digit)
{
    const char *at = digit ? strchr(digits, digit) : NULL;
    return at ? (int)(at - digits) % 16 : -1;
}

char rli_percent_byte(const char *text)
{
    int high = *text == '%' ? value_of(text[1]) : -1, low = high < 0 ? -1 : value_of(text[2]);
    return low < 0 ? 0 : (char)(high * 16 + low);
}

char *rli_percent_write(char *to, char byte)
{
    *to++ = '%';
    *to++ = digits[(unsigned char)byte >> 4];
    *to++ = digits[byte & 15];
    return to;
}
