/* How the rate grows with the threads of one process, each on a name of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/sweep.h"

static bool measure(bench_run *bench)
{
    static const bench_sweep own = {.plot = "threads",
                                    .what = "own names",
                                    .names = "own",
                                    .sides = {{"raw", 1024}, {"rlock", 1024}, {"redisson", 1024}},
                                    .sizes = {1, 2, 4, 8, 16, 64, 256, 1024}};
    return sweep_run(bench, &own);
}

extern const bench_row row_sweep_threads;
const bench_row row_sweep_threads = {"sweep-threads", "1 to 1,024 threads of one process, each on a name of its own",
                                     measure};
