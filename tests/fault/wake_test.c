/* Waking in spite of faults: subscriptions that are cut, refused or never confirmed, and messages that
 * are lost with them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/support/event.h"

#include <stdio.h>

TestSuite(wake, .init = scene_open, .fini = scene_close);

#define NAME "order"

/* A waiter that sleeps, subscribed, because the other client holds the lock. */
static actor *sleeper(rlock *lock)
{
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(waiter, 5000));
    return waiter;
}

static void assert_wakes(actor *waiter, rlock *lock, int64_t since_ms, int64_t ms)
{
    assert_ok(actor_finish(waiter, 20000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(ms));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* The holder unlocks while nobody can hear of it. */
Test(wake, comes_with_the_next_subscription_when_the_message_was_lost)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(others));
    actor *waiter = sleeper(lock);
    proxy_accept(scene.proxy, false);
    proxy_cut_subscribers(scene.proxy);
    cr_assert(wait_unlistened(NAME, 5000) && actor_asleep(waiter, 5000));
    assert_ok(rlock_unlock(others));
    cr_assert(!actor_ended(waiter, 0));
    proxy_accept(scene.proxy, true);
    assert_wakes(waiter, lock, now_ms(), 500);
}

/* The one that would wake is lost with the connection on which it came. */
Test(wake, comes_though_the_connection_was_cut_at_the_message)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(others));
    actor *waiter = sleeper(lock);
    proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_CUT_AFTER, .messages = true, .times = 1});
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(others));
    assert_wakes(waiter, lock, since_ms, 200);
}

/* The waiter asks on the connection that it has. */
Test(wake, comes_though_no_other_connection_is_to_be_had)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(others));
    actor *waiter = sleeper(lock);
    proxy_accept(scene.proxy, false);
    proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_CUT_AFTER, .messages = true, .times = 1});
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(others));
    assert_wakes(waiter, lock, since_ms, 200);
}

/* The connection to hear on is dead, and neither side knows: the lease is what wakes then. */
Test(wake, comes_when_the_lease_would_have_ended_though_messages_stall)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(others, 1500));
    actor *waiter = sleeper(lock);
    int rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .messages = true});
    assert_ok(rlock_unlock(others));
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    assert_wakes(waiter, lock, since_ms, 1500 + 200);
}

/* What the waiter asks with was cut while it slept; it finds that when it asks. */
Test(wake, comes_though_the_connection_to_ask_on_was_cut)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(others));
    actor *waiter = sleeper(lock);
    freeReplyObject(server_command(stage.server, "CLIENT KILL TYPE normal"));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(others));
    assert_wakes(waiter, lock, since_ms, 200);
}

Test(wake, comes_though_everything_was_cut_at_once)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(others));
    actor *waiter = sleeper(lock);
    proxy_cut(scene.proxy);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(others));
    assert_wakes(waiter, lock, since_ms, 500);
}

Test(wake, is_ready_again_after_each_of_many_cuts)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(others));
    actor *waiter = sleeper(lock);
    for (int i = 0; i < 10; i++) {
        freeReplyObject(server_command(stage.server, "CLIENT KILL TYPE pubsub"));
        cr_assert(wait_listened(NAME, at_most_ms(500)), "cut %d: not subscribed again", i);
        cr_assert(actor_asleep(waiter, 5000)); /* it has asked once more, and heard that it is held */
    }
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(others));
    assert_wakes(waiter, lock, since_ms, 200);
    cr_assert(wait_no_channels(5000), "still subscribed");
}

/* All channels of all waiters are there again. */
Test(wake, is_ready_again_for_every_name_after_a_cut)
{
    enum { NAMES = 40 };
    actor *waiters[NAMES];
    char name[32];
    rlock *lock;
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "order-%d", i);
        foreign_hold(name, 60000);
        lock = lock_of(scene.client, name);
        waiters[i] = actor_start();
        actor_begin_try(waiters[i], lock, 30000, RLOCK_WATCHDOG);
        cr_assert(wait_listened(name, 5000));
    }
    freeReplyObject(server_command(stage.server, "CLIENT KILL TYPE pubsub"));
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "order-%d", i);
        cr_assert(wait_listened(name, 5000), "%s: not subscribed again", name);
    }
    int64_t since_ms = now_ms();
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "order-%d", i);
        foreign_release(name);
        assert_ok(actor_finish(waiters[i], 5000));
        actor_end(waiters[i]);
    }
    assert_between(now_ms() - since_ms, 0, at_most_ms(3000));
    cr_assert(wait_no_channels(5000), "still subscribed");
}

/* The server comes back empty: the lock is free, and no message says so. Its start may take longer than
 * QUICK's attempts. */
Test(wake, comes_when_the_server_has_been_restarted)
{
    rlock_client *patient = scene_client("timeout=1000&retryAttempts=20&retryBaseDelay=100&retryMaxDelay=200");
    rlock *lock = lock_of(patient, NAME);
    foreign_hold(NAME, 60000);
    actor *waiter = sleeper(lock);
    server_restart(stage.server);
    assert_wakes(waiter, lock, now_ms(), 1500);
}

/* --- subscriptions that are not confirmed --- */

static void open_impatient(void)
{
    scene_open_with(QUICK "&subscriptionTimeout=800");
}

TestSuite(unconfirmed, .init = open_impatient, .fini = scene_close);

/* Who waits without end must know that it will be woken. */
Test(unconfirmed, subscription_ends_a_wait_without_end)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(others));
    int rule = on_text("SUBSCRIBE", PROXY_HOLD_REQUEST, 0);
    int64_t since_ms = now_ms();
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, 790, at_most_ms(1200));
    proxy_release(scene.proxy, rule);
    actor *waiter = sleeper(lock);
    since_ms = now_ms();
    assert_ok(rlock_unlock(others));
    assert_wakes(waiter, lock, since_ms, 200);
    cr_assert(wait_no_channels(5000), "still subscribed");
}

/* The server does answer what it is asked: the lock was not to be had. */
Test(unconfirmed, subscription_is_a_timeout_of_a_timed_wait)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(others));
    int rule = on_text("SUBSCRIBE", PROXY_HOLD_REPLY, 0);
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(lock, 400, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_between(now_ms() - since_ms, 399, at_most_ms(650));
    proxy_release(scene.proxy, rule);
    assert_status(rlock_try_lock(lock, 100, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(others));
    assert_ok(rlock_try_lock(lock, 100, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(lock));
    cr_assert(wait_no_channels(5000), "still subscribed");
}

/* Its TTL wakes a waiter whose subscription is not there. */
Test(unconfirmed, subscription_does_not_outlast_the_lease_of_the_holder)
{
    rlock *lock = lock_of(scene.client, NAME);
    foreign_hold(NAME, 500);
    on_text("SUBSCRIBE", PROXY_HOLD_REQUEST, 0);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_between(now_ms() - since_ms, 400, at_most_ms(700));
    assert_ok(rlock_unlock(lock));
}

/* Nothing but the confirmation that does not come tells of the dead connection: no ping is sent, the wait has an end of
 * its own, and the holder's lease is long. */
Test(wake, comes_over_another_connection_when_the_subscription_is_not_confirmed)
{
    rlock_client *client = scene_client(QUICK "&pingConnectionInterval=0");
    rlock *lock = lock_of(client, NAME), *others = lock_of(stage.other, NAME);
    assert_ok(rlock_lock_lease(others, 600000));
    int held = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "\r\nSUBSCRIBE", .times = 1});
    actor *waiter = actor_start();
    actor_begin_try(waiter, lock, 60000, RLOCK_WATCHDOG);
    cr_assert(proxy_await(scene.proxy, held, PROXY_SEEN, 2, 30000), "it does not subscribe on another connection");
    assert_ok(rlock_unlock(others));
    assert_ok(actor_finish(waiter, 30000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}
