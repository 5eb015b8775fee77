/* Latency: how long a client that asks for little waits for the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include "tests/bench/support/redis.h"

typedef struct bench_latency {
    double p50_ms, p99_ms, most_ms;
    /* The longest, when of each wait is taken off for how long the server, or else the client, was ready and had no core.
     * Of the two, the longer: one's may be part of the other's. What other programs do to the machine is so left out;
     * what the server does before it answers is not. */
    double most_with_core_ms;
} bench_latency;

/* Sends PING after PING for `ms`, with small pauses, on a connection of its own. */
void latency_measure(const bench_redis *redis, bench_latency *latency, int ms);

#endif
