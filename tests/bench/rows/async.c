/* Async calls: one thread with several locks under way, beside raw in one thread and beside as many blocking threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

#include <stdio.h>

#define FEW_RAW    1.8 /* times raw hiredis in one thread */
#define MANY       64
#define MANY_TIMES 1.5 /* times as many threads with blocking calls */

static bool measure_few(bench_run *bench)
{
    static const bench_target target = {.raw = FEW_RAW, .connections = 8};
    bench_side sides[] = {
        {.who = "raw", .kind = "lock", .threads = 1, .names = "own"},
        {.who = "rlock_async", .kind = "lock+8", .threads = 1, .names = "own", .scripts = 1.9, .target = &target},
    };
    return contest_measure(bench, sides, 2, "own names, 8 async calls under way in one thread", NULL);
}

static void report_many(bench_run *bench, const bench_side *sides)
{
    char text[TARGET_TEXT];
    bench_result result = contest_result(sides, 2, 0, "own names, 64 async calls under way in one thread");
    const bench_ratio ratio = contest_ratio(&sides[0], &sides[1]);
    snprintf(text, sizeof text, "≥ %.1f × 64 blocking threads (%.2f ×)", MANY_TIMES, ratio.median);
    result.target = text;
    result.verdict = ratio.median >= MANY_TIMES ? VERDICT_MET : VERDICT_MISSED;
    report_row(&bench->report, &result);
    result = contest_result(sides, 2, 1, "own names, 64 blocking threads beside them");
    report_row(&bench->report, &result);
}

static bool measure_many(bench_run *bench)
{
    bench_side sides[] = {
        {.who = "rlock_async", .kind = "lock+64", .threads = 1, .names = "own", .slices = 7, .ms = 20, .scripts = 1.9},
        {.who = "rlock", .kind = "lock", .threads = MANY, .names = "own", .slices = 7, .ms = 20, .scripts = 1.9},
    };
    bool right = contest_run(bench, sides, 2, 0);
    if (right)
        report_many(bench, sides);
    contest_free(sides, 2);
    return right;
}

static bool measure(bench_run *bench)
{
    return measure_few(bench) && measure_many(bench);
}

extern const bench_row row_async;
const bench_row row_async = {
    "async", "Async calls: one thread with several locks of its own under way; beside raw: hiredis, one thread", measure};
