/* A mixed contest: contestants of several kinds, at the same time, on one name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_MIXED_H
#define BENCH_MIXED_H

#include "tests/bench/support/contestant.h"

#include <stdbool.h>

#define MIXED_MOST 8

typedef struct mixed_side {
    const char *who, *kind;
    int threads;
    bench_contestant *contestant; /* while it works */
    /* what came of it */
    unsigned long long turns, violations;
    double seconds, cpu_us, p50_us, p99_us;
} mixed_side;

/* Lets all work for warm_ms, which is not counted, and then for span_ms. False: one failed, or two held one lock; it has
 * been said. */
bool mixed_run(bench_run *bench, mixed_side *sides, int count, const char *name, int warm_ms, int span_ms);

#endif
