/* Durations in Java's format: PT1S, PT0.1S, PT1M30S. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/duration.h"

#include <ctype.h>
#include <stddef.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Adds the decimals behind a point to *ms: up to nine digits, of which three count. */
static const char *read_fraction(const char *at, int64_t *ms)
{
    int64_t weight = 100;
    int digits = 0;
    for (; is_digit(*at) && digits < 9; at++, digits++, weight /= 10)
        *ms += (*at - '0') * weight;
    return at;
}

/* The text has days, then after a T hours, minutes and seconds, each at most once and in this order. */
bool rli_duration_read(const char *text, int64_t *ms)
{
    static const struct {
        char letter;
        bool of_time;
        int64_t ms;
    } units[] = {{'D', false, 86400000}, {'H', true, 3600000}, {'M', true, 60000}, {'S', true, 1000}};
    const int64_t longest = INT64_C(1000) * 366 * 86400000;

    int64_t total = 0;
    size_t unit = 0;
    bool behind_t = false, any = false;
    const char *at = text;
    if (toupper((unsigned char)*at++) != 'P')
        return false;
    while (*at) {
        if (!behind_t && toupper((unsigned char)*at) == 'T') {
            behind_t = true;
            any = false; /* a unit must follow the T */
            at++;
            continue;
        }
        int64_t whole = 0, fraction = 0;
        const char *digits = at;
        for (; is_digit(*at); at++)
            whole = whole > longest ? whole : whole * 10 + (*at - '0');
        if (at == digits)
            return false;
        bool point = *at == '.' || *at == ',';
        if (point)
            at = read_fraction(at + 1, &fraction);
        while (unit < sizeof units / sizeof *units && units[unit].letter != toupper((unsigned char)*at))
            unit++;
        if (unit == sizeof units / sizeof *units || units[unit].of_time != behind_t ||
            (point && *at != 'S' && *at != 's') || whole > (longest - total) / units[unit].ms)
            return false;
        total += whole * units[unit++].ms + fraction;
        any = true;
        at++;
    }
    *ms = total;
    return any;
}
