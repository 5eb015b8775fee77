/* Masters that are killed, frozen or relieved while locks of theirs are held, waited for and renewed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/losses.h"
#include "tests/support/event.h"
#include "tests/topology/support/renewal.h"
#include "tests/topology/support/shards.h"

static losses lost;
static const char *name;
static rlock *ours, *theirs;

#define SOON_MS 20000
#define WOKEN_MS 500
/* Two thirds of it, which are always left, are longer than any takeover, though the machine stands still meanwhile. */
#define WATCHDOG "lockWatchdogTimeout=12000"
#define WATCHDOG_MS 12000

static void open_stage(void)
{
    shards_open_with(1, NULL, PATIENT "&" WATCHDOG);
    losses_init(&lost);
    rlock_on_lost(shards.client, losses_note, &lost);
    name = cluster_key(shards.cluster, 0, "failed-over:");
    ours = lock_of(shards.client, name);
    theirs = lock_of(shards.other, name);
}

TestSuite(cluster_failover, .init = open_stage, .fini = shards_close);

static int await_takeover(void)
{
    int64_t since_ms = now_ms();
    int node = cluster_await_takeover(shards.cluster, cluster_slot(name), 0, 30000);
    cr_assert(node >= 0, "no replica takes over");
    cr_log_info("taken over after %lld ms", (long long)(now_ms() - since_ms));
    return node;
}

static void await_renewal_at(int node)
{
    await_renewal(ours, WATCHDOG_MS, now_ms());
    cr_assert(server_integer(cluster_node(shards.cluster, node), "PTTL %s", name) > 2 * WATCHDOG_MS / 3,
              "not renewed on the new master");
}

Test(cluster_failover, hold_that_was_replicated_survives_a_killed_master, .lasts = 13)
{
    assert_ok(rlock_lock(ours));
    server_kill(cluster_node(shards.cluster, 0));
    int node = await_takeover();
    cr_assert(rlock_valid_for(ours) > 0);
    assert_status(rlock_try_lock(theirs, 0, 1000), RLOCK_TIMEOUT);
    await_renewal_at(node);
    assert_ok(rlock_unlock(ours));
    assert_ok(rlock_try_lock(theirs, 0, 1000));
    cr_assert(event_count(&lost.came) == 0);
}

/* As if the replica had not had it. */
Test(cluster_failover, hold_that_is_not_on_the_new_master_is_told_as_lost)
{
    assert_ok(rlock_lock(ours));
    server_kill(cluster_node(shards.cluster, 0));
    int node = await_takeover();
    int64_t since_ms = now_ms();
    cr_assert(server_integer(cluster_node(shards.cluster, node), "DEL %s", name) == 1);
    cr_assert(event_wait_ms(&lost.came, 3 * WATCHDOG_MS), "nobody told of the loss");
    assert_between(lost.all[0].at_ms - since_ms, 0, at_most_ms(WATCHDOG_MS / 3 + 2000));
    cr_assert(rlock_valid_for(ours) == 0);
    assert_status(rlock_unlock(ours), RLOCK_LOST);
    assert_ok(rlock_lock(ours));
    assert_ok(rlock_unlock(ours));
}

Test(cluster_failover, waiter_goes_on_at_the_new_master, .lasts = 12)
{
    actor *waiter = actor_start();
    assert_ok(rlock_lock(theirs));
    actor_begin_lock(waiter, ours);
    cr_assert(shards_wait_channels_at(0, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
    server_kill(cluster_node(shards.cluster, 0));
    int node = await_takeover();
    int64_t ready_ms = now_ms();
    cr_assert(shards_wait_channels_at(node, 1, SOON_MS), "the waiter does not listen at the new master");
    cr_log_info("the waiter listens %lld ms after the takeover", (long long)(now_ms() - ready_ms));
    cr_assert(actor_asleep(waiter, SOON_MS));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(theirs));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, ours));
    actor_end(waiter);
    shards_assert_nothing_left();
}

/* Calls that begin while nobody serves the slot. */
Test(cluster_failover, lock_begun_without_a_master_is_had_soon_after_the_next)
{
    actor *first = actor_start();
    server_kill(cluster_node(shards.cluster, 0));
    actor_begin_lock(first, ours);
    await_takeover();
    int64_t ready_ms = now_ms();
    assert_ok(actor_finish(first, SOON_MS));
    cr_log_info("the first lock is had %lld ms after the takeover", (long long)(actor_ended_at(first) - ready_ms));
    assert_ok(actor_unlock(first, ours));
    actor_end(first);
}

/* Locks of the other masters: down with the cluster for a moment, but neither lost nor forgotten. */
Test(cluster_failover, holds_on_other_masters_survive, .lasts = 12)
{
    rlock *other = lock_of(shards.client, cluster_key(shards.cluster, 2, "elsewhere:"));
    assert_ok(rlock_lock(other));
    server_kill(cluster_node(shards.cluster, 0));
    await_takeover();
    await_renewal(other, WATCHDOG_MS, now_ms());
    cr_assert(event_count(&lost.came) == 0);
    assert_ok(rlock_unlock(other));
}

Test(cluster_failover, frozen_master_comes_back_as_a_replica_and_nobody_holds_twice, .lasts = 16)
{
    actor *waiter = actor_start();
    assert_ok(rlock_lock(ours));
    actor_begin_lock(waiter, theirs);
    cr_assert(shards_wait_channels_at(0, 1, SOON_MS));
    server_freeze(cluster_node(shards.cluster, 0));
    int node = await_takeover();
    await_renewal_at(node);
    cr_assert(!actor_ended(waiter, 0), "a second holder");
    server_thaw(cluster_node(shards.cluster, 0));
    cr_assert(cluster_await_settled(shards.cluster, 30000));
    cr_assert(!actor_ended(waiter, 1000), "a second holder");
    cr_assert(rlock_valid_for(ours) > 0 && event_count(&lost.came) == 0);
    cr_assert(shards_wait_channels_at(node, 1, SOON_MS));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(ours));
    assert_ok(actor_finish(waiter, SOON_MS));
    cr_log_info("handed over in %lld ms", (long long)(actor_ended_at(waiter) - since_ms));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, theirs));
    actor_end(waiter);
    shards_assert_nothing_left();
}

/* The former master answers READONLY or MOVED; nobody waits out a retry for it. */
Test(cluster_failover, relieved_master_s_waiter_follows)
{
    actor *waiter = actor_start();
    assert_ok(rlock_lock(theirs));
    actor_begin_lock(waiter, ours);
    cr_assert(shards_wait_channels_at(0, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
    int replica = cluster_replica_of(shards.cluster, 0);
    cluster_promote(shards.cluster, replica);
    int64_t ready_ms = now_ms();
    cr_assert(shards_wait_channels_at(replica, 1, SOON_MS), "the waiter does not listen at the new master");
    cr_log_info("listens %lld ms after all agreed", (long long)(now_ms() - ready_ms));
    cr_assert(actor_asleep(waiter, SOON_MS));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(theirs));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, ours));
    actor_end(waiter);
    shards_assert_nothing_left();
}
