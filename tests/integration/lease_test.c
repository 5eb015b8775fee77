/* Leases: how long the server keeps a lock, and how long its owner may rely on it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

TestSuite(lease, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define WATCHDOG_MS 30000
#define HOUR_MS 3600000

static int64_t remaining(rlock *lock)
{
    int64_t ms = -99;
    assert_ok(rlock_remain_time_to_live(lock, &ms));
    return ms;
}

/* What is left of a lease given at since_ms or later. */
#define assert_left(value, lease_ms, since_ms)                                                     \
    do {                                                                                           \
        int64_t left_ = (value);                                                                   \
        assert_between(left_, (lease_ms) - (now_ms() - (since_ms)) - 2, lease_ms);                 \
    } while (0)

Test(lease, of_an_hour_is_an_hour_and_of_the_next_lock_the_watchdogs)
{
    rlock *lock = lock_of(stage.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, HOUR_MS));
    assert_left(remaining(lock), HOUR_MS, since_ms);
    assert_ok(rlock_unlock(lock));
    cr_assert(remaining(lock) == -2);
    since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_left(remaining(lock), WATCHDOG_MS, since_ms);
    assert_left(pttl_of(NAME), WATCHDOG_MS, since_ms);
    assert_ok(rlock_unlock(lock));
}

/* Redisson once set the watchdog's TTL on a partial unlock. */
Test(lease, stays_the_holds_own_after_partial_unlocks)
{
    rlock *lock = lock_of(stage.client, NAME);
    int64_t since_ms = now_ms();
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock_lease(lock, 10000));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_left(remaining(lock), 10000, since_ms);
    assert_ok(rlock_unlock(lock));
    cr_assert(remaining(lock) == -2);
}

TimedTest(lease, is_not_shortened_by_reentry)
{
    rlock *lock = lock_of(stage.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 10000));
    assert_ok(rlock_lock_lease(lock, 1000));
    assert_left(pttl_of(NAME), 10000, since_ms);
    assert_between(rlock_valid_for(lock), 9900 - (now_ms() - since_ms) - 2, 9900);
    assert_ok(rlock_unlock(lock));
    assert_left(pttl_of(NAME), 10000, since_ms);
    assert_ok(rlock_unlock(lock));
}

Test(lease, is_lengthened_by_reentry)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, 10000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 20000));
    assert_left(pttl_of(NAME), 20000, since_ms);
    assert_between(rlock_valid_for(lock), 19800 - (now_ms() - since_ms) - 2, 19800);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
}

/* The watchdog's 30 s do not cut what a longer lease gave. */
Test(lease, is_not_shortened_by_a_watchdog_hold_nor_its_unlock)
{
    rlock *lock = lock_of(stage.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, HOUR_MS));
    assert_ok(rlock_lock(lock));
    assert_left(pttl_of(NAME), HOUR_MS, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_left(pttl_of(NAME), HOUR_MS, since_ms);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* A handle does not remember leases: neither an earlier hold's nor a failed try's. */
TimedTest(lease, does_not_leak_into_later_locks)
{
    rlock *lock = lock_of(stage.client, NAME), *elsewhere = lock_of(stage.other, NAME);
    assert_ok(rlock_lock_lease(lock, 5000));
    assert_ok(rlock_unlock(lock));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_left(pttl_of(NAME), WATCHDOG_MS, since_ms);
    assert_status(rlock_try_lock(elsewhere, 0, 7000), RLOCK_TIMEOUT);
    assert_status(rlock_try_lock(elsewhere, 20, 7000), RLOCK_TIMEOUT);
    assert_left(pttl_of(NAME), WATCHDOG_MS, since_ms);
    assert_ok(rlock_unlock(lock));
    since_ms = now_ms();
    assert_ok(rlock_lock(elsewhere));
    assert_left(pttl_of(NAME), WATCHDOG_MS, since_ms);
    assert_ok(rlock_unlock(elsewhere));
}

Test(lease, may_be_a_hundred_years)
{
    rlock *lock = lock_of(stage.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, RLOCK_LEASE_MAX_MS));
    assert_left(pttl_of(NAME), RLOCK_LEASE_MAX_MS, since_ms);
    assert_between(rlock_valid_for(lock), RLOCK_LEASE_MAX_MS / 100 * 98, RLOCK_LEASE_MAX_MS);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

TimedTest(lease, may_be_a_millisecond)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, 1));
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* A holder with a lease of 2 s forgets to unlock: who waits gets in at its end, with no message. */
TimedTest(lease, end_lets_a_waiter_in_and_the_late_unlock_is_a_loss)
{
    rlock *lock = lock_of(stage.client, NAME), *awaited = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 2000));
    assert_ok(actor_lock(waiter, awaited));
    assert_between(actor_ended_at(waiter) - since_ms, 1998, at_most_ms(2020));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(actor_hold_count(waiter, awaited) == 1);
    assert_ok(actor_unlock(waiter, awaited));
    actor_end(waiter);
}

/* The same with the waiter in the holder's own client. */
TimedTest(lease, end_lets_a_waiter_of_the_same_client_in)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 500));
    assert_ok(actor_lock(waiter, lock));
    assert_between(actor_ended_at(waiter) - since_ms, 498, at_most_ms(700));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

Test(lease, remaining_is_the_servers)
{
    rlock *lock = lock_of(stage.client, NAME);
    cr_assert(remaining(lock) == -2);
    foreign_hold(NAME, RLOCK_WATCHDOG);
    cr_assert(remaining(lock) == -1);
    freeReplyObject(server_command(stage.server, "PEXPIRE %s 5000", NAME));
    assert_between(remaining(lock), 1, 5000);
}

/* Local and never above what the server keeps: 1 % less than the lease from before the request. */
TimedTest(lease, validity_ends_before_the_servers_ttl)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *another = actor_start();
    cr_assert(rlock_valid_for(lock) == 0);
    assert_ok(rlock_lock_lease(lock, 2000));
    cr_assert(actor_valid_for(another, lock) == 0);
    cr_assert(rlock_valid_for(lock_of(stage.other, NAME)) == 0);
    cr_assert(rlock_valid_for(lock_of(stage.client, NAME)) > 0);
    for (int64_t last_ms = 1980; last_ms; pass_ms(1)) {
        /* What the server kept before we asked is no less than what we may rely on after. */
        int64_t kept_ms = pttl_of(NAME), valid_ms = rlock_valid_for(lock);
        cr_assert(valid_ms <= last_ms);
        cr_assert(valid_ms == 0 || valid_ms <= kept_ms, "valid for %lld ms, kept for %lld ms",
                  (long long)valid_ms, (long long)kept_ms);
        last_ms = valid_ms;
    }
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    actor_end(another);
}

/* Whoever takes the lock over finds the former owner's validity ended already. */
TimedTest(lease, validity_has_ended_when_another_gets_the_lock)
{
    rlock *lock = lock_of(stage.client, NAME), *awaited = lock_of(stage.other, NAME);
    for (int i = 0; i < 5; i++) {
        actor *waiter = actor_start();
        assert_ok(rlock_lock_lease(lock, 200));
        assert_ok(actor_lock(waiter, awaited));
        cr_assert(rlock_valid_for(lock) == 0);
        assert_status(rlock_unlock(lock), RLOCK_LOST);
        assert_ok(actor_unlock(waiter, awaited));
        actor_end(waiter);
    }
}

Test(lease, validity_ends_with_the_unlock)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    assert_between(rlock_valid_for(lock), 1, WATCHDOG_MS / 100 * 99);
    assert_ok(rlock_unlock(lock));
    assert_between(rlock_valid_for(lock), 1, WATCHDOG_MS / 100 * 99);
    assert_ok(rlock_unlock(lock));
    cr_assert(rlock_valid_for(lock) == 0);
}

/* A failed acquire claims nothing. */
TimedTest(lease, validity_is_none_after_a_failed_try)
{
    rlock *lock = lock_of(stage.client, NAME);
    foreign_hold(NAME, 5000);
    assert_status(rlock_try_lock(lock, 0, 5000), RLOCK_TIMEOUT);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}
