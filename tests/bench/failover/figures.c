/* Figures: what was measured several times, as a line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/failover/figures.h"

#include <stdio.h>
#include <stdlib.h>

int runs_wanted(void)
{
    const char *text = getenv("BENCH_RUNS");
    int runs = text && *text ? atoi(text) : 5;
    return runs < 1 ? 1 : runs > RUNS_MAX ? RUNS_MAX : runs;
}

static int compare(const void *left, const void *right)
{
    int64_t one = *(const int64_t *)left, other = *(const int64_t *)right;
    return one < other ? -1 : one > other;
}

void figures_show(const char *what, int64_t *ms, int count)
{
    qsort(ms, (size_t)count, sizeof *ms, compare);
    if (count)
        printf("  %-44s %6lld  (%lld - %lld, n = %d)\n", what, (long long)ms[count / 2], (long long)ms[0],
               (long long)ms[count - 1], count);
    else
        printf("  %-44s   none\n", what);
    fflush(stdout);
}
