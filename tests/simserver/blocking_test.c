/* Blocking pops: the model serves those who wait in the order in which a real server does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserver/support/pair.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(model_blocking);

#define WAITERS 3 /* the links before PAIR_EYE */

static const char *const pops[] = {"BLPOP a 0", "BLPOP a b 0", "BLPOP b a 0.0", "BRPOP a 0", "BRPOP b 0", "BLPOP c b a 0"};
static const char *const pushes[] = {
    "LPUSH a 1", "RPUSH a 1 2", "LPUSH b 3", "RPUSH b 4 5 6", "SET a text", "DEL a", "DEL b", "PEXPIRE b 1000",
    "EVAL redis.call(\"del\",\"a\");return(redis.call(\"lpush\",\"a\",\"7\")) 0",
    "EVAL redis.call(\"lpush\",\"b\",\"8\");return(redis.call(\"pexpire\",\"b\",1000)) 0",
    "EVAL redis.call(\"lpush\",\"a\",\"9\");return(redis.call(\"del\",\"a\")) 0",
};

static int blocked(server_pair *pair)
{
    redisReply *reply = server_command(pair->real, "INFO clients");
    const char *at = strstr(reply->str, "blocked_clients:");
    cr_assert(at != NULL);
    int count = atoi(at + strlen("blocked_clients:"));
    freeReplyObject(reply);
    return count;
}

/* The real server has read what was begun. */
static void await_blocked(server_pair *pair, int count)
{
    while (blocked(pair) != count)
        continue;
}

static int waiting(const char *const *asked)
{
    int count = 0;
    for (int i = 0; i < WAITERS; i++)
        count += asked[i] != NULL;
    return count;
}

/* Takes the answers that have come, the same from both. */
static void take(server_pair *pair, const char **asked)
{
    for (int i = 0; i < WAITERS; i++) {
        bool same = true;
        if (!asked[i] || !pair_answered(pair, i, asked[i], &same))
            continue;
        cr_assert(same, "%s", pair->difference);
        asked[i] = NULL;
    }
    await_blocked(pair, waiting(asked));
}

static void play(server_pair *pair, unsigned *seed)
{
    const char *asked[WAITERS] = {NULL};
    for (int i = 0; i < 60; i++) {
        int link = rand_r(seed) % (WAITERS + 1);
        if (link == WAITERS) {
            word_list words = words_divide(pushes[(size_t)rand_r(seed) % (sizeof pushes / sizeof *pushes)]);
            cr_assert(pair_ask(pair, PAIR_EYE, &words), "%s", pair->difference);
            words_free(&words);
        } else if (!asked[link]) {
            asked[link] = pops[(size_t)rand_r(seed) % (sizeof pops / sizeof *pops)];
            pair_begin(pair, link, asked[link]);
        }
        take(pair, asked);
        cr_assert(pair_compare_stored(pair), "%s", pair->difference);
    }
}

Test(model_blocking, pops_are_served_as_a_real_server_does)
{
    server_pair pair;
    pair_start(&pair, NULL);
    unsigned seed = 1;
    for (unsigned round = 0; round < 100; round++) {
        pair_clear(&pair, round + 1);
        await_blocked(&pair, 0);
        play(&pair, &seed);
    }
    pair_stop(&pair);
}
