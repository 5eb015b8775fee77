/* Latency: how long a client that asks for little waits for the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/latency.h"

#include "tests/bench/support/histogram.h"
#include "tests/bench/support/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct ready_times {
    double server_s, client_s;
} ready_times;

typedef struct meter {
    redisContext *context;
    int server, client; /* where their ready times are read */
    bench_histogram waits;
    double most_s, most_with_core_s;
} meter;

static ready_times ready_times_of(const meter *self)
{
    return (ready_times){usage_ready_s(self->server), usage_ready_s(self->client)};
}

static double more(double a, double b)
{
    return a > b ? a : b;
}

static void ping(meter *self)
{
    ready_times before = ready_times_of(self);
    double began_s = usage_now_s();
    redisReply *reply = redisCommand(self->context, "PING");
    double s = usage_now_s() - began_s;
    ready_times after = ready_times_of(self);
    if (!reply) {
        fprintf(stderr, "bench: PING: %s\n", self->context->errstr);
        exit(1);
    }
    freeReplyObject(reply);
    double ready_s = more(after.server_s - before.server_s, after.client_s - before.client_s);
    histogram_add(&self->waits, (uint64_t)(s * 1e9));
    self->most_s = more(self->most_s, s);
    self->most_with_core_s = more(self->most_with_core_s, s - ready_s);
}

void latency_measure(const bench_redis *redis, bench_latency *latency, int ms)
{
    static meter self;
    struct timespec pause = {0, 300000};
    self = (meter){.context = redis_connect(redis, "latency"), .server = usage_open_ready(redis->pid),
                   .client = usage_open_ready(gettid())};
    for (double end_s = usage_now_s() + ms / 1e3; usage_now_s() < end_s; nanosleep(&pause, NULL))
        ping(&self);
    redisFree(self.context);
    close(self.server);
    close(self.client);
    *latency = (bench_latency){.p50_ms = histogram_quantile_us(&self.waits, 0.5) / 1e3,
                               .p99_ms = histogram_quantile_us(&self.waits, 0.99) / 1e3,
                               .most_ms = self.most_s * 1e3,
                               .most_with_core_ms = self.most_with_core_s * 1e3};
}
