/* Async calls of one owner on one lock: their order, and other calls of that owner beside them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/called.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdatomic.h>

TestSuite(async_owner, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define OWNER 9
#define SOON_MS 10000

/* --- in order --- */

/* The lock refuses its owner a second hold. */
static rlock *strict(void)
{
    return owned_by(stage_keep(rlock_get_non_reentrant_lock(stage.client, NAME)), OWNER);
}

Test(async_owner, calls_are_carried_out_in_the_order_in_which_they_began)
{
    rlock *lock = strict();
    called extended = {0}, given = {0}, taken = {0};
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_extend_async(lock, 40000, NULL, called_note, &extended));
    assert_ok(rlock_unlock_async(lock, NULL, called_note, &given));
    assert_ok(rlock_lock_async(lock, NULL, called_note, &taken));
    assert_ok(called_await(stage.client, &taken));
    assert_ok(called_await(stage.client, &given));
    assert_ok(called_await(stage.client, &extended));
    assert_ok(called_unlock(stage.client, lock, OWNER));
    assert_no_keys();
}

typedef struct taking {
    rlock *lock;
    called taken;
} taking;

static void take(const rlock_result *result, void *arg)
{
    taking *self = arg;
    assert_ok(result->status);
    assert_ok(rlock_lock_async(self->lock, NULL, called_note, &self->taken));
}

/* The function of the first begins another when the second may go on, but has not yet. */
Test(async_owner, call_that_a_function_begins_does_not_overtake)
{
    taking all = {.lock = strict()};
    called given = {0};
    assert_ok(rlock_lock(all.lock));
    assert_ok(rlock_extend_async(all.lock, 40000, NULL, take, &all));
    assert_ok(rlock_unlock_async(all.lock, NULL, called_note, &given));
    assert_ok(called_await(stage.client, &all.taken));
    assert_ok(given.status);
    assert_ok(called_unlock(stage.client, all.lock, OWNER));
    assert_no_keys();
}

/* --- beside blocking calls --- */

typedef struct unlocking {
    rlock *lock;
    called extended;
    rlock_status status;
    int64_t took_ms;
    int times;
} unlocking;

static void extend_and_unlock(const rlock_result *result, void *arg)
{
    unlocking *self = arg;
    assert_ok(result->status);
    int64_t since_ms = now_ms();
    assert_ok(rlock_extend_async(self->lock, 20000, NULL, called_note, &self->extended));
    self->status = rlock_unlock(self->lock);
    self->took_ms = now_ms() - since_ms;
    self->times++;
}

/* Requests that a function has begun are sent before it blocks. Their answers are read in the background, ten times a
 * second. */
TimedTest(async_owner, blocking_call_in_a_function_waits_for_nothing_that_was_not_sent)
{
    unlocking all = {.lock = owned_by(lock_of(stage.client, NAME), OWNER)};
    assert_ok(rlock_lock(all.lock)); /* the server gets the scripts */
    assert_ok(rlock_extend(all.lock, 20000));
    assert_ok(rlock_unlock(all.lock));
    assert_ok(rlock_lock_async(all.lock, NULL, extend_and_unlock, &all));
    called_await_count(stage.client, &all.times, 1);
    assert_ok(all.status);
    assert_ok(called_await(stage.client, &all.extended));
    assert_between(all.took_ms, 0, 130);
}

typedef struct extending {
    rlock *lock;
    atomic_bool stop;
    atomic_int times;
} extending;

static rlock_status extend_often(void *arg)
{
    extending *self = arg;
    rlock_status status = RLOCK_OK;
    for (; status == RLOCK_OK && !self->stop; self->times++)
        status = rlock_extend(self->lock, 20000);
    return status;
}

/* The program does not process: each time that the watchdog goes on with the unlock, a thread has the turn. */
TimedTest(async_owner, unlock_is_not_kept_off_by_threads_of_the_same_owner)
{
    enum { THREADS = 8 };
    actor *threads[THREADS];
    called given = {0};
    extending all = {.lock = owned_by(lock_of(stage.client, NAME), OWNER)};
    assert_ok(rlock_lock(all.lock));
    for (int i = 0; i < THREADS; i++) {
        threads[i] = actor_start();
        actor_begin(threads[i], extend_often, &all);
    }
    while (all.times < 100)
        pass_ms(1);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock_async(all.lock, NULL, called_note, &given));
    while (rlock_valid_for(all.lock) > 0 && now_ms() < since_ms + SOON_MS)
        pass_ms(1);
    int64_t took_ms = now_ms() - since_ms;
    all.stop = true;
    for (int i = 0; i < THREADS; i++) {
        rlock_status status = actor_finish(threads[i], SOON_MS);
        cr_assert(status == RLOCK_OK || status == RLOCK_NOT_OWNER, "%s", rlock_strstatus(status));
        actor_end(threads[i]);
    }
    assert_between(took_ms, 0, 500);
    assert_ok(called_await(stage.client, &given));
}
