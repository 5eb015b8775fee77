/* The raw side: a straightforward program that sends with hiredis, over one connection a thread, word for
 * word what the library sends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/raw.h"

#include "tests/bench/support/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_raw {
    redisContext *context;
    const bench_kind *kind;
    bench_record turn;
} bench_raw;

/* In a turn before, the server gets to know the scripts. */
static void learn(bench_raw *raw, bench_redis *redis, rlock_client *client, const char *name)
{
    bench_object *object = object_open(raw->kind, client, name);
    bool right = object_take(object) && object_give(object);
    redisContext *heard = record_begin(redis);
    right = right && object_take(object) && object_give(object);
    record_end(redis, heard, &raw->turn);
    object_close(object);
    for (int i = 0; i < raw->turn.count; i++)
        right = right && strcmp(raw->turn.requests[i].words[0], "EVALSHA") == 0;
    if (!right || raw->turn.count != raw->kind->requests) {
        fprintf(stderr, "bench: the library sent %d requests for a turn of %s, not %d\n", raw->turn.count,
                raw->kind->name, raw->kind->requests);
        exit(1);
    }
}

void *raw_open(bench_redis *redis, rlock_client *client, const bench_kind *kind, int index)
{
    char name[64];
    bench_raw *raw = calloc(1, sizeof *raw);
    if (!raw)
        abort();
    raw->kind = kind;
    snprintf(name, sizeof name, "bench:raw:%d", index);
    learn(raw, redis, client, name);
    raw->context = redis_connect(redis, RAW_NAME);
    return raw;
}

void raw_close(void *own)
{
    bench_raw *raw = own;
    redisFree(raw->context);
    record_free(&raw->turn);
    free(raw);
}

/* What is granted is answered with nil, a list (with a token or a time) or 1, what is released with 1. */
static bool is_right(const redisReply *reply, bool releases)
{
    return (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1) ||
           (!releases && (reply->type == REDIS_REPLY_NIL || reply->type == REDIS_REPLY_ARRAY));
}

static bool send(const bench_raw *raw, const bench_request *request, bool releases)
{
    redisReply *reply =
        redisCommandArgv(raw->context, request->count, (const char **)request->words, request->lengths);
    bool right = reply && is_right(reply, releases);
    if (!right)
        fprintf(stderr, "bench: raw %s %s: %s\n", raw->kind->name, releases ? "release" : "acquire",
                !reply ? raw->context->errstr : reply->type == REDIS_REPLY_ERROR ? reply->str : "wrong answer");
    freeReplyObject(reply);
    return right;
}

bool raw_turn(void *own)
{
    bench_raw *raw = own;
    bool right = true;
    for (int i = 0; right && i < raw->turn.count; i++)
        right = send(raw, &raw->turn.requests[i], i >= raw->turn.count / 2);
    return right;
}
