/* Tracking: the model tells of changed keys as a real server does (CLIENT TRACKING with REDIRECT and NOLOOP). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserver/support/pair.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(model_tracking);

#define TRACKS 0
#define OTHER 1

/* What the one that tracks says, and others. */
static const char *const said[] = {
    "GET a", "EXISTS a b", "PTTL c", "HEXISTS h f", "HGET h f", "TYPE a", "LRANGE l 0 -1", "ZSCORE z m", "SET a 1", "DEL a",
    "SET b 2 PX 500", "HSET h f 1", "HDEL h f", "HINCRBY h f 1", "PEXPIRE a 400", "PERSIST a", "RPUSH l 1", "LPOP l",
    "ZADD z 1 m", "ZREM z m", "INCR n", "DEL nothing", "PEXPIRE nothing 100", "FLUSHALL", "FLUSHDB",
    "SELECT 1", "SELECT 0", "PUBLISH x y",
    "EVAL redis.call(\"set\",\"a\",\"3\");return(redis.call(\"exists\",\"a\")) 0",
    "EVAL return(redis.call(\"hexists\",\"h\",\"f\")) 0",
    "EVAL redis.call(\"exists\",\"b\");return(redis.call(\"del\",\"b\",\"c\")) 0",
    "EVAL redis.call(\"set\",KEYS[1],\"3\");return(redis.call(\"exists\",KEYS[1])) 1 a",
    "EVAL return(redis.call(\"hexists\",KEYS[2],\"f\")) 2 a h", "EVAL return(redis.call(\"set\",KEYS[1],\"4\")) 1 b",
    "EVAL redis.call(\"exists\",\"c\");return(redis.call(\"del\",KEYS[1])) 1 a",
    "MULTI", "EXEC",
    "CLIENT TRACKING OFF", "CLIENT TRACKING on NOLOOP", "CLIENT TRACKING ON REDIRECT 999999",
    "CLIENT TRACKING ON REDIRECT x", "CLIENT TRACKING maybe", "CLIENT TRACKING ON NOSUCH",
};

static int64_t number_of(redisReply *reply)
{
    cr_assert(reply && reply->type == REDIS_REPLY_INTEGER);
    int64_t number = reply->integer;
    freeReplyObject(reply);
    return number;
}

/* The two servers number their links differently. */
static void track(server_pair *pair)
{
    char line[100];
    int64_t real = number_of(redisCommand(pair->links[PAIR_LISTENER], "CLIENT ID"));
    redisReply *reply = redisCommand(pair->links[TRACKS], "CLIENT TRACKING ON REDIRECT %lld NOLOOP", (long long)real);
    cr_assert(reply && reply->type == REDIS_REPLY_STATUS);
    freeReplyObject(reply);
    int length = snprintf(line, sizeof line, "CLIENT TRACKING ON REDIRECT %llu NOLOOP\r\n",
                          (unsigned long long)sim_link_id(pair->model_links[PAIR_LISTENER]));
    sim_link_hear(pair->model_links[TRACKS], line, (size_t)length);
    char answer[64];
    size_t count = sim_link_take(pair->model_links[TRACKS], answer, sizeof answer);
    cr_assert(count == 5 && memcmp(answer, "+OK\r\n", 5) == 0, "%.*s", (int)count, answer);
    cr_assert(pair_say(pair, PAIR_LISTENER, "SUBSCRIBE __redis__:invalidate"), "%s", pair->difference);
}

static void play(server_pair *pair, unsigned *seed)
{
    for (int i = 0; i < 60; i++) {
        const char *line = said[(size_t)rand_r(seed) % (sizeof said / sizeof *said)];
        int link = rand_r(seed) % 2 ? TRACKS : OTHER;
        if (rand_r(seed) % 20 == 0)
            pair_pass(pair, 600000);
        cr_assert(pair_say(pair, link, line), "step %d of link %d: %s", i, link, pair->difference);
    }
}

Test(model_tracking, keys_are_told_as_by_a_real_server)
{
    server_pair pair;
    pair_start(&pair, NULL);
    unsigned seed = 1;
    for (unsigned round = 0; round < 150; round++) {
        pair_clear(&pair, round + 1);
        track(&pair);
        play(&pair, &seed);
    }
    pair_stop(&pair);
}
