/* Traffic: the requests and bytes that clients exchange with the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include "tests/bench/support/redis.h"

typedef struct bench_traffic {
    double sent, received; /* bytes to the server, and from it */
} bench_traffic;

/* So far. */
bench_traffic traffic_now(bench_redis *redis);

/* Counts requests of clients, but not the commands of their scripts, from traffic_watch on: the server tells
 * of every one, so that it works more slowly. */
redisContext *traffic_watch(const bench_redis *redis);
/* Reads until the end of what came before this call, which costs the server one request more; frees the context. */
long long traffic_requests(bench_redis *redis, redisContext *watch);

#endif
