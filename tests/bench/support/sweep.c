/* A sweep: one contest at growing sizes, the points of a plot; in fewer slices than what targets are judged by. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/sweep.h"

#include <string.h>

#define BLOCKS 15
#define JVM_MS 100

static int sides_at(const bench_sweep *sweep, int size, bench_side sides[SWEEP_SIDES_MAX])
{
    int count = 0;
    for (int i = 0; i < SWEEP_SIDES_MAX && sweep->sides[i].who; i++) {
        const struct sweep_side *side = &sweep->sides[i];
        bool c = strcmp(side->who, "rlock") == 0 || strcmp(side->who, "raw") == 0;
        if (size > side->max)
            continue;
        sides[count++] = (bench_side){.who = side->who,
                                      .kind = "lock",
                                      .names = sweep->names,
                                      .threads = sweep->processes ? 1 : size,
                                      .processes = sweep->processes ? size : 1,
                                      .slices = c ? 2 : 1,
                                      .ms = c ? 0 : JVM_MS};
    }
    return count;
}

static bool run_point(bench_run *bench, const bench_sweep *sweep, int size)
{
    bench_side sides[SWEEP_SIDES_MAX];
    int count = sides_at(sweep, size, sides);
    bool right = contest_run(bench, sides, count, BLOCKS);
    for (int i = 0; right && i < count; i++) {
        if (sides[i].out)
            continue;
        bench_result result = contest_result(sides, count, i, sweep->what);
        result.plot = sweep->plot;
        result.x = size;
        report_row(&bench->report, &result);
    }
    contest_free(sides, count);
    return right;
}

bool sweep_run(bench_run *bench, const bench_sweep *sweep)
{
    bool right = true;
    for (int i = 0; right && i < SWEEP_SIZES_MAX && sweep->sizes[i]; i++)
        right = run_point(bench, sweep, sweep->sizes[i]);
    return right;
}
