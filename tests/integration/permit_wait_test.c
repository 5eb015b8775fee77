/* Waiting for permits that have leases: they come back by themselves, and nothing of a wait is left. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

TestSuite(permit_wait, .init = stage_open, .fini = stage_close);

#define NAME "pe"

static rlock_permit_semaphore *with(int permits)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    assert_ok(rlock_permit_semaphore_set_permits(semaphore, permits));
    return semaphore;
}

/* Nobody calls: the waiter itself takes the expired permit, when the server says that it expires. */
TimedTest(permit_wait, ends_with_the_lease_of_another)
{
    rlock_permit_semaphore *semaphore = with(1), *other = permits_of(stage.other, NAME);
    rlock_permit old, new;
    bool released = true;
    int64_t since_ms = now_ms();
    assert_ok(rlock_permit_semaphore_acquire(other, 700, &old));
    assert_ok(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_FOREVER, &new));
    assert_between(now_ms() - since_ms, 700, at_most_ms(850));
    assert_ok(rlock_permit_semaphore_try_release(other, old.id, &released));
    cr_assert(!released && permits_available(semaphore) == 0);
    assert_ok(rlock_permit_semaphore_release(semaphore, new.id));
}

/* Those who wait were told of the nearest expiry, which then comes nearer. */
Test(permit_wait, ends_with_a_lease_that_was_made_shorter)
{
    rlock_permit_semaphore *semaphore = with(1);
    rlock_permit held, taken;
    bool updated = false;
    leasing wanted = {.semaphore = permits_of(stage.other, NAME), .count = 1, .wait_ms = RLOCK_FOREVER,
                      .lease_ms = 60000, .permits = &taken};
    assert_ok(rlock_permit_semaphore_acquire(semaphore, 600000, &held));
    actor *waiter = actor_start();
    actor_begin(waiter, lease, &wanted);
    cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(waiter, 10000));
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, held.id, 500, &updated));
    assert_ok(actor_finish(waiter, 30000));
    cr_assert(updated);
    actor_end(waiter);
}

/* Two of two taken for a while: a short wait is in vain, and later there is one, then two. */
TimedTest(permit_wait, is_in_vain_until_the_lease_has_ended)
{
    rlock_permit_semaphore *semaphore = with(2);
    rlock_permit permit, again;
    int64_t since_ms = now_ms();
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 200, 2500, &permit));
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 200, 2500, &permit));
    assert_status(rlock_permit_semaphore_try_acquire(semaphore, 200, 600, &again), RLOCK_TIMEOUT);
    cr_assert(permits_total(semaphore) == 2);
    pass_ms(2550 - (now_ms() - since_ms));
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 200, 600, &again));
    cr_assert(permits_total(semaphore) == 2);
    for (since_ms = now_ms(); permits_available(semaphore) != 2; pass_ms(1))
        cr_assert(now_ms() - since_ms < at_most_ms(650));
    cr_assert(permits_taken(semaphore) == 0 && permits_total(semaphore) == 2);
}

Test(permit_wait, ends_with_a_release)
{
    rlock_permit_semaphore *semaphore = with(1), *other = permits_of(stage.other, NAME);
    rlock_permit held, taken;
    actor *waiter = actor_start();
    assert_ok(rlock_permit_semaphore_acquire(other, RLOCK_PERMIT_FOREVER, &held));
    assert_status(rlock_permit_semaphore_try_acquire(semaphore, 0, 1000, &taken), RLOCK_TIMEOUT);
    actor_begin(waiter, lease, &(leasing){semaphore, 1, 10000, 1000, NULL, &taken});
    cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(waiter, 5000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_permit_semaphore_release(other, held.id));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(100));
    cr_assert(wait_no_channels(5000));
    actor_end(waiter);
}

/* Every way in which permits become more wakes those who wait for them. */
Test(permit_wait, ends_with_permits_that_are_set_and_added)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME), *other = permits_of(stage.other, NAME);
    rlock_permit permits[2];
    actor *waiter = actor_start();
    for (int way = 0; way < 3; way++) {
        actor_begin(waiter, lease, &(leasing){semaphore, 2, RLOCK_FOREVER, 60000, NULL, permits});
        cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(waiter, 5000));
        if (way == 0)
            assert_ok(rlock_permit_semaphore_try_set_permits(other, 2, NULL));
        else if (way == 1)
            assert_ok(rlock_permit_semaphore_set_permits(other, 4));
        else
            assert_ok(rlock_permit_semaphore_add_permits(other, 2));
        assert_ok(actor_finish(waiter, 10000));
        cr_assert(wait_no_channels(5000));
    }
    cr_assert(permits_available(other) == 0 && permits_taken(other) == 6);
    actor_end(waiter);
}

/* A waiter for more than there is does not hold up those behind it. */
Test(permit_wait, for_many_holds_up_nobody)
{
    rlock_permit_semaphore *semaphore = with(1), *other = permits_of(stage.other, NAME);
    rlock_permit held, large[5], small;
    actor *wants_many = actor_start(), *wants_one = actor_start();
    assert_ok(rlock_permit_semaphore_acquire(other, RLOCK_PERMIT_FOREVER, &held));
    actor_begin(wants_many, lease, &(leasing){semaphore, 5, RLOCK_FOREVER, 60000, NULL, large});
    cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(wants_many, 5000));
    actor_begin(wants_one, lease, &(leasing){semaphore, 1, RLOCK_FOREVER, 60000, NULL, &small});
    cr_assert(actor_asleep(wants_one, 5000));
    assert_ok(rlock_permit_semaphore_release(other, held.id));
    assert_ok(actor_finish(wants_one, 10000));
    cr_assert(!actor_ended(wants_many, 100));
    assert_ok(rlock_permit_semaphore_add_permits(other, 5));
    assert_ok(actor_finish(wants_many, 10000));
    actor_end(wants_many);
    actor_end(wants_one);
}

static rlock_status take_hold_return(void *arg)
{
    leasing *asked = arg;
    rlock_status status = lease(asked);
    if (status != RLOCK_OK)
        return status;
    pass_ms(150);
    return rlock_permit_semaphore_release_many(asked->semaphore, asked->count, asked->permits);
}

/* Two of two, and two of two again; one, and two: the second waits for the first, and both succeed. */
TimedTest(permit_wait, of_two_for_the_same_permits_ends_for_both)
{
    static const int wanted[][2] = {{2, 2}, {1, 2}};
    with(2);
    for (int i = 0; i < 2; i++) {
        actor *actors[2];
        rlock_permit permits[2][2];
        leasing asked[2];
        for (int j = 0; j < 2; j++) {
            asked[j] = (leasing){permits_of(j ? stage.other : stage.client, NAME), wanted[i][j], 5000, 60000, NULL,
                                 permits[j]};
            actors[j] = actor_start();
            actor_begin(actors[j], take_hold_return, &asked[j]);
        }
        for (int j = 0; j < 2; j++) {
            assert_ok(actor_finish(actors[j], 5000));
            actor_end(actors[j]);
        }
    }
    cr_assert(permits_available(permits_of(stage.client, NAME)) == 2);
}

/* Many sleep through the expiry of many leases: all are served, nobody calls. */
Test(permit_wait, of_many_ends_as_the_leases_do)
{
    rlock_permit_semaphore *semaphore = with(4);
    rlock_permit held[4], permits[12];
    actor *waiters[12];
    leasing asked[12];
    assert_ok(rlock_permit_semaphore_acquire_many(permits_of(stage.other, NAME), 4, 300, held));
    for (int i = 0; i < 12; i++) {
        asked[i] = (leasing){semaphore, 1, RLOCK_FOREVER, 200, NULL, &permits[i]};
        waiters[i] = actor_start();
        actor_begin(waiters[i], lease, &asked[i]);
    }
    for (int i = 0; i < 12; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        actor_end(waiters[i]);
    }
    cr_assert(permits_total(semaphore) == 4);
    cr_assert(wait_no_channels(5000));
}

Test(permit_wait, is_none_where_a_permit_is_free)
{
    rlock_permit_semaphore *semaphore = with(3);
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 60000, 60000, &permit));
    int64_t before = scripts_run(), since_ms = now_ms();
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 60000, 60000, &permit));
    cr_assert(scripts_run() - before == 1);
    assert_between(now_ms() - since_ms, 0, at_most_ms(200));
}

Test(permit_wait, sends_nothing_while_it_sleeps)
{
    rlock_permit_semaphore *semaphore = with(1);
    rlock_permit held, permit;
    actor *waiter = actor_start();
    assert_ok(rlock_permit_semaphore_acquire(semaphore, 60000, &held));
    assert_status(rlock_permit_semaphore_try_acquire(semaphore, 0, 1000, &permit), RLOCK_TIMEOUT);
    int64_t before = scripts_run();
    actor_begin(waiter, lease, &(leasing){semaphore, 1, RLOCK_FOREVER, 60000, NULL, &permit});
    cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(waiter, 5000));
    cr_assert(scripts_run() - before == 2);
    cr_assert(commands_within(400) == 0);
    assert_ok(rlock_permit_semaphore_release(semaphore, held.id));
    assert_ok(actor_finish(waiter, 5000));
    actor_end(waiter);
}

TimedTest(permit_wait, ends_in_time_without_a_trace)
{
    rlock_permit_semaphore *semaphore = with(1);
    rlock_permit permits[2];
    int64_t since_ms = now_ms();
    assert_status(rlock_permit_semaphore_try_acquire_many(semaphore, 2, 300, 1000, permits), RLOCK_TIMEOUT);
    assert_between(now_ms() - since_ms, 299, at_most_ms(450));
    cr_assert(wait_no_channels(5000));
    cr_assert(permits_available(semaphore) == 1 && permits_taken(semaphore) == 0);
}

Test(permit_wait, is_cancelled_at_once_without_a_trace)
{
    rlock_permit_semaphore *semaphore = with(0);
    rlock_cancel *token = rlock_cancel_new();
    rlock_permit permit;
    actor *waiter = actor_start();
    actor_begin(waiter, lease, &(leasing){semaphore, 1, RLOCK_FOREVER, RLOCK_PERMIT_FOREVER, token, &permit});
    cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(waiter, 5000));
    int64_t since_ms = now_ms();
    rlock_cancel_fire(token);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(200));
    cr_assert(wait_no_channels(5000));
    assert_ok(rlock_permit_semaphore_add_permits(semaphore, 1));
    cr_assert(permits_available(semaphore) == 1 && permits_taken(semaphore) == 0);
    actor_end(waiter);
    rlock_cancel_free(token);
}

static bool stands(int available, int taken)
{
    return server_integer(stage.server, "GET " NAME) == available &&
           server_integer(stage.server, "ZCARD {" NAME "}:timeout") == taken;
}

static void await_all(int count)
{
    for (int64_t end_ms = limit_end_ms(5000); !stands(count, 0); pass_ms(1))
        cr_assert(now_ms() < end_ms, "the permits do not come back");
}

/* Fired at any moment of a request, the permit is the caller's or is soon given back. */
TimedTest(permit_wait, loses_no_permit_to_a_cancel)
{
    rlock_permit_semaphore *semaphore = with(1);
    actor *waiter = actor_start();
    for (int i = 0; i < 100; i++) {
        rlock_cancel *token = rlock_cancel_new();
        rlock_permit permit;
        actor_begin(waiter, lease, &(leasing){semaphore, 1, i % 2 ? 0 : RLOCK_FOREVER, RLOCK_PERMIT_FOREVER, token,
                                             &permit});
        for (volatile int spin = 0; spin < i * 200; spin++)
            continue;
        rlock_cancel_fire(token);
        rlock_status status = actor_finish(waiter, 5000);
        if (status == RLOCK_OK)
            assert_ok(rlock_permit_semaphore_release(semaphore, permit.id));
        else
            assert_status(status, RLOCK_CANCELLED);
        permits_available(semaphore); /* behind the request that was given up, on its connection */
        await_all(1);
        rlock_cancel_free(token);
    }
    cr_assert(wait_no_channels(5000));
    actor_end(waiter);
}

/* The server has the request, is frozen when the token fires, and carries it out later. */
TimedTest(permit_wait, undoes_a_grant_that_comes_late)
{
    rlock_permit_semaphore *semaphore = with(3);
    rlock_permit known; /* so is the script, from here on: the frozen server has all that it needs */
    assert_ok(rlock_permit_semaphore_acquire(semaphore, 60000, &known));
    assert_ok(rlock_permit_semaphore_release(semaphore, known.id));
    static const int64_t waits_ms[] = {0, 5000, RLOCK_FOREVER};
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
        rlock_cancel *token = rlock_cancel_new();
        rlock_permit permits[2];
        actor *caller = actor_start();
        server_freeze(stage.server);
        actor_begin(caller, lease, &(leasing){semaphore, 2, waits_ms[i], RLOCK_PERMIT_FOREVER, token, permits});
        cr_assert(actor_asleep(caller, 5000));
        int64_t since_ms = now_ms();
        rlock_cancel_fire(token);
        assert_status(actor_finish(caller, 5000), RLOCK_CANCELLED);
        assert_between(actor_ended_at(caller) - since_ms, 0, at_most_ms(200));
        server_thaw(stage.server);
        permits_available(semaphore); /* behind that request, on its connection */
        await_all(3);
        for (int64_t end_ms = now_ms() + 700; now_ms() < end_ms; pass_ms(5))
            cr_assert(stands(3, 0));
        actor_end(caller);
        rlock_cancel_free(token);
    }
}
