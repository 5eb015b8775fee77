/* The watchdog: renews what is held without a lease, as long as it is held and no longer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/tasks.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>

TestSuite(watchdog, .init = stage_quick, .fini = stage_close);

#define NAME "order"

Test(watchdog, thread_lives_from_the_first_hold_to_the_close)
{
    rlock *lock = lock_of(stage.client, NAME);
    bool locked = true;
    assert_ok(rlock_is_locked(lock, &locked));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    cr_assert(tasks_named("rlock-watchdog") == 0);
    assert_ok(rlock_lock(lock));
    cr_assert(tasks_named("rlock-watchdog") == 1);
    for (int i = 0; i < 10; i++)
        assert_ok(rlock_lock(lock_of(stage.client, i % 2 ? "second" : "third")));
    cr_assert(tasks_named("rlock-watchdog") == 1);
    stage_close_client(stage.client);
    cr_assert(tasks_named("rlock-watchdog") == 0);
}

Test(watchdog, keeps_a_lock_long_past_its_first_ttl)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    int64_t lowest_ms = QUICK_MS;
    for (int64_t end_ms = now_ms() + KEPT_MS; now_ms() < end_ms; pass_ms(5)) {
        int64_t ttl_ms = pttl_of(NAME);
        lowest_ms = ttl_ms < lowest_ms ? ttl_ms : lowest_ms;
        cr_assert(rlock_valid_for(lock) > 0);
    }
    /* Renewed each third: two thirds are always left, less what a busy machine takes. */
    assert_between(lowest_ms, QUICK_MS / 3, QUICK_MS * 3 / 4);
    assert_status(rlock_try_lock(lock_of(stage.other, NAME), 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(lock));
}

Test(watchdog, renews_each_third_of_its_timeout)
{
    assert_ok(rlock_lock(lock_of(stage.client, NAME)));
    monitor *tap = monitor_open();
    int64_t since_ms = now_ms();
    pass_ms(2 * QUICK_MS);
    int64_t renewals = (int64_t)monitor_count(tap, (const char *const[]){"\"evalsha\"", NAME, NULL});
    assert_between(renewals, least_renewals(2 * QUICK_MS), (now_ms() - since_ms) / (QUICK_MS / 3) + 1);
    monitor_close(tap);
}

/* Locks and unlocks for that long, each time with that lease; returns how often the watchdog went to sleep meanwhile. */
static long sleeps_beside(rlock *lock, int64_t lease_ms, int64_t ms)
{
    long before = task_sleeps_of("rlock-watchdog");
    for (int64_t end_ms = now_ms() + ms; now_ms() < end_ms; pass_ms(1)) {
        assert_ok(rlock_lock_lease(lock, lease_ms));
        assert_ok(rlock_unlock(lock));
    }
    return task_sleeps_of("rlock-watchdog") - before;
}

/* Their timers, which none of them needs, do not wake it each time. */
TimedTest(watchdog, is_not_woken_for_each_of_many_short_locks)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_between(sleeps_beside(lock, RLOCK_WATCHDOG, 1000), 0, 10);
    assert_between(sleeps_beside(lock, 50, 1000), 0, 25);
}

/* One of them needed it early: it does not go on as if all did. */
TimedTest(watchdog, forgets_a_single_short_lease)
{
    rlock *lock = lock_of(stage.client, NAME);
    sleeps_beside(lock, RLOCK_WATCHDOG, 100);
    sleeps_beside(lock, 5, 1);
    assert_between(sleeps_beside(lock, RLOCK_WATCHDOG, 1000), 0, 10);
}

Test(watchdog, does_nothing_once_all_is_unlocked)
{
    rlock *lock = lock_of(stage.client, NAME);
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(lock));
    pass_ms(ROUND_MS);
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_unlock(lock));
    cr_assert(commands_within(ROUND_MS) == 0);
    assert_no_keys();
}

Test(watchdog, never_renews_an_explicit_lease)
{
    rlock *lock = lock_of(stage.client, NAME);
    const int64_t lease_ms = 4 * QUICK_MS / 5;
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, lease_ms));
    for (int64_t last_ms = lease_ms, ttl_ms; (ttl_ms = pttl_of(NAME)) != -2; last_ms = ttl_ms) {
        cr_assert(ttl_ms <= last_ms);
        cr_assert(now_ms() - since_ms < 3 * QUICK_MS);
        pass_ms(10);
    }
    assert_between(now_ms() - since_ms, lease_ms - 2, lease_ms + at_most_ms(200));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* The next owner's hold is renewed as if nobody had been before. */
Test(watchdog, keeps_the_next_owners_lock_after_reentry)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *next = actor_start();
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_lock(next, lock));
    assert_kept(NAME, NULL, KEPT_MS);
    cr_assert(actor_valid_for(next, lock) > 0);
    assert_ok(actor_unlock(next, lock));
    cr_assert(!server_wait_exists(stage.server, NAME, true, ROUND_MS));
    actor_end(next);
}

/* A lease added and given back leaves the hold without one as it was. */
Test(watchdog, goes_on_when_an_inner_lease_is_unlocked)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock_lease(lock, 9 * QUICK_MS / 8));
    assert_ok(rlock_unlock(lock));
    assert_kept(NAME, lock, KEPT_MS);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* While the inner hold has no lease, the lock is renewed; after it, only the lease is left. */
Test(watchdog, stops_when_only_an_outer_lease_is_left)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, QUICK_MS / 2));
    assert_ok(rlock_lock(lock));
    assert_kept(NAME, lock, KEPT_MS);
    assert_ok(rlock_unlock(lock));
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* Levels with and without lease, many deep: renewed to the last one that has none. */
Test(watchdog, keeps_count_of_levels_many_deep)
{
    enum { LEVELS = 150 };
    rlock *lock = lock_of(stage.client, NAME);
    for (int i = 0; i < LEVELS; i++)
        assert_ok(i % 3 ? rlock_lock_lease(lock, QUICK_MS / 2) : rlock_lock(lock));
    assert_kept(NAME, lock, KEPT_MS);
    for (int left = LEVELS; left > 1; left--) {
        int count = 0;
        assert_ok(rlock_get_hold_count(lock, &count));
        cr_assert(count == left);
        assert_ok(rlock_unlock(lock));
    }
    assert_kept(NAME, lock, KEPT_MS);
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    cr_assert(commands_within(ROUND_MS) == 0);
    assert_no_keys();
}

Test(watchdog, does_not_renew_what_was_not_acquired)
{
    rlock *lock = lock_of(stage.client, NAME);
    foreign_hold(NAME, QUICK_MS);
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_status(rlock_try_lock(lock, 50, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    cr_assert(wait_no_channels(5000));
    cr_assert(commands_within(ROUND_MS) == 0);
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
}

/* An unlock that is refused ends no other owner's renewal. */
Test(watchdog, goes_on_after_a_refused_unlock)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *stranger = actor_start();
    assert_ok(rlock_lock(lock));
    assert_status(actor_unlock(stranger, lock), RLOCK_NOT_OWNER);
    assert_kept(NAME, lock, KEPT_MS);
    assert_ok(rlock_unlock(lock));
    actor_end(stranger);
}

/* The lock is another's now: neither kept nor cut by us. */
Test(watchdog, renews_no_other_owners_lock)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    foreign_vanish(NAME);
    int64_t since_ms = now_ms();
    foreign_hold(NAME, KEPT_MS);
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
    assert_between(now_ms() - since_ms, KEPT_MS - 2, KEPT_MS + at_most_ms(200));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(commands_within(ROUND_MS) == 0);
}

struct churn {
    rlock *lock;
    atomic_int failed, kept;
};

static void *try_and_unlock(void *arg)
{
    struct churn *self = arg;
    for (int i = 0; i < 400; i++) {
        if (rlock_try_lock(self->lock, 0, RLOCK_WATCHDOG) != RLOCK_OK)
            continue;
        if (atomic_fetch_add(&self->kept, 1) % 200 == 199) {
            pass_ms(KEPT_MS); /* past the TTL: only a renewal keeps it */
            atomic_fetch_add(&self->failed, rlock_valid_for(self->lock) == 0);
        }
        atomic_fetch_add(&self->failed, rlock_unlock(self->lock) != RLOCK_OK);
    }
    return NULL;
}

/* 16 threads try and unlock as fast as they can; now and then one holds on. */
Test(watchdog, knows_every_holder_among_many_that_come_and_go)
{
    static struct churn churn;
    pthread_t threads[16];
    churn.lock = lock_of(stage.client, NAME);
    for (int i = 0; i < 16; i++)
        cr_assert(pthread_create(&threads[i], NULL, try_and_unlock, &churn) == 0);
    for (int i = 0; i < 16; i++)
        pthread_join(threads[i], NULL);
    cr_assert(atomic_load(&churn.failed) == 0);
    cr_assert(atomic_load(&churn.kept) > 0);
    assert_no_keys();
    cr_assert(commands_within(ROUND_MS) == 0);
}

/* Closed while it held: no renewal comes after, and the TTL frees the lock. */
Test(watchdog, ends_with_the_client)
{
    rlock *lock = lock_of(stage.client, NAME), *awaited = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(lock));
    pass_ms(ROUND_MS);
    stage_close_client(stage.client);
    int64_t since_ms = now_ms();
    cr_assert(pttl_of(NAME) > 0);
    assert_ok(rlock_try_lock(awaited, 5 * QUICK_MS, RLOCK_WATCHDOG));
    assert_between(now_ms() - since_ms, 0, at_most_ms(QUICK_MS + 20));
    assert_ok(rlock_unlock(awaited));
}
