/* Threads that end: their holds are renewed no more, and reported. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <string.h>

TestSuite(thread_exit, .init = stage_quick, .fini = stage_close);

#define NAME "order"

static losses told;

static void listen_for_losses(void)
{
    losses_init(&told);
    rlock_on_lost(stage.client, losses_note, &told);
}

Test(thread_exit, ends_the_renewal_and_is_reported)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *holder = actor_start();
    listen_for_losses();
    assert_ok(actor_lock(holder, lock));
    assert_ok(actor_lock(holder, lock));
    actor_end(holder);
    int64_t since_ms = now_ms();
    cr_assert(event_wait_ms(&told.came, 5000));
    assert_between(told.all[0].at_ms - since_ms, 0, at_most_ms(ROUND_MS + 200));
    cr_assert(told.all[0].reason == RLOCK_LOST_OWNER_EXITED);
    cr_assert(strcmp(told.all[0].name, NAME) == 0 && told.all[0].hold_count == 2 && !told.all[0].named_owner);
    /* The last renewal was before the thread's end. */
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
    assert_between(now_ms() - since_ms, QUICK_MS / 2, QUICK_MS + at_most_ms(200));
    cr_assert(!event_wait_count(&told.came, 2, ROUND_MS), "told twice");
}

Test(thread_exit, lets_a_waiter_in_at_the_end_of_the_ttl)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *holder = actor_start(), *waiter = actor_start();
    assert_ok(actor_lock(holder, lock));
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(NAME, 5000));
    actor_end(holder);
    int64_t since_ms = now_ms();
    assert_ok(actor_finish(waiter, 10000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(QUICK_MS + 200));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* A lease of its own is kept to its end. */
Test(thread_exit, leaves_a_lease_as_it_is)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *holder = actor_start();
    listen_for_losses();
    const int64_t lease_ms = 4 * QUICK_MS / 5;
    int64_t since_ms = now_ms();
    assert_ok(actor_try(holder, lock, 0, lease_ms));
    actor_end(holder);
    cr_assert(event_wait_ms(&told.came, 5000));
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
    assert_between(now_ms() - since_ms, lease_ms - 2, lease_ms + at_most_ms(200));
    cr_assert(!event_wait_count(&told.came, 2, ROUND_MS), "told twice");
}

/* What it gave back before it ended is nothing to report. */
Test(thread_exit, without_a_hold_is_silent)
{
    rlock *lock = lock_of(stage.client, NAME);
    listen_for_losses();
    for (int i = 0; i < 10; i++) {
        actor *holder = actor_start();
        assert_ok(actor_lock(holder, lock));
        assert_ok(actor_unlock(holder, lock));
        actor_end(holder);
    }
    cr_assert(!event_wait_ms(&told.came, ROUND_MS));
    assert_no_keys();
}

/* A named owner is no thread: its hold stays when the thread that acted for it has ended. */
Test(thread_exit, does_not_touch_a_named_owner)
{
    rlock *named = owned_by(lock_of(stage.client, NAME), 5);
    actor *holder = actor_start();
    listen_for_losses();
    assert_ok(actor_lock(holder, named));
    actor_end(holder);
    cr_assert(!event_wait_ms(&told.came, KEPT_MS));
    cr_assert(rlock_valid_for(named) > 0 && pttl_of(NAME) > 0);
    assert_ok(rlock_unlock(named));
    assert_no_keys();
}

static rlock_status unlocked_at_the_end;
static pthread_key_t key;

static void unlock_at_the_end(void *lock)
{
    unlocked_at_the_end = rlock_unlock(lock);
}

static void *lock_and_leave(void *arg)
{
    rlock *lock = arg;
    if (rlock_lock(lock) == RLOCK_OK)
        pthread_setspecific(key, lock);
    return NULL;
}

/* Destructors of the program's own, as of C++ objects of the thread, may still unlock. */
Test(thread_exit, lets_destructors_unlock_first)
{
    rlock *lock = lock_of(stage.client, NAME);
    listen_for_losses();
    cr_assert(pthread_key_create(&key, unlock_at_the_end) == 0);
    for (int i = 0; i < 10; i++) {
        pthread_t thread;
        unlocked_at_the_end = RLOCK_CLOSED;
        cr_assert(pthread_create(&thread, NULL, lock_and_leave, lock) == 0);
        pthread_join(thread, NULL);
        assert_status(unlocked_at_the_end, RLOCK_OK);
        assert_no_keys();
    }
    cr_assert(!event_wait_ms(&told.came, ROUND_MS));
}
