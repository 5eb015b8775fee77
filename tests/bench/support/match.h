/* A match: one measurement of the report, so many of our threads beside so many raw ones. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_MATCH_H
#define BENCH_MATCH_H

#include "tests/bench/support/kinds.h"
#include "tests/bench/support/redis.h"
#include "tests/bench/support/report.h"

#include <stdbool.h>

typedef struct bench_options {
    int slices, ms;  /* of each side */
    bool raw, ours;  /* which sides work; one alone is for profiling */
} bench_options;

/* Both take turns on objects of the kind with `threads` threads, each on a name of its own. False: a turn failed, or what the
 * locks guard was damaged; it has been said. */
bool match_apart(bench_redis *redis, const bench_options *options, bench_report *report, const bench_kind *kind,
                 int threads);
/* Ours run on one name of a plain lock; the raw side is one thread on a name of its own. */
bool match_together(bench_redis *redis, const bench_options *options, bench_report *report, int threads);

#endif
