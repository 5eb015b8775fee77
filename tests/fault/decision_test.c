/* Decisions at the edges: two things happen at once, or one comes after its time, and the answer must be the right one of
 * two that look alike. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stopped.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdlib.h>

TestSuite(decision, .init = scene_open, .fini = scene_close);

#define NAME "order"
#define SOON_MS 10000

static losses told;

typedef struct giving_back {
    rlock_permit_semaphore *semaphore;
    const char *id;
    bool *released;
} giving_back;

static rlock_status release_permit(void *arg)
{
    giving_back *self = arg;
    return rlock_permit_semaphore_try_release(self->semaphore, self->id, self->released);
}

static rlock_client *told_client(const char *query)
{
    rlock_client *client = scene_client(query);
    losses_init(&told);
    rlock_on_lost(client, losses_note, &told);
    return client;
}

/* A renewal reaches the server after the last unlock did, and says that the hold is gone. The unlock itself is not
 * answered yet. That is no loss. */
Test(decision, renewal_that_finds_a_hold_released_is_no_loss)
{
    rlock_client *client = told_client("timeout=30000&lockWatchdogTimeout=5000");
    rlock *lock = lock_of(client, NAME), *other = lock_of(client, "other");
    actor *holder = actor_start();
    int renewed = on_script(&rli_script_lock_renew, PROXY_HOLD_REQUEST, 1);
    assert_ok(actor_lock(holder, lock));
    cr_assert(proxy_await(scene.proxy, renewed, PROXY_ACTED, 1, SOON_MS));
    int released = on_script(&rli_script_lock_release, PROXY_HOLD_REPLY, 1);
    actor_begin_unlock(holder, lock);
    cr_assert(proxy_await(scene.proxy, released, PROXY_ANSWERED, 1, SOON_MS));
    int again = on_script(&rli_script_lock_renew, PROXY_NOTE, 0);
    let_through(renewed);
    /* The watchdog takes up one answer after the other: the next one shows that it has that of the first. */
    actor *beside = actor_start();
    actor_begin_lock(beside, other);
    cr_assert(proxy_await(scene.proxy, again, PROXY_ANSWERED, 2, 3 * SOON_MS));
    proxy_release(scene.proxy, released);
    assert_ok(actor_finish(holder, SOON_MS));
    assert_ok(actor_finish(beside, SOON_MS));
    cr_assert(event_count(&told.came) == 0, "a loss was told");
    assert_ok(actor_unlock(beside, other));
    actor_end(holder);
    actor_end(beside);
}

/* The release was lost twice, and by the third attempt the lease has ended: that nothing is there says nothing of who
 * took it away. */
Test(decision, release_that_finds_nothing_after_the_lease_is_a_loss)
{
    rlock *lock = lock_of(scene_client("timeout=800&retryAttempts=5&retryBaseDelay=1&retryMaxDelay=1"), NAME);
    assert_ok(rlock_lock_lease(lock, 1500));
    on_script(&rli_script_lock_release, PROXY_HOLD_REQUEST, 2);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* Two threads of an owner give back its one hold: there is nothing left for the second. */
Test(decision, unlock_that_comes_second_finds_nothing)
{
    rlock *lock = owned_by(lock_of(scene_client("timeout=30000"), NAME), 7);
    actor *first = actor_start(), *second = actor_start();
    assert_ok(rlock_lock_lease(lock, 600000));
    int released = on_script(&rli_script_lock_release, PROXY_HOLD_REPLY, 1);
    actor_begin_unlock(first, lock);
    cr_assert(proxy_await(scene.proxy, released, PROXY_ANSWERED, 1, SOON_MS));
    actor_begin_unlock(second, lock);
    cr_assert(actor_asleep(second, SOON_MS));
    proxy_release(scene.proxy, released);
    assert_ok(actor_finish(first, SOON_MS));
    assert_status(actor_finish(second, SOON_MS), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock_lease(lock, 600000));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
    actor_end(first);
    actor_end(second);
}

/* Nobody knows what the server did with the release that was lost before it started anew, without its data. */
Test(decision, release_of_a_permit_that_finds_nothing_after_a_restart_is_none)
{
    rlock_permit_semaphore *semaphore =
        permits_of(scene_client("timeout=800&retryAttempts=20&retryBaseDelay=50&retryMaxDelay=50"), NAME);
    rlock_permit permits[2];
    bool released = true;
    assert_ok(rlock_permit_semaphore_set_permits(semaphore, 2));
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 2, RLOCK_PERMIT_FOREVER, permits));
    actor *releasing = actor_start();
    giving_back one = {.semaphore = semaphore, .id = permits[0].id, .released = &released};
    int rule = on_script(&rli_script_permit_semaphore_release, PROXY_HOLD_REQUEST, 1);
    actor_begin(releasing, release_permit, &one);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, SOON_MS));
    server_kill(stage.server);
    server_restart(stage.server);
    scene_load_scripts();
    assert_ok(actor_finish(releasing, 3 * SOON_MS));
    cr_assert(!released, "it is called released");
    actor_end(releasing);
}

/* An unlock hands the lock to a waiter here, and nobody hears of it for long; that waiter has gone when it runs. */
Test(decision, lock_that_is_handed_late_to_one_who_left_is_released)
{
    rlock *lock = lock_of(scene.client, NAME);
    rlock_cancel *cancel = rlock_cancel_new();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = cancel;
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_with(waiter, lock, &options);
    cr_assert(wait_listened(NAME, SOON_MS) && actor_asleep(waiter, SOON_MS));
    int handed = on_script(&rli_script_lock_handoff, PROXY_HOLD_REQUEST, 0);
    int released = on_script(&rli_script_lock_release, PROXY_HOLD_REQUEST, 0);
    int asked = on_script(&rli_script_lock_acquire, PROXY_NOTE, 0);
    assert_status(rlock_unlock(lock), RLOCK_UNAVAILABLE);
    cr_assert(proxy_await(scene.proxy, asked, PROXY_ANSWERED, 1, SOON_MS), "it never asked");
    rlock_cancel_fire(cancel);
    assert_status(actor_finish(waiter, SOON_MS), RLOCK_CANCELLED);
    let_through(handed);
    proxy_release(scene.proxy, released);
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS), "it is held for nobody");
    actor_end(waiter);
    rlock_cancel_free(cancel);
}

/* --- with localHandOver --- */

/* A hold that was left to a waiter here ran out before that one woke up, and another process has the lock. */
Test(decision, kept_hold_is_not_taken_after_its_time)
{
    rlock *lock = lock_of(scene_client("timeout=2000&localHandOver=true&lockWatchdogTimeout=2500"), NAME);
    rlock *theirs = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(NAME, SOON_MS) && actor_asleep(waiter, SOON_MS));
    int handed = on_script(&rli_script_lock_handoff, PROXY_NOTE, 0);
    actor_stop(waiter);
    assert_ok(rlock_unlock(lock));
    cr_assert(seen_by(handed) == 0, "the hold was not kept");
    assert_ok(rlock_try_lock(theirs, 3 * SOON_MS, 600000));
    int asked = on_script(&rli_script_lock_acquire, PROXY_NOTE, 0);
    actor_go_on();
    cr_assert(proxy_await(scene.proxy, asked, PROXY_ANSWERED, 1, SOON_MS) && !actor_ended(waiter, 0), "two hold it");
    assert_ok(rlock_unlock(theirs));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

static atomic_long turns_here;
static atomic_bool over;

static rlock_status take_turns(void *arg)
{
    rlock_status status = RLOCK_OK;
    while (status == RLOCK_OK && !atomic_load(&over)) {
        status = rlock_lock(arg);
        if (status == RLOCK_OK)
            status = rlock_unlock(arg);
        atomic_fetch_add(&turns_here, 1);
    }
    return status;
}

/* Counted in turns, whatever the time: threads here never pass it on among themselves for ever. */
Test(decision, kept_hold_goes_back_to_the_server_now_and_then)
{
    enum { THREADS = 8, OTHERS_TURNS = 10, MOST_TURNS = 100000 };
    rlock *lock = lock_of(scene_client("timeout=20000&localHandOver=true"), NAME), *theirs = lock_of(stage.other, NAME);
    actor *here[THREADS];
    for (int i = 0; i < THREADS; i++) {
        here[i] = actor_start();
        actor_begin(here[i], take_turns, lock);
    }
    for (int i = 0; i < OTHERS_TURNS; i++) {
        long before = atomic_load(&turns_here);
        assert_ok(rlock_lock(theirs));
        long turns = atomic_load(&turns_here) - before;
        assert_ok(rlock_unlock(theirs));
        cr_assert(turns < MOST_TURNS, "%ld turns here before another process had one", turns);
    }
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++) {
        assert_ok(actor_finish(here[i], SOON_MS));
        actor_end(here[i]);
    }
}
