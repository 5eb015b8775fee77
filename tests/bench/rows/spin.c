/* The spin lock, contended: nobody is told when it is free. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

static bool measure(bench_run *bench)
{
    static const bench_target target = {.redisson = 3};
    bench_side sides[] = {
        {.who = "rlock", .kind = "spin", .threads = 8, .names = "one:bench:spin:rlock", .slices = 2, .ms = 100, .scripts = 0.9},
        {.who = "redisson", .kind = "spin", .threads = 8, .names = "one:bench:spin:redisson", .ms = 300},
    };
    return contest_measure(bench, sides, 2, "spin, one name", &target);
}

extern const bench_row row_spin;
const bench_row row_spin = {"spin", "Contended: the spin lock, on one name, 8 threads of one process", measure};
