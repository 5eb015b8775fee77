/* The raw side: what a straightforward program does with hiredis, one connection a thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/raw.h"

#include "tests/bench/support/lua.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_MS "30000" /* the watchdog timeout, which the library sends too */

typedef struct bench_raw {
    redisContext *context;
    char name[64], channel[96], owner[64];
} bench_raw;

static char acquire_sha1[41], release_sha1[41];

static void load(bench_redis *redis, const char *path, char sha1[41])
{
    char *text = lua_read(path);
    redisReply *reply = redis_ask(redis, "SCRIPT LOAD %s", text);
    snprintf(sha1, 41, "%s", reply->str);
    freeReplyObject(reply);
    free(text);
}

void raw_load_scripts(bench_redis *redis)
{
    load(redis, "lua/lock/acquire.lua", acquire_sha1);
    load(redis, "lua/lock/release.lua", release_sha1);
}

void *raw_open(const bench_redis *redis, int index)
{
    bench_raw *raw = calloc(1, sizeof *raw);
    if (!raw)
        abort();
    raw->context = redis_connect(redis, RAW_NAME);
    snprintf(raw->name, sizeof raw->name, "bench:raw:%d", index);
    snprintf(raw->channel, sizeof raw->channel, "redisson_lock__channel:{%s}", raw->name);
    snprintf(raw->owner, sizeof raw->owner, "5b2f1c9e-7a3d-4e68-9f10-c4d2a8b6e713:%d", index + 1);
    return raw;
}

void raw_close(void *own)
{
    bench_raw *raw = own;
    redisFree(raw->context);
    free(raw);
}

/* A request and its answer: an integer of this value, or nil for 0. */
static bool ask(bench_raw *raw, const char *what, int count, const char **words, long long expected)
{
    redisReply *reply = redisCommandArgv(raw->context, count, words, NULL);
    bool right = reply && (reply->type == REDIS_REPLY_INTEGER ? reply->integer == expected
                                                              : reply->type == REDIS_REPLY_NIL && !expected);
    if (!right)
        fprintf(stderr, "bench: raw %s of %s: %s\n", what, raw->name,
                !reply ? raw->context->errstr : reply->type == REDIS_REPLY_ERROR ? reply->str : "wrong answer");
    freeReplyObject(reply);
    return right;
}

bool raw_pair(void *own)
{
    bench_raw *raw = own;
    const char *acquire[] = {"EVALSHA", acquire_sha1, "1", raw->name, raw->owner, LEASE_MS, "1", ""};
    const char *release[] = {"EVALSHA", release_sha1, "2", raw->name, raw->channel, raw->owner, "0", LEASE_MS};
    return ask(raw, "acquire", 8, acquire, 0) && ask(raw, "release", 8, release, 1);
}
