/* A tally: what one contender got: turns, turns that it had from another contender, and how long it waited. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/tally.h"

#include <inttypes.h>
#include <time.h>

uint64_t tally_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void tally_wait(bench_tally *tally, uint64_t wait_ns)
{
    histogram_add(&tally->waits, wait_ns);
    if (tally->longest_ns < wait_ns)
        tally->longest_ns = wait_ns;
}

void tally_print(bench_tally *const *tallies, int count, FILE *to)
{
    static bench_histogram waits;
    uint64_t longest_ns = 0;
    waits = (bench_histogram){0};
    for (int i = 0; i < count; i++) {
        histogram_merge(&waits, &tallies[i]->waits);
        longest_ns = tallies[i]->longest_ns > longest_ns ? tallies[i]->longest_ns : longest_ns;
    }
    fprintf(to, " longest_us=%.1f contenders=", (double)longest_ns / 1000);
    for (int i = 0; i < count; i++)
        fprintf(to, "%s%" PRIu64, i ? "," : "", tallies[i]->turns);
    fputs(" waits=", to);
    histogram_print(&waits, to);
}
