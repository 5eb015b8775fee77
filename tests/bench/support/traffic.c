/* Traffic: the requests and bytes that clients exchange with the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/traffic.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double field(const char *info, const char *name)
{
    const char *at = strstr(info, name);
    return at ? atof(at + strlen(name)) : 0;
}

bench_traffic traffic_now(bench_redis *redis)
{
    redisReply *reply = redis_ask(redis, "INFO stats");
    bench_traffic traffic = {field(reply->str, "\ntotal_net_input_bytes:"), field(reply->str, "\ntotal_net_output_bytes:")};
    freeReplyObject(reply);
    return traffic;
}

static redisReply *next(redisContext *watch)
{
    void *reply = NULL;
    if (redisGetReply(watch, &reply) != REDIS_OK) {
        fprintf(stderr, "bench: MONITOR: %s\n", watch->errstr);
        exit(1);
    }
    return reply;
}

redisContext *traffic_watch(const bench_redis *redis)
{
    redisContext *watch = redis_connect(redis, "monitor");
    redisAppendCommand(watch, "MONITOR");
    freeReplyObject(next(watch));
    return watch;
}

#define LAST "the-end-of-what-is-counted"

long long traffic_requests(bench_redis *redis, redisContext *watch)
{
    long long requests = 0;
    freeReplyObject(redis_ask(redis, "ECHO " LAST));
    for (bool last = false; !last;) {
        redisReply *line = next(watch);
        last = strstr(line->str, LAST);
        /* as in: 1700000000.123456 [0 lua] "hexists" … */
        requests += !last && !strstr(line->str, " lua] ");
        freeReplyObject(line);
    }
    redisFree(watch);
    return requests;
}
