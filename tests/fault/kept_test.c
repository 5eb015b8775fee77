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

TestSuite(kept, .init = open_local, .fini = scene_close, .timeout = 60);

#define NAME "order"
#define SOON_MS 10000

/* The server is known to have the scripts that are sent without waiting. */
static rlock *known_lock(void)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    return lock;
}

/* A waiter that was called finds its owner's turn taken by another thread, and is cancelled before that is over. So it
 * sends the release, which is answered when it has long gone. */
Test(kept, hold_that_its_waiter_gives_back_is_released_though_nobody_awaits_the_answer)
{
    rlock *lock = known_lock(), *named = owned_by(lock, 7);
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
