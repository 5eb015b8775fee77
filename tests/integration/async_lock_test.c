/* Async lock calls, as a program with a poll loop uses them: what they answer, and in what order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/called.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>

TestSuite(async_lock, .init = stage_open, .fini = stage_close);

#define NAME "order"

static rlock_status ask(rlock_status (*call)(rlock *, rlock_result_fn *, void *), rlock *lock, int64_t *answer)
{
    called done = {0};
    assert_ok(call(lock, called_note, &done));
    rlock_status status = called_await(stage.client, &done);
    *answer = done.answer;
    return status;
}

static rlock_status ask_for(rlock_status (*call)(rlock *, const rlock_owner *, rlock_result_fn *, void *), rlock *lock,
                            int64_t owner, int64_t *answer)
{
    called done = {0};
    assert_ok(call(lock, &(rlock_owner){owner}, called_note, &done));
    rlock_status status = called_await(stage.client, &done);
    *answer = done.answer;
    return status;
}

/* An owner takes the lock twice and gives it back twice; the others see that. */
RealTest(async_lock, is_reentrant_for_its_owner_and_answers_questions)
{
    rlock *lock = lock_of(stage.client, NAME);
    int64_t answer;
    assert_ok(ask(rlock_is_locked_async, lock, &answer));
    cr_assert(answer == 0);
    assert_ok(ask(rlock_remain_time_to_live_async, lock, &answer));
    assert_between(answer, -2, -2);
    int64_t since_ms = now_ms();
    assert_ok(called_lock(stage.client, lock, 1, RLOCK_FOREVER));
    assert_ok(called_lock(stage.client, lock, 1, 0));
    assert_held_alone(NAME, stage.client, 2, 30000, since_ms);
    assert_ok(ask(rlock_is_locked_async, lock, &answer));
    cr_assert(answer == 1);
    assert_ok(ask(rlock_remain_time_to_live_async, lock, &answer));
    assert_between(answer, 1, 30000);
    assert_ok(ask_for(rlock_get_hold_count_async, lock, 1, &answer));
    assert_between(answer, 2, 2);
    assert_ok(ask_for(rlock_is_held_async, lock, 1, &answer));
    cr_assert(answer == 1);
    assert_ok(ask_for(rlock_is_held_async, lock, 2, &answer));
    cr_assert(answer == 0);
    assert_ok(called_unlock(stage.client, lock, 1));
    assert_ok(called_unlock(stage.client, lock, 1));
    assert_no_keys();
}

/* The owner of the handle is used where the call names none. */
RealTest(async_lock, acts_for_the_owner_that_its_handle_names)
{
    rlock *lock = lock_of(stage.client, NAME), *own = owned_by(lock, 7);
    called first = {0}, second = {0};
    assert_ok(rlock_lock_async(own, NULL, called_note, &first));
    assert_ok(called_await(stage.client, &first));
    cr_assert(rlock_valid_for(own) > 0);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock_async(own, NULL, called_note, &second));
    assert_ok(called_await(stage.client, &second));
    assert_no_keys();
}

/* A hold is the owner's, whichever call has taken it. */
RealTest(async_lock, shares_holds_with_blocking_calls_of_the_same_owner)
{
    rlock *lock = lock_of(stage.client, NAME), *own = owned_by(lock, 7);
    assert_ok(rlock_lock(own));
    assert_ok(called_lock(stage.client, lock, 7, 0));
    assert_ok(rlock_unlock(own));
    assert_ok(called_unlock(stage.client, lock, 7));
    assert_no_keys();
    assert_ok(called_lock(stage.client, lock, 7, 0));
    assert_ok(rlock_unlock(own));
    assert_no_keys();
}

/* Wrong arguments are refused at once, with words, and the function is never called. */
RealTest(async_lock, refuses_wrong_arguments_at_once)
{
    rlock *lock = lock_of(stage.client, NAME), *own = owned_by(lock, 7);
    called done = {0};
    assert_status(rlock_lock_async(NULL, NULL, called_note, &done), RLOCK_INVALID);
    assert_error("NULL");
    assert_status(rlock_lock_async(lock, NULL, called_note, &done), RLOCK_INVALID);
    assert_error(NAME, "rlock_for_owner");
    assert_status(rlock_unlock_async(lock, NULL, called_note, &done), RLOCK_INVALID);
    assert_error(NAME, "owner");
    assert_status(rlock_is_held_async(lock, NULL, called_note, &done), RLOCK_INVALID);
    assert_status(rlock_get_hold_count_async(lock, NULL, called_note, &done), RLOCK_INVALID);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.lease_ms = 0;
    assert_status(rlock_lock_async(own, &options, called_note, &done), RLOCK_INVALID);
    assert_error("lease");
    options = (rlock_lock_options)RLOCK_LOCK_OPTIONS_INIT;
    options.size = 1;
    assert_status(rlock_lock_async(own, &options, called_note, &done), RLOCK_INVALID);
    cr_assert(rlock_client_fd(NULL) == -1);
    assert_error("NULL");
    assert_status(rlock_client_process(NULL), RLOCK_INVALID);
    assert_ok(called_lock(stage.client, lock, 1, 0));
    assert_ok(called_unlock(stage.client, lock, 1));
    cr_assert(done.times == 0);
}

/* An operation without a function is carried out like any other. */
RealTest(async_lock, needs_no_function)
{
    rlock *own = owned_by(lock_of(stage.client, NAME), 7);
    assert_ok(rlock_lock_async(own, NULL, NULL, NULL));
    called_process_for(stage.client, 1);
    cr_assert(server_wait_exists(stage.server, NAME, true, 10000));
    assert_ok(called_lock(stage.client, own, 7, 0));
    assert_ok(rlock_unlock_async(own, NULL, NULL, NULL));
    assert_ok(rlock_unlock_async(own, NULL, NULL, NULL));
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
}

/* Nobody gives the lock back in the time that the call may wait. */
RealTest(async_lock, times_out_with_the_words_of_the_blocking_call)
{
    rlock *lock = lock_of(stage.client, NAME);
    foreign_hold(NAME, 60000);
    called done = {0};
    rlock_lock_options options = called_options(1, 50);
    assert_ok(rlock_lock_async(lock, &options, called_note, &done));
    assert_status(called_await(stage.client, &done), RLOCK_TIMEOUT);
    assert_words(done.error, NAME, "50 ms", "held by another owner");
    assert_status(called_lock(stage.client, lock, 1, 0), RLOCK_TIMEOUT);
    cr_assert(wait_no_channels(5000));
}

/* The unlock of an owner that holds nothing, and one whose hold was taken away meanwhile. */
RealTest(async_lock, tells_who_does_not_hold_from_who_has_lost_it)
{
    rlock *lock = lock_of(stage.client, NAME);
    called done = {0};
    assert_ok(rlock_unlock_async(lock, &(rlock_owner){1}, called_note, &done));
    assert_status(called_await(stage.client, &done), RLOCK_NOT_OWNER);
    assert_words(done.error, NAME);
    assert_ok(called_lock(stage.client, lock, 1, 0));
    int64_t was_locked;
    assert_ok(ask(rlock_force_unlock_async, lock, &was_locked));
    cr_assert(was_locked == 1);
    assert_status(called_unlock(stage.client, lock, 1), RLOCK_LOST);
    assert_ok(ask(rlock_force_unlock_async, lock, &was_locked));
    cr_assert(was_locked == 0);
}

/* The key is of another kind, so the server refuses. */
RealTest(async_lock, passes_the_servers_refusal_on)
{
    freeReplyObject(server_command(stage.server, "SET %s 1", NAME));
    rlock *lock = lock_of(stage.client, NAME);
    called done = {0};
    rlock_lock_options options = called_options(1, RLOCK_FOREVER);
    assert_ok(rlock_lock_async(lock, &options, called_note, &done));
    assert_status(called_await(stage.client, &done), RLOCK_SERVER);
    assert_words(done.error, NAME, "WRONGTYPE");
}

/* The other kinds of locks: their own answers arrive, too. */
RealTest(async_lock, gives_fencing_tokens_and_refuses_a_second_hold)
{
    rlock *fenced = stage_keep(rlock_get_fenced_lock(stage.client, "fenced"));
    rlock *once = stage_keep(rlock_get_non_reentrant_lock(stage.client, "once"));
    rlock_lock_options options = called_options(1, RLOCK_FOREVER);
    called first = {0}, second = {0};
    assert_ok(rlock_lock_async(fenced, &options, called_note, &first));
    assert_ok(called_await(stage.client, &first));
    assert_ok(rlock_lock_async(fenced, &options, called_note, &second));
    assert_ok(called_await(stage.client, &second));
    cr_assert(first.token > 0 && second.token > first.token);
    assert_ok(called_lock(stage.client, once, 1, 0));
    assert_status(called_lock(stage.client, once, 1, RLOCK_FOREVER), RLOCK_ALREADY_HELD);
}

/* A token ends a wait while it sleeps, and one that begins after it was fired. */
RealTest(async_lock, is_cancelled_by_its_token)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_cancel *token = rlock_cancel_new();
    rlock_lock_options options = called_options(1, RLOCK_FOREVER);
    options.cancel = token;
    called sleeping = {0}, late = {0};
    foreign_hold(NAME, 60000);
    assert_ok(rlock_lock_async(lock, &options, called_note, &sleeping));
    while (!wait_listened(NAME, 1))
        called_process_for(stage.client, 1);
    rlock_cancel_fire(token);
    assert_status(called_await(stage.client, &sleeping), RLOCK_CANCELLED);
    assert_ok(rlock_lock_async(lock, &options, called_note, &late));
    assert_status(called_await(stage.client, &late), RLOCK_CANCELLED);
    cr_assert(wait_no_channels(5000));
    foreign_release(NAME);
    assert_no_keys();
    rlock_cancel_free(token);
}

/* A waiter in another thread and one without, both ways. */
RealTest(async_lock, hands_over_to_blocking_calls_and_back)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *thread = actor_start();
    for (int i = 0; i < 20; i++) {
        assert_ok(called_lock(stage.client, lock, 1, RLOCK_FOREVER));
        actor_begin_lock(thread, lock);
        cr_assert(wait_listened(NAME, 10000));
        assert_ok(called_unlock(stage.client, lock, 1));
        assert_ok(actor_finish(thread, 10000));
        called done = {0};
        rlock_lock_options options = called_options(2, RLOCK_FOREVER);
        assert_ok(rlock_lock_async(lock, &options, called_note, &done));
        cr_assert(wait_listened(NAME, 10000));
        assert_ok(actor_unlock(thread, lock));
        assert_ok(called_await(stage.client, &done));
        assert_ok(called_unlock(stage.client, lock, 2));
    }
    actor_end(thread);
    assert_no_keys();
}

/* The fair lock's queue, in which async waiters stand as others do. */
typedef struct turn {
    called called; /* first */
    int number, *ended;
    int *order;
} turn;

static void note_turn(const rlock_result *result, void *arg)
{
    turn *self = arg;
    called_note(result, &self->called);
    self->order[(*self->ended)++] = self->number;
}

RealTest(async_lock, is_granted_in_order_where_the_lock_is_fair)
{
    enum { WAITERS = 8 };
    rlock *lock = stage_keep(rlock_get_fair_lock(stage.client, NAME));
    turn turns[WAITERS];
    int order[WAITERS], ended = 0;
    assert_ok(called_lock(stage.client, lock, 100, RLOCK_FOREVER));
    for (int i = 0; i < WAITERS; i++) {
        turns[i] = (turn){.number = i, .ended = &ended, .order = order};
        rlock_lock_options options = called_options(i, RLOCK_FOREVER);
        assert_ok(rlock_lock_async(lock, &options, note_turn, &turns[i]));
        while (server_integer(stage.server, "LLEN redisson_lock_queue:{%s}", NAME) != i + 1)
            called_process_for(stage.client, 1);
    }
    assert_ok(called_unlock(stage.client, lock, 100));
    for (int i = 0; i < WAITERS; i++) {
        assert_ok(called_await(stage.client, &turns[i].called));
        cr_assert(order[i] == i, "waiter %d came as number %d", order[i], i);
        assert_ok(called_unlock(stage.client, lock, i));
    }
}

/* Readers hold together, and a writer waits for all of them. */
RealTest(async_lock, lets_readers_in_together)
{
    rlock_read_write_lock *both = rlock_get_read_write_lock(stage.client, NAME);
    rlock *reading = stage_keep(rlock_read_lock(both)), *writing = stage_keep(rlock_write_lock(both));
    assert_ok(called_lock(stage.client, reading, 1, RLOCK_FOREVER));
    assert_ok(called_lock(stage.client, reading, 2, RLOCK_FOREVER));
    called done = {0};
    rlock_lock_options options = called_options(3, RLOCK_FOREVER);
    assert_ok(rlock_lock_async(writing, &options, called_note, &done));
    assert_ok(called_unlock(stage.client, reading, 1));
    cr_assert(done.times == 0);
    assert_ok(called_unlock(stage.client, reading, 2));
    assert_ok(called_await(stage.client, &done));
    assert_ok(called_unlock(stage.client, writing, 3));
    rlock_read_write_lock_free(both);
    assert_no_keys();
}
