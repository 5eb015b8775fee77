/* Cancelling: a token ends a wait at any moment, and nothing of it is left. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

TestSuite(cancel, .init = stage_open, .fini = stage_close);

#define NAME "order"

static rlock_lock_options with_token(rlock_cancel *token)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = token;
    return options;
}

Test(cancel, ends_the_wait_at_once_without_a_trace)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_cancel *token = rlock_cancel_new();
    rlock_lock_options options = with_token(token);
    actor *waiter = actor_start();
    foreign_hold(NAME, 60000);
    actor_begin_with(waiter, lock, &options);
    cr_assert(wait_listened(NAME, 5000));
    cr_assert(!actor_ended(waiter, 100));
    int64_t since_ms = now_ms();
    rlock_cancel_fire(token);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(200));
    cr_assert(wait_no_channels(5000));
    cr_assert(!actor_holds(waiter, lock));
    assert_status(actor_unlock(waiter, lock), RLOCK_NOT_OWNER);
    freeReplyObject(server_command(stage.server, "DEL %s", NAME));
    cr_assert(!server_wait_exists(stage.server, NAME, true, 300));
    actor_end(waiter);
    rlock_cancel_free(token);
}

/* A wait that queues behind another of this process. */
Test(cancel, ends_a_queued_wait_at_once)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_cancel *token = rlock_cancel_new();
    rlock_lock_options options = with_token(token);
    actor *talker = actor_start(), *queued = actor_start();
    foreign_hold(NAME, 60000);
    actor_begin_lock(talker, lock);
    cr_assert(wait_listened(NAME, 5000));
    actor_begin_with(queued, lock, &options);
    cr_assert(actor_asleep(queued, 5000));
    int64_t since_ms = now_ms();
    rlock_cancel_fire(token);
    assert_status(actor_finish(queued, 5000), RLOCK_CANCELLED);
    assert_between(actor_ended_at(queued) - since_ms, 0, at_most_ms(200));
    foreign_release(NAME);
    assert_ok(actor_finish(talker, 5000));
    assert_ok(actor_unlock(talker, lock));
    assert_no_keys();
    actor_end(talker);
    actor_end(queued);
    rlock_cancel_free(token);
}

/* One token for many waits, on several names. */
Test(cancel, ends_all_waits_of_its_token_and_no_other)
{
    static const char *const names[] = {"order:1", "order:2", "order:1", "order:2", "order:3", "order:1"};
    enum { WAITS = sizeof names / sizeof *names };
    rlock_cancel *token = rlock_cancel_new(), *another = rlock_cancel_new();
    rlock_lock_options options = with_token(token), others = with_token(another);
    actor *waiters[WAITS], *stays = actor_start();
    for (int i = 0; i < WAITS; i++) {
        foreign_hold(names[i], 60000);
        waiters[i] = actor_start();
        actor_begin_with(waiters[i], lock_of(stage.client, names[i]), &options);
        cr_assert(actor_asleep(waiters[i], 5000));
    }
    actor_begin_with(stays, lock_of(stage.client, "order:1"), &others);
    cr_assert(actor_asleep(stays, 5000));
    rlock_cancel_fire(token);
    for (int i = 0; i < WAITS; i++) {
        assert_status(actor_finish(waiters[i], 10000), RLOCK_CANCELLED);
        actor_end(waiters[i]);
    }
    cr_assert(!actor_ended(stays, 50));
    cr_assert(wait_unlistened("order:2", 5000) && wait_unlistened("order:3", 5000));
    foreign_release("order:1");
    assert_ok(actor_finish(stays, 5000));
    actor_end(stays);
    rlock_cancel_free(token);
    rlock_cancel_free(another);
}

/* Fired once, it stays fired: no wait with it lasts. */
Test(cancel, stays_fired)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_cancel *token = rlock_cancel_new();
    rlock_lock_options options = with_token(token);
    rlock_cancel_fire(token);
    rlock_cancel_fire(token);
    foreign_hold(NAME, 60000);
    for (int i = 0; i < 3; i++) {
        int64_t since_ms = now_ms();
        assert_status(rlock_lock_with(lock, &options), RLOCK_CANCELLED);
        assert_between(now_ms() - since_ms, 0, at_most_ms(200));
    }
    cr_assert(wait_no_channels(5000));
    options.cancel = NULL;
    options.wait_ms = 0;
    assert_status(rlock_lock_with(lock, &options), RLOCK_TIMEOUT);
    rlock_cancel_free(token);
}

/* The same token's waits that have the lock already keep it. */
Test(cancel, takes_no_lock_away)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_cancel *token = rlock_cancel_new();
    rlock_lock_options options = with_token(token);
    assert_ok(rlock_lock_with(lock, &options));
    rlock_cancel_fire(token);
    cr_assert(rlock_valid_for(lock) > 0);
    assert_held_alone(NAME, stage.client, 1, 30000, now_ms() - 30000);
    assert_ok(rlock_unlock(lock));
    rlock_cancel_free(token);
}

/* Redisson's line: fired about when the request is on its way, whatever the server answered, the
 * lock is soon free and stays so: either the caller has it and gives it back, or nobody has. */
TimedTest(cancel, at_any_moment_of_a_request_leaves_the_lock_free)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *caller = actor_start();
    for (int i = 0; i < 200; i++) {
        rlock_cancel *token = rlock_cancel_new();
        rlock_lock_options options = with_token(token);
        options.wait_ms = i % 2 ? 0 : RLOCK_FOREVER;
        actor_begin_with(caller, lock, &options);
        for (volatile int spin = 0; spin < i * 100; spin++)
            continue;
        rlock_cancel_fire(token);
        rlock_status status = actor_finish(caller, 5000);
        if (status == RLOCK_OK)
            assert_ok(actor_unlock(caller, lock));
        else
            assert_status(status, RLOCK_CANCELLED);
        rlock_cancel_free(token);
    }
    cr_assert(server_wait_exists(stage.server, NAME, false, 5000));
    cr_assert(!server_wait_exists(stage.server, NAME, true, 2000));
    cr_assert(wait_no_channels(5000));
    actor_end(caller);
}

/* The server had the request, stopped before it answered, and runs it later: the grant that
 * nobody heard of is taken back, long before its 30 s end. */
TimedTest(cancel, undoes_a_grant_that_comes_late)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    static const int64_t waits_ms[] = {0, 5000, RLOCK_FOREVER};
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
        rlock_cancel *token = rlock_cancel_new();
        rlock_lock_options options = with_token(token);
        options.wait_ms = waits_ms[i];
        actor *caller = actor_start();
        server_freeze(stage.server);
        actor_begin_with(caller, lock, &options);
        cr_assert(actor_asleep(caller, 5000));
        int64_t since_ms = now_ms();
        rlock_cancel_fire(token);
        assert_status(actor_finish(caller, 5000), RLOCK_CANCELLED);
        assert_between(actor_ended_at(caller) - since_ms, 0, at_most_ms(200));
        server_thaw(stage.server);
        cr_assert(server_wait_exists(stage.server, NAME, false, 5000));
        assert_ok(rlock_try_lock(lock_of(stage.other, NAME), 5000, 60000));
        assert_ok(rlock_unlock(lock_of(stage.other, NAME)));
        cr_assert(!server_wait_exists(stage.server, NAME, true, 700));
        actor_end(caller);
        rlock_cancel_free(token);
    }
}

/* Token and message at the same moment: the caller has the lock or the next waiter gets it. */
Test(cancel, loses_no_wake_up)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *talker = actor_start(), *queued = actor_start();
    for (int i = 0; i < 60; i++) {
        rlock_cancel *token = rlock_cancel_new();
        rlock_lock_options options = with_token(token);
        foreign_hold(NAME, RLOCK_WATCHDOG);
        actor_begin_with(talker, lock, &options);
        cr_assert(wait_listened(NAME, 5000));
        actor_begin_lock(queued, lock);
        cr_assert(actor_asleep(queued, 5000));
        if (i % 2) {
            rlock_cancel_fire(token);
            foreign_release(NAME);
        } else {
            foreign_release(NAME);
            for (volatile int spin = 0; spin < i * 2000; spin++)
                continue;
            rlock_cancel_fire(token);
        }
        rlock_status status = actor_finish(talker, 5000);
        if (status == RLOCK_OK)
            assert_ok(actor_unlock(talker, lock));
        else
            assert_status(status, RLOCK_CANCELLED);
        assert_ok(actor_finish(queued, 5000));
        assert_ok(actor_unlock(queued, lock));
        rlock_cancel_free(token);
    }
    actor_end(talker);
    actor_end(queued);
}

Test(cancel, allows_no_token)
{
    rlock_cancel_fire(NULL);
    rlock_cancel_free(NULL);
    rlock_cancel *token = rlock_cancel_new();
    cr_assert(token != NULL);
    rlock_cancel_free(token);
}
