/* A tally: what one contender got: turns, turns that it had from another contender, and how long it waited. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TALLY_H
#define BENCH_TALLY_H

#include "tests/bench/support/histogram.h"

#include <stdint.h>

typedef struct bench_tally {
    uint64_t turns, handed; /* handed: of them, those whose lock another contender held before */
    uint64_t longest_ns;    /* of the waits */
    bench_histogram waits;  /* from asking for the lock until it was granted */
} bench_tally;

uint64_t tally_now_ns(void); /* CLOCK_MONOTONIC */
void tally_wait(bench_tally *tally, uint64_t wait_ns);
/* As ` longest_us=… contenders=TURNS,TURNS… waits=BUCKET:COUNT…`, words of `stats`; tallies[i] is contender i's. */
void tally_print(bench_tally *const *tallies, int count, FILE *to);

#endif
