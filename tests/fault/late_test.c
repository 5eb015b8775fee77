/* Late duplicates: a request that is stuck on one connection, answered on another when it is sent
 * again, and then run after all, changes nothing that came later. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/support/event.h"

TestSuite(late, .init = scene_open, .fini = scene_close);
TestSuite(late_renewal, .init = scene_watchdog, .fini = scene_close);

#define NAME "order"
#define LEASE_MS 30000

static int stall_first(const rli_script *script)
{
    return on_script(script, PROXY_HOLD_REQUEST, 1);
}

static void assert_stalled_once(int rule)
{
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ACTED) == 1, "nothing was stalled");
    cr_assert(proxy_count(scene.proxy, rule, PROXY_LATE) == 0);
}

/* The hold that stands now is not touched by what the rule keeps. */
static void assert_stands_against(int rule, int count, int64_t since_ms)
{
    int64_t number = wire_number(NAME, scene.client);
    let_through(rule);
    cr_assert(assert_held_alone(NAME, scene.client, count, LEASE_MS, since_ms) == number,
              "the hold has another owner now");
}

/* They go on for as long as something of the former hold might still come. */
static void await_background_releases(void)
{
    int rule = on_script(&rli_script_lock_release, PROXY_NOTE, 0);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 1, 10000), "nothing is undone in the background");
}

/* --- the last release --- */

Test(late, release_leaves_the_next_hold_of_its_thread_alone)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    int rule = stall_first(&rli_script_lock_release);
    assert_ok(rlock_unlock(lock));
    assert_stalled_once(rule);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_stands_against(rule, 1, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* As above, for an owner that is a number. */
Test(late, release_leaves_the_next_hold_of_its_named_owner_alone)
{
    rlock *lock = owned_by(lock_of(scene.client, NAME), 7);
    assert_ok(rlock_lock(lock));
    int rule = stall_first(&rli_script_lock_release);
    assert_ok(rlock_unlock(lock));
    assert_stalled_once(rule);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    assert_stands_against(rule, 2, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(late, release_leaves_the_hold_of_another_client_alone)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(lock));
    int rule = stall_first(&rli_script_lock_release);
    assert_ok(rlock_unlock(lock));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(others));
    let_through(rule);
    assert_held_alone(NAME, stage.other, 1, LEASE_MS, since_ms);
    assert_ok(rlock_unlock(others));
}

/* The same with no proxy: the server itself stands still, and reads what was left to it later. */
Test(late, release_read_by_a_server_that_was_stopped_leaves_the_next_hold_alone)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    server_freeze(stage.server);
    assert_status(rlock_unlock(lock), RLOCK_UNAVAILABLE);
    cr_assert(rlock_valid_for(lock) == 0);
    server_thaw(stage.server);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    int64_t number = wire_number(NAME, scene.client);
    await_background_releases();
    cr_assert(assert_held_alone(NAME, scene.client, 1, LEASE_MS, since_ms) == number);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* --- the first acquire --- */

Test(late, acquire_does_not_raise_the_count_of_its_own_hold)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = stall_first(&rli_script_lock_acquire);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_stalled_once(rule);
    assert_stands_against(rule, 1, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* It sets the count it was sent with, which nobody relies on: the lock is free after as many
 * unlocks as there were locks, and not before. */
Test(late, acquire_does_not_free_a_hold_that_was_taken_again)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = stall_first(&rli_script_lock_acquire);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    let_through(rule);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(pttl_of(NAME) > 0 && rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(late, acquire_does_not_join_the_next_hold_of_its_thread)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = stall_first(&rli_script_lock_acquire);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_stands_against(rule, 1, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* It takes the lock for nobody; that is undone in the background, long before its lease ends. */
Test(late, acquire_of_a_hold_that_has_ended_is_undone)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    server_listen(stage.server);
    int rule = stall_first(&rli_script_lock_acquire);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(heard_times(NAME, "0", 1, 5000));
    let_through(rule);
    /* The second `0` is that of the background: there was something to undo. */
    cr_assert(heard_times(NAME, "0", 2, 5000), "the orphan was not undone");
    assert_no_keys();
    assert_ok(rlock_try_lock(others, 0, 1000));
}

/* What waits elsewhere for an orphan is woken when it is undone. */
Test(late, acquire_of_a_hold_that_has_ended_keeps_nobody_waiting_for_long)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    int rule = stall_first(&rli_script_lock_acquire);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    let_through(rule);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(others));
    assert_between(now_ms() - since_ms, 0, 5000);
    assert_ok(rlock_unlock(others));
    assert_no_keys();
}

/* A thread that is taking the lock anew finds the orphan of its own former hold, and replaces it. */
Test(late, acquire_of_a_hold_that_has_ended_does_not_shut_its_thread_out)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = stall_first(&rli_script_lock_acquire);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    let_through(rule);
    int64_t since_ms = now_ms();
    assert_ok(rlock_try_lock(lock, 5000, RLOCK_WATCHDOG));
    int64_t number = assert_held_alone(NAME, scene.client, 1, LEASE_MS, since_ms);
    await_background_releases();
    cr_assert(assert_held_alone(NAME, scene.client, 1, LEASE_MS, since_ms) == number);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* --- a re-entry --- */

Test(late, re_entry_does_not_raise_the_count_of_its_own_hold)
{
    rlock *lock = lock_of(scene.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    int rule = stall_first(&rli_script_lock_acquire);
    assert_ok(rlock_lock(lock));
    assert_stalled_once(rule);
    assert_stands_against(rule, 2, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(late, re_entry_does_not_keep_a_hold_that_was_partly_released)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    int rule = stall_first(&rli_script_lock_acquire);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    let_through(rule);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(late, re_entry_of_a_hold_that_has_ended_takes_nothing)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    int rule = stall_first(&rli_script_lock_acquire);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    let_through(rule);
    assert_no_keys();
}

Test(late, re_entry_leaves_the_next_hold_of_its_thread_alone)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    int rule = stall_first(&rli_script_lock_acquire);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_stands_against(rule, 1, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* --- a partial release --- */

Test(late, partial_release_leaves_a_hold_that_was_taken_again_held)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    int rule = stall_first(&rli_script_lock_release);
    assert_ok(rlock_unlock(lock));
    assert_stalled_once(rule);
    assert_ok(rlock_lock(lock));
    let_through(rule);
    assert_ok(rlock_unlock(lock));
    cr_assert(pttl_of(NAME) > 0 && rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(late, partial_release_of_a_hold_that_has_ended_takes_nothing)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    int rule = stall_first(&rli_script_lock_release);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    let_through(rule);
    assert_no_keys();
}

Test(late, partial_release_leaves_the_next_hold_of_its_thread_alone)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    int rule = stall_first(&rli_script_lock_release);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    assert_stands_against(rule, 2, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* --- a renewal --- */

/* Let through when the lock is free: it does not bring the key back. */
Test(late_renewal, of_a_hold_that_has_ended_takes_nothing)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = stall_first(&rli_script_lock_renew);
    assert_ok(rlock_lock(lock));
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 1, 10 * WATCHDOG_MS), "the renewal was not sent again");
    assert_ok(rlock_unlock(lock));
    let_through(rule);
    assert_no_keys();
}

/* Let through during the next hold, whose own lease it must not lengthen. */
Test(late_renewal, leaves_the_next_hold_of_its_thread_alone)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = stall_first(&rli_script_lock_renew);
    assert_ok(rlock_lock(lock));
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 1, 10 * WATCHDOG_MS), "the renewal was not sent again");
    assert_ok(rlock_unlock(lock));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, WATCHDOG_MS / 2));
    let_through(rule);
    assert_held_alone(NAME, scene.client, 1, WATCHDOG_MS / 2, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* --- a waiter that has it by a late request --- */

/* It is told when another waiter of its client is refused, also one for other values that share one with its own. */
static void assert_told_by_another(rlock *whole, rlock *lock, rlock *beside, const char *key, const rli_script *acquire)
{
    actor *first = actor_start(), *second = actor_start();
    assert_ok(rlock_try_lock(whole, 0, 600000));
    int rule = stall_first(acquire);
    actor_begin_try(first, lock, 200000, 600000);
    pass_ms(PATIENCE_MS + 500); /* its second request is refused */
    foreign_vanish(key);        /* without a message */
    let_through(rule);          /* now it has the lock, and does not know */
    int64_t since_ms = now_ms();
    actor_begin_try(second, beside, 200000, 600000);
    assert_ok(actor_finish(first, 200000));
    cr_assert(now_ms() - since_ms <= 5000, "told after %lld ms", (long long)(now_ms() - since_ms));
    assert_ok(actor_unlock(first, lock));
    assert_ok(actor_finish(second, 60000));
    actor_end(first);
    actor_end(second);
}

TimedTest(late, acquire_of_a_waiter_is_told_when_another_is_refused)
{
    assert_told_by_another(lock_of(stage.other, NAME), lock_of(scene.client, NAME), lock_of(scene.client, NAME), NAME,
                           &rli_script_lock_acquire);
}

TimedTest(late, acquire_of_a_group_waiter_is_told_when_one_for_a_shared_value_is_refused)
{
    assert_told_by_another(group_of(stage.other, NAME, "abc"), group_of(scene.client, NAME, "ab"),
                           group_of(scene.client, NAME, "bc"), NAME, &rli_script_group_acquire);
}
