/* A crew: threads that all take turns at their work for a slice of time, and are parked between
 * slices, so that starting them is not measured. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_CREW_H
#define BENCH_CREW_H

#include "tests/bench/support/histogram.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_crew bench_crew;

/* One turn of the thread that `own` belongs to. False: it failed, and has said why. */
typedef bool crew_turn_fn(void *own);

typedef struct bench_slice {
    uint64_t turns;
    double seconds; /* from the start signal to the end of the last thread's last turn */
    double cpu_us;  /* of this process in that time, user and system */
    bool failed;
} bench_slice;

/* Starts `threads` threads, parked; thread i works on own[i]. Exits the program when it cannot. */
bench_crew *crew_start(int threads, crew_turn_fn *turn, void *const *own);
/* Lets all work for `ms`; returns when each has ended its last turn. */
bench_slice crew_work(bench_crew *crew, int ms);
/* Adds the latencies of all turns since it was last called. */
void crew_latencies(bench_crew *crew, bench_histogram *sum);
void crew_stop(bench_crew *crew);

#endif
