/* A record of what a program sends to the server, word for word, so that another can send the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_RECORD_H
#define BENCH_RECORD_H

#include "tests/bench/support/redis.h"

#include <stddef.h>

#define RECORD_WORDS 24    /* of one request */
#define RECORD_REQUESTS 16

typedef struct bench_request {
    int count;
    char *words[RECORD_WORDS];
    size_t lengths[RECORD_WORDS];
} bench_request;

typedef struct bench_record {
    int count;
    bench_request requests[RECORD_REQUESTS];
} bench_record;

/* From now on what anybody sends is heard (MONITOR), until record_end takes it into `record`, which
 * record_free empties. What scripts do is no request. Exits the program on more than fits. */
redisContext *record_begin(bench_redis *redis);
void record_end(bench_redis *redis, redisContext *heard, bench_record *record);
void record_free(bench_record *record);

#endif
