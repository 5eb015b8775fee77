/* Latency: how long a client that asks for little waits for the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/latency.h"

#include "tests/bench/support/histogram.h"
#include "tests/bench/support/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void latency_measure(const bench_redis *redis, bench_latency *latency, int ms)
{
    static bench_histogram waits;
    struct timespec pause = {0, 300000};
    redisContext *context = redis_connect(redis, "latency");
    double end_s = usage_now_s() + ms / 1e3, most_s = 0;
    waits = (bench_histogram){0};
    for (double began_s; (began_s = usage_now_s()) < end_s; nanosleep(&pause, NULL)) {
        redisReply *reply = redisCommand(context, "PING");
        double s = usage_now_s() - began_s;
        if (!reply) {
            fprintf(stderr, "bench: PING: %s\n", context->errstr);
            exit(1);
        }
        freeReplyObject(reply);
        histogram_add(&waits, (uint64_t)(s * 1e9));
        if (s > most_s)
            most_s = s;
    }
    redisFree(context);
    latency->p50_ms = histogram_quantile_us(&waits, 0.5) / 1e3;
    latency->p99_ms = histogram_quantile_us(&waits, 0.99) / 1e3;
    latency->most_ms = most_s * 1e3;
}
