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
    contest_free(sides, 3);
    return right;
}

static bool measure(bench_run *bench)
{
    bool right = true;
    for (size_t i = 0; right && i < sizeof cases / sizeof *cases; i++)
        right = measure_one(bench, &cases[i]);
    return right;
}

extern const bench_row row_own_names;
const bench_row row_own_names = {
    "own-names", "Uncontended lock and unlock, each thread on a name of its own; raw: hiredis, one connection a thread",
    measure};
