/* Others first: where listeners of another library wait among two clients of this one, a release leaves them the lock now
 * and then, and the waiters of both clients stand aside until one of them has had it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <hiredis/hiredis.h>
#include <string.h>

TestSuite(others_first, .init = stage_open, .fini = stage_close);

#define NAME    "o"
#define THREADS 4 /* of each client */

static void begin_crowd(crowd *busy, int turns)
{
    *busy = (crowd){.name = NAME, .turns = turns};
    for (int i = 0; i < THREADS; i++) {
        crowd_add(busy, stage.client);
        crowd_add(busy, stage.other);
    }
    crowd_begin(busy);
}

/* Somebody of another library, who hears that the lock is free and then asks. */
static redisContext *listen_elsewhere(void)
{
    redisContext *connection = redisConnectUnix(server_socket(stage.server));
    cr_assert(connection && !connection->err, "no connection to listen on");
    freeReplyObject(redisCommand(connection, "SUBSCRIBE %s", channel_of(NAME)));
    return connection;
}

static bool take_elsewhere(void)
{
    static const char take[] = "if redis.call('exists', KEYS[1]) == 1 then return 0 end "
                               "redis.call('hset', KEYS[1], ARGV[1], '1') return redis.call('pexpire', KEYS[1], '30000')";
    return server_integer(stage.server, "EVAL %s 1 " NAME " " FOREIGN_CLIENT ":1", take) == 1;
}

typedef struct outsider {
    int turns, soon; /* how many it had, and after how many of them the lock was soon taken again */
} outsider;

/* It takes `late_ms` from the message to its request, and has its turns for so long. */
static outsider take_turns_elsewhere(int64_t late_ms, int64_t ms)
{
    outsider self = {0};
    redisContext *listening = listen_elsewhere();
    for (int64_t end_ms = now_ms() + ms; now_ms() < end_ms;) {
        redisReply *message = NULL;
        cr_assert(redisGetReply(listening, (void **)&message) == REDIS_OK);
        freeReplyObject(message);
        pass_ms(late_ms);
        if (!take_elsewhere())
            continue;
        self.turns++;
        pass_ms(1);
        foreign_release(NAME);
        pass_ms(1);
        self.soon += pttl_of(NAME) != -2;
    }
    redisFree(listening);
    return self;
}

static outsider beside_a_crowd(int64_t late_ms)
{
    static crowd busy;
    begin_crowd(&busy, 1000000);
    outsider self = take_turns_elsewhere(late_ms, 2000);
    crowd_end(&busy);
    crowd_finish(&busy, 20000);
    return self;
}

/* The waiters of both clients stand aside for so long. */
TimedTest(others_first, slow_listeners_get_nearly_each_turn_that_is_left_to_them)
{
    outsider self = beside_a_crowd(3);
    cr_assert(self.turns >= 350, "%d turns in 2 s, of which each takes 5 ms", self.turns);
}

/* A waiter that stands aside hears when they are done. */
TimedTest(others_first, are_followed_at_once)
{
    outsider self = beside_a_crowd(1);
    cr_assert(self.turns >= 500 && self.soon >= self.turns - 5, "%d turns, %d of them followed soon", self.turns, self.soon);
}

static int64_t time_of(int turns)
{
    static crowd busy;
    int64_t since_ms = now_ms();
    begin_crowd(&busy, turns);
    crowd_finish(&busy, 60000);
    return now_ms() - since_ms;
}

/* As somebody who only watches. */
TimedTest(others_first, who_never_take_it_cost_little)
{
    int64_t alone_ms = time_of(2000);
    redisContext *listening = listen_elsewhere();
    int64_t beside_ms = time_of(2000);
    redisFree(listening);
    cr_assert(beside_ms < alone_ms * 13 / 10, "%lld ms alone, %lld ms beside a listener", (long long)alone_ms,
              (long long)beside_ms);
}
