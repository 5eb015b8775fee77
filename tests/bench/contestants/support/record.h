/* A record of what a program sends to the server, word for word, so that another can send the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_RECORD_H
#define BENCH_RECORD_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
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

/* From now on `heard` gets what anybody sends (MONITOR). */
bool record_begin(redisContext *heard);
/* Takes those requests into `record`, which record_free empties, that have the text `about` in a word; what
 * scripts do is no request. `control` is another connection; `heard` is of no more use. False: trouble(). */
bool record_end(redisContext *heard, redisContext *control, const char *about, bench_record *record);
void record_free(bench_record *record);

#endif
