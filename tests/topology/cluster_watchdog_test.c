/* Renewal in a cluster: many slots, several nodes, one of which may not answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/child.h"
#include "tests/integration/support/losses.h"
#include "tests/support/event.h"
#include "tests/topology/support/renewal.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>

TestSuite(cluster_watchdog, .fini = shards_close);

/* Nearly each in a slot of its own, and so renewed by a request of its own. */
#define LOCKS (CHILD_MAY_ALLOCATE && CHILD_MAY_START_THREADS ? 500 : 150) /* fewer under sanitizers */
#define UNCOVERED ARGS("--cluster-require-full-coverage", "no")

static rlock *locks[LOCKS];
static int at[LOCKS]; /* which node serves it */
static losses lost;

static void hold_all(int64_t watchdog_ms)
{
    char query[200];
    snprintf(query, sizeof query, PATIENT "&lockWatchdogTimeout=%lld", (long long)watchdog_ms);
    shards_start(MASTERS, 0, UNCOVERED);
    shards.client = shards_client(query);
    losses_init(&lost);
    rlock_on_lost(shards.client, losses_note, &lost);
    for (int i = 0; i < LOCKS; i++) {
        char name[32];
        snprintf(name, sizeof name, "held:%d", i);
        at[i] = cluster_slot(name) * MASTERS / CLUSTER_SLOTS; /* equal shares, in order */
        locks[i] = lock_of(shards.client, name);
        assert_ok(rlock_lock(locks[i]));
    }
}

/* How many holds of that node cannot be relied on. */
static int gone(int node)
{
    int count = 0;
    for (int i = 0; i < LOCKS; i++)
        count += at[i] == node && rlock_valid_for(locks[i]) == 0;
    return count;
}

#define WATCHDOG_MS 10000

/* Each is renewed before it runs out, and no hold is lost. */
Test(cluster_watchdog, renews_500_locks_in_all_slots)
{
    hold_all(WATCHDOG_MS);
    int64_t since_ms = now_ms();
    for (int i = 0; i < LOCKS; i++)
        await_renewal(locks[i], WATCHDOG_MS, since_ms);
    for (int i = 0; i < LOCKS; i++)
        assert_ok(rlock_unlock(locks[i]));
    cr_assert(event_count(&lost.came) == 0, "%d of %d locks were lost", event_count(&lost.came), LOCKS);
    shards_assert_nothing_left();
}

/* Locks on other masters must not be lost because one of them does not answer. */
Test(cluster_watchdog, renews_on_other_masters_while_one_is_frozen, .lasts = 12)
{
    hold_all(WATCHDOG_MS);
    server_freeze(cluster_node(shards.cluster, 1));
    int there = 0;
    for (int i = 0; i < LOCKS; i++)
        there += at[i] == 1;
    for (int64_t end_ms = limit_end_ms(60000); gone(1) < there; pass_ms(5))
        cr_assert(now_ms() < end_ms, "%d of %d locks on the frozen master are lost", gone(1), there);
    cr_assert(gone(0) + gone(2) == 0, "%d locks on masters that answer were lost", gone(0) + gone(2));
    server_thaw(cluster_node(shards.cluster, 1));
    cr_assert(event_wait_count(&lost.came, there, 20000));
    for (int i = 0; i < LOCKS; i++)
        assert_status(rlock_unlock(locks[i]), at[i] == 1 ? RLOCK_LOST : RLOCK_OK);
}

/* --- one request for all of a slot --- */

/* On its way to another node, where one of them is already: neither node has them all. */
Test(cluster_watchdog, renews_locks_of_a_slot_that_stays_on_its_way)
{
    enum { HELD = 3 };
    char names[HELD][64], query[200];
    rlock *held[HELD];
    shards_start(MASTERS, 0, NULL);
    const char *tag = cluster_key(shards.cluster, 0, "t");
    snprintf(query, sizeof query, PATIENT "&lockWatchdogTimeout=%d", WATCHDOG_MS);
    rlock_client *client = shards_client(query);
    for (int i = 0; i < HELD; i++) {
        snprintf(names[i], sizeof names[i], "{%s}%d", tag, i);
        held[i] = lock_of(client, names[i]);
        assert_ok(rlock_lock(held[i]));
    }
    cluster_move_begin(shards.cluster, cluster_slot(tag), 1);
    cluster_move_key(shards.cluster, names[1]);
    int64_t since_ms = now_ms();
    for (int i = 0; i < HELD; i++)
        await_renewal(held[i], WATCHDOG_MS, since_ms);
    for (int i = 0; i < HELD; i++)
        assert_ok(rlock_unlock(held[i]));
}

/* Its key is on its way already, and the node to which the server sends its renewals on does not answer: that is no
 * refusal. */
Test(cluster_watchdog, tells_of_silence_where_a_slot_moves_to_as_of_silence, .lasts = 12)
{
    char query[200];
    shards_start(MASTERS, 0, UNCOVERED);
    snprintf(query, sizeof query, PATIENT "&lockWatchdogTimeout=%d", WATCHDOG_MS);
    rlock_client *client = shards_client(query);
    losses_init(&lost);
    rlock_on_lost(client, losses_note, &lost);
    const char *name = cluster_key(shards.cluster, 0, "t");
    rlock *lock = lock_of(client, name);
    assert_ok(rlock_lock(lock));
    cluster_move_begin(shards.cluster, cluster_slot(name), 1);
    cluster_move_key(shards.cluster, name);
    server_freeze(cluster_node(shards.cluster, 1));
    losses_await(&lost, 1, 2 * WATCHDOG_MS);
    server_thaw(cluster_node(shards.cluster, 1));
    cr_assert(lost.all[0].reason == RLOCK_LOST_EXPIRED, "reason %d: %s", lost.all[0].reason, lost.all[0].said);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}
