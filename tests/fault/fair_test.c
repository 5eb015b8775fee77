/* A fair lock's queue under faults: lost answers, requests that run late, messages that never come, a
 * server that stands still, is away or begins anew. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stopped.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void with_long_patience(void)
{
    scene_open_with("timeout=200&retryAttempts=10&retryBaseDelay=50&retryMaxDelay=100");
}

/* More attempts than a start of the server takes, however loaded the machine. */
static void with_endless_patience(void)
{
    scene_open_with("timeout=1000&retryAttempts=100&retryBaseDelay=50&retryMaxDelay=100");
}

TestSuite(fair_in_faults, .init = scene_open, .fini = scene_close);
TestSuite(fair_at_a_restart, .init = with_endless_patience, .fini = scene_close);
TestSuite(fair_with_patience, .init = with_long_patience, .fini = scene_close);

#define NAME "f"
#define SOON_MS 3000 /* background releases begin within half a second, and have pauses of up to two */

static rlock *mine(void)
{
    return fair_of(scene.client, NAME);
}

/* Who comes next has it: nothing of the waits before is in its way. */
static void assert_free_for_others(void)
{
    rlock *others = fair_of(stage.other, NAME);
    assert_ok(rlock_try_lock(others, at_most_ms(1000), 1000));
    assert_ok(rlock_unlock(others));
    assert_no_keys();
}

/* --- queueing --- */

/* It ran and was asked again: one place. */
Test(fair_in_faults, lost_answer_of_an_acquire_is_one_place)
{
    foreign_hold(NAME, 30000);
    int rule = on_script(&rli_script_fair_acquire, PROXY_CUT_AFTER, 1);
    actor *waiter = queue_up(mine());
    cr_assert(seen_by(rule) >= 2 && score_count(NAME) == 1);
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, mine()));
    cr_assert(wait_queued(NAME, 0, 1000));
    assert_no_keys();
    actor_end(waiter);
}

/* A longer wait of the same owner does not reach the server: those behind have no more than the shorter one less to wait. */
Test(fair_in_faults, longer_wait_that_is_not_answered_takes_no_time_from_those_behind)
{
    rlock *lock = owned_by(fair_of(scene_client("timeout=" SCENE_TEXT_(ATTEMPT_MS) "&retryAttempts=0"), NAME), 7);
    foreign_hold(NAME, 60000);
    actor *waiters[2] = {queue_up_for(lock, 30000, 1000), actor_start()};
    foreign_queue(NAME, 1, 200000);
    int64_t behind = score_of(NAME, foreign_owner(1));
    int rule = on_script(&rli_script_fair_acquire, PROXY_CUT_BEFORE, 1);
    actor_begin_try(waiters[1], lock, 300000, 1000);
    assert_status(actor_finish(waiters[1], 10000), RLOCK_UNAVAILABLE);
    cr_assert(seen_by(rule) == 1 && score_of(NAME, foreign_owner(1)) == behind);
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiters[0], 10000));
    cr_assert(score_of(NAME, foreign_owner(1)) == behind - 30000, "it is %lld ms less",
              (long long)(behind - score_of(NAME, foreign_owner(1))));
    assert_ok(actor_unlock(waiters[0], lock));
    for (int i = 0; i < 2; i++)
        actor_end(waiters[i]);
}

/* Never answered in its time: not held, and no place is left, whether it ran or runs later. */
Test(fair_in_faults, unanswered_acquire_leaves_no_place)
{
    foreign_hold(NAME, 30000);
    int rule = on_script(&rli_script_fair_acquire, PROXY_HOLD_REPLY, 0);
    assert_status(rlock_try_lock(mine(), 300, 1000), RLOCK_UNAVAILABLE);
    proxy_release(scene.proxy, rule);
    cr_assert(wait_queued(NAME, 0, SOON_MS) && score_count(NAME) == 0);
    foreign_vanish(NAME);
    assert_free_for_others();
}

/* Stalled, given up, and run after all: at the end of a queue that nobody waits in, or with the lock. */
Test(fair_in_faults, acquire_that_runs_after_it_was_given_up_leaves_no_place)
{
    foreign_hold(NAME, 30000);
    int rule = on_script(&rli_script_fair_acquire, PROXY_HOLD_REQUEST, 1);
    assert_status(rlock_try_lock(mine(), ATTEMPT_MS / 2, 20000), RLOCK_UNAVAILABLE);
    cr_assert(queue_length(NAME) == 0);
    let_through(rule);
    cr_assert(wait_queued(NAME, 0, SOON_MS) && score_count(NAME) == 0);
    foreign_vanish(NAME);
    assert_free_for_others();
}

Test(fair_in_faults, acquire_that_runs_after_it_was_given_up_holds_nothing_for_long)
{
    int rule = on_script(&rli_script_fair_acquire, PROXY_HOLD_REQUEST, 1);
    assert_status(rlock_try_lock(mine(), ATTEMPT_MS / 2, 20000), RLOCK_UNAVAILABLE);
    let_through(rule);
    int64_t since_ms = now_ms();
    rlock *others = fair_of(stage.other, NAME);
    assert_ok(rlock_lock_lease(others, 1000));
    assert_between(now_ms() - since_ms, 0, SOON_MS);
    assert_ok(rlock_unlock(others));
}

/* A copy of the question that got it its place runs after its hold has ended: a new place, or a hold,
 * that nobody wants. */
Test(fair_in_faults, acquire_that_runs_after_its_hold_has_ended_leaves_no_place)
{
    foreign_hold(NAME, 30000);
    int rule = on_script(&rli_script_fair_acquire, PROXY_HOLD_REQUEST, 1);
    actor *waiter = queue_up(mine());
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, mine()));
    foreign_hold(NAME, 30000);
    let_through(rule);
    cr_assert(wait_queued(NAME, 0, 5000) && score_count(NAME) == 0);
    foreign_vanish(NAME);
    assert_free_for_others();
    actor_end(waiter);
}

/* --- giving up --- */

/* The request to leave the queue is lost: it is made again in the background, and the place is no
 * hindrance for long. */
Test(fair_in_faults, lost_request_to_leave_the_queue_is_made_again)
{
    foreign_hold(NAME, 30000);
    int rule = on_script(&rli_script_fair_give_up, PROXY_CUT_BEFORE, 1);
    assert_status(rlock_try_lock(mine(), 300, 1000), RLOCK_TIMEOUT);
    cr_assert(seen_by(rule) >= 1);
    cr_assert(wait_queued(NAME, 0, SOON_MS) && score_count(NAME) == 0);
    foreign_vanish(NAME);
    assert_free_for_others();
}

/* One thread of an owner queued, and another took the lock as of another kind. The place is still there when the owner is
 * told that it has the lock already, and the request to leave it is lost: that does not concern the hold. */
Test(fair_in_faults, lost_request_to_leave_the_queue_ends_no_hold)
{
    rlock *fair = owned_by(stage_keep(rlock_get_non_reentrant_fair_lock(scene.client, NAME)), 7);
    rlock *spin = owned_by(stage_keep(rlock_get_spin_lock(scene.client, NAME)), 7);
    actor *taker = actor_start();
    foreign_hold(NAME, 30000);
    actor_begin_try(taker, spin, 20000, 20000);
    cr_assert(actor_asleep(taker, 5000));
    actor *waiter = queue_up_for(fair, 500, 1000);
    assert_status(actor_finish(waiter, 5000), RLOCK_TIMEOUT);
    foreign_vanish(NAME);
    assert_ok(actor_finish(taker, 5000));
    int rule = on_script(&rli_script_fair_give_up, PROXY_CUT_BEFORE, 1);
    assert_status(rlock_try_lock(fair, 5000, 1000), RLOCK_ALREADY_HELD);
    cr_assert(seen_by(rule) == 1, "%d requests", seen_by(rule));
    cr_assert(rlock_valid_for(spin) > 0);
    assert_ok(rlock_unlock(spin));
    cr_assert(wait_queued(NAME, 0, SOON_MS) && score_count(NAME) == 0);
    actor_end(waiter);
    actor_end(taker);
}

/* A wait is over while the server stands still. The place is left when it goes on. */
Test(fair_in_faults, place_is_left_when_the_server_goes_on)
{
    foreign_hold(NAME, 30000);
    actor *waiter = queue_up_for(mine(), 500, 1000);
    server_freeze(stage.server);
    rlock_status status = actor_finish(waiter, 5000);
    cr_assert(status == RLOCK_TIMEOUT || status == RLOCK_UNAVAILABLE);
    assert_between(actor_took(waiter), 500, 500 + 250 + at_most_ms(500));
    server_thaw(stage.server);
    cr_assert(wait_queued(NAME, 0, SOON_MS) && score_count(NAME) == 0);
    foreign_vanish(NAME);
    assert_free_for_others();
    actor_end(waiter);
}

/* A wait is over while the server can't be reached, for longer than wait and lease together: nothing of
 * the request to leave is on its way when it comes back, and it is made even then. */
Test(fair_in_faults, place_is_left_after_an_outage_longer_than_the_wait)
{
    foreign_hold(NAME, 30000);
    actor *waiter = queue_up_for(mine(), 300, 200);
    proxy_accept(scene.proxy, false);
    proxy_cut(scene.proxy);
    rlock_status status = actor_finish(waiter, 5000);
    cr_assert(status == RLOCK_TIMEOUT || status == RLOCK_UNAVAILABLE);
    pass_ms(3000); /* the outage */
    cr_assert(queue_length(NAME) == 1);
    proxy_accept(scene.proxy, true);
    cr_assert(wait_queued(NAME, 0, SOON_MS) && score_count(NAME) == 0);
    foreign_vanish(NAME);
    assert_free_for_others();
    actor_end(waiter);
}

/* The request to leave is stalled, and another thread of the owner begins to wait: its place is not the
 * one that is taken away when the request runs after all. */
Test(fair_in_faults, late_request_to_leave_takes_no_other_waits_place)
{
    rlock *lock = owned_by(mine(), 7);
    foreign_hold(NAME, 30000);
    actor *leaving = queue_up_for(lock, 300, 1000), *waiter = actor_start();
    char *left = strdup(queued_at(NAME, 0));
    int rule = on_script(&rli_script_fair_give_up, PROXY_HOLD_REQUEST, 1);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    actor_begin_lock(waiter, lock);
    assert_status(actor_finish(leaving, 5000), RLOCK_TIMEOUT);
    for (int64_t until_ms = limit_end_ms(5000); !*queued_at(NAME, 0) || strcmp(queued_at(NAME, 0), left) == 0; pass_ms(1))
        cr_assert(now_ms() < until_ms, "the wait has no place, or the former one still stands");
    cr_assert(wait_all_listen(NAME, 5000));
    let_through(rule);
    cr_assert(queue_length(NAME) == 1);
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    free(left);
    actor_end(leaving);
    actor_end(waiter);
}

/* --- cancelling --- */

/* The subscription is not confirmed: the wait ends at once all the same, and leaves nothing. */
Test(fair_in_faults, wait_is_cancelled_before_it_is_subscribed)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    foreign_hold(NAME, 30000);
    int rule = on_text("SUBSCRIBE", PROXY_HOLD_REQUEST, 0);
    actor *waiter = actor_start();
    actor_begin_with(waiter, mine(), &options);
    cr_assert(wait_queued(NAME, 1, 5000));
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    int64_t since_ms = now_ms();
    rlock_cancel_fire(options.cancel);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(300));
    cr_assert(queue_length(NAME) == 0 && score_count(NAME) == 0);
    proxy_release(scene.proxy, rule);
    cr_assert(wait_no_channels(5000));
    rlock_cancel_free(options.cancel);
    actor_end(waiter);
}

/* --- messages --- */

/* The message is lost with the connection that it was on: the wait asks as soon as it has another. */
Test(fair_in_faults, wait_survives_a_lost_message)
{
    foreign_hold(NAME, 30000);
    actor *waiter = queue_up(mine());
    foreign_vanish(NAME); /* nobody is told */
    proxy_cut_subscribers(scene.proxy);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, mine()));
    assert_no_keys();
    actor_end(waiter);
}

/* One that was cut off is passed over by mistake, as if it were dead. It queues again, behind those that have come since, and
 * has lost nothing but its place. */
Test(fair_in_faults, waiter_that_was_passed_over_by_mistake_queues_again)
{
    foreign_hold(NAME, 60000);
    actor *waiter = queue_up(mine());
    char own[128];
    snprintf(own, sizeof own, "%s", queued_at(NAME, 0));
    freeReplyObject(server_command(stage.server, "LREM redisson_lock_queue:{" NAME "} 0 %s", own));
    freeReplyObject(server_command(stage.server, "ZREM redisson_lock_timeout:{" NAME "} %s", own));
    foreign_queue(NAME, 1, 600000);
    redisContext *living = foreign_listen(NAME, 1);
    proxy_cut_subscribers(scene.proxy);
    cr_assert(wait_queued(NAME, 2, 5000), "it does not queue again");
    cr_assert(strcmp(queued_at(NAME, 0), foreign_owner(1)) == 0);
    cr_assert(strcmp(queued_at(NAME, 1), own) == 0);
    /* The one before it goes, and the holder, too. */
    freeReplyObject(server_command(stage.server, "LREM redisson_lock_queue:{" NAME "} 0 %s", foreign_owner(1)));
    freeReplyObject(server_command(stage.server, "ZREM redisson_lock_timeout:{" NAME "} %s", foreign_owner(1)));
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, mine()));
    assert_no_keys();
    redisFree(living);
    actor_end(waiter);
}

/* --- releasing --- */

/* Its answer is lost: it was released all the same, once, and the next one has it. */
Test(fair_in_faults, lost_answer_of_a_release_frees_it_once)
{
    rlock *lock = mine(), *others = fair_of(stage.other, NAME);
    assert_ok(rlock_lock(lock));
    actor *waiters[2] = {queue_up(others), queue_up(others)};
    on_script(&rli_script_fair_release, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_unlock(lock));
    for (int i = 0; i < 2; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        cr_assert(i || !actor_ended(waiters[1], 100));
        assert_ok(actor_unlock(waiters[i], others));
        actor_end(waiters[i]);
    }
    assert_no_keys();
}

/* Stalled, sent again, and run after all: the hold of the next one stands. */
Test(fair_in_faults, late_release_leaves_the_next_one_alone)
{
    rlock *lock = mine(), *others = fair_of(stage.other, NAME);
    assert_ok(rlock_lock(lock));
    actor *waiters[2] = {queue_up(others), queue_up(others)};
    int rule = on_script(&rli_script_fair_release, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiters[0], 5000));
    let_through(rule);
    cr_assert(!actor_ended(waiters[1], 200));
    cr_assert(actor_holds(waiters[0], others) && queue_length(NAME) == 1);
    assert_ok(actor_unlock(waiters[0], others));
    assert_ok(actor_finish(waiters[1], 5000));
    assert_ok(actor_unlock(waiters[1], others));
    actor_end(waiters[0]);
    actor_end(waiters[1]);
    assert_no_keys();
}

/* --- the server --- */

/* It begins anew and has forgotten lock, queue and scripts: the waits go on, all of them. */
Test(fair_at_a_restart, waits_go_on_when_the_server_begins_anew)
{
    rlock *lock = mine();
    foreign_hold(NAME, 30000);
    actor *waiters[3];
    for (int i = 0; i < 3; i++)
        waiters[i] = queue_up_for(lock, 30000, 5000);
    server_kill(stage.server);
    server_restart(stage.server);
    int left = 3;
    for (int64_t until_ms = limit_end_ms(20000); left && now_ms() < until_ms;) {
        for (int i = 0; i < 3; i++) {
            if (waiters[i] && actor_ended(waiters[i], 1)) {
                assert_ok(actor_finish(waiters[i], 0));
                assert_ok(actor_unlock(waiters[i], lock));
                actor_end(waiters[i]);
                waiters[i] = NULL;
                left--;
            }
        }
    }
    cr_assert(left == 0, "%d still wait", left);
    assert_no_keys();
}

/* 36, a tenth as slow: two wait, and the server stops writing for many times the timeout. */
Test(fair_with_patience, outlasts_a_pause_of_the_server)
{
    rlock *lock = mine();
    foreign_hold(NAME, 500);
    actor *waiters[2] = {queue_up_for(lock, 20000, 100), queue_up_for(lock, 20000, 100)};
    freeReplyObject(server_command(stage.server, "CLIENT PAUSE 30000 WRITE"));
    actor *late = actor_start();
    actor_begin_try(late, lock, 20000, 100);
    pass_ms(1500);
    freeReplyObject(server_command(stage.server, "CLIENT UNPAUSE"));
    for (int i = 0; i < 2; i++)
        assert_ok(actor_finish(waiters[i], 10000));
    assert_ok(actor_finish(late, 10000));
    cr_assert(wait_queued(NAME, 0, 1000) && score_count(NAME) == 0);
    actor_end(waiters[0]);
    actor_end(waiters[1]);
    actor_end(late);
}

/* The head of the queue is dead, and is to be told so once more; the server does not answer any more. */
Test(fair_in_faults, dead_head_is_not_told_for_ever_by_way_of_a_silent_server)
{
    rlock *lock = mine();
    assert_ok(rlock_lock(lock));
    foreign_queue(NAME, 1, 100000);
    assert_ok(rlock_unlock(lock));
    proxy_pass(scene.proxy, false, false);
    pass_ms(20000);
    int before = proxy_accepted(scene.proxy);
    pass_ms(60000);
    int more = proxy_accepted(scene.proxy) - before;
    cr_assert(more == 0, "%d connections more", more);
}

/* A release that is repeated finds the dead head again and again: the two seconds begin when it finds it first. */
TimedTest(fair_in_faults, dead_head_is_passed_over_in_time_by_a_release_that_is_repeated)
{
    actor *taker = actor_start();
    int rule = on_script(&rli_script_fair_acquire, PROXY_HOLD_REPLY, 0);
    actor_begin_try(taker, mine(), 0, 60000);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 1, 5000));
    foreign_queue(NAME, 1, 600000);
    foreign_queue(NAME, 2, 600000);
    redisContext *behind = foreign_listen(NAME, 2);
    assert_status(actor_finish(taker, 5000), RLOCK_UNAVAILABLE);
    int64_t since_ms = now_ms();
    cr_assert(foreign_told(behind, 10000));
    assert_between(now_ms() - since_ms, 1900, 2500);
    redisFree(behind);
    actor_end(taker);
}

/* The head is a waiter of the same client that stands still, and hears nothing at present. It lives, so it is not passed over at
 * once by one that was before it, and has lost its place. */
TimedTest(fair_in_faults, head_that_stands_still_is_not_passed_over_at_once_by_its_client)
{
    foreign_hold(NAME, 60000);
    actor *first = queue_up(mine()), *second = queue_up(mine());
    freeReplyObject(server_command(stage.server, "ZREM redisson_lock_timeout:{" NAME "} %s", queued_at(NAME, 0)));
    freeReplyObject(server_command(stage.server, "LPOP redisson_lock_queue:{" NAME "}"));
    actor_stop(second);
    proxy_accept(scene.proxy, false);
    proxy_cut_subscribers(scene.proxy);
    cr_assert(wait_queued(NAME, 2, 5000), "the first does not queue again");
    pass_ms(20);
    foreign_vanish(NAME);
    cr_assert(!actor_ended(first, 2200), "it has passed over the other");
    actor_go_on();
    assert_ok(actor_finish(second, 5000));
    proxy_accept(scene.proxy, true);
    assert_ok(actor_unlock(second, mine()));
    assert_ok(actor_finish(first, 5000));
    assert_ok(actor_unlock(first, mine()));
    actor_end(first);
    actor_end(second);
}
