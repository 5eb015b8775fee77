/* Lost answers: the connection ends after the server ran a request and before its answer came, or
 * before the request came. Each call then says what is true. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/support/event.h"

TestSuite(lost_reply, .init = scene_open, .fini = scene_close);
TestSuite(lost_renewal, .init = scene_watchdog, .fini = scene_close);

#define NAME "order"
#define LEASE_MS 30000

static int lose_first(const rli_script *script)
{
    return on_script(script, PROXY_CUT_AFTER, 1);
}

/* The server ran the first of exactly two. */
static void assert_sent_twice(int rule)
{
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ACTED) == 1);
    cr_assert(seen_by(rule) == 2, "sent %d times", seen_by(rule));
}

static void assert_holds(rlock *lock, int count)
{
    int counted = -1;
    bool held = false;
    assert_ok(rlock_get_hold_count(lock, &counted));
    assert_ok(rlock_is_held(lock, &held));
    cr_assert(counted == count && held == (count > 0), "holds it %d times", counted);
}

/* --- acquire --- */

Test(lost_reply, of_an_acquire_counts_it_once)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = lose_first(&rli_script_lock_acquire);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_sent_twice(rule);
    assert_held_alone(NAME, scene.client, 1, LEASE_MS, since_ms);
    assert_holds(lock, 1);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

/* What the first attempt took counts from then on: the validity does not end after the lease. */
Test(lost_reply, of_an_acquire_counts_its_lease_from_the_first_attempt)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = on_script(&rli_script_lock_acquire, PROXY_HOLD_REPLY, 1);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 2000)); /* the first attempt was given up */
    int64_t valid_until_ms = now_ms() + rlock_valid_for(lock);
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ACTED) == 1);
    assert_between(valid_until_ms - since_ms, 1, 1980 + 10);
    assert_ok(rlock_unlock(lock));
}

/* The lease of the first attempt has ended by the time the second is answered: what is had then is worth nothing, and is
 * asked for once more. */
Test(lost_reply, of_an_acquire_is_no_reason_to_take_what_has_ended)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = on_script(&rli_script_lock_acquire, PROXY_HOLD_REPLY, 1);
    proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .skip = 1, .times = 1, .amount = ATTEMPT_MS / 2,
                                         .text = rli_script_lock_acquire.sha1[RLI_COUNTED]});
    assert_ok(rlock_try_lock(lock, 60000, ATTEMPT_MS + ATTEMPT_MS / 4));
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ACTED) == 1);
    cr_assert(seen_by(rule) > 2, "sent %d times", seen_by(rule));
}

Test(lost_reply, of_a_try_counts_it_once)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = lose_first(&rli_script_lock_acquire);
    assert_ok(rlock_try_lock(lock, 0, 5000));
    assert_sent_twice(rule);
    assert_holds(lock, 1);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(lost_reply, of_a_re_entry_counts_it_once)
{
    rlock *lock = lock_of(scene.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    int rule = lose_first(&rli_script_lock_acquire);
    assert_ok(rlock_lock(lock));
    assert_sent_twice(rule);
    assert_held_alone(NAME, scene.client, 2, LEASE_MS, since_ms);
    assert_holds(lock, 2);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* Somebody else has it: the lost answer was a refusal. */
Test(lost_reply, of_a_refusal_is_asked_again)
{
    rlock *lock = lock_of(scene.client, NAME);
    foreign_hold(NAME, 60000);
    int rule = lose_first(&rli_script_lock_acquire);
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_sent_twice(rule);
    cr_assert_str_eq(holder_of(NAME), FOREIGN_CLIENT);
}

Test(lost_reply, of_every_acquire_leaves_the_lock_free)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = on_script(&rli_script_lock_acquire, PROXY_CUT_AFTER, 0);
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    cr_assert(seen_by(rule) == 3);
    cr_assert(rlock_valid_for(lock) == 0);
    cr_assert(server_wait_exists(stage.server, NAME, false, 5000), "held by nobody");
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

/* The outer hold is as it was, and is good for all that follows. */
Test(lost_reply, of_every_re_entry_leaves_the_outer_hold)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    int rule = on_script(&rli_script_lock_acquire, PROXY_CUT_AFTER, 0);
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    cr_assert(rlock_valid_for(lock) > 0);
    proxy_release(scene.proxy, rule);
    assert_ok(rlock_lock(lock));
    assert_holds(lock, 2);
    assert_ok(rlock_unlock(lock));
    assert_holds(lock, 1);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* --- release --- */

Test(lost_reply, of_the_last_release_is_a_success)
{
    rlock *lock = lock_of(scene.client, NAME);
    server_listen(stage.server);
    assert_ok(rlock_lock(lock));
    int rule = lose_first(&rli_script_lock_release);
    assert_ok(rlock_unlock(lock));
    assert_sent_twice(rule);
    assert_no_keys();
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(heard_times(NAME, "0", 2, 5000));
    cr_assert(!heard_times(NAME, "0", 3, 0), "freed more often than it was taken");
}

/* The next owner comes in between the attempts. */
Test(lost_reply, of_the_last_release_is_a_success_though_another_has_the_lock)
{
    rlock *lock = owned_by(lock_of(scene.client, NAME), 7), *others = lock_of(stage.other, NAME);
    actor *releaser = actor_start();
    assert_ok(rlock_lock(lock));
    lose_first(&rli_script_lock_release);
    const proxy_rule second = {PROXY_HOLD_REQUEST, .text = rli_script_lock_release.sha1[RLI_COUNTED], .skip = 1};
    int rule = proxy_add(scene.proxy, &second);
    actor_begin_unlock(releaser, lock);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(others));
    let_through(rule);
    assert_ok(actor_finish(releaser, 5000));
    assert_held_alone(NAME, stage.other, 1, LEASE_MS, since_ms);
    assert_ok(rlock_unlock(others));
    actor_end(releaser);
}

Test(lost_reply, of_a_partial_release_is_a_success)
{
    rlock *lock = lock_of(scene.client, NAME);
    int64_t since_ms = now_ms();
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(lock));
    int rule = lose_first(&rli_script_lock_release);
    assert_ok(rlock_unlock(lock));
    assert_sent_twice(rule);
    assert_held_alone(NAME, scene.client, 2, LEASE_MS, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* This hold is given back all the same, as far as this process is concerned. */
Test(lost_reply, of_every_release_ends_the_hold)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    int rule = on_script(&rli_script_lock_release, PROXY_CUT_AFTER, 0);
    assert_status(rlock_unlock(lock), RLOCK_UNAVAILABLE);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_no_keys();
    proxy_release(scene.proxy, rule);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(lock));
    assert_holds(lock, 1);
    assert_ok(rlock_unlock(lock));
}

/* Requests that never came: the background brings them. */
Test(lost_reply, never_asked_for_a_release_frees_the_lock_in_the_background)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    int rule = on_script(&rli_script_lock_release, PROXY_CUT_BEFORE, 0);
    assert_status(rlock_unlock(lock), RLOCK_UNAVAILABLE);
    cr_assert(pttl_of(NAME) > 0);
    proxy_release(scene.proxy, rule);
    cr_assert(server_wait_exists(stage.server, NAME, false, 5000), "held by nobody");
}

/* --- force --- */

Test(lost_reply, of_a_force_is_unknown_and_never_asked_again)
{
    rlock *lock = lock_of(scene.client, NAME);
    foreign_hold(NAME, 60000);
    int rule = on_script(&rli_script_lock_force, PROXY_CUT_AFTER, 0);
    bool was_locked = false, locked = true;
    assert_status(rlock_force_unlock(lock, &was_locked), RLOCK_UNKNOWN);
    cr_assert(seen_by(rule) == 1, "sent %d times", seen_by(rule));
    assert_ok(rlock_is_locked(lock, &locked));
    cr_assert(!locked);
    pass_ms(PATIENCE_MS); /* the time in which it might be sent again */
    cr_assert(seen_by(rule) == 1, "sent %d times", seen_by(rule));
}

Test(lost_reply, of_a_force_that_never_came_is_unknown_too)
{
    rlock *lock = lock_of(scene.client, NAME);
    foreign_hold(NAME, 60000);
    int rule = on_script(&rli_script_lock_force, PROXY_CUT_BEFORE, 1);
    bool was_locked = false;
    assert_status(rlock_force_unlock(lock, &was_locked), RLOCK_UNKNOWN);
    cr_assert(seen_by(rule) == 1, "sent %d times", seen_by(rule));
    cr_assert_str_eq(holder_of(NAME), FOREIGN_CLIENT);
    assert_ok(rlock_force_unlock(lock, &was_locked));
    cr_assert(was_locked);
    assert_no_keys();
}

/* Whether it came or not, this client's own hold may not be relied on any more. */
Test(lost_reply, of_a_force_ends_the_own_hold)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    on_script(&rli_script_lock_force, PROXY_CUT_AFTER, 1);
    assert_status(rlock_force_unlock(lock, NULL), RLOCK_UNKNOWN);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* Nor does it stand for others, once nobody relies on it: the background gives it back. */
Test(lost_reply, of_a_force_that_never_came_does_not_leave_the_own_hold_on_the_server)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock_lease(lock, 600000));
    on_script(&rli_script_lock_force, PROXY_CUT_BEFORE, 1);
    assert_status(rlock_force_unlock(lock, NULL), RLOCK_UNKNOWN);
    cr_assert(server_wait_exists(stage.server, NAME, false, 30000), "it is held for nobody");
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* A connection that was never there is no doubt: nothing was sent. */
Test(lost_reply, is_not_what_a_force_has_that_found_no_server)
{
    rlock *lock = lock_of(scene.client, NAME);
    proxy_accept(scene.proxy, false);
    proxy_cut(scene.proxy);
    /* the client may find only now that its connection has ended */
    bool locked;
    assert_status(rlock_is_locked(lock, &locked), RLOCK_UNAVAILABLE);
    assert_status(rlock_force_unlock(lock, NULL), RLOCK_UNAVAILABLE);
}

/* --- questions --- */

Test(lost_reply, of_a_question_is_asked_again)
{
    rlock *lock = lock_of(scene.client, NAME);
    bool yes = false;
    int count = 0;
    int64_t ttl_ms = 0;
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    int rule = lose_first(&rli_script_lock_state);
    assert_ok(rlock_is_locked(lock, &yes));
    cr_assert(yes);
    assert_sent_twice(rule);
    rule = lose_first(&rli_script_lock_state);
    assert_ok(rlock_is_held(lock, &yes));
    cr_assert(yes);
    assert_sent_twice(rule);
    rule = lose_first(&rli_script_lock_state);
    assert_ok(rlock_get_hold_count(lock, &count));
    cr_assert(count == 2);
    assert_sent_twice(rule);
    rule = lose_first(&rli_script_lock_state);
    assert_ok(rlock_remain_time_to_live(lock, &ttl_ms));
    assert_between(ttl_ms, 20000, LEASE_MS);
    assert_sent_twice(rule);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
}

/* --- subscribe --- */

Test(lost_reply, of_a_subscription_is_subscribed_again)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(others));
    int rule = on_text("SUBSCRIBE", PROXY_CUT_AFTER, 1);
    actor_begin_lock(waiter, lock);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 2, 5000), "not subscribed again");
    cr_assert(!actor_ended(waiter, 0));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(others));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(200));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* --- renew --- */

Test(lost_renewal, does_not_end_the_hold)
{
    static losses lost;
    losses_init(&lost);
    rlock_on_lost(scene.client, losses_note, &lost);
    rlock *lock = lock_of(scene.client, NAME);
    int rule = lose_first(&rli_script_lock_renew);
    assert_ok(rlock_lock(lock));
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 5, 10 * WATCHDOG_MS), "not renewed any more");
    cr_assert(rlock_valid_for(lock) > 0);
    cr_assert(event_count(&lost.came) == 0);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}
