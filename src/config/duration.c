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

#define LONGEST_MS (INT64_C(1000) * 366 * 86400000)

static const struct unit {
    char letter;
    bool of_time;
    int64_t ms;
} units[] = {{'D', false, 86400000}, {'H', true, 3600000}, {'M', true, 60000}, {'S', true, 1000}, {0}};

/* The unit of that letter among those from `unit` on; NULL: there is none. */
static const struct unit *find_unit(const struct unit *unit, char letter, bool of_time)
{
    while (unit->letter && unit->letter != toupper((unsigned char)letter))
        unit++;
    return unit->letter && unit->of_time == of_time ? unit : NULL;
}

/* Adds the number with its unit at `text` to *total. *unit: the first unit that may follow, then the next one. Returns
 * what follows; NULL: it is none. */
static const char *read_part(const char *text, bool of_time, const struct unit **unit, int64_t *total)
{
    int64_t whole = 0, fraction = 0;
    const char *at = text;
    for (; is_digit(*at); at++)
        whole = whole > LONGEST_MS ? whole : whole * 10 + (*at - '0');
    bool point = at > text && (*at == '.' || *at == ',');
    if (point)
        at = read_fraction(at + 1, &fraction);
    const struct unit *found = at > text ? find_unit(*unit, *at, of_time) : NULL;
    if (!found || (point && found->letter != 'S') || whole > (LONGEST_MS - *total) / found->ms)
        return NULL;
    *total += whole * found->ms + fraction;
    *unit = found + 1;
    return at + 1;
}

/* The text has days, then after a T hours, minutes and seconds, each at most once and in this order. */
bool rli_duration_read(const char *text, int64_t *ms)
{
    int64_t total = 0;
    const struct unit *unit = units;
    bool behind_t = false, any = false;
    if (toupper((unsigned char)*text) != 'P')
        return false;
    for (const char *at = text + 1; *at;) {
        bool is_t = !behind_t && toupper((unsigned char)*at) == 'T';
        at = is_t ? at + 1 : read_part(at, behind_t, &unit, &total);
        if (!at)
            return false;
        behind_t = behind_t || is_t;
        any = !is_t; /* a unit must follow the T */
    }
    *ms = total;
    return any;
}
