/* How hand-overs on one name go with the number of threads that want it; the row "waiters" adds to the plot. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/sweep.h"

static bool measure(bench_run *bench)
{
    static const bench_sweep one = {.plot = "waiters",
                                    .what = "threads on one name",
                                    .names = "one:bench:waiting",
                                    .sides = {{"rlock", 512}, {"redisson", 512}},
                                    .sizes = {2, 8, 64, 512}};
    return sweep_run(bench, &one);
}

extern const bench_row row_sweep_waiters;
const bench_row row_sweep_waiters = {"sweep-waiters", "2 to 512 threads of one process, all on one name", measure};
