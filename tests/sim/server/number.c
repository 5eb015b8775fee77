/* Numbers that are not whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/number.h"

#include "tests/sim/server/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fewest significant digits that read as the same number, and the power of ten of the last of them. */
static int shortest(double number, char *digits, int *power)
{
    char printed[40];
    for (int precision = 0; precision < 17; precision++) {
        snprintf(printed, sizeof printed, "%.*e", precision, number);
        if (strtod(printed, NULL) == number)
            break;
    }
    int count = 0;
    const char *exponent = strchr(printed, 'e');
    for (const char *at = printed; at < exponent; at++) {
        if (*at != '.')
            digits[count++] = *at;
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    *power = atoi(exponent + 1) - (count - 1);
    return count;
}

static size_t write_shortest(char *to, double number)
{
    char digits[24], *at = to;
    int power, count = shortest(fabs(number), digits, &power), exponent = power + count - 1;
    if (signbit(number))
        *at++ = '-';
    if (power >= 0 && exponent < count + 7) {
        at += sprintf(at, "%.*s%.*s", count, digits, power, "00000000");
    } else if (power < 0 && (power > -7 || abs(exponent) < 4)) {
        int whole = count + power; /* digits before the point */
        if (whole <= 0)
            at += sprintf(at, "0.%.*s%.*s", -whole, "00000000", count, digits);
        else
            at += sprintf(at, "%.*s.%.*s", whole, digits, count - whole, digits + whole);
    } else {
        at += sprintf(at, "%c%s%.*se%c%d", *digits, count > 1 ? "." : "", count - 1, digits + 1,
                      exponent < 0 ? '-' : '+', abs(exponent));
    }
    return (size_t)(at - to);
}

size_t number_write(char *to, double number, number_style style)
{
    if (isnan(number))
        return (size_t)sprintf(to, signbit(number) ? "-nan" : "nan");
    if (isinf(number))
        return (size_t)sprintf(to, number > 0 ? "inf" : "-inf");
    if (number == 0)
        return (size_t)sprintf(to, signbit(number) ? "-0" : "0");
    /* In these bounds all styles but the second are the same, and this is much quicker. */
    double bound = style == NUMBER_17_DIGITS ? 1e15 : 4503599627370496.0;
    if (style != NUMBER_SHORTEST && fabs(number) < bound && number == trunc(number))
        return integer_write(to, (int64_t)number);
    if (style == NUMBER_WHOLE && fabs(number) < 9.2e18 && number == trunc(number))
        return integer_write(to, (int64_t)number);
    return style == NUMBER_17_DIGITS ? (size_t)sprintf(to, "%.17g", number) : write_shortest(to, number);
}
