/* Others first: where listeners of another library wait among two clients of this one, a release leaves them the lock now
 * and then, and the waiters of both clients stand aside until one of them has had it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

TestSuite(others_first, .init = stage_open, .fini = stage_close);

#define NAME    "o"
#define THREADS 4 /* of each client */

/* Of so many clients. wait_ms: as in crowd.h. */
static void begin_crowd(crowd *busy, int clients, int64_t wait_ms)
{
    *busy = (crowd){.name = NAME, .turns = 1000000, .wait_ms = wait_ms};
    for (int i = 0; i < THREADS; i++) {
        crowd_add(busy, stage.client);
        if (clients == 2)
            crowd_add(busy, stage.other);
    }
    crowd_begin(busy);
}

static bool take_elsewhere(void)
{
    static const char take[] = "if redis.call('exists', KEYS[1]) == 1 then return 0 end "
                               "redis.call('hset', KEYS[1], ARGV[1], '1') return redis.call('pexpire', KEYS[1], '30000')";
    return server_integer(stage.server, "EVAL %s 1 " NAME " " FOREIGN_CLIENT ":1", take) == 1;
}

/* How a listener of another library behaves for `ms`. */
typedef struct habits {
    int64_t ms, late_ms; /* from the message to its request */
    int64_t hold_ms;     /* a turn; 0: 1 ms */
    int64_t ignores_ms;  /* at first it only listens */
    int misses_each;     /* it sleeps for a while at every message of so many; 0: at none */
} habits;

typedef struct outsider {
    int turns, soon; /* how many it had, and after how many of them the lock was soon taken again */
    int vain;        /* how often it came too late */
} outsider;

static outsider take_turns_elsewhere(const habits *how)
{
    outsider self = {0};
    redisContext *listening = foreign_subscribe(channel_of(NAME));
    int64_t since_ms = now_ms();
    for (int heard = 1; now_ms() < since_ms + how->ms; heard++) {
        redisReply *message = NULL;
        cr_assert(redisGetReply(listening, (void **)&message) == REDIS_OK);
        freeReplyObject(message);
        bool misses = how->misses_each && heard % how->misses_each == 0;
        if (misses)
            pass_ms(20);
        if (misses || now_ms() < since_ms + how->ignores_ms)
            continue;
        pass_ms(how->late_ms);
        if (!take_elsewhere()) {
            self.vain++;
            continue;
        }
        self.turns++;
        pass_ms(how->hold_ms ? how->hold_ms : 1);
        foreign_release(NAME);
        pass_ms(1);
        self.soon += pttl_of(NAME) != -2;
    }
    redisFree(listening);
    return self;
}

static outsider beside_waits_of(int64_t wait_ms, int clients, habits how)
{
    static crowd busy;
    begin_crowd(&busy, clients, wait_ms);
    outsider self = take_turns_elsewhere(&how);
    crowd_end(&busy);
    crowd_finish(&busy, 20000);
    return self;
}

static outsider beside_a_crowd(int clients, habits how)
{
    return beside_waits_of(0, clients, how);
}

/* The waiters of both clients stand aside for so long. */
TimedTest(others_first, slow_listeners_get_nearly_each_turn_that_is_left_to_them)
{
    outsider self = beside_a_crowd(2, (habits){.ms = 2000, .late_ms = 3});
    cr_assert(self.turns >= 385 && self.vain <= 10, "%d turns in 2 s, of which each takes 5 ms; %d in vain", self.turns,
              self.vain);
}

/* A waiter that stands aside hears when they are done. */
TimedTest(others_first, are_followed_at_once)
{
    outsider self = beside_a_crowd(2, (habits){.ms = 2000, .late_ms = 1});
    cr_assert(self.turns >= 500 && self.soon >= self.turns - 5, "%d turns, %d of them followed soon", self.turns, self.soon);
}

/* Whose own waiter is the first that is told. */
TimedTest(others_first, are_followed_at_once_by_the_only_client)
{
    outsider quick = beside_a_crowd(1, (habits){.ms = 2000, .late_ms = 1});
    cr_assert(quick.turns >= 635 && quick.soon >= quick.turns - 5, "%d turns, %d followed soon", quick.turns, quick.soon);
    outsider slow = beside_a_crowd(1, (habits){.ms = 2000, .late_ms = 3});
    cr_assert(slow.turns >= 385 && slow.soon >= slow.turns - 5, "%d turns, %d followed soon", slow.turns, slow.soon);
}

/* However long it was. */
TimedTest(others_first, who_took_no_turn_for_a_while_get_them_again)
{
    for (int64_t ignores_ms = 1000; ignores_ms <= 5000; ignores_ms += 4000) {
        outsider self = beside_a_crowd(2, (habits){.ms = ignores_ms + 2000, .late_ms = 3, .ignores_ms = ignores_ms});
        cr_assert(self.turns >= 300, "%d turns in 2 s after %lld ms", self.turns, (long long)ignores_ms);
    }
}

TimedTest(others_first, who_miss_some_turns_keep_the_others)
{
    outsider self = beside_a_crowd(2, (habits){.ms = 3000, .late_ms = 3, .misses_each = 5});
    cr_assert(self.turns >= 270, "%d turns in 3 s", self.turns);
}

/* A turn that lasts longer than anybody stands aside is a turn. */
TimedTest(others_first, whose_turns_are_long_keep_them)
{
    for (int clients = 1; clients <= 2; clients++) {
        outsider self = beside_a_crowd(clients, (habits){.ms = 4000, .late_ms = 3, .hold_ms = 20});
        cr_assert(self.turns >= 155, "%d turns in 4 s beside %d clients", self.turns, clients);
    }
}

/* A waiter stands aside even if its time may be up before the others have had their turn. */
TimedTest(others_first, beside_short_waits)
{
    for (int64_t wait_ms = 8; wait_ms <= 1000; wait_ms += 992) {
        outsider self = beside_waits_of(wait_ms, 2, (habits){.ms = 2000, .late_ms = 1});
        cr_assert(self.turns >= 500, "%d turns in 2 s beside waits of %lld ms", self.turns, (long long)wait_ms);
    }
}

/* The registry is of another type: only the client that releases stands aside. */
TimedTest(others_first, beside_waiters_that_cannot_register)
{
    freeReplyObject(server_command(stage.server, "HSET rlock_waiters:{" NAME "} a b"));
    for (int clients = 1; clients <= 2; clients++) {
        outsider self = beside_a_crowd(clients, (habits){.ms = 2000, .late_ms = 3});
        cr_assert(self.turns >= 200, "%d turns in 2 s beside %d clients", self.turns, clients);
    }
}

/* --- who never take it, as somebody who only watches --- */

/* The turns of so many threads of one client, and of so many clients of one thread, in a second. */
static int turns_of(int threads, int clients)
{
    static crowd busy;
    busy = (crowd){.name = NAME, .turns = 1000000};
    for (int i = 0; i < threads; i++)
        crowd_add(&busy, stage.client);
    for (int i = 0; i < clients; i++)
        crowd_add(&busy, stage_client(""));
    crowd_begin(&busy);
    pass_ms(1000);
    int turns = atomic_load(&busy.counter);
    crowd_end(&busy);
    crowd_finish(&busy, 20000);
    return turns;
}

static void assert_is_left(int threads, int clients, int percent)
{
    int alone = turns_of(threads, clients);
    redisContext *listening = foreign_subscribe(channel_of(NAME));
    int beside = turns_of(threads, clients);
    redisFree(listening);
    cr_assert(beside > alone * percent / 100, "%d turns alone, %d beside a listener", alone, beside);
}

TimedTest(others_first, who_never_take_it_cost_little)
{
    assert_is_left(8, 0, 80);
    assert_is_left(4, 1, 80);
}

/* Which have nothing to do with the name between two turns. (Their releases tell everybody, which takes its time, too.) */
TimedTest(others_first, who_never_take_it_cost_clients_of_one_thread_little)
{
    assert_is_left(4, 4, 55);
}

/* Without the right to count listeners, nobody stands aside if nobody listens. */
TimedTest(others_first, who_cannot_be_counted_are_not_waited_for_if_the_message_reached_nobody)
{
    int before = turns_of(8, 1);
    freeReplyObject(server_command(stage.server, "ACL SETUSER default -pubsub"));
    int after = turns_of(8, 1);
    cr_assert(after > before * 7 / 10, "%d turns with the right, %d without", before, after);
}

/* --- what may happen meanwhile --- */

static rlock *held_here(void)
{
    rlock *held = lock_of(stage.client, NAME);
    for (int i = 0; i < 2; i++) { /* the first lets the server know the scripts */
        assert_ok(rlock_lock(held));
        if (i == 0)
            assert_ok(rlock_unlock(held));
    }
    return held;
}

/* It is registered, and asleep. */
static actor *waiter_of(rlock *lock, int64_t wait_ms)
{
    int64_t before = server_count_waiting(stage.server, channel_of(NAME));
    actor *waiter = actor_start();
    actor_begin_try(waiter, lock, wait_ms, RLOCK_WATCHDOG);
    cr_assert(server_wait_subscribers(stage.server, channel_of(NAME), before + 1, 5000) && actor_asleep(waiter, 5000));
    return waiter;
}

static void assert_has_it_within(actor *waiter, rlock *lock, int64_t since_ms, int64_t ms)
{
    assert_ok(actor_finish(waiter, 30000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, ms);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* A waiter whose time would be over before the others have had theirs asks once more before. */
TimedTest(others_first, but_not_beyond_a_waiters_time)
{
    redisContext *listening = foreign_subscribe(channel_of(NAME));
    rlock *held = held_here(), *lock = lock_of(stage.other, NAME);
    int64_t since_ms = now_ms();
    actor *told = waiter_of(lock, 200), *heir = waiter_of(lock_of(stage.client, NAME), 230);
    pass_ms(since_ms + 196 - now_ms());
    since_ms = now_ms();
    assert_ok(rlock_unlock(held));
    assert_has_it_within(told, lock, since_ms, 4);
    assert_has_it_within(heir, held, since_ms, 20);
    redisFree(listening);
}

/* The waiter that was told is cancelled before the others have asked: the next one is told in its place, and so hears when
 * the others are done. */
TimedTest(others_first, are_followed_by_the_next_when_the_first_leaves)
{
    redisContext *listening = foreign_subscribe(channel_of(NAME));
    rlock *held = held_here();
    rlock_cancel *token = rlock_cancel_new();
    int64_t before = server_count_waiting(stage.server, channel_of(NAME));
    actor *told = actor_start();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = token;
    actor_begin_with(told, lock_of(stage.other, NAME), &options);
    cr_assert(server_wait_subscribers(stage.server, channel_of(NAME), before + 1, 5000) && actor_asleep(told, 5000));
    actor *heir = waiter_of(lock_of(stage.client, NAME), 60000);
    assert_ok(rlock_unlock(held));
    cr_assert(take_elsewhere());
    pass_ms(1);
    rlock_cancel_fire(token);
    assert_status(actor_finish(told, 5000), RLOCK_CANCELLED);
    actor_end(told);
    pass_ms(5); /* before who released the lock looks after it */
    int64_t since_ms = now_ms();
    foreign_release(NAME);
    assert_has_it_within(heir, held, since_ms, 1);
    rlock_cancel_free(token);
    redisFree(listening);
}

/* The waiter that was told hears it, and dies: who released the lock looks after it before long. */
TimedTest(others_first, are_followed_though_the_first_has_died)
{
    static const char dying[] = "5c1c1ad2-6b0e-8f6a-9d5e-0b7c5e8f1a2b";
    redisContext *listening = foreign_subscribe(channel_of(NAME));
    rlock *held = held_here();
    freeReplyObject(redisCommand(listening, "SUBSCRIBE %s:%s", channel_of(NAME), dying));
    char place[64];
    snprintf(place, sizeof place, "%s:1 30000", dying);
    freeReplyObject(server_command(stage.server, "ZADD rlock_waiters:{" NAME "} 1 %s", place));
    actor *heir = waiter_of(lock_of(stage.client, NAME), 60000);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(held));
    cr_assert(server_integer(stage.server, "ZCARD rlock_waiters:{" NAME "}") == 1); /* the heir */
    assert_has_it_within(heir, held, since_ms, 60);
    redisFree(listening);
}

typedef struct flood {
    char channel[200];
    atomic_bool over;
} flood;

static void *publish_on_and_on(void *arg)
{
    flood *self = arg;
    redisContext *connection = redisConnectUnix(server_socket(stage.server));
    while (!atomic_load(&self->over)) {
        freeReplyObject(redisCommand(connection, "PUBLISH %s others", self->channel));
        pass_ms(1);
    }
    redisFree(connection);
    return NULL;
}

/* However often somebody says so. */
TimedTest(others_first, said_again_and_again_keeps_nobody_from_a_free_lock)
{
    static flood self;
    foreign_hold(NAME, 30000);
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = waiter_of(lock, 60000);
    redisReply *own = server_command(stage.server, "PUBSUB CHANNELS %s:*-*", channel_of(NAME));
    cr_assert(own->elements == 1);
    snprintf(self.channel, sizeof self.channel, "%s", own->element[0]->str);
    freeReplyObject(own);
    pthread_t thread;
    cr_assert(pthread_create(&thread, NULL, publish_on_and_on, &self) == 0);
    pass_ms(20);
    foreign_vanish(NAME);
    assert_has_it_within(waiter, lock, now_ms(), 20);
    atomic_store(&self.over, true);
    pthread_join(thread, NULL);
}

/* The release that passes a waiter over registers it. When its wait ends soon after that, it leaves that place, too: else the
 * lock would be offered to one who has gone. */
TimedTest(others_first, who_is_passed_over_and_gives_up_leaves_no_place)
{
    for (int64_t wait_ms = 2; wait_ms <= 10; wait_ms += 2) {
        static crowd busy;
        begin_crowd(&busy, 2, wait_ms);
        pass_ms(1000);
        crowd_end(&busy);
        crowd_finish(&busy, 20000);
        assert_no_keys();
    }
}
