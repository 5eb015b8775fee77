/* Renewal in a cluster: many slots, several nodes, one of which may not answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/child.h"
#include "tests/integration/support/losses.h"
#include "tests/support/event.h"
#include "tests/support/lateness.h"
#include "tests/topology/support/renewal.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>

TestSuite(cluster_watchdog, .fini = shards_close, .timeout = 120);

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

/* How many were lost, which leave their keys behind for a while. */
static int unlock_all(int64_t watchdog_ms)
{
    int late = 0;
    for (int i = 0; i < LOCKS; i++) {
        rlock_status status = rlock_unlock(locks[i]);
        late += status == RLOCK_LOST;
        cr_assert(status == RLOCK_OK || (status == RLOCK_LOST && may_have_run_out(watchdog_ms)),
                  "unlock %d: %s; %d told of, the first for reason %d", i, rlock_strstatus(status),
                  event_count(&lost.came), (int)lost.all[0].reason);
    }
    return late;
}

static void assert_all_kept(int64_t watchdog_ms)
{
    hold_all(watchdog_ms);
    pass_ms(3 * watchdog_ms);
    cr_assert(event_count(&lost.came) == 0 || may_have_run_out(watchdog_ms), "%d of %d locks were lost",
              event_count(&lost.came), LOCKS);
    if (unlock_all(watchdog_ms) == 0)
        shards_assert_nothing_left();
}

Test(cluster_watchdog, renews_500_locks_in_all_slots_every_third_of_a_second)
{
    assert_all_kept(at_most_ms(1000));
}

Test(cluster_watchdog, renews_500_locks_in_all_slots_every_second)
{
    assert_all_kept(at_most_ms(3000));
}

/* Locks on other masters must not be lost because one of them does not answer. */
static void freeze_one(int64_t watchdog_ms)
{
    hold_all(watchdog_ms);
    server_freeze(cluster_node(shards.cluster, 1));
    pass_ms(3 * watchdog_ms);
    int elsewhere = gone(0) + gone(2), there = gone(1);
    cr_log_info("watchdog %lld: %d on the frozen master and %d on others were lost", (long long)watchdog_ms, there,
                elsewhere);
    cr_assert(elsewhere == 0 || may_have_run_out(watchdog_ms), "%d locks on masters that answer were lost", elsewhere);
    cr_assert(there > LOCKS / 5);
    server_thaw(cluster_node(shards.cluster, 1));
    cr_assert(event_wait_count(&lost.came, there, 20000));
    for (int i = 0; i < LOCKS; i++) {
        rlock_status status = rlock_unlock(locks[i]);
        assert_status(status, at[i] == 1 || (status != RLOCK_OK && may_have_run_out(watchdog_ms)) ? RLOCK_LOST : RLOCK_OK);
    }
}

Test(cluster_watchdog, renews_on_other_masters_while_one_is_frozen)
{
    freeze_one(at_most_ms(1000));
}

Test(cluster_watchdog, renews_on_other_masters_while_one_is_frozen_with_more_time)
{
    freeze_one(at_most_ms(3000));
}

/* A master that was away for less than the holds last, though for longer than passes between two renewals, costs nobody
 * his hold. */
Test(cluster_watchdog, keeps_all_holds_over_a_short_freeze)
{
    enum { WATCHDOG_MS = 7500 };
    hold_all(WATCHDOG_MS);
    server_freeze(cluster_node(shards.cluster, 1));
    pass_ms(WATCHDOG_MS / 3 + 100);
    server_thaw(cluster_node(shards.cluster, 1));
    int64_t since_ms = now_ms();
    for (int i = 0; i < LOCKS; i++)
        await_renewal(locks[i], WATCHDOG_MS, since_ms);
    cr_assert(event_count(&lost.came) == 0, "%d of %d locks were lost", event_count(&lost.came), LOCKS);
    unlock_all(WATCHDOG_MS);
}
