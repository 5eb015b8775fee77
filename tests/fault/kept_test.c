/* Kept holds under faults: with localHandOver an unlock may leave the hold with this process for a waiter here, and
 * that waiter may leave. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stopped.h"

static void open_local(void)
{
    scene_open_with(QUICK "&localHandOver=true&unlockWaits=false");
}

TestSuite(kept, .init = open_local, .fini = scene_close);

#define NAME "order"
#define SOON_MS 10000

typedef struct force {
    rlock *lock;
    bool was_locked;
} force;

static rlock_status force_open(void *arg)
{
    force *self = arg;
    return rlock_force_unlock(self->lock, &self->was_locked);
}

/* The server is known to have the scripts that are sent without waiting. */
static rlock *known_lock(rlock_client *client)
{
    rlock *lock = lock_of(client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    return lock;
}

/* A waiter that was called finds its owner's turn taken by another thread, and is cancelled before that is over. So it
 * sends the release, which is answered when it has long gone. */
Test(kept, hold_that_its_waiter_gives_back_is_released_though_nobody_awaits_the_answer)
{
    rlock *lock = known_lock(scene.client), *named = owned_by(lock, 7);
    rlock_cancel *cancel = rlock_cancel_new();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = cancel;
    actor *waiter = actor_start(), *beside = actor_start();
    actor_begin_with(waiter, named, &options);
    cr_assert(wait_listened(NAME, SOON_MS) && actor_asleep(waiter, SOON_MS));
    int asked = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 1);
    int released = on_script(&rli_script_lock_release, PROXY_NOTE, 0);
    actor_stop(waiter);
    assert_ok(rlock_unlock(lock));
    actor_begin_try(beside, named, 0, 20000);
    cr_assert(proxy_await(scene.proxy, asked, PROXY_ACTED, 1, SOON_MS));
    actor_go_on();
    rlock_cancel_fire(cancel);
    assert_status(actor_finish(waiter, SOON_MS), RLOCK_CANCELLED);
    cr_assert(proxy_count(scene.proxy, released, PROXY_ANSWERED) == 0, "the hold was not kept, or its release not posted");
    proxy_release(scene.proxy, asked);
    assert_status(actor_finish(beside, SOON_MS), RLOCK_TIMEOUT);
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    actor_end(waiter);
    actor_end(beside);
    rlock_cancel_free(cancel);
}

/* A hold that is on its way to a waiter here is freed by a force as well: that waiter does not take it any more. */
Test(kept, hold_that_is_forced_open_is_nobodys)
{
    rlock_client *patient = scene_client("timeout=30000&localHandOver=true");
    rlock *lock = known_lock(patient), *theirs = lock_of(stage.other, NAME);
    actor *waiter = actor_start(), *forcing = actor_start();
    force open = {.lock = lock};
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(NAME, SOON_MS) && actor_asleep(waiter, SOON_MS));
    int forced = on_script(&rli_script_lock_force, PROXY_HOLD_REPLY, 1);
    actor_stop(waiter);
    assert_ok(rlock_unlock(lock));
    actor_begin(forcing, force_open, &open);
    cr_assert(proxy_await(scene.proxy, forced, PROXY_ANSWERED, 1, SOON_MS));
    assert_ok(rlock_lock_lease(theirs, 600000));
    proxy_release(scene.proxy, forced);
    assert_ok(actor_finish(forcing, SOON_MS));
    cr_assert(open.was_locked);
    int asked = on_script(&rli_script_lock_acquire, PROXY_NOTE, 0);
    actor_go_on();
    cr_assert(proxy_await(scene.proxy, asked, PROXY_ANSWERED, 1, SOON_MS) || actor_ended(waiter, 0));
    cr_assert(!actor_ended(waiter, 0) && rlock_valid_for(theirs) > 0, "two hold it");
    assert_ok(rlock_unlock(theirs));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    actor_end(forcing);
}

/* A waiter was called, and before it wakes a request of its owner goes without an answer: it may not take a hold any
 * more that it would have to share with a late one. The hold does not stand for nobody. */
Test(kept, hold_that_its_waiter_may_not_take_is_released)
{
    rlock *lock = known_lock(scene.client), *named = owned_by(lock, 7);
    actor *waiter = actor_start(), *beside = actor_start();
    actor_begin_lock(waiter, named);
    cr_assert(wait_listened(NAME, SOON_MS) && actor_asleep(waiter, SOON_MS));
    int asked = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 3);
    actor_stop(waiter);
    assert_ok(rlock_unlock(lock));
    actor_begin_try(beside, named, 0, 20000);
    assert_status(actor_finish(beside, SOON_MS), RLOCK_UNAVAILABLE);
    actor_go_on();
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, named));
    proxy_release(scene.proxy, asked);
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    actor_end(waiter);
    actor_end(beside);
}

/* The same with another waiter behind that one, which sleeps in the queue: it is called instead, and takes the hold. */
Test(kept, hold_that_its_waiter_may_not_take_goes_to_the_next_one)
{
    rlock *lock = known_lock(scene.client), *named = owned_by(lock, 7);
    actor *waiter = actor_start(), *next = actor_start(), *beside = actor_start();
    actor_begin_lock(waiter, named);
    cr_assert(wait_listened(NAME, SOON_MS) && actor_asleep(waiter, SOON_MS));
    actor_begin_lock(next, lock);
    cr_assert(actor_asleep(next, SOON_MS));
    int asked = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 3);
    actor_stop(waiter);
    assert_ok(rlock_unlock(lock));
    actor_begin_try(beside, named, 0, 20000);
    assert_status(actor_finish(beside, SOON_MS), RLOCK_UNAVAILABLE);
    actor_go_on();
    assert_ok(actor_finish(next, SOON_MS));
    assert_ok(actor_unlock(next, lock));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, named));
    proxy_release(scene.proxy, asked);
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    actor_end(waiter);
    actor_end(next);
    actor_end(beside);
}
