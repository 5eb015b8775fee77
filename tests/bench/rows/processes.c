/* Contended: two processes on one name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

static const bench_target target = {.redisson = 2.5, .p99 = true};

static bool measure_one(bench_run *bench, int threads)
{
    bench_side sides[] = {
        {.who = "rlock", .kind = "lock", .threads = threads, .processes = 2, .names = "one:bench:two:rlock",
         .slices = 2, .ms = 100, .scripts = 1},
        {.who = "redisson", .kind = "lock", .threads = threads, .processes = 2, .names = "one:bench:two:redisson"},
    };
    return contest_measure(bench, sides, 2, "one name, two processes", &target);
}

static bool measure(bench_run *bench)
{
    return measure_one(bench, 1) && measure_one(bench, 8);
}

extern const bench_row row_processes;
const bench_row row_processes = {"processes", "Contended: two processes on one name, of 1 and of 8 threads each", measure};
