/* Every kind of lock, on every master of a cluster: as on one server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/kinds.h"
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

#define KIND_SUITE cluster_kinds
TestSuite(cluster_kinds, .init = shards_open, .fini = shards_close);

#define SOON_MS 10000
#define WOKEN_MS 500 /* far below every TTL here */

/* Scenario 16, and 1 to 6 of any lock. */
static void use(const kind *of, const char *name)
{
    rlock *lock = kind_of(of, shards.client, name), *theirs = rival_of(of, shards.other, name);
    bool locked = true, forced = false;
    for (int i = 0; i < 3; i++) {
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_is_locked(lock, &locked));
        cr_assert(locked);
        assert_ok(rlock_unlock(lock));
        assert_ok(rlock_is_locked(lock, &locked));
        cr_assert(!locked);
    }
    for (int i = 0; i < 30; i++) {
        assert_ok(rlock_try_lock(lock, 0, RLOCK_WATCHDOG));
        assert_ok(rlock_unlock(lock));
    }
    assert_ok(rlock_lock(lock));
    assert_status(rlock_try_lock(theirs, 0, 1000), RLOCK_TIMEOUT);
    assert_status(rlock_unlock(theirs), RLOCK_NOT_OWNER);
    assert_status(rlock_lock_lease(lock, 20000), of->once ? RLOCK_ALREADY_HELD : RLOCK_OK);
    int count = 0;
    assert_ok(rlock_get_hold_count(lock, &count));
    cr_assert(count == (of->once ? 1 : 2));
    for (; count > 0; count--)
        assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    rlock *forcing = kind_of(of, shards.other, name); /* of the same kind: a write force leaves readers alone */
    assert_ok(rlock_force_unlock(forcing, &forced));
    cr_assert(forced);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(rlock_try_lock(theirs, 0, 20000));
    assert_ok(rlock_unlock(theirs));
}

KIND_TEST(does_what_it_does_on_one_server)
{
    for (int node = 0; node < MASTERS; node++)
        use(of, kind_name(of, cluster_key(shards.cluster, node, "name:")));
    cr_assert(shards_wait_no_channels(SOON_MS));
    if (of != &kind_fenced && of != &kind_read) /* a counter stays; a read force leaves timeout keys to their TTL */
        shards_assert_nothing_left();
}

static void hand_over(const kind *of, const char *name)
{
    rlock *held = rival_of(of, shards.other, name), *wanted = kind_of(of, shards.client, name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_lock(waiter, wanted);
    cr_assert(actor_asleep(waiter, SOON_MS));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, SOON_MS));
    cr_log_info("%s: woken %lld ms after the unlock", of->name, (long long)(actor_ended_at(waiter) - since_ms));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, wanted));
    actor_end(waiter);
}

KIND_TEST(wakes_a_waiter_of_another_client_on_each_master)
{
    for (int node = 0; node < MASTERS; node++)
        hand_over(of, kind_name(of, cluster_key(shards.cluster, node, "name:")));
    cr_assert(shards_wait_no_channels(SOON_MS));
}

KIND_TEST(ends_with_its_lease)
{
    const char *name = kind_name(of, cluster_key(shards.cluster, 1, "name:"));
    rlock *lock = kind_of(of, shards.client, name), *theirs = rival_of(of, shards.other, name);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 700));
    assert_ok(rlock_try_lock(theirs, SOON_MS, 20000));
    assert_between(now_ms() - since_ms, 600, at_most_ms(1500));
    rlock_status late = rlock_unlock(lock);
    cr_assert(late == RLOCK_LOST, "a late unlock answered %s", rlock_strstatus(late));
    assert_ok(rlock_unlock(theirs));
}

/* Scenario 57: write, read, both unlocks; and many readers of a tagged name. */
Test(cluster_kinds, read_and_write_sides_share_a_slot)
{
    static const char *const names[] = {"1234", "{test}:abc:key"};
    for (int i = 0; i < 2; i++) {
        rlock *reading = kind_of(&kind_read, shards.client, names[i]);
        rlock *writing = kind_of(&kind_write, shards.client, names[i]);
        assert_ok(rlock_lock(writing));
        assert_ok(rlock_lock(reading));
        assert_ok(rlock_lock(reading));
        assert_ok(rlock_unlock(reading));
        assert_ok(rlock_unlock(reading));
        assert_ok(rlock_unlock(writing));
        actor *readers[10];
        for (int r = 0; r < 10; r++)
            readers[r] = actor_start();
        for (int round = 0; round < 10; round++) {
            for (int r = 0; r < 10; r++)
                assert_ok(actor_lock(readers[r], reading));
            for (int r = 0; r < 10; r++)
                assert_ok(actor_unlock(readers[r], reading));
        }
        for (int r = 0; r < 10; r++)
            actor_end(readers[r]);
    }
    shards_assert_nothing_left();
}

/* Fencing tokens are counted in the lock's own slot. */
Test(cluster_kinds, fenced_tokens_rise)
{
    const char *name = cluster_key(shards.cluster, 2, "fenced:");
    rlock *lock = kind_of(&kind_fenced, shards.client, name);
    for (uint64_t i = 1; i <= 3; i++) {
        uint64_t token = 0;
        assert_ok(rlock_lock_and_get_token(lock, &token));
        cr_assert(token == i);
        assert_ok(rlock_unlock(lock));
    }
    cr_assert(server_integer(cluster_at(shards.cluster, name), "GET redisson_lock_token:{%s}", name) == 3);
}
