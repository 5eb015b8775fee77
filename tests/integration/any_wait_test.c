/* Any lock: what the scenarios ask of every kind about waiting for it, and about its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIND_SUITE any_wait
TestSuite(any_wait, .init = stage_open, .fini = stage_close);

#define NAME "order"

/* How late a waiter may be that no message wakes, at best: a machine may be busy. */
static int64_t late_ms(const kind *of)
{
    return of == &kind_spin ? 130 : of->both_sides ? 50 : 20;
}
#define BUSY_MS 1000 /* later than that it was not woken */

/* 7, scaled down from 2 s: how long after its begin a hold with a lease has ended for the next. */
static int64_t let_in_after(rlock *lock, rlock *rival, int64_t lease_ms)
{
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, lease_ms));
    assert_ok(rlock_lock(rival));
    int64_t after_ms = now_ms() - since_ms;
    /* The lease's end is the server's to see, and so has a millisecond or two. */
    assert_between(after_ms, lease_ms - 2, lease_ms + at_most_ms(BUSY_MS));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    cr_assert(is_locked(rival));
    assert_ok(rlock_unlock(rival));
    return after_ms;
}

KIND_TEST(lease_that_ends_lets_the_next_in_soon)
{
    rlock *lock = kind_of(of, stage.client, NAME), *rival = rival_of(of, stage.other, NAME);
    int64_t fastest_ms = INT64_MAX;
    for (int i = 0; i < 3; i++) {
        int64_t after_ms = let_in_after(lock, rival, 150);
        fastest_ms = after_ms < fastest_ms ? after_ms : fastest_ms;
    }
    assert_between(fastest_ms, 148, 150 + at_most_ms(late_ms(of)));
}

/* 7, among the owners of one client: the next has queued for it here. */
KIND_TEST(lease_that_ends_lets_the_next_of_this_client_in_soon)
{
    rlock *lock = kind_of(of, stage.client, NAME), *rival = rival_of(of, stage.client, NAME);
    actor *next = actor_start();
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 200));
    assert_ok(actor_lock(next, rival));
    assert_between(actor_ended_at(next) - since_ms, 198, 200 + at_most_ms(BUSY_MS));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(actor_unlock(next, rival));
    actor_end(next);
}

/* 8, scaled down from 3 s. */
KIND_TEST(try_ends_when_its_time_is_over)
{
    rlock *lock = kind_of(of, stage.client, NAME), *rival = rival_of(of, stage.other, NAME);
    assert_ok(rlock_lock(lock));
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(rival, 300, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_between(now_ms() - since_ms, 298, 300 + at_most_ms(BUSY_MS));
    cr_assert(wait_no_channels(5000));
    cr_assert(rlock_valid_for(lock) > 0 && is_locked(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_try_lock(rival, 0, RLOCK_WATCHDOG)); /* what timed out has left nothing behind */
    assert_ok(rlock_unlock(rival));
}

/* The release of the holder is what wakes it; a spin lock's waiter looks by itself. */
KIND_TEST(waiter_is_in_soon_after_the_unlock)
{
    rlock *lock = kind_of(of, stage.client, NAME), *rival = rival_of(of, stage.other, NAME);
    actor *waiter = actor_start();
    int64_t fastest_ms = INT64_MAX;
    for (int i = 0; i < 3; i++) {
        assert_ok(rlock_lock(lock));
        actor_begin_lock(waiter, rival);
        if (of->channel && !of->fair)
            cr_assert(server_wait_subscribers(stage.server, kind_channel(of, NAME), 1, 5000));
        cr_assert(actor_asleep(waiter, 5000));
        int64_t since_ms = now_ms();
        assert_ok(rlock_unlock(lock));
        assert_ok(actor_finish(waiter, 5000));
        int64_t after_ms = actor_ended_at(waiter) - since_ms;
        assert_between(after_ms, 0, at_most_ms(BUSY_MS));
        fastest_ms = after_ms < fastest_ms ? after_ms : fastest_ms;
        assert_ok(actor_unlock(waiter, rival));
    }
    assert_between(fastest_ms, 0, at_most_ms(late_ms(of)));
    cr_assert(wait_no_channels(5000));
    actor_end(waiter);
}

/* Its holder forces it open, and another waits. */
KIND_TEST(waiter_is_in_soon_after_a_force_unlock)
{
    rlock *lock = kind_of(of, stage.client, NAME), *rival = rival_of(of, stage.other, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, rival);
    cr_assert(actor_asleep(waiter, 5000));
    if (of->channel && !of->fair)
        cr_assert(server_wait_subscribers(stage.server, kind_channel(of, NAME), 1, 5000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_force_unlock(lock, NULL));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(BUSY_MS));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(actor_unlock(waiter, rival));
    actor_end(waiter);
}

/* 9, with a watchdog timeout of 400 ms instead of 30 s: nobody renews for a client that is gone. */
KIND_TEST(lock_of_a_closed_client_is_free_within_the_watchdog_timeout)
{
    rlock_client *client = stage_client("lockWatchdogTimeout=400");
    assert_ok(rlock_lock(kind_of(of, client, NAME)));
    pass_ms(170); /* renewed once by now */
    int64_t since_ms = now_ms();
    stage_close_client(client);
    rlock *rival = rival_of(of, stage.other, NAME);
    assert_ok(rlock_lock(rival));
    assert_between(now_ms() - since_ms, 100, 400 + at_most_ms(BUSY_MS));
    assert_ok(rlock_unlock(rival));
}

/* --- 13 --- */

static void interrupted(int number)
{
    (void)number;
}

/* Scaled down from 2 s: a signal does not end a plain lock's wait. */
KIND_REAL_TEST(plain_wait_is_not_ended_by_signals)
{
    struct sigaction action = {.sa_handler = interrupted}; /* no SA_RESTART */
    rlock *lock = kind_of(of, stage.client, NAME), *rival = rival_of(of, stage.other, NAME);
    actor *waiter = actor_start();
    sigaction(SIGUSR1, &action, NULL);
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, rival);
    cr_assert(actor_asleep(waiter, 5000));
    for (int i = 0; i < 5; i++) {
        actor_signal(waiter, SIGUSR1);
        cr_assert(!actor_ended(waiter, 20));
    }
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(actor_holds(waiter, rival));
    assert_ok(actor_unlock(waiter, rival));
    actor_end(waiter);
}

KIND_TEST(cancelled_wait_ends_at_once_and_leaves_nothing)
{
    rlock *lock = kind_of(of, stage.client, NAME), *rival = rival_of(of, stage.other, NAME);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    rlock_cancel *token = options.cancel = rlock_cancel_new();
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_with(waiter, rival, &options);
    cr_assert(actor_asleep(waiter, 5000));
    int64_t since_ms = now_ms();
    rlock_cancel_fire(token);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(200));
    cr_assert(!actor_holds(waiter, rival));
    assert_status(actor_unlock(waiter, rival), RLOCK_NOT_OWNER);
    cr_assert(wait_no_channels(5000));
    assert_ok(rlock_unlock(lock));
    cr_assert(!server_wait_exists(stage.server, kind_key(of, NAME), true, 100), "taken by nobody");
    actor_end(waiter);
    rlock_cancel_free(token);
}

/* --- what runs late --- */

/* 14, in the worst case: what was given up is run by the server afterwards. It is undone at once, not
 * when the lease of 30 s ends. */
KIND_TEST(try_that_was_cancelled_on_its_way_frees_what_it_takes)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    rlock_cancel *token = options.cancel = rlock_cancel_new();
    actor *trying = actor_start();
    assert_ok(rlock_lock(lock)); /* the server knows the scripts */
    assert_ok(rlock_unlock(lock));
    freeReplyObject(server_command(stage.server, "CONFIG SET notify-keyspace-events Egh$x"));
    server_listen(stage.server);
    server_freeze(stage.server);
    options.wait_ms = 0;
    actor_begin_with(trying, lock, &options);
    cr_assert(actor_asleep(trying, 5000));
    cr_assert(!actor_ended(trying, 5));
    rlock_cancel_fire(token);
    assert_status(actor_finish(trying, 5000), RLOCK_CANCELLED);
    cr_assert(actor_valid_for(trying, lock) == 0);
    server_thaw(stage.server);
    cr_assert(server_heard(stage.server, of->field ? "__keyevent@0__:hset" : "__keyevent@0__:set", kind_key(of, NAME), 5000),
              "it did not run late");
    cr_assert(server_wait_exists(stage.server, kind_key(of, NAME), false, 5000), "what it took is still there");
    cr_assert(!of->both_sides || wait_key_count(0, 10000), "a key of the hold is still there");
    assert_status(actor_unlock(trying, lock), RLOCK_NOT_OWNER);
    actor_end(trying);
    rlock_cancel_free(token);
}

/* 14, at whatever moment the token fires. */
KIND_TEST(try_that_is_cancelled_is_held_or_leaves_it_free)
{
    rlock *lock = kind_of(of, stage.client, NAME), *rival = rival_of(of, stage.other, NAME);
    actor *trying = actor_start();
    for (int i = 0; i < 60; i++) {
        rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
        rlock_cancel *token = options.cancel = rlock_cancel_new();
        options.wait_ms = 0;
        actor_begin_with(trying, lock, &options);
        for (volatile int spin = 0; spin < i * 1000; spin++)
            continue;
        rlock_cancel_fire(token);
        rlock_status status = actor_finish(trying, 5000);
        cr_assert(status == RLOCK_OK || status == RLOCK_CANCELLED, "%s", rlock_strstatus(status));
        if (status == RLOCK_OK)
            assert_ok(actor_unlock(trying, lock));
        else
            assert_status(actor_unlock(trying, lock), RLOCK_NOT_OWNER);
        rlock_cancel_free(token);
    }
    /* Far below the lease of 30 s. */
    assert_ok(rlock_try_lock(rival, 5000, 60000));
    assert_ok(rlock_unlock(rival));
    actor_end(trying);
}

/* 15, with a timeout of 200 ms and one retry, so that it takes no 5 s. */
KIND_TEST(try_at_a_server_that_is_gone_says_so)
{
    static const char query[] = "timeout=200&connectTimeout=200&retryAttempts=1&retryBaseDelay=50&retryMaxDelay=50";
    rlock *lock = kind_of(of, stage_client(query), NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    server_kill(stage.server);
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(lock, 5000, 10000), RLOCK_UNAVAILABLE);
    assert_status(rlock_try_lock(lock, 0, 10000), RLOCK_UNAVAILABLE);
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, 0, at_most_ms(3000));
    cr_assert(rlock_valid_for(lock) == 0);
    server_restart(stage.server);
    assert_ok(rlock_try_lock(lock, 0, 10000));
    assert_ok(rlock_unlock(lock));
}
