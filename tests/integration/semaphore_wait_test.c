/* Waiting for permits: woken by every message, not one longer than needed, and gone without a trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <limits.h>

TestSuite(semaphore_wait, .init = stage_open, .fini = stage_close);

#define NAME "se"

static rlock_semaphore *with(int permits)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    assert_ok(rlock_semaphore_try_set_permits(semaphore, permits, NULL));
    return semaphore;
}

Test(semaphore_wait, ends_with_a_release)
{
    rlock_semaphore *semaphore = with(1), *other = semaphore_of(stage.other, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_semaphore_acquire(other, 1));
    actor_begin(waiter, take, &(taking){semaphore, 1, RLOCK_FOREVER, NULL});
    cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(waiter, 5000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_semaphore_release(other, 1));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(100));
    assert_status(rlock_semaphore_try_acquire(other, 1, 0), RLOCK_TIMEOUT);
    cr_assert(wait_no_channels(5000));
    actor_end(waiter);
}

/* Permits come one by one; the waiter for four takes them when there are four. */
Test(semaphore_wait, for_many_ends_when_there_are_as_many)
{
    rlock_semaphore *semaphore = with(5), *other = semaphore_of(stage.other, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_semaphore_acquire(other, 3));
    actor_begin(waiter, take, &(taking){semaphore, 4, 10000, NULL});
    cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(waiter, 5000));
    assert_ok(rlock_semaphore_release(other, 1));
    cr_assert(!actor_ended(waiter, 100));
    assert_ok(rlock_semaphore_release(other, 1));
    assert_ok(actor_finish(waiter, 10000));
    cr_assert(available(other) == 0);
    actor_end(waiter);
}

/* Taken and given back below the waiter's demand, it waits on; added to, it ends. */
Test(semaphore_wait, ends_with_permits_that_are_added)
{
    rlock_semaphore *semaphore = with(1), *other = semaphore_of(stage.other, NAME);
    actor *waiter = actor_start();
    actor_begin(waiter, take, &(taking){semaphore, 2, RLOCK_FOREVER, NULL});
    cr_assert(wait_semaphore_heard(NAME, 1));
    assert_ok(rlock_semaphore_acquire(other, 1));
    assert_ok(rlock_semaphore_release(other, 1));
    cr_assert(!actor_ended(waiter, 200));
    assert_ok(rlock_semaphore_add_permits(other, 1));
    assert_ok(actor_finish(waiter, 10000));
    cr_assert(available(other) == 0);
    actor_end(waiter);
}

Test(semaphore_wait, ends_when_the_semaphore_is_set)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME), *other = semaphore_of(stage.other, NAME);
    actor *waiter = actor_start();
    actor_begin(waiter, take, &(taking){semaphore, 2, RLOCK_FOREVER, NULL});
    cr_assert(wait_semaphore_heard(NAME, 1));
    assert_ok(rlock_semaphore_try_set_permits(other, 2, NULL));
    assert_ok(actor_finish(waiter, 10000));
    actor_end(waiter);
}

/* A waiter for more than there is does not hold up those behind it. */
Test(semaphore_wait, for_many_holds_up_nobody)
{
    rlock_semaphore *semaphore = with(0), *other = semaphore_of(stage.other, NAME);
    actor *large = actor_start(), *small[4];
    actor_begin(large, take, &(taking){semaphore, 100, RLOCK_FOREVER, NULL});
    cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(large, 5000));
    taking one = {semaphore, 1, RLOCK_FOREVER, NULL};
    for (int i = 0; i < 4; i++) {
        small[i] = actor_start();
        actor_begin(small[i], take, &one);
        cr_assert(actor_asleep(small[i], 5000));
    }
    assert_ok(rlock_semaphore_release(other, 4));
    for (int i = 0; i < 4; i++) {
        assert_ok(actor_finish(small[i], 10000));
        actor_end(small[i]);
    }
    cr_assert(!actor_ended(large, 100));
    assert_ok(rlock_semaphore_release(other, 100));
    assert_ok(actor_finish(large, 10000));
    actor_end(large);
}

/* All that fit are woken by one message, whatever number is in it. */
Test(semaphore_wait, ends_for_all_that_fit)
{
    rlock_semaphore *semaphore = with(0), *other = semaphore_of(stage.other, NAME);
    actor *waiters[8];
    taking two = {semaphore, 2, RLOCK_FOREVER, NULL};
    for (int i = 0; i < 8; i++) {
        waiters[i] = actor_start();
        actor_begin(waiters[i], take, &two);
        cr_assert(actor_asleep(waiters[i], 5000));
    }
    assert_ok(rlock_semaphore_release(other, INT_MAX));
    for (int i = 0; i < 8; i++) {
        assert_ok(actor_finish(waiters[i], 10000));
        actor_end(waiters[i]);
    }
    cr_assert(available(other) == INT_MAX - 16);
    cr_assert(wait_no_channels(5000));
}

Test(semaphore_wait, of_nothing_or_less_asks_once)
{
    static const int64_t waits_ms[] = {0, -1, INT64_MIN};
    rlock_semaphore *semaphore = with(1);
    assert_status(rlock_semaphore_try_acquire(semaphore, 2, 0), RLOCK_TIMEOUT);
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
        int64_t before = scripts_run();
        assert_status(rlock_semaphore_try_acquire(semaphore, 2, waits_ms[i]), RLOCK_TIMEOUT);
        cr_assert(scripts_run() - before == 1);
    }
    cr_assert(available(semaphore) == 1);
}

TimedTest(semaphore_wait, ends_in_time_without_a_trace)
{
    rlock_semaphore *semaphore = with(1);
    int64_t since_ms = now_ms();
    assert_status(rlock_semaphore_try_acquire(semaphore, 2, 300), RLOCK_TIMEOUT);
    assert_between(now_ms() - since_ms, 299, at_most_ms(450));
    cr_assert(wait_no_channels(5000));
    cr_assert(available(semaphore) == 1);
}

/* Free permits are had at once, and for the price of one request. */
Test(semaphore_wait, is_none_where_permits_are_free)
{
    rlock_semaphore *semaphore = with(5);
    assert_ok(rlock_semaphore_try_acquire(semaphore, 1, 60000));
    int64_t before = scripts_run(), since_ms = now_ms();
    assert_ok(rlock_semaphore_try_acquire(semaphore, 1, 60000));
    cr_assert(scripts_run() - before == 1);
    assert_between(now_ms() - since_ms, 0, at_most_ms(200));
}

Test(semaphore_wait, sends_nothing_while_it_sleeps)
{
    rlock_semaphore *semaphore = with(0);
    actor *waiter = actor_start();
    assert_status(rlock_semaphore_try_acquire(semaphore, 1, 0), RLOCK_TIMEOUT);
    int64_t before = scripts_run();
    actor_begin(waiter, take, &(taking){semaphore, 1, RLOCK_FOREVER, NULL});
    cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(waiter, 5000));
    cr_assert(scripts_run() - before == 2);
    cr_assert(commands_within(400) == 0);
    assert_ok(rlock_semaphore_release(semaphore_of(stage.other, NAME), 1));
    assert_ok(actor_finish(waiter, 5000));
    actor_end(waiter);
}

Test(semaphore_wait, is_cancelled_at_once_without_a_trace)
{
    rlock_semaphore *semaphore = with(0);
    rlock_cancel *token = rlock_cancel_new();
    actor *waiter = actor_start();
    actor_begin(waiter, take, &(taking){semaphore, 1, RLOCK_FOREVER, token});
    cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(waiter, 5000));
    int64_t since_ms = now_ms();
    rlock_cancel_fire(token);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(200));
    cr_assert(wait_no_channels(5000));
    assert_ok(rlock_semaphore_release(semaphore, 1));
    cr_assert(available(semaphore) == 1);
    actor_begin(waiter, take, &(taking){semaphore, 1, RLOCK_FOREVER, token}); /* it stays fired */
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    cr_assert(available(semaphore) == 1);
    actor_end(waiter);
    rlock_cancel_free(token);
}

/* Fired at any moment of a request, the permit is the caller's or still there. */
Test(semaphore_wait, loses_no_permit_to_a_cancel)
{
    rlock_semaphore *semaphore = with(0), *other = semaphore_of(stage.other, NAME);
    actor *waiter = actor_start();
    int granted = 0;
    for (int i = 0; i < 200; i++) {
        rlock_cancel *token = rlock_cancel_new();
        if (i % 2)
            assert_ok(rlock_semaphore_release(other, 1));
        actor_begin(waiter, take, &(taking){semaphore, 1, RLOCK_FOREVER, token});
        if (i % 2 == 0)
            assert_ok(rlock_semaphore_release(other, 1));
        for (volatile int spin = 0; spin < i * 100; spin++)
            continue;
        rlock_cancel_fire(token);
        rlock_status status = actor_finish(waiter, 5000);
        cr_assert(status == RLOCK_OK || status == RLOCK_CANCELLED, "%s", rlock_strstatus(status));
        granted += status == RLOCK_OK;
        cr_assert(available(other) == (status != RLOCK_OK));
        if (status != RLOCK_OK)
            assert_ok(rlock_semaphore_acquire(other, 1));
        rlock_cancel_free(token);
    }
    cr_assert(wait_no_channels(5000));
    cr_log_info("%d of 200 had the permit before the token fired", granted);
    actor_end(waiter);
}

/* The server has the request and is frozen when the token fires: the permit is not lost. */
Test(semaphore_wait, cancelled_during_a_request_waits_for_its_answer)
{
    rlock_semaphore *semaphore = with(1);
    rlock_cancel *token = rlock_cancel_new();
    actor *waiter = actor_start();
    server_freeze(stage.server);
    actor_begin(waiter, take, &(taking){semaphore, 1, RLOCK_FOREVER, token});
    cr_assert(actor_asleep(waiter, 5000));
    rlock_cancel_fire(token);
    cr_assert(!actor_ended(waiter, 200));
    server_thaw(stage.server);
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(available(semaphore) == 0);
    actor_end(waiter);
    rlock_cancel_free(token);
}

/* Sent, never answered: what became of it is not known, and it was not sent again. */
TimedTest(semaphore_wait, unanswered_is_unknown)
{
    rlock_client *hasty = stage_client("timeout=300");
    rlock_semaphore *semaphore = semaphore_of(hasty, NAME);
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 5, NULL));
    assert_ok(rlock_semaphore_acquire(semaphore, 1));
    server_freeze(stage.server);
    assert_status(rlock_semaphore_acquire(semaphore, 1), RLOCK_UNKNOWN);
    server_thaw(stage.server);
    int64_t left = 4; /* the request that was on its way is carried out, once */
    for (int64_t end_ms = limit_end_ms(5000); left == 4 && now_ms() < end_ms; pass_ms(1))
        left = server_integer(stage.server, "GET se");
    cr_assert(left == 3);
    cr_assert(!server_wait_exists(stage.server, NAME, false, 500));
    cr_assert(server_integer(stage.server, "GET se") == 3);
    cr_assert(available(semaphore) == 3); /* a question may be repeated, and is */
}
