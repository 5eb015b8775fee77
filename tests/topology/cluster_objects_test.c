/* Semaphores, latches, and locks made of locks in a cluster. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/objects.h"
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>

TestSuite(cluster_objects, .init = shards_open, .fini = shards_close);

#define SOON_MS 10000
#define WOKEN_MS 500

static void assert_woken(actor *waiter, int64_t since_ms)
{
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    actor_end(waiter);
}

Test(cluster_objects, semaphore_wakes_a_waiter_on_each_master)
{
    for (int node = 0; node < MASTERS; node++) {
        const char *name = cluster_key(shards.cluster, node, "sem:");
        rlock_semaphore *ours = semaphore_of(shards.client, name), *theirs = semaphore_of(shards.other, name);
        assert_ok(rlock_semaphore_add_permits(ours, 1));
        assert_ok(rlock_semaphore_acquire(ours, 1));
        actor *waiter = actor_start();
        actor_begin(waiter, take, &(taking){.semaphore = theirs, .permits = 2, .wait_ms = RLOCK_FOREVER});
        char channel[128];
        snprintf(channel, sizeof channel, "redisson_sc:{%s}", name);
        cr_assert(cluster_wait_subscribers(shards.cluster, channel, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
        int64_t since_ms = now_ms();
        assert_ok(rlock_semaphore_release(ours, 2));
        assert_woken(waiter, since_ms);
        int drained = -1;
        bool deleted = false;
        cr_assert(available(ours) == 0);
        assert_ok(rlock_semaphore_release(theirs, 3));
        assert_ok(rlock_semaphore_drain_permits(ours, &drained));
        assert_ok(rlock_semaphore_delete(ours, &deleted));
        cr_assert(drained == 3 && deleted);
    }
    shards_assert_nothing_left();
}

Test(cluster_objects, permits_wake_a_waiter_and_expire_on_each_master)
{
    for (int node = 0; node < MASTERS; node++) {
        const char *name = cluster_key(shards.cluster, node, "permits:");
        rlock_permit_semaphore *ours = permits_of(shards.client, name), *theirs = permits_of(shards.other, name);
        rlock_permit first, second;
        bool set = false, updated = false, deleted = false;
        assert_ok(rlock_permit_semaphore_try_set_permits(ours, 1, &set));
        assert_ok(rlock_permit_semaphore_acquire(ours, 60000, &first));
        actor *waiter = actor_start();
        actor_begin(waiter, lease,
                    &(leasing){.semaphore = theirs, .count = 1, .wait_ms = RLOCK_FOREVER, .lease_ms = 500, .permits = &second});
        char channel[128];
        snprintf(channel, sizeof channel, "redisson_sc:{%s}", name);
        cr_assert(cluster_wait_subscribers(shards.cluster, channel, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
        int64_t since_ms = now_ms();
        assert_ok(rlock_permit_semaphore_update_lease_time(ours, first.id, 50000, &updated));
        assert_ok(rlock_permit_semaphore_release(ours, first.id));
        assert_woken(waiter, since_ms);
        since_ms = now_ms();
        assert_ok(rlock_permit_semaphore_acquire(ours, 60000, &first)); /* when the second has expired */
        assert_between(now_ms() - since_ms, 0, at_most_ms(1000));
        cr_assert(permits_available(ours) == 0 && permits_taken(ours) == 1 && permits_total(ours) == 1);
        assert_status(rlock_permit_semaphore_release(theirs, second.id), RLOCK_INVALID);
        assert_ok(rlock_permit_semaphore_delete(ours, &deleted));
        cr_assert(set && updated && deleted);
    }
    shards_assert_nothing_left();
}

/* Scenario 90. */
Test(cluster_objects, permits_with_a_prefix_share_a_slot)
{
    rlock_client *client = shards_client(PATIENT "&namePrefix=test::");
    rlock_permit_semaphore *permits = permits_of(client, "order");
    rlock_permit all[3];
    bool set = false;
    assert_ok(rlock_permit_semaphore_try_set_permits(permits, 3, &set));
    assert_ok(rlock_permit_semaphore_acquire_many(permits, 3, 60000, all));
    server *node = cluster_at(shards.cluster, "test::order");
    cr_assert(server_integer(node, "EXISTS test::order {test::order}:timeout") == 2);
    assert_ok(rlock_permit_semaphore_release_many(permits, 3, all));
    cr_assert(set && permits_available(permits) == 3);
}

Test(cluster_objects, latch_opens_for_waiters_of_all_clients_on_each_master)
{
    for (int node = 0; node < MASTERS; node++) {
        const char *name = cluster_key(shards.cluster, node, "latch:");
        rlock_count_down_latch *ours = latch_of(shards.client, name), *theirs = latch_of(shards.other, name);
        bool set = false;
        assert_ok(rlock_count_down_latch_try_set_count(ours, 2, &set));
        cr_assert(set && count_of(theirs) == 2);
        actor *waiters[4];
        awaiting forever[2] = {{.latch = ours, .wait_ms = RLOCK_FOREVER}, {.latch = theirs, .wait_ms = RLOCK_FOREVER}};
        for (int i = 0; i < 4; i++) {
            waiters[i] = actor_start();
            actor_begin(waiters[i], await_open, &forever[i % 2]);
        }
        char channel[128];
        snprintf(channel, sizeof channel, "redisson_countdownlatch__channel__{%s}", name);
        cr_assert(cluster_wait_subscribers(shards.cluster, channel, 2, SOON_MS));
        for (int i = 0; i < 4; i++)
            cr_assert(actor_asleep(waiters[i], SOON_MS));
        assert_ok(rlock_count_down_latch_count_down(ours));
        int64_t since_ms = now_ms();
        assert_ok(rlock_count_down_latch_count_down(theirs));
        for (int i = 0; i < 4; i++)
            assert_woken(waiters[i], since_ms);
    }
    shards_assert_nothing_left();
}

static void use_composite(shards_maker *make)
{
    const char *names[MASTERS];
    for (int node = 0; node < MASTERS; node++)
        names[node] = cluster_key(shards.cluster, node, "member:");
    rlock *ours = shards_composite(make, shards.client, names), *theirs = shards_composite(make, shards.other, names);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(ours));
    assert_ok(rlock_lock(ours));
    for (int node = 0; node < MASTERS; node++)
        cr_assert(server_integer(cluster_node(shards.cluster, node), "EXISTS %s", names[node]) == 1);
    assert_status(rlock_try_lock(theirs, 0, 5000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(ours));
    actor_begin_lock(waiter, theirs);
    cr_assert(!actor_ended(waiter, 300));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(ours));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(5000)); /* rounds of up to n × 1500 ms */
    assert_ok(actor_unlock(waiter, theirs));
    actor_end(waiter);
    shards_assert_nothing_left();
}

Test(cluster_objects, multi_lock_is_held_on_all_masters_at_once)
{
    use_composite(rlock_get_multi_lock);
}

Test(cluster_objects, red_lock_is_held_on_most_masters)
{
    use_composite(rlock_get_red_lock);
    const char *names[MASTERS];
    for (int node = 0; node < MASTERS; node++)
        names[node] = cluster_key(shards.cluster, node, "member:");
    rlock *elsewhere = lock_of(shards.other, names[1]);
    rlock *ours = shards_composite(rlock_get_red_lock, shards.client, names);
    assert_ok(rlock_lock(elsewhere));
    assert_ok(rlock_try_lock(ours, 6000, 60000)); /* two of three */
    assert_ok(rlock_unlock(ours));
    assert_ok(rlock_unlock(elsewhere));
}

/* Without a hash tag the parts are keys of many slots. */
Test(cluster_objects, parts_of_a_sharded_lock_spread_over_the_masters)
{
    enum { SHARDS_MANY = 24 };
    rlock *lock = stage_keep(rlock_get_sharded_lock(shards.client, "stock", SHARDS_MANY));
    for (int i = 0; i < SHARDS_MANY; i++)
        assert_ok(rlock_try_lock(owned_by(lock, i), 0, 60000));
    for (int node = 0; node < MASTERS; node++)
        cr_assert(server_integer(cluster_node(shards.cluster, node), "DBSIZE") > 0, "none on master %d", node);
    for (int i = 0; i < SHARDS_MANY; i++)
        assert_ok(rlock_unlock(owned_by(lock, i)));
    shards_assert_nothing_left();
}

/* The parts of the others stand in for those of a master that does not answer. */
Test(cluster_objects, sharded_lock_is_taken_while_a_master_is_silent)
{
    rlock *lock = stage_keep(rlock_get_sharded_lock(shards.client, "stock", 24));
    assert_ok(rlock_lock(lock)); /* it is connected */
    assert_ok(rlock_unlock(lock));
    server_freeze(cluster_node(shards.cluster, 1));
    for (int i = 0; i < 8; i++)
        assert_ok(rlock_try_lock(owned_by(lock, i), 20000, 60000));
    server_thaw(cluster_node(shards.cluster, 1));
    for (int i = 0; i < 8; i++)
        assert_ok(rlock_unlock(owned_by(lock, i)));
}
