/* The local hand-over: with localHandOver an unlock may leave the lock to a thread of the same client, and the server
 * hears nothing of it; so often and so long in a row that others are served, too. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/script.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdlib.h>

#define NAME "counter"

static void stage_local(void)
{
    stage_open_with("localHandOver=true");
}

static void stage_local_quick(void)
{
    stage_open_with("localHandOver=true&" STAGE_QUICK);
}

TestSuite(local_hand_over, .init = stage_local, .fini = stage_close);
TestSuite(local_hand_over_watchdog, .init = stage_local_quick, .fini = stage_close);

static rlock *mine(void)
{
    return lock_of(stage.client, NAME);
}

/* One that waits and has asked all that it has to ask. */
static actor *wait_for(rlock *lock, int64_t lease_ms)
{
    actor *waiter = actor_start();
    actor_begin_try(waiter, lock, 60000, lease_ms);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(waiter, 5000));
    return waiter;
}

/* --- newcomers --- */

static void lock_and_unlock(actor *waiter, rlock *lock)
{
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* Nobody is told that a key is deleted. A newcomer that queues behind others must not rely on what they were told
 * before it came: it would wait for as long as the lock that was deleted had to live. */
TimedTest(local_hand_over, newcomers_do_not_rely_on_an_old_answer)
{
    rlock *lock = mine();
    foreign_hold(NAME, 3600000);
    actor *first = wait_for(lock, RLOCK_WATCHDOG), *newcomer = actor_start();
    freeReplyObject(server_command(stage.server, "DEL " NAME));
    actor_begin_try(newcomer, lock, 60000, RLOCK_WATCHDOG);
    lock_and_unlock(first, lock);
    lock_and_unlock(newcomer, lock);
    assert_no_keys();
}

/* However many come, the server is asked once for all of them. */
TimedTest(local_hand_over, newcomers_do_not_all_ask)
{
    enum { NEWCOMERS = 20 };
    rlock *lock = mine();
    actor *newcomers[NEWCOMERS];
    foreign_hold(NAME, 3600000);
    actor *first = wait_for(lock, RLOCK_WATCHDOG);
    monitor *tap = monitor_open();
    for (int i = 0; i < NEWCOMERS; i++)
        newcomers[i] = wait_for(lock, RLOCK_WATCHDOG);
    pass_ms(1500);
    cr_assert(monitor_ran(tap, &rli_script_lock_acquire) == 1);
    monitor_close(tap);
    freeReplyObject(server_command(stage.server, "DEL " NAME));
    actor *last = wait_for(lock, RLOCK_WATCHDOG);
    lock_and_unlock(first, lock);
    for (int i = 0; i < NEWCOMERS; i++)
        lock_and_unlock(newcomers[i], lock);
    lock_and_unlock(last, lock);
    assert_no_keys();
}

/* --- one hand-over --- */

/* What the server knows of an unlock that left the lock to a waiter: nothing, if `stays`. */
static void hand_over(rlock *lock, int64_t lease_ms, int64_t waiters_lease_ms, bool stays)
{
    assert_ok(rlock_try_lock(lock, 0, lease_ms));
    int64_t number = wire_number(NAME, stage.client);
    actor *waiter = wait_for(lock, waiters_lease_ms);
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert((wire_number(NAME, stage.client) == number) == stays);
    cr_assert((monitor_ran(tap, &rli_script_lock_handoff) +
               monitor_ran(tap, &rli_script_lock_release) == 0) == stays);
    if (waiters_lease_ms != RLOCK_WATCHDOG)
        assert_between(pttl_of(NAME), 1, waiters_lease_ms);
    assert_ok(actor_unlock(waiter, lock));
    assert_no_keys();
    monitor_close(tap);
    actor_end(waiter);
}

Test(local_hand_over, is_not_told_to_the_server)
{
    hand_over(mine(), RLOCK_WATCHDOG, RLOCK_WATCHDOG, true);
    rlock *once = rlock_get_non_reentrant_lock(stage.client, NAME);
    hand_over(once, RLOCK_WATCHDOG, RLOCK_WATCHDOG, true);
    rlock_free(once);
}

Test(local_hand_over, is_off_unless_it_is_asked_for)
{
    stage_close_client(stage.client);
    stage.client = stage_client("");
    hand_over(mine(), RLOCK_WATCHDOG, RLOCK_WATCHDOG, false);
}

/* A lease of one's own ends when it ends: the server has to know of it. */
Test(local_hand_over, is_for_locks_without_lease)
{
    hand_over(mine(), 20000, RLOCK_WATCHDOG, false);
    hand_over(mine(), RLOCK_WATCHDOG, 20000, false);
}

Test(local_hand_over, leaves_the_fenced_lock_to_the_server)
{
    rlock *lock = rlock_get_fenced_lock(stage.client, NAME);
    uint64_t first = 0;
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_get_token(lock, &first));
    actor *waiter = wait_for(lock, RLOCK_WATCHDOG);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(server_integer(stage.server, "GET redisson_lock_token:{" NAME "}") == (int64_t)first + 1);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    rlock_free(lock);
}

/* A force release that names other values of the group would not find a hold that was kept. */
Test(local_hand_over, leaves_group_locks_to_the_server)
{
    rlock *lock = group_of(stage.client, NAME, "ab");
    assert_ok(rlock_lock(lock));
    actor *waiter = wait_for(lock, RLOCK_WATCHDOG);
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(monitor_ran(tap, &rli_script_group_release) == 1);
    assert_ok(actor_unlock(waiter, lock));
    monitor_close(tap);
    actor_end(waiter);
}

/* A multi lock that fails gives back the very holds that it took: they must not have become another's. */
Test(local_hand_over, leaves_the_members_of_other_locks_to_the_server)
{
    rlock *member = mine(), *multi = rlock_get_multi_lock(&member, 1);
    assert_ok(rlock_lock(multi));
    int64_t number = wire_number(NAME, stage.client);
    actor *waiter = wait_for(member, RLOCK_WATCHDOG);
    assert_ok(rlock_unlock(multi));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(wire_number(NAME, stage.client) != number);
    assert_ok(actor_unlock(waiter, member));
    assert_no_keys();
    actor_end(waiter);
    rlock_free(multi);
}

Test(local_hand_over, makes_the_waiter_the_owner_of_all)
{
    rlock *lock = mine();
    assert_ok(rlock_lock(lock));
    actor *waiter = wait_for(lock, RLOCK_WATCHDOG);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(actor_holds(waiter, lock) && actor_hold_count(waiter, lock) == 1 && actor_valid_for(waiter, lock) > 0);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(actor_lock(waiter, lock));
    cr_assert(actor_hold_count(waiter, lock) == 2);
    assert_ok(actor_unlock(waiter, lock));
    cr_assert(actor_holds(waiter, lock));
    assert_ok(actor_unlock(waiter, lock));
    assert_no_keys();
    actor_end(waiter);
}

Test(local_hand_over, leaves_the_outer_holds_of_its_owner_alone)
{
    rlock *lock = mine();
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    actor *waiter = wait_for(lock, RLOCK_WATCHDOG);
    assert_ok(rlock_unlock(lock));
    cr_assert(!actor_ended(waiter, 20));
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* --- what keeps it going, and what ends it --- */

TimedTest(local_hand_over_watchdog, is_renewed_for_its_new_owner)
{
    rlock *lock = mine();
    assert_ok(rlock_lock(lock));
    actor *waiter = wait_for(lock, RLOCK_WATCHDOG);
    pass_ms(QUICK_MS / 4);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    assert_kept(NAME, NULL, KEPT_MS);
    cr_assert(actor_valid_for(waiter, lock) > 0);
    assert_ok(actor_unlock(waiter, lock));
    assert_no_keys();
    actor_end(waiter);
}

/* The server forgot it while nobody asked: whoever has it by then is told. */
TimedTest(local_hand_over_watchdog, of_a_lock_that_is_gone_is_found_out)
{
    losses told;
    losses_init(&told);
    rlock_on_lost(stage.client, losses_note, &told);
    rlock *lock = mine();
    assert_ok(rlock_lock(lock));
    actor *waiter = wait_for(lock, RLOCK_WATCHDOG);
    foreign_vanish(NAME);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    losses_await(&told, 1, QUICK_MS);
    cr_assert(actor_valid_for(waiter, lock) == 0);
    assert_status(actor_unlock(waiter, lock), RLOCK_LOST);
    actor_end(waiter);
}

/* --- many --- */

#define THREADS 4

typedef struct rush {
    rlock *lock;
    int64_t wait_ms; /* RLOCK_FOREVER: lock() */
    int turns;       /* each so many; 0: until stopped */
    atomic_bool stopped;
    int inside;      /* not atomic: it is what the lock guards */
    long had;
} rush;

static rlock_status rush_on(void *arg)
{
    rush *all = arg;
    for (int i = 0; (all->turns == 0 || i < all->turns) && !atomic_load(&all->stopped); i++) {
        rlock_status status = all->wait_ms == RLOCK_FOREVER ? rlock_lock(all->lock)
                                                            : rlock_try_lock(all->lock, all->wait_ms, RLOCK_WATCHDOG);
        if (status == RLOCK_TIMEOUT && all->wait_ms != RLOCK_FOREVER)
            continue;
        if (status != RLOCK_OK)
            return status;
        if (all->inside++ != 0)
            return RLOCK_SERVER; /* for the test to see: two were inside */
        all->had++;
        all->inside--;
        status = rlock_unlock(all->lock);
        if (status != RLOCK_OK)
            return status;
    }
    return RLOCK_OK;
}

static void rush_begin(rush *all, actor **actors, int count)
{
    for (int i = 0; i < count; i++) {
        actors[i] = actor_start();
        actor_begin(actors[i], rush_on, all);
    }
}

static void rush_end(actor **actors, int count)
{
    for (int i = 0; i < count; i++) {
        assert_ok(actor_finish(actors[i], 30000));
        actor_end(actors[i]);
    }
}

/* Threads that never cease, and another client that wants the lock now and then. */
TimedTest(local_hand_over, lets_other_clients_have_their_turns)
{
    rush all = {.lock = mine(), .wait_ms = RLOCK_FOREVER};
    rlock *theirs = lock_of(stage.other, NAME);
    actor *actors[THREADS];
    rush_begin(&all, actors, THREADS);
    for (int i = 0; i < 20; i++) {
        int64_t since_ms = now_ms();
        assert_ok(rlock_lock(theirs));
        assert_between(now_ms() - since_ms, 0, at_most_ms(2000));
        cr_assert(all.inside == 0);
        all.inside = 1000; /* whoever came in now would see it */
        pass_ms(1);
        cr_assert(all.inside == 1000);
        all.inside = 0;
        assert_ok(rlock_unlock(theirs));
    }
    atomic_store(&all.stopped, true);
    rush_end(actors, THREADS);
    assert_no_keys();
}

/* Waits that end just when the lock is kept for them: somebody else gets it, or the server has it back. */
Test(local_hand_over, is_not_lost_by_waiters_that_give_up)
{
    rush patient = {.lock = mine(), .wait_ms = RLOCK_FOREVER, .turns = 300}, hasty = {.lock = mine(), .wait_ms = 1, .turns = 300};
    hasty.inside = 0;
    actor *actors[THREADS];
    rush_begin(&hasty, actors, THREADS);
    rush_end(actors, THREADS);
    assert_no_keys();
    rush_begin(&patient, actors, 1);
    rush_end(actors, 1);
    assert_no_keys();
}

static rlock_status lock_with(void *arg)
{
    return rlock_lock_with(lock_of(stage.client, NAME), arg);
}

/* A token that is fired beside the unlock: cancelled or owner, never neither nor both. */
TimedTest(local_hand_over, is_not_lost_by_waiters_that_are_cancelled)
{
    rlock *lock = mine();
    actor *waiter = actor_start(), *firing = actor_start();
    int cancelled = 0;
    for (int i = 0; i < 200; i++) {
        rlock_cancel *token = rlock_cancel_new();
        rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
        options.cancel = token;
        assert_ok(rlock_lock(lock));
        actor_begin(waiter, lock_with, &options);
        cr_assert(actor_asleep(waiter, 5000));
        if (i % 2)
            rlock_cancel_fire(token);
        assert_ok(rlock_unlock(lock));
        if (i % 2 == 0)
            rlock_cancel_fire(token);
        rlock_status status = actor_finish(waiter, 5000);
        cr_assert(status == RLOCK_OK || status == RLOCK_CANCELLED, "%d", status);
        cancelled += status == RLOCK_CANCELLED;
        if (status == RLOCK_OK)
            assert_ok(actor_unlock(waiter, lock));
        assert_no_keys();
        rlock_cancel_free(token);
    }
    cr_assert(cancelled > 0);
    actor_end(waiter);
    actor_end(firing);
}

/* Forced open again and again: whoever had it is told, nobody is stuck, nothing is left. */
Test(local_hand_over, ends_with_a_force)
{
    rlock *lock = mine();
    actor *waiter = actor_start();
    for (int i = 0; i < 100; i++) {
        bool was_locked = false;
        assert_ok(rlock_lock(lock));
        actor_begin_lock(waiter, lock);
        cr_assert(actor_asleep(waiter, 5000));
        assert_ok(rlock_unlock(lock));
        assert_ok(rlock_force_unlock(lock, &was_locked));
        assert_ok(actor_finish(waiter, 5000));
        rlock_status status = actor_unlock(waiter, lock);
        cr_assert(status == (was_locked ? RLOCK_LOST : RLOCK_OK) || status == RLOCK_OK, "%d", status);
        assert_no_keys();
    }
    actor_end(waiter);
}
