/* Keyspace notifications: the model tells of deleted and expired keys as a real server does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserver/support/pair.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(model_notifications);

#define LINKS 2

static const char *const said[] = {
    "GET a", "EXISTS a b", "PTTL c", "HGET h f", "TYPE a", "SET a 1", "SET a 1 XX", "SET b 2 PX 500", "SET b 2 KEEPTTL",
    "SETEX c 1 x", "PSETEX c 300 x", "SETNX a 5", "GETDEL b", "DEL a", "DEL a b c", "UNLINK h l", "DEL nothing", "HSET h f 1",
    "HDEL h f", "HDEL h f g", "HINCRBY h f 1", "PEXPIRE a 400", "PEXPIRE h 400", "PEXPIRE a -1", "EXPIRE b 1", "PEXPIREAT c 1",
    "PEXPIRE nothing 100", "PERSIST a", "PERSIST h", "RPUSH l 1", "LPOP l", "LREM l 0 1", "LTRIM l 5 6", "ZADD z 1 m",
    "ZREM z m", "ZPOPMIN z", "ZREMRANGEBYSCORE z 0 9", "ZUNIONSTORE z 1 y", "SADD s 1", "SREM s 1", "INCR n", "INCRBY n 2",
    "RENAME a b", "RENAME h i", "RENAMENX a c", "RENAME i h", "RENAME nothing a", "FLUSHALL", "FLUSHDB", "SELECT 1", "SELECT 0",
    "EVAL redis.call(\"set\",\"a\",\"3\");return(redis.call(\"del\",\"a\",\"b\")) 0",
    "EVAL return(redis.call(\"pexpire\",KEYS[1],ARGV[1])) 1 a 200", "EVAL return(redis.call(\"pexpire\",KEYS[1],ARGV[1])) 1 a -5",
    "EVAL return(redis.call(\"hdel\",KEYS[1],\"f\")) 1 h", "MULTI", "EXEC", "DISCARD",
};

static void play(server_pair *pair, unsigned *seed)
{
    for (int i = 0; i < 80; i++) {
        const char *line = said[(size_t)rand_r(seed) % (sizeof said / sizeof *said)];
        int link = (int)((unsigned)rand_r(seed) % LINKS);
        if (rand_r(seed) % 10 == 0)
            pair_pass(pair, 450000);
        cr_assert(pair_say(pair, link, line), "%s, step %d of link %d: %s", line, i, link, pair->difference);
    }
}

Test(model_notifications, of_deleted_and_expired_keys_are_those_of_a_real_server)
{
    static const char *const letters[] = {"Kgx", "Egx", "KEgx", "Kg", "xK", "gx", "~"};
    server_pair pair;
    unsigned seed = 1;
    pair_start(&pair, NULL);
    for (unsigned round = 0; round < 140; round++) {
        char line[80];
        pair_clear(&pair, round + 1);
        snprintf(line, sizeof line, "CONFIG SET notify-keyspace-events %s", letters[round % (sizeof letters / sizeof *letters)]);
        cr_assert(pair_say(&pair, 0, line), "%s", pair.difference);
        cr_assert(pair_say(&pair, 0, "CONFIG GET notify-keyspace-events"), "%s", pair.difference);
        cr_assert(pair_say(&pair, PAIR_LISTENER, "PSUBSCRIBE __key*"), "%s", pair.difference);
        play(&pair, &seed);
    }
    pair_stop(&pair);
}

/* The letters stand in one order, and A for all of them. */
Test(model_notifications, are_chosen_as_at_a_real_server)
{
    static const char *const letters[] = {"xgKE", "AK", "KA", "K$g", "hlszE", "KKgg", "~"};
    server_pair pair;
    pair_start(&pair, NULL);
    pair_clear(&pair, 1);
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        char line[80];
        snprintf(line, sizeof line, "CONFIG SET notify-keyspace-events %s", letters[i]);
        cr_assert(pair_say(&pair, 0, line), "%s", pair.difference);
        cr_assert(pair_say(&pair, 0, "CONFIG GET notify-keyspace-events"), "%s", pair.difference);
    }
    pair_stop(&pair);
}
