/* Renewals in spite of faults: one that fails is tried again; when none is confirmed in time, the hold is
 * lost, at its deadline and not later, and that is told once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/sides.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <string.h>

static losses lost;

static void open_told(void)
{
    scene_watchdog();
    losses_init(&lost);
    rlock_on_lost(scene.client, losses_note, &lost);
}

TestSuite(renewal, .init = open_told, .fini = scene_close);

#define NAME "order"
#define VALID_MS (WATCHDOG_MS * 99 / 100) /* of a hold since it was last confirmed */
#define TOLD_MS 100                    /* how much later its loss may be told */

/* Reads the validity until it ends; it never reaches beyond the time given. */
static void assert_validity_ends_by(rlock *lock, int64_t ends_ms)
{
    for (int64_t left_ms = 1; left_ms > 0; pass_ms(1)) {
        left_ms = rlock_valid_for(lock);
        cr_assert(left_ms == 0 || now_ms() + left_ms <= ends_ms + 2, "valid for %lld ms too long",
                  (long long)(now_ms() + left_ms - ends_ms));
    }
}

static void assert_told_once(int64_t since_ms, int64_t until_ms)
{
    cr_assert(event_wait_ms(&lost.came, 2 * WATCHDOG_MS), "the loss was not told");
    assert_between(lost.all[0].at_ms, since_ms, until_ms);
    cr_assert_str_eq(lost.all[0].name, NAME);
    cr_assert(lost.all[0].reason == RLOCK_LOST_EXPIRED && lost.all[0].hold_count == 1);
    pass_ms(WATCHDOG_MS); /* the time in which it might be told again */
    cr_assert(event_count(&lost.came) == 1, "told %d times", event_count(&lost.came));
}

/* --- none is confirmed --- */

Test(renewal, that_is_never_answered_loses_the_hold_at_its_deadline)
{
    rlock *lock = lock_of(scene.client, NAME);
    on_script(&rli_script_lock_renew, PROXY_HOLD_REQUEST, 0);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    int64_t ends_ms = now_ms() + VALID_MS;
    assert_validity_ends_by(lock, ends_ms);
    cr_assert(now_ms() >= since_ms + VALID_MS, "lost too early");
    assert_told_once(since_ms + VALID_MS - 1, ends_ms + at_most_ms(TOLD_MS));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

/* The server renews it, and nobody hears of it: then it may not be relied on either. */
Test(renewal, whose_answers_are_lost_loses_the_hold_at_its_deadline)
{
    rlock *lock = lock_of(scene.client, NAME);
    on_script(&rli_script_lock_renew, PROXY_HOLD_REPLY, 0);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    int64_t ends_ms = now_ms() + VALID_MS;
    assert_validity_ends_by(lock, ends_ms);
    assert_told_once(since_ms + VALID_MS - 1, ends_ms + at_most_ms(TOLD_MS));
    cr_assert(server_wait_exists(stage.server, NAME, false, 2 * WATCHDOG_MS), "renewed for nobody");
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* What the renewals that were not heard of have left there is released, instead of left to its time. */
Test(renewal, whose_answers_are_lost_does_not_leave_the_lock_to_its_end)
{
    rlock *lock = lock_of(scene_client(QUICK "&lockWatchdogTimeout=9000"), NAME);
    on_script(&rli_script_lock_renew, PROXY_HOLD_REPLY, 0);
    server_listen(stage.server);
    assert_ok(rlock_lock(lock));
    cr_assert(heard_times(NAME, "0", 1, 40000), "nobody has released it");
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* An answer that took its time says what was so when it was asked for. */
Test(renewal, whose_answer_is_slow_counts_from_when_it_was_sent)
{
    rlock *lock = lock_of(scene.client, NAME);
    int slow = on_script(&rli_script_lock_renew, PROXY_HOLD_REPLY, 1);
    int none = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_CUT_BEFORE, .skip = 1,
                                                    .text = rli_script_lock_renew.sha1[RLI_COUNTED]});
    assert_ok(rlock_lock(lock));
    cr_assert(proxy_await(scene.proxy, slow, PROXY_ANSWERED, 1, 5000));
    int64_t ends_ms = now_ms() + VALID_MS;
    pass_ms(100); /* of the sixth of the timeout that it may take */
    proxy_release(scene.proxy, slow);
    assert_validity_ends_by(lock, ends_ms);
    cr_assert(seen_by(none) > 1);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

Test(renewal, of_a_permit_whose_answer_is_slow_counts_from_when_it_was_sent)
{
    rlock_permit_semaphore *semaphore = permits_of(scene.client, NAME);
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 1, NULL));
    int slow = on_script(&rli_script_permit_semaphore_renew, PROXY_HOLD_REPLY, 1);
    int none = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_CUT_BEFORE, .skip = 1,
                                                    .text = rli_script_permit_semaphore_renew.sha1[RLI_COUNTED]});
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 0, RLOCK_PERMIT_WATCHDOG, &permit));
    cr_assert(proxy_await(scene.proxy, slow, PROXY_ANSWERED, 1, 5000));
    int64_t ends_ms = now_ms() + VALID_MS;
    pass_ms(100);
    proxy_release(scene.proxy, slow);
    for (int64_t left_ms = 1; left_ms > 0; pass_ms(1)) {
        left_ms = rlock_permit_semaphore_valid_for(semaphore, permit.id);
        cr_assert(left_ms == 0 || now_ms() + left_ms <= ends_ms + 2, "valid for %lld ms too long",
                  (long long)(now_ms() + left_ms - ends_ms));
    }
    cr_assert(seen_by(none) > 1);
}

/* The loss is told when the permit ends, not when the time for an answer is up. */
TimedTest(renewal, of_a_permit_that_is_never_answered_is_told_at_its_end)
{
    rlock_permit permit;
    rlock_permit_semaphore *semaphore = permits_of(scene.client, NAME);
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 1, NULL));
    on_script(&rli_script_permit_semaphore_renew, PROXY_HOLD_REQUEST, 0);
    int64_t since_ms = now_ms();
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 0, RLOCK_PERMIT_WATCHDOG, &permit));
    int64_t ends_ms = now_ms() + VALID_MS;
    cr_assert(event_wait_ms(&lost.came, 2 * WATCHDOG_MS), "the loss was not told");
    assert_between(lost.all[0].at_ms, since_ms + VALID_MS - 1, ends_ms + TOLD_MS);
}

static rlock_status extend_to_a_minute(void *lock)
{
    return rlock_extend(lock, 60000);
}

Test(renewal, by_the_owner_whose_answer_is_slow_counts_from_when_it_was_sent)
{
    rlock *lock = owned_by(lock_of(scene.client, NAME), 7);
    actor *extender = actor_start();
    assert_ok(rlock_lock_lease(lock, 30000));
    int slow = on_script(&rli_script_lock_renew, PROXY_HOLD_REPLY, 1);
    actor_begin(extender, extend_to_a_minute, lock);
    cr_assert(proxy_await(scene.proxy, slow, PROXY_ANSWERED, 1, 5000));
    int64_t ends_ms = now_ms() + 59400;
    pass_ms(100);
    proxy_release(scene.proxy, slow);
    assert_ok(actor_finish(extender, 5000));
    cr_assert(now_ms() + rlock_valid_for(lock) <= ends_ms);
    assert_ok(rlock_unlock(lock));
    actor_end(extender);
}

/* The server still has the lost hold: its owner's next one replaces it, at once. */
Test(renewal, whose_answers_are_lost_does_not_shut_the_owner_out)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = on_script(&rli_script_lock_renew, PROXY_HOLD_REPLY, 0);
    assert_ok(rlock_lock(lock));
    cr_assert(event_wait_ms(&lost.came, 2 * WATCHDOG_MS), "the loss was not told");
    proxy_release(scene.proxy, rule);
    cr_assert(pttl_of(NAME) > 0, "the server has lost it, too: nothing was tested");
    int64_t since_ms = now_ms();
    assert_ok(rlock_try_lock(lock, 0, RLOCK_WATCHDOG));
    assert_held_alone(NAME, scene.client, 1, WATCHDOG_MS, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

Test(renewal, by_a_stopped_server_loses_the_hold_at_its_deadline)
{
    rlock *lock = lock_of(scene.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    int64_t ends_ms = now_ms() + VALID_MS;
    server_freeze(stage.server);
    assert_validity_ends_by(lock, ends_ms);
    assert_told_once(since_ms + VALID_MS - 1, ends_ms + at_most_ms(TOLD_MS));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    server_thaw(stage.server);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

/* Run after the hold was lost and is somebody else's. */
Test(renewal, that_comes_late_leaves_the_next_owner_alone)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    int rule = on_script(&rli_script_lock_renew, PROXY_HOLD_REQUEST, 0);
    assert_ok(rlock_lock(lock));
    cr_assert(event_wait_ms(&lost.came, 2 * WATCHDOG_MS), "the loss was not told");
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(others, 5000));
    let_through(rule);
    assert_held_alone(NAME, stage.other, 1, 5000, since_ms);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_held_alone(NAME, stage.other, 1, 5000, since_ms);
    assert_ok(rlock_unlock(others));
}

/* A lease of its own ends as well when the server cannot be reached. */
Test(renewal, is_not_what_ends_a_hold_with_a_lease)
{
    rlock *lock = lock_of(scene.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, WATCHDOG_MS));
    int64_t ends_ms = now_ms() + VALID_MS;
    proxy_pass(scene.proxy, false, false);
    assert_validity_ends_by(lock, ends_ms);
    assert_told_once(since_ms + VALID_MS - 1, ends_ms + at_most_ms(TOLD_MS));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* What is given back in the background while nothing answers is not waited for. */
Test(renewal, loss_is_told_in_time_though_much_is_undone_in_the_background)
{
    enum { DOUBTS = 40 };
    rlock *lock = lock_of(scene.client, NAME);
    for (int i = 0; i < DOUBTS; i++) {
        rlock *doubtful = owned_by(lock_of(scene.client, "another"), i);
        on_script(&rli_script_lock_acquire, PROXY_CUT_AFTER, 1);
        assert_ok(rlock_lock(doubtful));
        assert_ok(rlock_unlock(doubtful));
    }
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    int64_t ends_ms = now_ms() + VALID_MS;
    on_script(&rli_script_lock_renew, PROXY_HOLD_REQUEST, 0);
    on_script(&rli_script_lock_release, PROXY_HOLD_REQUEST, 0);
    assert_told_once(since_ms + VALID_MS - 1, ends_ms + at_most_ms(TOLD_MS));
}

/* --- levels of a read hold --- */

#define OUTER_MS 2000 /* ends before anything is renewed */
#define LEVELS_QUERY QUICK "&lockWatchdogTimeout=9000"

static rlock *read_twice(rlock_client *client)
{
    rlock *read = read_of(client, NAME);
    assert_ok(rlock_lock_lease(read, OUTER_MS));
    assert_ok(rlock_lock(read));
    return read;
}

/* The inner level is renewed, and with it the lock; the outer one has ended by then, and stays so. */
Test(renewal, revives_no_level_of_a_read_hold_that_has_ended)
{
    int renewed = on_script(&rli_script_read_renew, PROXY_NOTE, 0);
    rlock *read = read_twice(scene_client(LEVELS_QUERY));
    cr_assert(proxy_await(scene.proxy, renewed, PROXY_ANSWERED, 2, 40000), "it is not renewed");
    assert_ok(rlock_unlock(read));
    cr_assert(rlock_valid_for(read) == 0, "the outer level is relied on");
    assert_status(rlock_unlock(read), RLOCK_LOST);
}

/* The same when the answer comes just as the inner level has been given back. */
Test(renewal, whose_answer_comes_after_an_unlock_revives_no_level_that_has_ended)
{
    losses told;
    losses_init(&told);
    rlock_client *client = scene_client(LEVELS_QUERY);
    rlock_on_lost(client, losses_note, &told);
    for (int i = 0; i < 6; i++) {
        int answer = on_script(&rli_script_read_renew, PROXY_HOLD_REPLY, 1);
        rlock *read = read_twice(client);
        cr_assert(proxy_await(scene.proxy, answer, PROXY_ANSWERED, 1, 40000), "it is not renewed");
        assert_ok(rlock_unlock(read));
        proxy_release(scene.proxy, answer);
        cr_assert(event_wait_count(&told.came, i + 1, 40000), "the loss was not told");
        cr_assert(told.all[i].reason == RLOCK_LOST_EXPIRED, "reason %d", (int)told.all[i].reason);
        cr_assert(rlock_valid_for(read) == 0, "the outer level is relied on");
        assert_status(rlock_unlock(read), RLOCK_LOST);
    }
}

/* --- some fail --- */

Test(renewal, that_fails_once_does_not_end_the_hold)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = on_script(&rli_script_lock_renew, PROXY_CUT_BEFORE, 1);
    assert_ok(rlock_lock(lock));
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 6, 10 * WATCHDOG_MS), "not renewed any more");
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ACTED) == 1);
    cr_assert(rlock_valid_for(lock) > 0 && pttl_of(NAME) > 0 && event_count(&lost.came) == 0);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* Silence is what takes longest to notice: a sixth of the timeout each. */
Test(renewal, that_is_not_answered_twice_does_not_end_the_hold)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = on_script(&rli_script_lock_renew, PROXY_HOLD_REQUEST, 2);
    assert_ok(rlock_lock(lock));
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 4, 10 * WATCHDOG_MS), "not renewed any more");
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ACTED) == 2);
    cr_assert(rlock_valid_for(lock) > 0 && event_count(&lost.came) == 0);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* Also that of other names, and of a lock taken later under the same one. */
Test(renewal, that_fails_once_concerns_no_other_hold)
{
    rlock *lock = lock_of(scene.client, NAME), *another = lock_of(scene.client, "another");
    int rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_CUT_BEFORE, .times = 1,
                                                    .text = rli_script_lock_renew.sha1[RLI_COUNTED]});
    assert_ok(rlock_lock(another));
    assert_ok(rlock_lock(lock));
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    int renewed = proxy_count(scene.proxy, rule, PROXY_ANSWERED);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, renewed + 5, 10 * WATCHDOG_MS), "not renewed any more");
    cr_assert(rlock_valid_for(lock) > 0 && rlock_valid_for(another) > 0 && event_count(&lost.came) == 0);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(another));
}

/* The connection that renews is its own: what callers wait for does not keep it waiting. */
Test(renewal, goes_on_while_the_requests_of_callers_stall)
{
    rlock *lock = lock_of(scene.client, NAME), *another = lock_of(scene.client, "another");
    actor *caller = actor_start();
    assert_ok(rlock_lock(lock));
    int stalled = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 0);
    int rule = on_script(&rli_script_lock_renew, PROXY_NOTE, 0);
    for (int i = 0; i < 3; i++) {
        actor_begin_lock(caller, another);
        assert_status(actor_finish(caller, 10000), RLOCK_UNAVAILABLE);
    }
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ANSWERED) >= 3, "not renewed any more");
    cr_assert(rlock_valid_for(lock) > 0 && event_count(&lost.came) == 0);
    proxy_release(scene.proxy, stalled);
    assert_ok(rlock_unlock(lock));
    actor_end(caller);
}

/* A batch leaves though the one before it has no answer yet. */
Test(renewal, of_one_kind_is_sent_while_that_of_another_is_not_answered)
{
    rlock *lock = lock_of(scene.client, NAME);
    rlock_read_write_lock *both = rlock_get_read_write_lock(scene.client, "another");
    rlock *write = rlock_write_lock(both);
    int others = on_script(&rli_script_write_renew, PROXY_NOTE, 0);
    int known = on_script(&rli_script_lock_renew, PROXY_NOTE, 2);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(write));
    /* the first of each teaches the server the script */
    cr_assert(proxy_await(scene.proxy, others, PROXY_ANSWERED, 2, 10 * WATCHDOG_MS));
    cr_assert(proxy_await(scene.proxy, known, PROXY_ANSWERED, 2, 10 * WATCHDOG_MS));
    int so_far = seen_by(others), slow = on_script(&rli_script_lock_renew, PROXY_HOLD_REPLY, 1);
    cr_assert(proxy_await(scene.proxy, slow, PROXY_ANSWERED, 1, 10 * WATCHDOG_MS));
    /* later, the answer is waited for no longer */
    cr_assert(proxy_await(scene.proxy, others, PROXY_SEEN, so_far + 1, WATCHDOG_MS / 8), "sent one after the other");
    proxy_release(scene.proxy, slow);
    pass_ms(2 * WATCHDOG_MS);
    cr_assert(rlock_valid_for(lock) > 0 && rlock_valid_for(write) > 0 && event_count(&lost.came) == 0);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(write));
    rlock_free(write);
    rlock_read_write_lock_free(both);
}

/* And the other way round. */
Test(renewal, that_stalls_keeps_no_caller_waiting)
{
    rlock *lock = lock_of(scene.client, NAME), *another = lock_of(scene.client, "another");
    int rule = on_script(&rli_script_lock_renew, PROXY_HOLD_REQUEST, 0);
    assert_ok(rlock_lock(lock));
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(another));
    assert_ok(rlock_unlock(another));
    assert_ok(rlock_unlock(lock));
    assert_between(now_ms() - since_ms, 0, at_most_ms(50));
    assert_no_keys();
}

/* --- late extensions --- */

/* Otherwise the extension would keep others out for a minute. */
static void assert_given_up(rlock *lock, rlock_status extended, rlock_status status)
{
    assert_status(extended, status);
    pass_ms(3000);
    cr_assert(pttl_of(rlock_name(lock)) == -2, "the lock stands for %lld ms", (long long)pttl_of(rlock_name(lock)));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

TimedTest(renewal, extension_that_is_answered_after_the_lease_is_undone)
{
    rlock *lock = owned_by(lock_of(scene.client, "order"), 7);
    actor *extender = actor_start();
    assert_ok(rlock_lock_lease(lock, 300));
    int rule = on_script(&rli_script_lock_renew, PROXY_HOLD_REPLY, 1);
    actor_begin(extender, extend_to_a_minute, lock);
    pass_ms(350);
    proxy_release(scene.proxy, rule);
    assert_given_up(lock, actor_finish(extender, 5000), RLOCK_LOST);
    actor_end(extender);
}

TimedTest(renewal, extension_that_is_not_answered_within_the_lease_is_undone)
{
    rlock *lock = lock_of(scene.client, "order");
    assert_ok(rlock_lock_lease(lock, 300));
    on_script(&rli_script_lock_renew, PROXY_CUT_AFTER, 0);
    assert_given_up(lock, rlock_extend(lock, 60000), RLOCK_UNAVAILABLE);
}

/* --- many permits --- */

/* A hundred batches, one after the other: each waits for the answer to the one before it, and no longer. */
TimedTest(renewal, of_ten_thousand_permits_loses_none_to_a_slow_link)
{
    enum { PERMITS = 10000, ROUND_TRIP_MS = 5 };
    static rlock_permit permits[PERMITS];
    rlock_permit_semaphore *semaphore = permits_of(scene.client, NAME);
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, PERMITS, NULL));
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, PERMITS, RLOCK_PERMIT_WATCHDOG, permits));
    proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY,
                                         .text = rli_script_permit_semaphore_renew.sha1[RLI_COUNTED],
                                         .amount = ROUND_TRIP_MS});
    pass_ms(3 * WATCHDOG_MS);
    cr_assert(event_count(&lost.came) == 0, "%d permits were lost", event_count(&lost.came));
    cr_assert(permits_taken(semaphore) == PERMITS);
}
