/* lossTracking in a cluster: each master reports what others do to the locks that it serves, also a new one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/losses.h"
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>

/* No renewal would find a loss in the time of this test. */
#define TRACKED "lossTracking=true&lockWatchdogTimeout=3600000&" PATIENT
#define SOON_MS 30000
#define LEASE_MS 3600000

static losses told;

static void open_shards(void)
{
    shards_open_with(1, NULL, TRACKED);
    losses_init(&told);
    rlock_on_lost(shards.client, losses_note, &told);
}

TestSuite(cluster_tracking, .init = open_shards, .fini = shards_close);

/* Until that node has been asked to track, and a lock has been read there after that. */
static void await_tracked(int node)
{
    server *at = cluster_node(shards.cluster, node);
    for (int64_t end_ms = limit_end_ms(SOON_MS);; pass_ms(5)) {
        rlock_tracking state;
        assert_ok(rlock_client_tracking(shards.client, &state));
        if (state == RLOCK_TRACKING_ON && server_info(at, "tracking_total_keys") > 0)
            return;
        cr_assert(now_ms() < end_ms, "node %d tracks nothing: %s", node, rlock_last_error());
    }
}

static void assert_told_of_a_deletion(int node, const char *name, int number)
{
    freeReplyObject(server_command(cluster_node(shards.cluster, node), "DEL %s", name));
    losses_await(&told, number, SOON_MS);
    cr_assert_str_eq(told.all[number - 1].name, name);
}

Test(cluster_tracking, deletion_at_each_master_is_told)
{
    for (int node = 0; node < MASTERS; node++) {
        const char *name = cluster_key(shards.cluster, node, "tracked:");
        rlock *lock = lock_of(shards.client, name);
        assert_ok(rlock_try_lock(lock, 0, LEASE_MS));
        await_tracked(node);
        assert_told_of_a_deletion(node, name, node + 1);
        cr_assert(rlock_valid_for(lock) == 0);
        assert_status(rlock_unlock(lock), RLOCK_LOST);
    }
}

/* Those that it has from the former master are read there, and tracked. */
Test(cluster_tracking, deletion_at_a_new_master_is_told)
{
    const char *name = cluster_key(shards.cluster, 0, "tracked:");
    rlock *lock = lock_of(shards.client, name);
    assert_ok(rlock_try_lock(lock, 0, LEASE_MS));
    await_tracked(0);
    int replica = cluster_replica_of(shards.cluster, 0);
    cluster_promote(shards.cluster, replica);
    await_tracked(replica);
    cr_assert(rlock_valid_for(lock) > 0);
    assert_told_of_a_deletion(replica, name, 1);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

TestSuite(cluster_tracking_frozen, .fini = shards_close);

/* A lock of another master has just become old enough to be read there, and that master does not answer. */
Test(cluster_tracking_frozen, emptied_master_is_told_of_beside_one_that_is_silent, .lasts = 20)
{
    shards_start(MASTERS, 0, ARGS("--cluster-require-full-coverage", "no"));
    shards.client = shards_client(TRACKED);
    losses_init(&told);
    rlock_on_lost(shards.client, losses_note, &told);
    rlock *held = lock_of(shards.client, cluster_key(shards.cluster, 0, "tracked:"));
    rlock *beside = lock_of(shards.client, cluster_key(shards.cluster, 1, "silent:"));
    assert_ok(rlock_try_lock(held, 0, LEASE_MS));
    await_tracked(0);
    assert_ok(rlock_try_lock(beside, 0, LEASE_MS));
    await_tracked(1);
    rlock *young = lock_of(shards.client, cluster_key(shards.cluster, 1, "young:"));
    assert_ok(rlock_try_lock(young, 0, LEASE_MS));
    server_freeze(cluster_node(shards.cluster, 1));
    rlock_tracking state = RLOCK_TRACKING_ON;
    for (int64_t end_ms = limit_end_ms(SOON_MS); state == RLOCK_TRACKING_ON; pass_ms(5)) {
        assert_ok(rlock_client_tracking(shards.client, &state));
        cr_assert(now_ms() < end_ms, "its silence was not noticed");
    }
    freeReplyObject(server_command(cluster_node(shards.cluster, 0), "FLUSHALL"));
    bool in_time = event_wait_count(&told.came, 1, 5000);
    server_thaw(cluster_node(shards.cluster, 1));
    cr_assert(in_time, "the loss was not told while another master was silent");
    cr_assert(rlock_valid_for(held) == 0);
}
