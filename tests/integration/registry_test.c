/* The registry: of the waiters of many processes, a release tells one; and what becomes of waiters that are told and do not
 * answer, of messages and of the registry itself is no reason to wait for long. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"
#include "tests/support/scripts.h"
#include "tests/support/server_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(registry, .init = stage_open, .fini = stage_close);

#define NAME     "order"
#define REGISTRY "rlock_waiters:{" NAME "}"
#define GHOST    "00000000-0000-8000-8000-000000000000"
#define CLIENTS  6
/* An offer ends after 5 s, and the next waiter asks within 1 s and 250 ms for each before it. */
#define LAPSED_MS (5000 + 1000 + 250 * CLIENTS + 200)

static rlock *held_elsewhere(void)
{
    rlock *held = lock_of(stage.other, NAME);
    for (int i = 0; i < 2; i++) { /* the server knows the scripts then */
        assert_ok(rlock_lock(held));
        if (i == 0)
            assert_ok(rlock_unlock(held));
    }
    return held;
}

static actor *waiter_of(rlock *lock)
{
    int64_t before = server_count_waiting(stage.server, channel_of(NAME));
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(server_wait_subscribers(stage.server, channel_of(NAME), before + 1, 5000) && actor_asleep(waiter, 5000));
    return waiter;
}

/* One listens to the lock's channel. */
static bool wait_listened_to_all(void)
{
    for (int64_t end_ms = limit_end_ms(5000);; pass_ms(1)) {
        redisReply *reply = server_command(stage.server, "PUBSUB NUMSUB redisson_lock__channel:{" NAME "}");
        bool listens = reply->elements == 2 && reply->element[1]->integer == 1;
        freeReplyObject(reply);
        if (listens || now_ms() >= end_ms)
            return listens;
    }
}

static void say(const char *command)
{
    redisReply *reply = server_command(stage.server, command);
    cr_assert(reply && reply->type != REDIS_REPLY_ERROR, "%s", command);
    freeReplyObject(reply);
}

/* One after the other, in the order in which they came; the others sleep on. */
Test(registry, release_wakes_the_one_that_has_waited_longest)
{
    rlock *held = held_elsewhere(), *locks[CLIENTS];
    actor *waiters[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        locks[i] = lock_of(stage_client(""), NAME);
        waiters[i] = waiter_of(locks[i]);
    }
    cr_assert(server_integer(stage.server, "ZCARD " REGISTRY) == CLIENTS);
    assert_ok(rlock_unlock(held));
    for (int i = 0; i < CLIENTS; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        cr_assert(server_integer(stage.server, "ZCARD " REGISTRY) == CLIENTS - 1 - i);
        for (int k = i + 1; k < CLIENTS; k++)
            cr_assert(!actor_ended(waiters[k], 0));
        assert_ok(actor_unlock(waiters[i], locks[i]));
    }
    for (int i = 0; i < CLIENTS; i++)
        actor_end(waiters[i]);
    assert_no_keys();
}

/* The message says whose the lock is and for how long: neither the waiter nor those that are not told ask.
 * (They ask once a second for other reasons.) */
TimedTest(registry, release_causes_no_request_of_the_others)
{
    rlock *held = held_elsewhere(), *locks[CLIENTS];
    actor *waiters[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        locks[i] = lock_of(stage_client(""), NAME);
        waiters[i] = waiter_of(locks[i]);
    }
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiters[0], 5000));
    cr_assert(monitor_ran(tap, &rli_script_lock_release) == 1);
    cr_assert(monitor_ran(tap, &rli_script_lock_acquire) == 0);
    monitor_close(tap);
    for (int i = 0; i < CLIENTS; i++) {
        if (i > 0)
            assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(actor_unlock(waiters[i], locks[i]));
        actor_end(waiters[i]);
    }
}

/* Threads that asked before any of them was refused are registered one by one. */
TimedTest(registry, release_beside_a_listener_wakes_one_waiter_of_a_client)
{
    rlock *held = held_elsewhere(), *lock = lock_of(stage.client, NAME);
    actor *earlier = waiter_of(lock), *waiters[CLIENTS];
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(earlier, 5000));
    assert_ok(actor_unlock(earlier, lock)); /* its client's channel stays for a while */
    assert_ok(rlock_lock(held));
    for (int i = 0; i < CLIENTS; i++)
        waiters[i] = actor_start();
    for (int i = 0; i < CLIENTS; i++)
        actor_begin_lock(waiters[i], lock);
    for (int i = 0; i < CLIENTS; i++)
        cr_assert(actor_asleep(waiters[i], 5000));
    cr_assert(server_integer(stage.server, "ZCARD " REGISTRY) == CLIENTS);
    redisContext *listening = foreign_subscribe("redisson_lock__channel:{" NAME "}");
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(held));
    cr_assert(server_wait_exists(stage.server, NAME, true, 5000));
    cr_assert(monitor_ran(tap, &rli_script_lock_acquire) == 1);
    monitor_close(tap);
    redisFree(listening);
    for (int left = CLIENTS; left > 0;) { /* in an order of their own */
        int i = 0;
        while (!waiters[i] || !actor_ended(waiters[i], 1))
            i = (i + 1) % CLIENTS;
        assert_ok(actor_finish(waiters[i], 0));
        assert_ok(actor_unlock(waiters[i], lock));
        actor_end(waiters[i]);
        waiters[i] = NULL;
        left--;
    }
    actor_end(earlier);
    assert_no_keys();
}

/* Many processes were killed at once, and one of them had many waiters. */
TimedTest(registry, many_dead_waiters_are_passed_over_in_one_release)
{
    rlock *held = held_elsewhere(), *lock = lock_of(stage.client, NAME);
    for (int i = 0; i < 160; i++)
        freeReplyObject(server_command(stage.server, "ZADD " REGISTRY " %d %s%d:%d%s", i + 1,
                                       "00000000-0000-8000-8000-000000000", i < 40 ? 100 : 100 + i, i, " 30000"));
    actor *waiter = waiter_of(lock);
    cr_assert(server_integer(stage.server, "ZCARD " REGISTRY) == 161);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(100));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    assert_no_keys();
}

/* It is registered, and not subscribed any more: its process has died. */
static void pass_over_dead_waiter(void)
{
    rlock *held = held_elsewhere(), *lock = lock_of(stage.client, NAME);
    freeReplyObject(server_command(stage.server, "ZADD " REGISTRY " 1 %s", GHOST ":1 30000"));
    actor *waiter = waiter_of(lock);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(100));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    assert_no_keys();
}

TimedTest(registry, dead_waiter_is_passed_over)
{
    pass_over_dead_waiter();
}

/* A subscriber by pattern, such as a monitoring page, receives the message but is no waiter. */
TimedTest(registry, dead_waiter_is_passed_over_though_others_hear_everything)
{
    redisContext *ear = server_connect(stage.server);
    freeReplyObject(redisCommand(ear, "PSUBSCRIBE redisson*"));
    pass_over_dead_waiter();
    redisFree(ear);
}

/* It is subscribed, and does not answer: its process has stopped. The offer ends, and the next one finds that. */
TimedTest(registry, stopped_waiter_holds_the_others_up_for_a_moment)
{
    rlock *held = held_elsewhere(), *lock = lock_of(stage.client, NAME);
    freeReplyObject(server_command(stage.server, "ZADD " REGISTRY " 1 %s", GHOST ":1 30000"));
    actor *waiter = waiter_of(lock);
    int64_t since_ms = now_ms();
    redisContext *stopped = server_connect(stage.server);
    freeReplyObject(redisCommand(stopped, "SUBSCRIBE redisson_lock__channel:{" NAME "}:" GHOST));
    assert_ok(rlock_unlock(held));
    cr_assert(server_integer(stage.server, "HEXISTS " NAME " " GHOST ":1") == 1);
    assert_between(pttl_of(NAME), 1, 5000);
    assert_ok(actor_finish(waiter, 20000));
    assert_between(actor_ended_at(waiter) - since_ms, 1000, LAPSED_MS);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    redisFree(stopped);
    assert_no_keys();
}

/* Foreign hands delete it: a release finds nobody to tell. */
TimedTest(registry, that_is_lost_costs_a_moment)
{
    rlock *held = held_elsewhere(), *lock = lock_of(stage.client, NAME);
    actor *waiter = waiter_of(lock);
    say("DEL " REGISTRY);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 20000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, 1250);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    assert_no_keys();
}

/* What stands there is none of ours. */
Test(registry, of_another_type_is_left_alone)
{
    rlock *held = held_elsewhere(), *lock = lock_of(stage.client, NAME);
    say("SET " REGISTRY " mine");
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened_to_all() && actor_asleep(waiter, 5000));
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    char *value = server_text(stage.server, "GET " REGISTRY);
    cr_assert(strcmp(value, "mine") == 0);
    free(value);
}

/* A wait that ends leaves no place behind, so nothing is offered to it. */
Test(registry, is_left_by_a_waiter_that_gives_up)
{
    rlock *held = held_elsewhere(), *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    assert_status(actor_try(waiter, lock, 300, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    cr_assert(server_integer(stage.server, "EXISTS " REGISTRY) == 0);
    rlock_cancel *cancel = rlock_cancel_new();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = cancel;
    actor_begin_with(waiter, lock, &options);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(waiter, 5000));
    rlock_cancel_fire(cancel);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    cr_assert(server_integer(stage.server, "EXISTS " REGISTRY) == 0);
    assert_ok(rlock_unlock(held));
    rlock_cancel_free(cancel);
    actor_end(waiter);
    assert_no_keys();
}

/* Redisson's waiters hear of a lock that is free, also while waiters of ours are registered. */
Test(registry, release_is_published_while_others_listen)
{
    rlock *held = held_elsewhere(), *lock = lock_of(stage.client, NAME);
    actor *waiter = waiter_of(lock);
    redisContext *theirs = server_connect(stage.server);
    freeReplyObject(redisCommand(theirs, "SUBSCRIBE redisson_lock__channel:{" NAME "}"));
    assert_ok(rlock_unlock(held));
    redisReply *heard = NULL;
    cr_assert(redisGetReply(theirs, (void **)&heard) == REDIS_OK && heard->elements == 3 &&
              strcmp(heard->element[2]->str, "0") == 0);
    freeReplyObject(heard);
    assert_ok(actor_finish(waiter, 5000));
    redisFree(theirs);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

static void make_big_hash(void)
{
    for (int i = 0; i < 100; i++)
        freeReplyObject(server_command(stage.server, "HSET " NAME " field-%d 1", i));
}

/* It may be of any size, and each request of a waiter would hold up the server. */
Test(registry, waiter_does_not_read_what_an_operator_has_put_in_the_place_of_the_lock)
{
    rlock *lock = lock_of(stage.client, NAME);
    make_big_hash();
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened_to_all() && actor_asleep(waiter, 5000));
    char *stats = server_text(stage.server, "INFO commandstats");
    cr_assert(strstr(stats, "cmdstat_hlen:") && !strstr(stats, "cmdstat_hgetall:"));
    free(stats);
    assert_ok(rlock_force_unlock(lock, NULL));
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* The same in a fair lock's queue. */
Test(registry, fair_waiter_does_not_read_it_either)
{
    rlock *lock = stage_keep(rlock_get_fair_lock(stage.client, NAME));
    make_big_hash();
    assert_status(rlock_try_lock(lock, 100, 1000), RLOCK_TIMEOUT);
    char *stats = server_text(stage.server, "INFO commandstats");
    cr_assert(!strstr(stats, "cmdstat_hgetall:"));
    free(stats);
}

/* Its release is told on the lock's channel alone, to which a waiter of ours then listens. */
Test(registry, waiter_hears_the_release_of_another_library)
{
    rlock *lock = lock_of(stage.client, NAME);
    foreign_hold(NAME, 60000);
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened_to_all() && actor_asleep(waiter, 5000));
    foreign_release(NAME);
    assert_ok(actor_finish_soon(waiter, 900));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

#define DEAD 20

/* Their processes have died. No release of ours comes by that would pass over them. */
TimedTest(registry, waiter_hears_the_release_of_another_library_behind_dead_ones)
{
    rlock *lock = lock_of(stage.client, NAME);
    foreign_hold(NAME, 60000);
    for (int i = 1; i <= DEAD; i++) {
        char place[64];
        snprintf(place, sizeof place, GHOST ":%d 30000", i);
        cr_assert(server_integer(stage.server, "ZADD " REGISTRY " %d %s", i, place) == 1);
    }
    actor *waiter = waiter_of(lock);
    pass_ms(1000 + DEAD * 250 + 100); /* it has asked again */
    cr_assert(server_integer(stage.server, "ZCARD " REGISTRY) == 2);
    int64_t since_ms = now_ms();
    foreign_release(NAME);
    assert_ok(actor_finish(waiter, 20000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, 5);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* The server is at its maxmemory when a registered waiter asks again. */
TimedTest(registry, waiter_that_is_refused_a_place_again_leaves_the_one_that_it_has)
{
    rlock *held = held_elsewhere(), *lock = lock_of(stage_client(""), NAME);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = 2500;
    actor *waiter = actor_start();
    actor_begin_with(waiter, lock, &options);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(waiter, 5000));
    cr_assert(server_integer(stage.server, "ZCARD " REGISTRY) == 1);
    say("CONFIG SET maxmemory 1");
    assert_status(actor_finish(waiter, 8000), RLOCK_TIMEOUT);
    say("CONFIG SET maxmemory 0");
    cr_assert(server_integer(stage.server, "ZCARD " REGISTRY) == 0);
    assert_ok(rlock_unlock(held));
    actor_end(waiter);
}

#define LINGERING 64

/* The channel of the guards takes the last place among those that linger: the lock's own lingers with it. Else the server
 * would count one listener of another library less. */
Test(registry, guard_that_lingers_hides_no_listener_of_another_library)
{
    rlock_client *busy = stage_client("");
    rlock *lock = lock_of(busy, NAME), *held = lock_of(stage.other, NAME), *behind = lock_of(stage.client, NAME);
    for (int i = 0; i < LINGERING - 1; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        assert_ok(rlock_lock(lock_of(stage.other, name)));
        assert_status(rlock_try_lock(lock_of(busy, name), 10, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    }
    foreign_hold(NAME, 60000);
    assert_status(rlock_try_lock(lock, 10, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    foreign_release(NAME);
    assert_ok(rlock_lock(held));
    actor *waiter = waiter_of(behind);
    redisContext *theirs = server_connect(stage.server);
    freeReplyObject(redisCommand(theirs, "SUBSCRIBE redisson_lock__channel:{" NAME "}"));
    assert_ok(rlock_unlock(held));
    redisReply *heard = NULL;
    redisSetTimeout(theirs, (struct timeval){5, 0});
    cr_assert(redisGetReply(theirs, (void **)&heard) == REDIS_OK, "it was told nothing");
    freeReplyObject(heard);
    redisFree(theirs);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, behind));
    actor_end(waiter);
}

/* How many listen to the lock's channel, those that guard left out. */
static int64_t count_others(void)
{
    redisReply *reply = server_command(stage.server, "PUBSUB NUMSUB redisson_lock__channel:{" NAME "} "
                                                     "redisson_lock__channel:{" NAME "}:guards");
    int64_t others = reply->element[1]->integer - reply->element[3]->integer;
    freeReplyObject(reply);
    return others;
}

/* A waiter of the same client that is not registered leaves the lock's channel while that of the guards lingers. */
Test(registry, guard_that_lingers_is_not_left_alone_by_another_waiter)
{
    rlock *lock = lock_of(stage.client, NAME);
    foreign_hold(NAME, 60000);
    assert_status(rlock_try_lock(lock, 50, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    cr_assert(server_integer(stage.server, "EXISTS " REGISTRY) == 0, "it has given up, and stands there still");
    say("SET " REGISTRY " text");
    assert_status(rlock_try_lock(lock, 50, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    cr_assert(count_others() >= 0);
    say("DEL " REGISTRY);
    foreign_release(NAME);
}

/* Two waiters of one owner, and one between them. The first gives up: the place that it had in the registry is the other's,
 * which did not listen. */
Test(registry, place_of_a_waiter_that_gives_up_is_the_other_ones_of_its_owner)
{
    rlock *held = held_elsewhere(), *shared = lock_of(stage.client, NAME);
    rlock *first = rlock_for_owner(shared, 7), *second = rlock_for_owner(shared, 7);
    actor *gives_up = actor_start(), *between = actor_start(), *waits = actor_start();
    rlock_cancel *token = rlock_cancel_new();
    cr_assert(first && second && token);
    rlock_lock_options cancelled = RLOCK_LOCK_OPTIONS_INIT;
    cancelled.cancel = token;
    actor_begin_with(gives_up, first, &cancelled);
    cr_assert(server_wait_subscribers(stage.server, channel_of(NAME), 1, 5000) && actor_asleep(gives_up, 5000));
    actor_begin_lock(between, shared);
    cr_assert(actor_asleep(between, 5000));
    actor_begin_lock(waits, second);
    cr_assert(actor_asleep(waits, 5000));
    rlock_cancel_fire(token);
    assert_status(actor_finish(gives_up, 5000), RLOCK_CANCELLED);
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish_soon(waits, 900)); /* an offer that nobody takes stands for 5 s */
    assert_ok(actor_unlock(waits, second));
    assert_ok(actor_finish_soon(between, 900));
    assert_ok(actor_unlock(between, shared));
    actor_end(gives_up);
    actor_end(between);
    actor_end(waits);
    rlock_cancel_free(token);
    rlock_free(first);
    rlock_free(second);
}
