/* Durations as users write them: 500ms, 10s, 1.5m, 1h; a number alone means seconds. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/duration.h"

#include <inttypes.h>
#include <rlock/lock.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FORM "write a duration such as 500ms, 10s, 1.5m or 1h"
static const char not_one[] = "not a duration; " FORM;
static const char negative[] = "negative; " FORM;
static const char too_long[] = "longer than 100 years";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* How many milliseconds the unit `unit` has; 0: there is no such unit. */
static int64_t unit_ms(const char *unit)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ms;
    }
    return 0;
}

/* The fraction 0.<digits> of `unit` milliseconds, rounded up. Works from the last digit to the first, so that
 * every digit counts and nothing overflows. */
static int64_t fraction_ms(const char *digits, size_t count, int64_t unit)
{
    int64_t value = 0; /* of the digits so far, in nanoseconds */
    bool more = false;
    for (size_t i = count; i > 0; i--) {
        value += (digits[i - 1] - '0') * unit * 1000000;
        more = more || value % 10;
        value /= 10;
    }
    return value / 1000000 + (value % 1000000 || more ? 1 : 0);
}

const char *duration_read(const char *text, int64_t *ms)
{
    const char *at = text + (*text == '-');
    if (!is_digit(at[0]) && !(at[0] == '.' && is_digit(at[1])))
        return not_one;
    int64_t whole = 0;
    bool overflow = false;
    for (; is_digit(*at); at++) {
        overflow = overflow || whole > RLOCK_LEASE_MAX_MS;
        whole = overflow ? whole : whole * 10 + (*at - '0');
    }
    bool point = *at == '.';
    const char *digits = at + point;
    size_t count = point ? strspn(digits, "0123456789") : 0;
    int64_t unit = unit_ms(digits + count);
    if (!unit || (point && !count))
        return not_one;
    if (*text == '-')
        return negative;
    if (overflow || whole > RLOCK_LEASE_MAX_MS / unit)
        return too_long;
    int64_t total = whole * unit + fraction_ms(digits, count, unit);
    if (total > RLOCK_LEASE_MAX_MS)
        return too_long;
    *ms = total;
    return NULL;
}

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
