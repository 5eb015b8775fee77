/* Replicas of a cluster that are gone, while its nodes still name them: nobody waits for their word. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

#define SOON_MS 30000
/* A few tries, none of which a dead replica confirms. */
#define SYNCED "timeout=5000&retryAttempts=2&retryBaseDelay=20&retryMaxDelay=50&slavesSyncTimeout=500&scanInterval=200"

static const char *name;
static server *master, *replica;

/* Whether the node lists a replica of the master of slot 0: one that has no data yet it does not. */
static bool names_replica(server *node)
{
    redisReply *slots = server_command(node, "CLUSTER SLOTS");
    bool named = false;
    for (size_t i = 0; i < slots->elements; i++)
        named |= slots->element[i]->element[0]->integer == 0 && slots->element[i]->elements > 3;
    freeReplyObject(slots);
    return named;
}

/* The nodes will not agree for a minute that a replica is dead. */
static void open_with_replicas(void)
{
    shards_start(MASTERS, 1, NULL);
    cluster_each(shards.cluster, "CONFIG SET cluster-node-timeout 60000");
    name = cluster_key(shards.cluster, 0, "synced:");
    master = cluster_at(shards.cluster, name);
    replica = cluster_node(shards.cluster, cluster_replica_of(shards.cluster, 0));
    freeReplyObject(server_command(master, "SETEX %s 1 data", name));
    for (int node = 0; node < cluster_size(shards.cluster); node++) {
        for (int64_t end_ms = limit_end_ms(SOON_MS); !names_replica(cluster_node(shards.cluster, node)); pass_ms(5))
            cr_assert(now_ms() < end_ms, "node %d does not name the replica", node);
    }
    cr_assert(server_wait_exists(master, name, false, SOON_MS));
    shards.client = shards_client(SYNCED);
}

TestSuite(cluster_replica, .init = open_with_replicas, .fini = shards_close);

static void kill_replica(void)
{
    server_kill(replica);
    for (int64_t end_ms = limit_end_ms(SOON_MS); server_info(master, "connected_slaves") != 0; pass_ms(2))
        cr_assert(now_ms() < end_ms, "the master does not notice");
}

static void cycle(rlock *lock)
{
    assert_ok(rlock_try_lock(lock, 0, 20000));
    assert_ok(rlock_unlock(lock));
}

/* Before it was killed it confirmed what was taken; now there is nobody to ask. */
Test(cluster_replica, that_is_dead_stops_no_lock_of_its_master)
{
    rlock *lock = lock_of(shards.client, name);
    cycle(lock);
    cr_assert(server_times(master, "wait") > 0, "the replica was not asked");
    kill_replica();
    for (int i = 0; i < 3; i++)
        cycle(lock);
}

/* A client that comes when it is dead already hears of it from the map alone. */
Test(cluster_replica, that_is_dead_when_a_client_comes_is_not_asked)
{
    kill_replica();
    int64_t before = server_times(master, "wait");
    rlock *lock = lock_of(shards_client(SYNCED), name);
    for (int i = 0; i < 3; i++)
        cycle(lock);
    cr_assert(server_times(master, "wait") == before, "the dead replica was asked");
}

Test(cluster_replica, that_comes_back_is_asked_again)
{
    rlock *lock = lock_of(shards.client, name);
    cycle(lock);
    kill_replica();
    cycle(lock);
    server_restart(replica);
    cr_assert(cluster_await_settled(shards.cluster, SOON_MS), "the replica does not come back");
    int64_t before = server_times(master, "wait");
    for (int64_t end_ms = limit_end_ms(SOON_MS); server_times(master, "wait") == before;) {
        cycle(lock);
        cr_assert(now_ms() < end_ms, "the replica is not asked");
    }
}
