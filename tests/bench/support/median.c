/* Medians, and how far they can be believed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/median.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Puts what is left of them into *count: where `under` is 0, nothing can be said. */
static double *sorted(const double *over, const double *under, int *count)
{
    int kept = 0;
    double *values = calloc((size_t)*count + 1, sizeof *values);
    if (!values)
        abort();
    for (int i = 0; i < *count; i++) {
        if (!under)
            values[kept++] = over[i];
        else if (under[i] > 0)
            values[kept++] = over[i] / under[i];
    }
    *count = kept;
    qsort(values, (size_t)kept, sizeof *values, by_value);
    return values;
}

static double middle_of(const double *values, int count)
{
    if (count < 1)
        return 0;
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double median_of(const double *values, int count)
{
    double *in_order = sorted(values, NULL, &count), median = middle_of(in_order, count);
    free(in_order);
    return median;
}

/* The limits are those order statistics that enclose a median 95 times of 100, whatever the ratios'
 * distribution, as far as slices are independent: without them, one believes in noise. */
bench_ratio median_ratio(const double *over, const double *under, int count)
{
    double *ratios = sorted(over, under, &count);
    int away = 1, middle = count / 2;
    while (away * away < count) /* about 0.98 √count ranks, rounded up */
        away++;
    int low = middle > away ? middle - away : 0;
    int high = middle + away < count ? middle + away : count > 0 ? count - 1 : 0; /* of none, the 0 behind */
    bench_ratio ratio = {middle_of(ratios, count), ratios[low], ratios[high]};
    free(ratios);
    return ratio;
}
