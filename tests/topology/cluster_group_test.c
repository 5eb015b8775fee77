/* Group locks in a cluster: on the slot of the group's name, while that moves, and after a takeover. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/support/event.h"
#include "tests/topology/support/renewal.h"
#include "tests/topology/support/shards.h"

TestSuite(cluster_group, .init = shards_open, .fini = shards_close);

#define SOON_MS  20000
#define WOKEN_MS 500
#define FROM     0
#define TO       2

/* The number of fields that the group's hash has at a node: three a value. */
static int64_t fields_at(int node, const char *group)
{
    return server_integer(cluster_node(shards.cluster, node), "HLEN %s", group);
}

/* The values hash to slots of their own, which do not count. */
Test(cluster_group, has_all_values_on_the_master_of_the_group)
{
    for (int node = 0; node < MASTERS; node++) {
        const char *group = cluster_key(shards.cluster, node, "class:");
        rlock *abc = group_of(shards.client, group, "abc"), *de = group_of(shards.other, group, "de");
        assert_ok(rlock_lock(abc));
        assert_ok(rlock_lock(de));
        cr_assert(fields_at(node, group) == 15 && shards_keys() == 1);
        assert_status(rlock_try_lock(group_of(shards.other, group, "cx"), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
        assert_status(rlock_try_lock(group_of(shards.client, group, "xe"), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
        assert_ok(rlock_unlock(abc));
        assert_ok(rlock_try_lock(group_of(shards.other, group, "cx"), 0, RLOCK_WATCHDOG));
        assert_ok(rlock_unlock(group_of(shards.other, group, "cx")));
        assert_ok(rlock_unlock(de));
    }
    shards_assert_nothing_left();
}

/* Waited for by a lock of other values, while its slot moves: before its hash went, and after. */
static void moves(bool released_first)
{
    const char *group = cluster_key(shards.cluster, FROM, released_first ? "early:" : "late:");
    rlock *ab = group_of(shards.client, group, "ab"), *bc = group_of(shards.other, group, "bc");
    rlock *d = group_of(shards.other, group, "d");
    actor *waiter = actor_start();
    assert_ok(rlock_lock(ab));
    actor_begin_lock(waiter, bc);
    cr_assert(shards_wait_channels_at(FROM, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
    cluster_move_begin(shards.cluster, cluster_slot(group), TO);
    assert_ok(rlock_lock(d));
    cr_assert(fields_at(FROM, group) == 9);
    if (released_first)
        assert_ok(rlock_unlock(ab));
    cluster_move_key(shards.cluster, group);
    assert_status(rlock_try_lock(group_of(shards.client, group, "dx"), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    if (!released_first) {
        cr_assert(!actor_ended(waiter, 0), "a second holder");
        assert_ok(rlock_extend(ab, 40000));
        cr_assert(rlock_valid_for(ab) > 30000);
        assert_ok(rlock_unlock(ab));
    }
    cluster_move_end(shards.cluster, cluster_slot(group));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_status(rlock_try_lock(ab, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(actor_unlock(waiter, bc));
    assert_ok(rlock_try_lock(ab, 0, RLOCK_WATCHDOG));
    cr_assert(fields_at(TO, group) == 9);
    assert_ok(rlock_unlock(ab));
    assert_ok(rlock_unlock(d));
    actor_end(waiter);
}

Test(cluster_group, goes_with_its_slot)
{
    moves(true);
    moves(false);
    shards_assert_nothing_left();
}

/* --- takeover --- */

/* Two thirds of it, which are always left, are longer than any takeover, though the machine stands still meanwhile. */
#define WATCHDOG    "lockWatchdogTimeout=12000"
#define WATCHDOG_MS 12000

static losses lost;

static void open_with_replicas(void)
{
    shards_open_with(1, NULL, PATIENT "&" WATCHDOG);
    losses_init(&lost);
    rlock_on_lost(shards.client, losses_note, &lost);
}

TestSuite(cluster_group_failover, .init = open_with_replicas, .fini = shards_close);

/* With each of its values, which others want alone. */
Test(cluster_group_failover, hold_is_renewed_by_the_next_master, .lasts = 12)
{
    const char *group = cluster_key(shards.cluster, FROM, "class:");
    rlock *ab = group_of(shards.client, group, "ab"), *bc = group_of(shards.other, group, "bc");
    rlock *leased = group_of(shards.client, group, "d");
    actor *waiter = actor_start();
    assert_ok(rlock_lock(ab));
    assert_ok(rlock_lock_lease(leased, 10 * WATCHDOG_MS));
    actor_begin_lock(waiter, bc);
    cr_assert(shards_wait_channels_at(FROM, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
    server_kill(cluster_node(shards.cluster, FROM));
    int node = cluster_await_takeover(shards.cluster, cluster_slot(group), FROM, 30000);
    cr_assert(node >= 0, "no replica takes over");
    await_renewal(ab, WATCHDOG_MS, now_ms());
    for (int i = 0; i < 3; i++) {
        rlock *wanted = group_of(shards.other, group, (const char *[]){"a", "bx", "d"}[i]);
        assert_status(rlock_try_lock(wanted, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    }
    cr_assert(!actor_ended(waiter, 0), "a second holder");
    cr_assert(shards_wait_channels_at(node, 1, SOON_MS), "the waiter does not listen at the new master");
    cr_assert(actor_asleep(waiter, SOON_MS));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(ab));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, bc));
    actor_end(waiter);
    assert_ok(rlock_unlock(leased));
    cr_assert(event_count(&lost.came) == 0);
    shards_assert_nothing_left();
}

/* One of its values is not on the new master, as if the replica had not had it: the hold is lost as a whole. */
Test(cluster_group_failover, that_the_next_master_has_in_part_is_told_as_lost, .lasts = 12)
{
    const char *group = cluster_key(shards.cluster, FROM, "class:");
    rlock *ab = group_of(shards.client, group, "ab");
    assert_ok(rlock_lock(ab));
    server_kill(cluster_node(shards.cluster, FROM));
    int node = cluster_await_takeover(shards.cluster, cluster_slot(group), FROM, 30000);
    cr_assert(node >= 0, "no replica takes over");
    cr_assert(server_integer(cluster_node(shards.cluster, node), "HDEL %s qwvAS12pR0CgRitaypEjUw", group) == 1);
    losses_await(&lost, 1, WATCHDOG_MS / 3 + 2000);
    cr_assert(rlock_valid_for(ab) == 0);
    assert_ok(rlock_try_lock(group_of(shards.other, group, "bc"), SOON_MS, RLOCK_WATCHDOG));
    assert_status(rlock_unlock(ab), RLOCK_LOST);
    assert_ok(rlock_unlock(group_of(shards.other, group, "bc")));
}
