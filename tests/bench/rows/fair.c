/* The fair lock, contended: first come, first served, as the server keeps the queue. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

static const bench_target target = {.redisson = 4};

static bool measure_one(bench_run *bench, int threads, int processes)
{
    bench_side sides[] = {
        {.who = "rlock", .kind = "fair", .threads = threads, .processes = processes, .names = "one:bench:fair:rlock",
         .slices = 2, .ms = 100, .scripts = 1},
        {.who = "redisson", .kind = "fair", .threads = threads, .processes = processes,
         .names = "one:bench:fair:redisson", .ms = 300},
    };
    return contest_measure(bench, sides, 2, processes == 1 ? "fair, one name" : "fair, one name, two processes", &target);
}

static bool measure(bench_run *bench)
{
    return measure_one(bench, 8, 1) && measure_one(bench, 64, 1) && measure_one(bench, 8, 2);
}

extern const bench_row row_fair;
const bench_row row_fair = {"fair", "Contended: the fair lock, on one name; one process of 8 and of 64 threads, two of 8",
                            measure};
