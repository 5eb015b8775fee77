/* Fair locks of C and of Java are one lock with one queue: first come, first served, across both. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/interop/support/claims.h"
#include "tests/interop/support/steps.h"
#include "tests/interop/support/times.h"
#include "tests/interop/support/victim.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "f"
#define QUEUE "redisson_lock_queue:{f}"

static const lock_kind fair = {.java = "fair", .get = rlock_get_fair_lock};

TestSuite(fair, .init = java_stage, .fini = party_stage_close);

Test(fair, belongs_to_c_or_to_java)
{
    both_ways(claim_exclusion, &fair, NAME);
    both_ways(claim_reentry, &fair, NAME);
}

Test(fair, comes_by_message_to_who_waits_on_the_other_side)
{
    both_ways(claim_wake, &fair, NAME);
    both_ways(claim_time_out, &fair, NAME);
}

Test(fair, that_ran_out_or_was_forced_open_is_the_other_sides)
{
    both_ways(claim_expiry, &fair, NAME);
    both_ways(claim_force, &fair, NAME);
}

Test(fair, of_a_killed_holder_goes_to_the_other_side, .init = java_stage_quick, .lasts = 27)
{
    claim_takeover(&fair, &fair, NAME);
}

static void assert_queued(int count)
{
    int64_t queued = server_integer(stage.server, "LLEN " QUEUE);
    cr_assert(queued == count, "%lld are queued, not %d", (long long)queued, count);
}

#define WAITERS 8

/* Two processes of C and one of Java by turns, each of them waiting before the next comes. */
static void queue_up(party *waiters[WAITERS])
{
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = party_of(i % 2 ? NULL : i % 4 ? stage.client : stage.other, &fair, NAME);
        party_begin_lock(waiters[i]);
        party_await_waiting(waiters[i]);
        assert_queued(i + 1);
    }
}

/* Whoever lets go of it, the next in the queue has it and nobody else. */
static void serve_in_order(party *waiters[], int count)
{
    for (int i = 0; i < count; i++) {
        assert_ok(party_finish(waiters[i], BY_MESSAGE_MS));
        for (int later = i + 1; later < count; later++)
            cr_assert(!party_ended(waiters[later], 0), "waiter %d came before its turn", later);
        assert_queued(count - i - 1);
        assert_ok(party_unlock(waiters[i]));
    }
}

static void claim_order(party *holder, party *stranger)
{
    (void)stranger;
    party *waiters[WAITERS];
    assert_ok(party_lock(holder));
    queue_up(waiters);
    assert_ok(party_unlock(holder));
    serve_in_order(waiters, WAITERS);
}

Test(fair, serves_c_and_java_in_the_order_in_which_they_came)
{
    both_ways(claim_order, &fair, NAME);
}

#define LEAVING_MS 3000

/* In the middle and at the head: those behind move up, and the lock goes to the next that waits. */
static void claim_leaving(party *holder, party *stranger)
{
    party *next[] = {party_also(stranger, &fair, NAME), party_of(NULL, &fair, NAME), party_of(stage.client, &fair, NAME)};
    party *leaving[] = {party_of(NULL, &fair, NAME), party_of(stage.client, &fair, NAME)};
    assert_ok(party_lock(holder));
    for (int i = 0; i < 2; i++) {
        party_begin_try(leaving[i], LEAVING_MS, RLOCK_WATCHDOG);
        party_await_waiting(leaving[i]);
        party_begin_lock(next[i]);
        party_await_waiting(next[i]);
    }
    party_begin_lock(next[2]);
    party_await_waiting(next[2]);
    for (int i = 0; i < 2; i++)
        assert_status(party_finish(leaving[i], LEAVING_MS + BY_MESSAGE_MS), RLOCK_TIMEOUT);
    assert_queued(3);
    assert_ok(party_unlock(holder));
    serve_in_order(next, 3);
}

Test(fair, passes_over_who_has_given_up_on_either_side)
{
    both_ways(claim_leaving, &fair, NAME);
}

/* No try without a wait comes in while others queue, although the lock is free for a moment. */
Test(fair, does_not_let_a_try_overtake_the_queue_of_the_other_side)
{
    party *ours = party_of(stage.client, &fair, NAME), *waiter = party_of(NULL, &fair, NAME);
    assert_ok(party_lease(ours, 20000));
    party_begin_lock(waiter);
    party_await_waiting(waiter);
    freeReplyObject(server_command(stage.server, "DEL " NAME)); /* nobody is told */
    assert_status(party_try(party_of(stage.other, &fair, NAME), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_result(ASK(java, "trier", "fair", NAME, "tryNow"), "false");
    assert_status(party_unlock(ours), RLOCK_LOST);
    assert_ok(party_finish(waiter, BY_MESSAGE_MS));
    assert_ok(party_unlock(waiter));
    assert_no_keys();
}

/* The dead: nobody hears their channel, so they are passed over about two seconds after their turn came,
 * where Redisson alone would wait for five minutes. */
#define DEAD_MS 5000

static void assert_passed_over(party *holder, party *next)
{
    int64_t unlocked_ms = now_ms();
    assert_ok(party_unlock(holder));
    assert_ok(party_finish(next, 4 * DEAD_MS));
    assert_between(party_ended_at(next) - unlocked_ms, 0, at_most_ms(DEAD_MS));
    assert_ok(party_unlock(next));
    assert_no_keys();
}

Test(fair, passes_over_a_killed_waiter_of_c_to_java)
{
    party *holder = party_of(stage.client, &fair, NAME), *next = party_of(NULL, &fair, NAME);
    assert_ok(party_lock(holder));
    victim *dead = victim_waiting(&fair, NAME);
    party_begin_lock(next);
    party_await_waiting(next);
    victim_kill(dead);
    assert_passed_over(holder, next);
}

Test(fair, passes_over_killed_waiters_of_java_to_c)
{
    party *holder = party_of(stage.client, &fair, NAME), *next = party_of(stage.other, &fair, NAME);
    party *dead = party_of(NULL, &fair, NAME);
    assert_ok(party_lock(holder));
    party_begin_lock(dead);
    party_await_waiting(dead);
    party_begin_lock(next);
    party_await_waiting(next);
    java_kill();
    assert_passed_over(holder, next);
}

/* --- parity --- */

static party *waiting[2][4]; /* 1 to 3, as in the notes */

static void wait_channels(size_t count)
{
    for (int64_t end_ms = limit_end_ms(5000);; pass_ms(1)) {
        redisReply *channels = server_command(stage.server, "PUBSUB CHANNELS");
        size_t open = channels->elements;
        freeReplyObject(channels);
        if (open == count)
            return;
        cr_assert(now_ms() < end_ms, "%zu channels are listened to, not %zu", open, count);
    }
}

/* Of two clients by turns: threads of one hand the lock on and say nothing. */
static party *new_waiter(bool in_java, int number)
{
    rlock_client *client = number % 2 ? stage.other : stage.client;
    return waiting[in_java][number] = party_of(in_java ? NULL : client, &fair, NAME);
}

static void first_waits(bool in_java)
{
    party *waiter = new_waiter(in_java, 1);
    party_begin_lock(waiter);
    party_await_waiting(waiter);
}

static void try_waits(bool in_java, int number, int64_t wait_ms, int64_t lease_ms)
{
    party *waiter = new_waiter(in_java, number);
    party_begin_try(waiter, wait_ms, lease_ms);
    party_await_waiting(waiter);
}

static void second_waits(bool in_java)
{
    try_waits(in_java, 2, 20000, 10000);
}

/* Not for half a second, which might be over before it is seen to wait. */
static void third_waits(bool in_java)
{
    try_waits(in_java, 3, LEAVING_MS, RLOCK_WATCHDOG);
}

static void third_gives_up(bool in_java)
{
    assert_status(party_finish(waiting[in_java][3], LEAVING_MS + BY_MESSAGE_MS), RLOCK_TIMEOUT);
    wait_channels(2);
}

static void first_has_it(bool in_java)
{
    step_unlock(in_java);
    assert_ok(party_finish(waiting[in_java][1], BY_MESSAGE_MS));
    wait_channels(1);
}

static void all_are_done(bool in_java)
{
    assert_ok(party_unlock(waiting[in_java][1]));
    assert_ok(party_finish(waiting[in_java][2], BY_MESSAGE_MS));
    wait_channels(0);
    assert_ok(party_unlock(waiting[in_java][2]));
}

static void try_now(bool in_java)
{
    assert_ok(party_try(cast[in_java], 0, RLOCK_WATCHDOG));
}

Test(fair, leaves_the_keys_and_messages_that_redisson_leaves)
{
    static const parity_step steps[] = {
        {"lock", step_lock, SAME_TTL},
        {"waiter 1", first_waits, SAME_TTL},
        {"waiter 2 (tryLock 20 s,10 s)", second_waits, SAME_TTL},
        {"waiter 3 (tryLock 500 ms)", third_waits, SAME_TTL},
        {"waiter 3 gone", third_gives_up, SAME_TTL},
        {"reentrant", step_lock, SAME_TTL},
        {"unlock 1", step_unlock, SAME_TTL},
        {"unlock 2 -> waiter 1 holds", first_has_it, SAME_TTL},
        {"end", all_are_done, SAME_TTL},
        {"tryLock()", try_now, SAME_TTL},
    };
    cast_parties(&fair, NAME);
    ASSERT_PARITY("fair", steps, NULL);
}

#define FORGOTTEN_MS 800

/* Held by leases that run out instead of unlocks, as when every holder forgets (scenario 26). The first is long
 * enough for all to queue up. */
Test(fair, serves_c_and_java_in_order_when_nobody_unlocks)
{
    party *waiters[4];
    assert_ok(party_lease(party_of(stage.client, &fair, NAME), LEAVING_MS));
    for (int i = 0; i < 4; i++) {
        waiters[i] = party_of(i % 2 ? NULL : stage.client, &fair, NAME);
        party_begin_try(waiters[i], LASTING_MS, FORGOTTEN_MS);
        party_await_waiting(waiters[i]);
    }
    for (int i = 0; i < 4; i++) {
        assert_ok(party_finish(waiters[i], LASTING_MS));
    }
}
