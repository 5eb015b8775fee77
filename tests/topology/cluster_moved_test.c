/* Slots that move while locks of theirs are held, waited for and renewed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/objects.h"
#include "tests/support/event.h"
#include "tests/topology/support/renewal.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>

#define KIND_SUITE cluster_moved
TestSuite(cluster_moved, .init = shards_open, .fini = shards_close);

#define SOON_MS 10000
#define WOKEN_MS 500 /* far below every TTL here */
#define FROM 0
#define TO 2

/* --- moved as a whole --- */

KIND_TEST(stays_held_and_is_let_go_where_its_slot_went)
{
    const char *name = kind_name(of, cluster_key(shards.cluster, FROM, "moved:"));
    rlock *lock = kind_of(of, shards.client, name), *theirs = rival_of(of, shards.other, name);
    int holds = of->once ? 1 : 2, count = 0;
    for (int i = 0; i < holds; i++)
        assert_ok(rlock_lock(lock));
    cluster_move(shards.cluster, cluster_slot(name), TO);
    assert_status(rlock_try_lock(theirs, 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_get_hold_count(lock, &count));
    cr_assert(count == holds);
    for (int i = 0; i < holds; i++)
        assert_ok(rlock_unlock(lock));
    assert_ok(rlock_try_lock(theirs, 0, 1000));
    assert_ok(rlock_unlock(theirs));
    cluster_move(shards.cluster, cluster_slot(name), FROM);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    if (of != &kind_fenced)
        cr_assert(shards_keys() == 0);
}

KIND_TEST(is_waited_for_where_its_slot_went)
{
    const char *name = kind_name(of, cluster_key(shards.cluster, FROM, "moved:"));
    rlock *held = rival_of(of, shards.other, name), *wanted = kind_of(of, shards.client, name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_lock(waiter, wanted);
    cr_assert(!of->channel || shards_wait_channels_at(FROM, 1, SOON_MS));
    cr_assert(actor_asleep(waiter, SOON_MS));
    cluster_move(shards.cluster, cluster_slot(name), TO);
    int64_t moved_ms = now_ms();
    cr_assert(!of->channel || shards_wait_channels_at(TO, 1, SOON_MS), "the waiter does not listen at the new node");
    int64_t followed_ms = now_ms() - moved_ms;
    cr_assert(shards_channels_at(FROM) == 0);
    cr_assert(actor_asleep(waiter, SOON_MS));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, SOON_MS));
    cr_log_info("%s: listens %lld ms after the move, woken %lld ms after the unlock", of->name, (long long)followed_ms,
                (long long)(actor_ended_at(waiter) - since_ms));
    if (shards_go_by_slot()) /* else what is said at the new node is heard at the old one, and there is no haste */
        assert_between(followed_ms, 0, at_most_ms(WOKEN_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, wanted));
    actor_end(waiter);
    cr_assert(shards_wait_no_channels(SOON_MS), "still subscribed");
}

/* The holder knows of the move, the waiter does not: its node tells it. */
Test(cluster_moved, let_go_at_once_after_the_move_wakes_a_waiter)
{
    for (int i = 0; i < 10; i++) {
        char prefix[16];
        snprintf(prefix, sizeof prefix, "r%d:", i);
        const char *name = cluster_key(shards.cluster, FROM, prefix);
        rlock *held = lock_of(shards.other, name), *wanted = lock_of(shards.client, name);
        actor *waiter = actor_start();
        assert_ok(rlock_lock(held));
        actor_begin_lock(waiter, wanted);
        cr_assert(shards_wait_channels_at(FROM, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
        cluster_move(shards.cluster, cluster_slot(name), TO);
        int64_t since_ms = now_ms();
        assert_ok(rlock_unlock(held));
        assert_ok(actor_finish(waiter, SOON_MS));
        assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
        assert_ok(actor_unlock(waiter, wanted));
        actor_end(waiter);
    }
    shards_assert_nothing_left();
}

Test(cluster_moved, keeps_waiters_of_semaphores_and_latches)
{
    const char *name = cluster_key(shards.cluster, FROM, "moved:"), *gate = cluster_key(shards.cluster, FROM, "gate:");
    rlock_semaphore *ours = semaphore_of(shards.client, name), *theirs = semaphore_of(shards.other, name);
    rlock_count_down_latch *latch = latch_of(shards.client, gate);
    bool set = false;
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, &set));
    actor *taker = actor_start(), *awaiter = actor_start();
    actor_begin(taker, take, &(taking){.semaphore = ours, .permits = 1, .wait_ms = RLOCK_FOREVER});
    actor_begin(awaiter, await_open, &(awaiting){.latch = latch, .wait_ms = RLOCK_FOREVER});
    cr_assert(shards_wait_channels_at(FROM, 2, SOON_MS));
    cluster_move(shards.cluster, cluster_slot(name), TO);
    cluster_move(shards.cluster, cluster_slot(gate), TO);
    cr_assert(shards_wait_channels_at(TO, 2, SOON_MS) && shards_channels_at(FROM) == 0);
    int64_t since_ms = now_ms();
    assert_ok(rlock_semaphore_release(theirs, 1));
    assert_ok(rlock_count_down_latch_count_down(latch_of(shards.other, gate)));
    assert_ok(actor_finish(taker, SOON_MS));
    assert_ok(actor_finish(awaiter, SOON_MS));
    assert_between(now_ms() - since_ms, 0, at_most_ms(WOKEN_MS));
    actor_end(taker);
    actor_end(awaiter);
    cr_assert(shards_wait_no_channels(SOON_MS));
}

Test(cluster_moved, plain_messages_need_no_move)
{
    rlock_client *ours = shards_client(PATIENT "&shardedSubscriptionMode=OFF");
    rlock_client *theirs = shards_client(PATIENT "&shardedSubscriptionMode=OFF");
    const char *name = cluster_key(shards.cluster, FROM, "moved:");
    rlock *held = lock_of(theirs, name), *wanted = lock_of(ours, name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_lock(waiter, wanted);
    cr_assert(server_wait_subscribers(cluster_node(shards.cluster, FROM), shards_channel(name), 1, SOON_MS));
    cluster_move(shards.cluster, cluster_slot(name), TO);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, wanted));
    actor_end(waiter);
    shards_assert_nothing_left();
}

/* --- in the middle of a move --- */

KIND_TEST(is_used_while_its_slot_is_on_its_way)
{
    const char *name = kind_name(of, cluster_key(shards.cluster, FROM, "moved:"));
    rlock *lock = kind_of(of, shards.client, name), *theirs = rival_of(of, shards.other, name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    cluster_move_begin(shards.cluster, cluster_slot(name), TO);
    cluster_move_key(shards.cluster, kind_key(of, name)); /* the hash alone; of some kinds others stay behind */
    actor_begin_lock(waiter, theirs);
    cr_assert(!actor_ended(waiter, 300));
    cluster_move_keys(shards.cluster, cluster_slot(name));
    cr_assert(!actor_ended(waiter, 300));
    cluster_move_end(shards.cluster, cluster_slot(name));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, SOON_MS));
    cr_log_info("%s: has it %lld ms after the unlock", of->name, (long long)(actor_ended_at(waiter) - since_ms));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, theirs));
    actor_end(waiter);
    cr_assert(shards_wait_no_channels(SOON_MS), "still subscribed");
}

/* A lock whose one key has gone ahead is asked for there, and a free one made there. */
Test(cluster_moved, one_key_is_asked_for_where_it_went_before_its_slot)
{
    const char *name = cluster_key(shards.cluster, FROM, "moved:");
    rlock *lock = lock_of(shards.client, name), *theirs = lock_of(shards.other, name);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    cluster_move_begin(shards.cluster, cluster_slot(name), TO);
    assert_status(rlock_try_lock(theirs, 0, 1000), RLOCK_TIMEOUT); /* still here */
    cluster_move_key(shards.cluster, name);
    assert_status(rlock_try_lock(theirs, 0, 1000), RLOCK_TIMEOUT); /* gone ahead */
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_try_lock(theirs, 0, 60000));
    cr_assert(server_integer(cluster_node(shards.cluster, FROM), "DBSIZE") == 0, "it was made in the old place");
    cluster_move_end(shards.cluster, cluster_slot(name));
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(theirs));
    cr_assert(shards_keys() == 0);
}

static void hand_over_on_its_way(rlock *lock, const char *name)
{
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, lock);
    cr_assert(shards_wait_channels_at(FROM, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
    cluster_move_begin(shards.cluster, cluster_slot(name), TO);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    cluster_move_keys(shards.cluster, cluster_slot(name));
    cluster_move_end(shards.cluster, cluster_slot(name));
    actor_end(waiter);
    cr_assert(shards_wait_no_channels(SOON_MS), "still subscribed");
    rlock_free(lock);
}

/* In the old place, where a script finds nothing any more under a name that it has deleted. */
Test(cluster_moved, is_handed_over_while_its_slot_is_on_its_way)
{
    const char *name = cluster_key(shards.cluster, FROM, "moved:");
    hand_over_on_its_way(rlock_get_lock(shards.client, name), name);
    cluster_move(shards.cluster, cluster_slot(name), FROM);
    hand_over_on_its_way(rlock_get_non_reentrant_lock(shards.client, name), name);
    cluster_move(shards.cluster, cluster_slot(name), FROM);
    hand_over_on_its_way(rlock_get_fenced_lock(shards.client, name), name);
}

/* Listens at the old node, since nobody can at the new one yet; the release is said there. */
Test(cluster_moved, let_go_in_the_middle_of_the_move_is_had_by_who_asked_meanwhile)
{
    const char *name = cluster_key(shards.cluster, FROM, "moved:");
    rlock *held = lock_of(shards.other, name), *wanted = lock_of(shards.client, name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    cluster_move_begin(shards.cluster, cluster_slot(name), TO);
    cluster_move_key(shards.cluster, name);
    actor_begin_lock(waiter, wanted);
    cr_assert(shards_wait_channels_at(FROM, 1, SOON_MS));
    cr_assert(!actor_ended(waiter, 1500)); /* more than it goes on for by itself */
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, SOON_MS));
    cr_log_info("had %lld ms after the unlock", (long long)(actor_ended_at(waiter) - since_ms));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, wanted));
    actor_end(waiter);
    cluster_move_end(shards.cluster, cluster_slot(name));
    shards_assert_nothing_left();
}

/* Who waits from before the move and was not woken since asks at its end. */
Test(cluster_moved, let_go_in_the_middle_of_the_move_is_had_at_its_end)
{
    const char *name = cluster_key(shards.cluster, FROM, "moved:");
    rlock *held = lock_of(shards.other, name), *wanted = lock_of(shards.client, name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_lock(waiter, wanted);
    cr_assert(shards_wait_channels_at(FROM, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
    cluster_move_begin(shards.cluster, cluster_slot(name), TO);
    cluster_move_key(shards.cluster, name);
    assert_ok(rlock_unlock(held));
    int64_t since_ms = now_ms();
    cluster_move_end(shards.cluster, cluster_slot(name));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, wanted));
    actor_end(waiter);
    shards_assert_nothing_left();
}

/* The keys of a fair lock with a queue stand in both places: whoever asks has to come again. */
Test(cluster_moved, fair_lock_whose_keys_are_in_both_places_waits_for_them)
{
    const char *name = cluster_key(shards.cluster, FROM, "moved:");
    rlock *held = kind_of(&kind_fair, shards.other, name), *wanted = kind_of(&kind_fair, shards.client, name);
    actor *holder = actor_start(), *waiter = actor_start();
    assert_ok(actor_lock(holder, held));
    actor_begin_lock(waiter, wanted);
    cr_assert(shards_wait_channels_at(FROM, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
    cluster_move_begin(shards.cluster, cluster_slot(name), TO);
    cluster_move_key(shards.cluster, name);
    rlock_status halfway = rlock_try_lock(kind_of(&kind_fair, shards_client("retryAttempts=1&retryBaseDelay=50"), name), 0, 1000);
    cr_assert(halfway == RLOCK_UNAVAILABLE, "answered %s", rlock_strstatus(halfway));
    cr_log_info("halfway: %s", rlock_last_error());
    cluster_move_keys(shards.cluster, cluster_slot(name));
    cluster_move_end(shards.cluster, cluster_slot(name));
    int64_t since_ms = now_ms();
    assert_ok(actor_unlock(holder, held));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, wanted));
    actor_end(waiter);
    actor_end(holder);
    shards_assert_nothing_left();
}

/* --- renewed meanwhile --- */

KIND_TEST(is_renewed_while_its_slot_moves)
{
    enum { WATCHDOG_MS = 9000 };
    rlock_client *client = shards_client(PATIENT "&lockWatchdogTimeout=9000");
    const char *name = kind_name(of, cluster_key(shards.cluster, FROM, "moved:"));
    losses lost;
    losses_init(&lost);
    rlock_on_lost(client, losses_note, &lost);
    rlock *lock = kind_of(of, client, name);
    assert_ok(rlock_lock(lock));
    cluster_move_begin(shards.cluster, cluster_slot(name), TO);
    await_renewal(lock, WATCHDOG_MS, now_ms());
    cluster_move_keys(shards.cluster, cluster_slot(name));
    await_renewal(lock, WATCHDOG_MS, now_ms());
    cluster_move_end(shards.cluster, cluster_slot(name));
    await_renewal(lock, WATCHDOG_MS, now_ms());
    cr_assert(server_integer(cluster_node(shards.cluster, TO), "PTTL %s", kind_key(of, name)) > 500);
    cluster_move(shards.cluster, cluster_slot(name), FROM);
    await_renewal(lock, WATCHDOG_MS, now_ms());
    cr_assert(server_integer(cluster_node(shards.cluster, FROM), "PTTL %s", kind_key(of, name)) > 500);
    cr_assert(event_count(&lost.came) == 0, "told of a loss, for reason %d", (int)lost.all[0].reason);
    assert_ok(rlock_unlock(lock));
}

/* --- let go without waiting --- */

static losses told;

static rlock_client *unawaited_client(void)
{
    rlock_client *client = shards_client(PATIENT "&unlockWaits=false");
    losses_init(&told);
    rlock_on_lost(client, losses_note, &told);
    return client;
}

/* The first unlock of a kind at a node waits for its answer. */
static void warm(const kind *of, rlock_client *client, int node)
{
    rlock *lock = kind_of(of, client, kind_name(of, cluster_key(shards.cluster, node, "warm:")));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

KIND_TEST(is_let_go_where_its_slot_went_though_nobody_waits_for_that)
{
    rlock_client *client = unawaited_client();
    const char *name = kind_name(of, cluster_key(shards.cluster, FROM, "moved:"));
    rlock *lock = kind_of(of, client, name), *theirs = rival_of(of, shards.other, name);
    warm(of, client, FROM);
    assert_ok(rlock_lock(lock));
    cluster_move(shards.cluster, cluster_slot(name), TO);
    assert_ok(rlock_unlock(lock)); /* where it was: MOVED */
    assert_ok(rlock_try_lock(theirs, SOON_MS, 20000));
    assert_ok(rlock_unlock(theirs));
    /* and again, by its owner at once */
    cluster_move(shards.cluster, cluster_slot(name), FROM);
    assert_ok(rlock_lock(lock));
    cluster_move(shards.cluster, cluster_slot(name), TO);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_try_lock(lock, 0, 20000));
    cr_assert(rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_try_lock(theirs, SOON_MS, 20000));
    assert_ok(rlock_unlock(theirs));
    cr_assert(!event_wait_ms(&told.came, 300), "told of a loss, reason %d", (int)told.all[0].reason);
}

KIND_TEST(is_let_go_while_its_slot_is_on_its_way_though_nobody_waits_for_that)
{
    rlock_client *client = unawaited_client();
    const char *name = kind_name(of, cluster_key(shards.cluster, FROM, "moved:"));
    rlock *lock = kind_of(of, client, name), *theirs = rival_of(of, shards.other, name);
    warm(of, client, FROM);
    assert_ok(rlock_lock(lock));
    cluster_move_begin(shards.cluster, cluster_slot(name), TO);
    cluster_move_keys(shards.cluster, cluster_slot(name));
    assert_ok(rlock_unlock(lock)); /* ASK */
    cluster_move_end(shards.cluster, cluster_slot(name));
    assert_ok(rlock_try_lock(theirs, SOON_MS, 20000));
    assert_ok(rlock_unlock(theirs));
    cr_assert(!event_wait_ms(&told.came, 300), "told of a loss, reason %d", (int)told.all[0].reason);
}

/* The server has unsubscribed the one that follows its slot. */
Test(cluster_moved, slot_leaves_the_subscriptions_of_others_alone)
{
    char names[2][64];
    rlock *held[2];
    actor *waiters[2];
    server *from = cluster_node(shards.cluster, FROM);
    if (!shards_go_by_slot())
        cr_skip_test("servers without messages by slot");
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "%s", cluster_key(shards.cluster, FROM, i ? "stays:" : "moves:"));
        held[i] = lock_of(shards.other, names[i]);
        waiters[i] = actor_start();
        assert_ok(rlock_lock(held[i]));
        actor_begin_lock(waiters[i], lock_of(shards.client, names[i]));
    }
    cr_assert(shards_wait_channels_at(FROM, 2, SOON_MS));
    for (int i = 0; i < 2; i++)
        cr_assert(actor_asleep(waiters[i], SOON_MS));
    int64_t subscribed = server_times(from, "ssubscribe");
    cluster_move(shards.cluster, cluster_slot(names[0]), TO);
    cr_assert(shards_wait_channels_at(TO, 1, SOON_MS));
    for (int i = 0; i < 2; i++) {
        assert_ok(rlock_unlock(held[i]));
        assert_ok(actor_finish(waiters[i], SOON_MS));
        actor_end(waiters[i]);
    }
    cr_assert(shards_wait_channels_at(FROM, 0, SOON_MS));
    cr_assert(server_times(from, "ssubscribe") == subscribed, "it was subscribed again");
}
