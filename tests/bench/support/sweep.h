/* A sweep: one contest at growing sizes, the points of a plot; in fewer slices than what targets are judged by. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_SWEEP_H
#define BENCH_SWEEP_H

#include "tests/bench/support/contest.h"

#include <stdbool.h>

#define SWEEP_SIDES_MAX 5
#define SWEEP_SIZES_MAX 16

typedef struct bench_sweep {
    const char *plot, *what;
    const char *names; /* own, one:NAME */
    bool processes;    /* these grow, of a thread each; else the threads of one process */
    struct sweep_side {
        const char *who;
        int max; /* the largest size that it takes part in */
    } sides[SWEEP_SIDES_MAX]; /* NULL ends them */
    int sizes[SWEEP_SIZES_MAX]; /* 0 ends them */
} bench_sweep;

/* False: something of ours failed, or a violation; it has been said. */
bool sweep_run(bench_run *bench, const bench_sweep *sweep);

#endif
