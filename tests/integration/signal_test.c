/* The signal-list lock: a release wakes the client that has waited longest, and no other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/blocked.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(signal_list, .init = stage_quick, .fini = stage_close);

#define NAME "order"
#define LOCK "lock:" NAME
#define LIST "lock-signal:" NAME
#define THEIRS "kX0yVqEYpPn1dmJYw8vKJgcW" /* as python-redis-lock writes it */
#define SOON_MS 10000
#define AT_ONCE_MS 20
#define GIVEN_BACK_MS 200 /* what a cancelled request took is given back in the background */

static rlock *signal_of(rlock_client *client)
{
    return kind_of(&kind_signal, client, NAME);
}

/* ms 0: without expiry. */
static void take_theirs(int64_t ms)
{
    freeReplyObject(ms ? server_command(stage.server, "SET " LOCK " " THEIRS " NX PX %lld", (long long)ms)
                       : server_command(stage.server, "SET " LOCK " " THEIRS " NX"));
}

/* As that library's script does it. */
static void release_theirs(void)
{
    static const char script[] = "redis.call('del', KEYS[2]) redis.call('lpush', KEYS[2], 1) "
                                 "redis.call('pexpire', KEYS[2], 1000) return redis.call('del', KEYS[1])";
    cr_assert(server_integer(stage.server, "EVAL %s 2 " LOCK " " LIST, script) == 1);
}

/* --- what stands on the server: the element for no longer than a second, so to see it takes virtual time --- */

TimedTest(signal_list, lock_is_a_string_and_its_release_an_element_for_a_second)
{
    rlock *lock = signal_of(stage.client);
    assert_ok(rlock_lock_lease(lock, 20000));
    char *value = server_text(stage.server, "GET " LOCK);
    size_t id = strlen(rlock_client_id(stage.client));
    cr_assert(value && strncmp(value, rlock_client_id(stage.client), id) == 0 && value[id] == ':', "%s", value);
    free(value);
    assert_between(pttl_of(LOCK), 1, 20000);
    assert_ok(rlock_unlock(lock));
    char *keys = server_keyspace(stage.server);
    cr_assert_str_eq(keys, LIST " list [1] \n");
    free(keys);
    assert_between(pttl_of(LIST), 1, 1000);
}

TimedTest(signal_list, inner_unlock_signals_to_nobody)
{
    rlock *lock = signal_of(stage.client);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(server_integer(stage.server, "EXISTS " LIST) == 0);
    assert_ok(rlock_unlock(lock));
    cr_assert(server_integer(stage.server, "LLEN " LIST) == 1);
}

TimedTest(signal_list, names_have_the_prefix_of_the_client_behind_that_of_the_kind)
{
    rlock *lock = signal_of(stage_client("namePrefix=shop:"));
    assert_ok(rlock_lock(lock));
    cr_assert(server_integer(stage.server, "EXISTS lock:shop:" NAME) == 1);
    cr_assert_str_eq(rlock_name(lock), NAME);
    assert_ok(rlock_unlock(lock));
    cr_assert(server_integer(stage.server, "EXISTS lock-signal:shop:" NAME) == 1);
}

/* One element, however many releases nobody has waited for. */
Test(signal_list, releases_without_waiters_leave_one_element)
{
    rlock *lock = signal_of(stage.client);
    for (int i = 0; i < 3; i++) {
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_unlock(lock));
    }
    cr_assert(server_integer(stage.server, "LLEN " LIST) <= 1);
}

Test(signal_list, inner_unlock_renews_the_lease_of_what_remains)
{
    rlock *lock = signal_of(stage.client);
    assert_ok(rlock_lock_lease(lock, 50000));
    assert_ok(rlock_lock_lease(lock, 50000));
    cr_assert(server_integer(stage.server, "PEXPIRE " LOCK " 20000") == 1);
    assert_ok(rlock_unlock(lock));
    assert_between(pttl_of(LOCK), 40000, 50000);
    assert_ok(rlock_unlock(lock));
}

/* --- beside other programs --- */

Test(signal_list, of_another_program_is_had_at_once_when_it_signals)
{
    rlock *lock = signal_of(stage.client);
    actor *waiter = actor_start();
    take_theirs(0);
    actor_begin_lock(waiter, lock);
    await_blocked(1);
    pass_ms(300); /* its pauses have ended */
    int64_t since_ms = now_ms();
    release_theirs();
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(AT_ONCE_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

Test(signal_list, that_is_forced_open_is_had_at_once)
{
    rlock *lock = signal_of(stage.client);
    actor *waiter = actor_start();
    take_theirs(0);
    actor_begin_lock(waiter, lock);
    await_blocked(1);
    pass_ms(300);
    int64_t since_ms = now_ms();
    assert_ok(rlock_force_unlock(signal_of(stage.other), NULL));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(AT_ONCE_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* An end signals to nobody. */
TimedTest(signal_list, that_expires_is_taken_at_that_moment)
{
    int64_t since_ms = now_ms();
    take_theirs(700);
    assert_ok(rlock_try_lock(signal_of(stage.client), 50000, 1000));
    assert_between(now_ms() - since_ms, 700, 750);
}

/* Nor does DEL: the next look finds it. */
TimedTest(signal_list, that_is_deleted_without_a_signal_is_found_by_the_next_look)
{
    actor *waiter = actor_start();
    take_theirs(0);
    actor_begin_lock(waiter, signal_of(stage.client));
    pass_ms(700);
    freeReplyObject(server_command(stage.server, "DEL " LOCK));
    assert_ok(actor_finish(waiter, 60000));
    assert_between(actor_took(waiter), 700, 5700);
    actor_end(waiter);
}

/* An element is a hint: there may be any number of them, of any age. */
Test(signal_list, elements_without_a_release_let_nobody_in)
{
    rlock *lock = signal_of(stage.client);
    actor *waiter = actor_start();
    take_theirs(0);
    freeReplyObject(server_command(stage.server, "RPUSH " LIST " 1 1 x 1"));
    actor_begin_lock(waiter, lock);
    for (int64_t end_ms = limit_end_ms(SOON_MS); server_integer(stage.server, "EXISTS " LIST) == 1; pass_ms(1))
        cr_assert(now_ms() < end_ms, "they are not taken");
    await_blocked(1);
    cr_assert(!actor_ended(waiter, 0));
    release_theirs();
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* --- order --- */

/* One connection a client, however many wait. (In real time, the second may ask the server, and the third wait before it.) */
TimedTest(signal_list, waiters_of_a_client_take_turns_in_their_order_on_one_connection)
{
    enum { WAITERS = 5 };
    rlock *lock = signal_of(stage.client);
    actor *waiters[WAITERS];
    take_theirs(0);
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = actor_start();
        actor_begin_lock(waiters[i], lock);
        pass_ms(10);
    }
    await_blocked(1);
    release_theirs();
    for (int i = 0; i < WAITERS; i++) {
        assert_ok(actor_finish(waiters[i], SOON_MS));
        for (int later = i + 1; later < WAITERS; later++)
            cr_assert(!actor_ended(waiters[later], 0));
        assert_ok(actor_unlock(waiters[i], lock));
    }
    for (int i = 0; i < WAITERS; i++)
        actor_end(waiters[i]);
}

/* The second stays where it is. (In real time, one that has waited for five seconds may ask by itself at that moment.) */
TimedTest(signal_list, release_wakes_the_client_that_has_waited_longest_and_no_other)
{
    rlock *locks[] = {signal_of(stage.client), signal_of(stage.other), signal_of(stage_client(STAGE_QUICK))};
    actor *waiters[3];
    take_theirs(0);
    for (int i = 0; i < 3; i++) {
        waiters[i] = actor_start();
        begin_blocked(waiters[i], locks[i], i + 1);
    }
    release_theirs();
    for (int i = 0; i < 3; i++) {
        assert_ok(actor_finish(waiters[i], SOON_MS));
        await_blocked(2 - i);
        assert_ok(actor_unlock(waiters[i], locks[i]));
    }
    for (int i = 0; i < 3; i++)
        actor_end(waiters[i]);
}

/* --- who leaves without the lock takes no signal along --- */

/* The first leaves at its time; the signal that comes then is the second's. */
TimedTest(signal_list, waiter_whose_time_is_over_leaves_the_next_signal_to_others)
{
    actor *first = actor_start(), *second = actor_start();
    take_theirs(0);
    for (int64_t after_ms = 0; after_ms < 12; after_ms++) {
        actor_begin_try(first, signal_of(stage.client), 1000, 1000);
        await_blocked(1);
        actor_begin_try(second, signal_of(stage.other), 60000, 60000);
        await_blocked(2);
        assert_status(actor_finish(first, SOON_MS), RLOCK_TIMEOUT);
        pass_ms(after_ms);
        int64_t since_ms = now_ms();
        release_theirs();
        assert_ok(actor_finish(second, SOON_MS));
        assert_between(actor_ended_at(second) - since_ms, 0, AT_ONCE_MS);
        assert_ok(actor_unlock(second, signal_of(stage.other)));
        take_theirs(0);
    }
    actor_end(first);
    actor_end(second);
}

/* At whatever moment its token fires, and the release comes. */
TimedTest(signal_list, waiter_that_is_cancelled_leaves_the_signal_to_others)
{
    actor *first = actor_start(), *second = actor_start();
    for (int i = 0; i < 60; i++) {
        rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
        options.cancel = rlock_cancel_new();
        take_theirs(0);
        actor_begin_with(first, signal_of(stage.client), &options);
        await_blocked(1);
        actor_begin_try(second, signal_of(stage.other), 60000, 60000);
        await_blocked(2);
        int64_t since_ms = now_ms();
        if (i % 2) {
            rlock_cancel_fire(options.cancel);
            release_theirs();
        } else {
            release_theirs();
            rlock_cancel_fire(options.cancel);
        }
        rlock_status status = actor_finish(first, SOON_MS);
        cr_assert(status == RLOCK_OK || status == RLOCK_CANCELLED, "%s", rlock_strstatus(status));
        if (status == RLOCK_OK)
            assert_ok(actor_unlock(first, signal_of(stage.client)));
        assert_ok(actor_finish(second, SOON_MS));
        assert_between(actor_ended_at(second) - since_ms, 0, GIVEN_BACK_MS);
        assert_ok(actor_unlock(second, signal_of(stage.other)));
        rlock_cancel_free(options.cancel);
    }
    actor_end(first);
    actor_end(second);
}

/* Nor does a client that is closed. */
TimedTest(signal_list, client_that_is_closed_leaves_the_signal_to_others)
{
    actor *first = actor_start(), *second = actor_start();
    for (int i = 0; i < 20; i++) {
        rlock_client *leaving = stage_client(STAGE_QUICK);
        take_theirs(0);
        actor_begin_lock(first, signal_of(leaving));
        await_blocked(1);
        actor_begin_try(second, signal_of(stage.other), 60000, 60000);
        await_blocked(2);
        int64_t since_ms = now_ms();
        if (i % 2)
            release_theirs();
        stage_close_client(leaving);
        if (i % 2 == 0)
            release_theirs();
        rlock_status status = actor_finish(first, SOON_MS);
        cr_assert(status == RLOCK_OK || status == RLOCK_CLOSED, "%s", rlock_strstatus(status));
        if (status == RLOCK_OK) /* its lease ends, as nobody can give it back */
            freeReplyObject(server_command(stage.server, "DEL " LOCK));
        assert_ok(actor_finish(second, SOON_MS));
        /* a request that was under way may have taken the lock, and nobody is left to give it back */
        if (status == RLOCK_CLOSED)
            assert_between(actor_ended_at(second) - since_ms, 0, i % 2 ? QUICK_MS + AT_ONCE_MS : AT_ONCE_MS);
        assert_ok(actor_unlock(second, signal_of(stage.other)));
    }
    actor_end(first);
    actor_end(second);
}

/* It looks for a second whether a signal is to be passed on, however long its timeout is. */
TimedTest(signal_list, client_is_closed_though_the_server_stands_still)
{
    actor *waiter = actor_start();
    rlock_client *leaving = stage_client("timeout=30000");
    take_theirs(0);
    actor_begin_lock(waiter, signal_of(leaving));
    await_blocked(1);
    server_freeze(stage.server);
    int64_t since_ms = now_ms();
    stage_close_client(leaving);
    assert_between(now_ms() - since_ms, 0, 2100);
    assert_status(actor_finish(waiter, SOON_MS), RLOCK_CLOSED);
    server_thaw(stage.server);
    actor_end(waiter);
}

/* --- connections --- */

static void kill_blocked(void)
{
    redisReply *list = server_command(stage.server, "CLIENT LIST");
    for (char *rest = list->str, *line; (line = strtok_r(rest, "\n", &rest));) {
        long long id = -1;
        if (strstr(line, "cmd=blpop") && sscanf(line, "id=%lld", &id) == 1)
            cr_assert(server_integer(stage.server, "CLIENT KILL ID %lld", id) == 1);
    }
    freeReplyObject(list);
}

/* A signal may be lost with it, and no more than that. */
RealTest(signal_list, connection_that_is_killed_costs_a_moment)
{
    rlock *lock = signal_of(stage.client);
    actor *waiter = actor_start();
    take_theirs(0);
    actor_begin_lock(waiter, lock);
    for (int i = 0; i < 3; i++) {
        await_blocked(1);
        kill_blocked();
    }
    release_theirs();
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* What is kept for the next wait is given up when there is none. */
TimedTest(signal_list, connection_that_nobody_uses_is_closed)
{
    rlock *lock = signal_of(stage.client);
    actor *waiter = actor_start();
    int64_t before = server_info(stage.server, "connected_clients");
    for (int i = 0; i < 3; i++) {
        take_theirs(0);
        actor_begin_lock(waiter, lock);
        await_blocked(1);
        release_theirs();
        assert_ok(actor_finish(waiter, SOON_MS));
        assert_ok(actor_unlock(waiter, lock));
    }
    assert_between(server_info(stage.server, "connected_clients"), before + 1, before + 2); /* the other: a second pipeline */
    int64_t during = server_info(stage.server, "connected_clients");
    pass_ms(40000);
    cr_assert(server_info(stage.server, "connected_clients") == during - 1);
    actor_end(waiter);
}

/* More names are waited for than there may be connections. */
Test(signal_list, waits_for_a_hundred_names_end_with_their_releases)
{
    enum { NAMES = 100 };
    actor *waiters[NAMES];
    rlock *ours[NAMES], *theirs[NAMES];
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "order-%d", i);
        ours[i] = kind_of(&kind_signal, stage.client, name);
        theirs[i] = kind_of(&kind_signal, stage.other, name);
        assert_ok(rlock_lock(theirs[i]));
        waiters[i] = actor_start();
        actor_begin_lock(waiters[i], ours[i]);
    }
    await_blocked(64);
    for (int i = 0; i < NAMES; i++)
        assert_ok(rlock_unlock(theirs[i]));
    for (int i = 0; i < NAMES; i++) {
        assert_ok(actor_finish(waiters[i], SOON_MS));
        assert_ok(actor_unlock(waiters[i], ours[i]));
        actor_end(waiters[i]);
    }
}
