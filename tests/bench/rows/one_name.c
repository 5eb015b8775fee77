/* Contended: all threads of one process on one name, where the server confirms every hand-over. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

static const struct one_name_case {
    int threads;
    bench_target target;
} cases[] = {
    {2, {.raw = 1.4, .redisson = 2.5, .connections = 8}},
    {8, {.raw = 1.4, .redisson = 2.5, .connections = 8}},
    {32, {.raw = 1.4, .redisson = 3, .connections = 8}},
};

/* A hand-over is one script, a raw pair two. */
static bool measure_one(bench_run *bench, const struct one_name_case *at)
{
    bench_side sides[] = {
        {.who = "raw", .kind = "lock", .threads = 1, .names = "own", .slices = 21, .ms = 10},
        {.who = "rlock", .kind = "lock", .threads = at->threads, .names = "one:bench:one:rlock", .slices = 21,
         .ms = 10, .scripts = 1},
        {.who = "redisson", .kind = "lock", .threads = at->threads, .names = "one:bench:one:redisson"},
    };
    return contest_measure(bench, sides, 3, "one name", &at->target);
}

static bool measure(bench_run *bench)
{
    bool right = true;
    for (size_t i = 0; right && i < sizeof cases / sizeof *cases; i++)
        right = measure_one(bench, &cases[i]);
    return right;
}

extern const bench_row row_one_name;
const bench_row row_one_name = {
    "one-name", "Contended: all threads of one process on one name; raw: one thread on a name of its own", measure};
