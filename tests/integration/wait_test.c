/* Waiting: a waiter sleeps until a message or the TTL, asks no more than it must, and misses nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"
#include "tests/support/scripts.h"

#include <stdint.h>

TestSuite(wait, .init = stage_open, .fini = stage_close);

#define NAME "order"

/* Nothing to wait, or less than nothing: one question, no subscription. */
TimedTest(wait, of_nothing_or_less_asks_once)
{
    static const int64_t waits_ms[] = {0, -1, INT64_MIN};
    rlock *lock = lock_of(stage.client, NAME);
    foreign_hold(NAME, 60000);
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT); /* the script is known from here on */
    monitor *tap = monitor_open();
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
        int64_t before = scripts_run(), since_ms = now_ms();
        assert_status(rlock_try_lock(lock, waits_ms[i], 1000), RLOCK_TIMEOUT);
        assert_between(now_ms() - since_ms, 0, at_most_ms(200));
        cr_assert(scripts_run() - before == 1);
    }
    cr_assert(monitor_saw(tap, "subscribe") == 0);
    monitor_close(tap);
}

/* Ask, subscribe, ask again once the subscription stands; then not one command more. The message says all. */
TimedTest(wait, sends_nothing_while_it_sleeps)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    rlock *held = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(held));
    assert_ok(rlock_unlock(held));
    assert_ok(rlock_lock_lease(held, 60000));
    assert_status(rlock_try_lock(lock, 0, 5000), RLOCK_TIMEOUT);
    int64_t before = scripts_run();
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(NAME, 5000));
    cr_assert(actor_asleep(waiter, 5000));
    cr_assert(scripts_run() - before == 2);
    cr_assert(commands_within(400) == 0);
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(monitor_ran(tap, &rli_script_lock_release) == 1);
    cr_assert(monitor_ran(tap, &rli_script_lock_acquire) == 0);
    monitor_close(tap);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

Test(wait, ends_soon_after_the_message)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    int64_t slept_ms = 0;
    for (int i = 0; i < 10; i++) {
        foreign_hold(NAME, 60000);
        actor_begin_lock(waiter, lock);
        cr_assert(wait_listened(NAME, 5000));
        int64_t since_ms = now_ms();
        foreign_release(NAME);
        assert_ok(actor_finish(waiter, 5000));
        slept_ms += actor_ended_at(waiter) - since_ms;
        assert_ok(actor_unlock(waiter, lock));
    }
    assert_between(slept_ms, 0, at_most_ms(10 * 50));
    actor_end(waiter);
}

/* The holder dies: no message ever comes. */
TimedTest(wait, ends_soon_after_the_ttl)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    int64_t since_ms = now_ms();
    foreign_hold(NAME, 600);
    assert_ok(actor_lock(waiter, lock));
    assert_between(actor_ended_at(waiter) - since_ms, 598, at_most_ms(750));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* A message that came too soon: asked again, and slept on. */
TimedTest(wait, goes_on_after_a_message_for_nothing)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    foreign_hold(NAME, RLOCK_WATCHDOG);
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(NAME, 5000));
    for (int i = 0; i < 5; i++) {
        int64_t before = scripts_run();
        freeReplyObject(server_command(stage.server, "PUBLISH %s %s", channel_of(NAME), i % 2 ? "1" : "0"));
        for (int64_t end_ms = limit_end_ms(5000); scripts_run() == before && now_ms() < end_ms;)
            pass_ms(1);
        cr_assert(scripts_run() > before);
    }
    cr_assert(!actor_ended(waiter, 0));
    foreign_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

static rlock_status acquire_permit(void *semaphore)
{
    return rlock_semaphore_try_acquire(semaphore, 1, 1000);
}

static rlock_status await_latch(void *latch)
{
    return rlock_count_down_latch_try_await(latch, 1000);
}

static rlock_status read_lock(void *lock)
{
    return rlock_try_lock(lock, 1000, RLOCK_WATCHDOG);
}

/* Only the guards of a lock know that message. On other channels it is like any other: waiters ask once. */
static void assert_asks_seldom(actor_call *call, void *object, const char *channel)
{
    actor *waiter = actor_start();
    actor_begin(waiter, call, object);
    cr_assert(server_wait_subscribers(stage.server, channel, 1, 5000) && actor_asleep(waiter, 5000));
    int64_t before = scripts_run();
    freeReplyObject(server_command(stage.server, "PUBLISH %s others", channel));
    assert_status(actor_finish(waiter, 5000), RLOCK_TIMEOUT);
    cr_assert(scripts_run() - before < 10, "it asked %d times", (int)(scripts_run() - before));
    actor_end(waiter);
}

TimedTest(wait, for_what_has_no_guards_takes_their_message_for_any_other)
{
    rlock_semaphore *semaphore = rlock_get_semaphore(stage.client, "se");
    rlock_count_down_latch *latch = rlock_get_count_down_latch(stage.client, "la");
    bool set = false;
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 0, &set));
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, &set));
    assert_ok(rlock_lock(kind_of(&kind_write, stage.other, "rw")));
    assert_asks_seldom(acquire_permit, semaphore, "redisson_sc:{se}");
    assert_asks_seldom(await_latch, latch, "redisson_countdownlatch__channel__{la}");
    assert_asks_seldom(read_lock, kind_of(&kind_read, stage.client, "rw"), "redisson_rwlock:{rw}");
    rlock_semaphore_free(semaphore);
    rlock_count_down_latch_free(latch);
}

/* The message may come before the subscription stands: the lock is asked for once more then. */
Test(wait, misses_no_release_however_early)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    for (int i = 0; i < 100; i++) {
        foreign_hold(NAME, RLOCK_WATCHDOG);
        int64_t before = scripts_run(), end_ms = limit_end_ms(5000);
        actor_begin_lock(waiter, lock);
        /* Mostly, once it has been refused and is about to subscribe. */
        while (i % 4 && scripts_run() == before && now_ms() < end_ms)
            continue;
        foreign_release(NAME);
        assert_ok(actor_finish(waiter, 5000));
        assert_ok(actor_unlock(waiter, lock));
    }
    actor_end(waiter);
}

/* Two processes pass the lock to and fro; a wake-up that is missed would cost the 30 s of its TTL. */
Test(wait, misses_no_wake_up_between_processes)
{
    rlock *ours = lock_of(stage.client, NAME), *theirs = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    int64_t since_ms = now_ms();
    for (int i = 0; i < 300; i++) {
        rlock *held = i % 2 ? ours : theirs, *awaited = i % 2 ? theirs : ours;
        assert_ok(rlock_lock(held));
        actor_begin_lock(waiter, awaited);
        if (i % 3)
            wait_listened(NAME, 5000);
        assert_ok(rlock_unlock(held));
        assert_ok(actor_finish(waiter, 10000));
        assert_ok(actor_unlock(waiter, awaited));
    }
    assert_between(now_ms() - since_ms, 0, at_most_ms(10000));
    actor_end(waiter);
}

/* A lock that is there needs no channel. */
Test(wait, for_a_free_lock_subscribes_to_nothing)
{
    rlock *lock = lock_of(stage.client, NAME);
    monitor *tap = monitor_open();
    assert_ok(rlock_try_lock(lock, 5000, 60000));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(monitor_saw(tap, "subscribe") == 0);
    monitor_close(tap);
}
