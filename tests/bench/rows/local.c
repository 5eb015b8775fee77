/* Contended: all threads of one process on one name, with local hand-over allowed; and what that does to another
 * process that wants the same name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/mixed.h"

#include <stdio.h>

static const int thread_counts[] = {2, 8, 32};
static const bench_target target = {.redisson = 50};

static bool measure_one(bench_run *bench, int threads)
{
    bench_side sides[] = {
        {.who = "rlock", .kind = "lock+local", .threads = threads, .names = "one:bench:local:rlock",
         .slices = 2, .ms = 100},
        {.who = "redisson", .kind = "lock", .threads = threads, .names = "one:bench:local:redisson"},
    };
    return contest_measure(bench, sides, 2, "one name, local hand-over", &target);
}

/* --- another process --- */

#define LOCAL_THREADS 8
#define SPAN_MS 4000
#define MOST_MS 15 /* a row of local turns lasts 10 ms at most; the rest is for the hand-over on loaded cores */

static void report_other(bench_run *bench, const mixed_side *other)
{
    char text[64];
    snprintf(text, sizeof text, "≤ %d ms", MOST_MS);
    bench_result result = {.what = "one name beside another process's local hand-over", .who = "rlock", .threads = 1,
                           .processes = 1, .per_s = (double)other->turns / other->seconds, .p50_us = other->p50_us,
                           .p99_us = other->p99_us, .value = other->p99_us / 1000,
                           .unit = "ms of waiting for a turn (p99)", .target = text};
    result.verdict = other->turns > 0 && result.value <= MOST_MS ? VERDICT_MET : VERDICT_MISSED;
    report_row(&bench->report, &result);
}

static bool measure_other(bench_run *bench)
{
    mixed_side sides[] = {{.who = "rlock", .kind = "lock+local", .threads = LOCAL_THREADS},
                          {.who = "rlock", .kind = "lock", .threads = 1}};
    if (!mixed_run(bench, sides, 2, "bench:local:shared", 0, SPAN_MS))
        return false;
    report_other(bench, &sides[1]);
    return true;
}

static bool measure(bench_run *bench)
{
    bool right = true;
    for (size_t i = 0; right && i < sizeof thread_counts / sizeof *thread_counts; i++)
        right = measure_one(bench, thread_counts[i]);
    return right && measure_other(bench);
}

extern const bench_row row_local;
const bench_row row_local = {
    "local", "Contended: all threads of one process on one name, with local hand-over allowed (localHandOver)", measure};
