/* Uncontended pairs of lock and unlock: each thread on a name of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

static const struct own_names_case {
    int threads;
    bench_target target;
} cases[] = {
    {1, {.raw = 0.97, .redisson = 1.7, .connections = 8}},
    {8, {.raw = 1.2, .redisson = 5, .connections = 8}},
    {64, {.raw = 1.4, .redisson = 12, .connections = 8}},
    {512, {.raw = 1.4, .redisson = 12, .connections = 8}},
};

#define CPU_THREADS 64
#define CPU_RAW 0.7             /* at most so much of what raw takes, */
#define CPU_REDISSON (1.0 / 15) /* and of what Redisson does */

static double cpu_ratio(double ours, const bench_side *other)
{
    return other ? ours / (other->cpu_us / (double)other->turns) : 0;
}

static void report_cpu(bench_run *bench, const bench_side *sides, int count)
{
    char text[TARGET_TEXT];
    const bench_side *side = contest_side(sides, count, "rlock");
    if (!side)
        return;
    double ours = side->cpu_us / (double)side->turns;
    bench_result result = {.what = "client CPU a pair, own names", .who = "rlock", .threads = side->threads,
                           .processes = 1, .value = ours, .unit = "µs"};
    result.ratio_raw.median = cpu_ratio(ours, contest_side(sides, count, "raw"));
    result.ratio_redisson.median = cpu_ratio(ours, contest_side(sides, count, "redisson"));
    target_judge_cost(CPU_RAW, CPU_REDISSON, &result, text);
    report_row(&bench->report, &result);
}

/* With unlockWaits=false a pair waits once. Its last release may be under way yet when scripts are counted. */
static bool measure_unlock_not_waiting(bench_run *bench)
{
    static const bench_target target = {.raw = 1.6, .connections = 8};
    bench_side sides[] = {
        {.who = "raw", .kind = "lock", .threads = 1, .names = "own"},
        {.who = "rlock", .kind = "lock+async", .threads = 1, .names = "own", .scripts = 1.9},
    };
    return contest_measure(bench, sides, 2, "own names, unlock not waiting", &target);
}

static bool measure_one(bench_run *bench, const struct own_names_case *at)
{
    bench_side sides[] = {
        {.who = "raw", .kind = "lock", .threads = at->threads, .names = "own"},
        {.who = "rlock", .kind = "lock", .threads = at->threads, .names = "own", .scripts = 2},
        {.who = "redisson", .kind = "lock", .threads = at->threads, .names = "own"},
    };
    bool right = contest_run(bench, sides, 3, 0);
    if (right)
        contest_report(bench, sides, 3, "own names", &at->target);
    if (right && at->threads == CPU_THREADS)
        report_cpu(bench, sides, 3);
    contest_free(sides, 3);
    return right;
}

static bool measure(bench_run *bench)
{
    bool right = true;
    for (size_t i = 0; right && i < sizeof cases / sizeof *cases; i++)
        right = measure_one(bench, &cases[i]);
    return right && measure_unlock_not_waiting(bench);
}

extern const bench_row row_own_names;
const bench_row row_own_names = {
    "own-names", "Uncontended lock and unlock, each thread on a name of its own; raw: hiredis, one connection a thread",
    measure};
