/* The group lock: 1,000 values of a group, taken and released together. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

static bool measure(bench_run *bench)
{
    static const bench_target target = {.redisson = 4};
    bench_side sides[] = {
        {.who = "rlock", .kind = "group", .threads = 1, .names = "one:bench:group:rlock", .slices = 2, .ms = 200, .scripts = 2},
        {.who = "redisson", .kind = "group", .threads = 1, .names = "one:bench:group:redisson", .ms = 600},
    };
    return contest_measure(bench, sides, 2, "group, 1,000 values", &target);
}

extern const bench_row row_group;
const bench_row row_group = {"group", "Uncontended: a group lock of 1,000 values, one thread", measure};
