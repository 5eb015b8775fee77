/* A duel: two sides work in turn, slice by slice, so that what drifts on the machine hits both;
 * what counts is the median of the ratios of neighbouring slices. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_DUEL_H
#define BENCH_DUEL_H

#include "tests/bench/support/crew.h"
#include "tests/bench/support/redis.h"

#include <stdbool.h>
#include <stdint.h>

#define DUEL_SLICES_MAX 1000

typedef struct bench_side {
    bench_crew *crew; /* NULL: this side stays out, the other one works alone */
    const char *not_named; /* its connections are those that have another name */

    /* filled by the duel, over all slices but the first, which warms up */
    double per_s[DUEL_SLICES_MAX]; /* of each slice */
    uint64_t turns;                /* and of the warm-up, in all_turns */
    uint64_t all_turns;
    double seconds, cpu_us, server_us;
    long long scripts;             /* EVALSHA calls, warm-up too */
    int connections;               /* the most seen at the end of a slice */
    double p50_us, p99_us;
} bench_side;

typedef struct bench_ratio {
    double median, low, high; /* the true median lies between these, 95 times of 100 */
} bench_ratio;

/* False: a turn failed. */
bool duel_fight(bench_redis *redis, bench_side *raw, bench_side *ours, int slices, int ms);
bench_ratio duel_ratio(const bench_side *raw, const bench_side *ours, int slices);

#endif
