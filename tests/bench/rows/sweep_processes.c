/* How the rate grows with processes of one thread each, all on one name and each on its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/sweep.h"

/* More JVMs than that is no measurement of locks. */
#define JVMS_MAX 4

static bool measure(bench_run *bench)
{
    static const bench_sweep own = {.plot = "processes, own names",
                                    .what = "processes on own names",
                                    .names = "own",
                                    .processes = true,
                                    .sides = {{"raw", 32}, {"rlock", 32}, {"redisson", JVMS_MAX}},
                                    .sizes = {1, 2, 4, 8, 16, 32}};
    /* Without raw, which never waits for a lock. */
    static const bench_sweep one = {.plot = "processes, one name",
                                    .what = "processes on one name",
                                    .names = "one:bench:sweep",
                                    .processes = true,
                                    .sides = {{"rlock", 32}, {"redisson", JVMS_MAX}},
                                    .sizes = {1, 2, 4, 8, 16, 32}};
    return sweep_run(bench, &own) && sweep_run(bench, &one);
}

extern const bench_row row_sweep_processes;
const bench_row row_sweep_processes = {
    "sweep-processes", "1 to 32 processes of one thread, first each on a name of its own, then all on one name", measure};
