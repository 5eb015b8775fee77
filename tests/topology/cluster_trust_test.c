/* Trust: whose map of the cluster is believed, when nodes contradict each other or what was known before. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON_MS 60000
#define SCANNING PATIENT "&scanInterval=50"
/* Nobody is believed only because others are not heard of. */
#define STEADFAST SCANNING "&lockWatchdogTimeout=3600000"

TestSuite(cluster_trust, .fini = shards_close);

static server *node(int number)
{
    return cluster_node(shards.cluster, number);
}

static int64_t scripts_at(server *at)
{
    return server_times(at, "evalsha") + server_times(at, "eval");
}

static void cycle_at(rlock *lock, const char *name, server *at)
{
    assert_ok(rlock_try_lock(lock, SOON_MS, 20000));
    cr_assert(server_integer(at, "EXISTS %s", name) == 1, "it stands elsewhere");
    assert_ok(rlock_unlock(lock));
}

static void await_asked(server *at, int64_t times)
{
    int64_t before = server_times(at, "cluster|info");
    for (int64_t end_ms = limit_end_ms(SOON_MS); server_times(at, "cluster|info") < before + times; pass_ms(5))
        cr_assert(now_ms() < end_ms, "the client does not ask it");
}

static void freeze_all_but(int one)
{
    for (int i = 0; i < cluster_size(shards.cluster); i++) {
        if (i != one)
            server_freeze(node(i));
    }
}

static void thaw_all_but(int one)
{
    for (int i = 0; i < cluster_size(shards.cluster); i++) {
        if (i != one)
            server_thaw(node(i));
    }
}

/* It was away while its replica took over, comes back where it reaches nobody else, and says that all is well. */
Test(cluster_trust, is_not_for_a_master_that_missed_a_failover, .lasts = 22)
{
    shards_start(MASTERS, 1, ARGS("--cluster-node-timeout", "60000")); /* from a restart on; the others get it below */
    const char *name = cluster_key(shards.cluster, 0, "taken-over:");
    rlock *lock = lock_of(shards_client(STEADFAST), name);
    cycle_at(lock, name, node(0));
    server_kill(node(0));
    int next = cluster_await_takeover(shards.cluster, cluster_slot(name), 0, SOON_MS);
    cr_assert(next > 0, "nobody takes over");
    cycle_at(lock, name, node(next));

    cluster_each(shards.cluster, "CONFIG SET cluster-node-timeout 60000");
    freeze_all_but(0);
    server_restart(node(0));
    for (int64_t end_ms = limit_end_ms(SOON_MS);; pass_ms(5)) {
        char *info = server_text(node(0), "CLUSTER INFO");
        bool well = strstr(info, "cluster_state:ok") != NULL;
        free(info);
        if (well)
            break;
        cr_assert(now_ms() < end_ms, "the former master does not think that it serves");
    }
    actor *asker = actor_start();
    actor_begin_try(asker, lock, 2 * SOON_MS, 20000);
    await_asked(node(0), 3);
    cr_assert(scripts_at(node(0)) == 0, "the former master was asked for a lock");
    server_kill(node(0));
    thaw_all_but(0);
    assert_ok(actor_finish(asker, SOON_MS));
    cr_assert(server_integer(node(next), "EXISTS %s", name) == 1, "it stands elsewhere");
    assert_ok(actor_unlock(asker, lock));
    actor_end(asker);
}

/* Another cluster has the address of a node of the map, and more failovers behind it; the others still list it. */
Test(cluster_trust, is_not_for_another_cluster_at_the_address_of_a_member)
{
    shards_start(MASTERS, 0, ARGS("--cluster-require-full-coverage", "no"));
    const char *name = cluster_key(shards.cluster, 0, "kept:");
    rlock *lock = lock_of(shards_client(STEADFAST), name);
    cycle_at(lock, name, node(0));
    cluster_secede(shards.cluster, 2);
    int64_t before = scripts_at(node(2));
    for (int i = 0; i < 10; i++) {
        await_asked(node(0), 1);
        cycle_at(lock, name, node(0));
    }
    cr_assert(scripts_at(node(2)) == before, "the other cluster was asked for a lock");
}

/* Slots that move raise the epoch. */
static void age(void)
{
    int slot = cluster_slot(cluster_key(shards.cluster, 0, "aging:"));
    for (int i = 0; i < 10; i++)
        cluster_move(shards.cluster, slot, (i + 1) % MASTERS);
}

/* All nodes say so. */
Test(cluster_trust, is_for_a_cluster_that_was_made_anew)
{
    shards_start(MASTERS, 0, NULL);
    age();
    rlock *lock = lock_of(shards_client(STEADFAST), "order");
    cycle_at(lock, "order", cluster_at(shards.cluster, "order"));
    cluster_remake(shards.cluster);
    cycle_at(lock, "order", cluster_at(shards.cluster, "order"));
}

/* Half of the nodes are gone for ever; when nobody has heard of the former cluster for a while, it is no more. */
Test(cluster_trust, is_for_a_cluster_that_was_made_anew_of_a_few_of_its_nodes)
{
    shards_start(MASTERS, 1, NULL);
    age();
    rlock *lock = lock_of(shards_client(SCANNING "&lockWatchdogTimeout=2000"), "order");
    cycle_at(lock, "order", cluster_at(shards.cluster, "order"));
    for (int i = 0; i < 4; i++)
        server_kill(node(i));
    cluster_remake(shards.cluster);
    cycle_at(lock, "order", cluster_at(shards.cluster, "order"));
}
