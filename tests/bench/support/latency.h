/* Latency: how long a client that asks for little waits for the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include "tests/bench/support/redis.h"

typedef struct bench_latency {
    double p50_ms, p99_ms, most_ms;
} bench_latency;

/* Sends PING after PING for `ms`, with small pauses, on a connection of its own. */
void latency_measure(const bench_redis *redis, bench_latency *latency, int ms);

#endif
