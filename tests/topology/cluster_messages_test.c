/* Messages in a cluster: by slot where Redisson does so, else to everybody. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/objects.h"
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>
#include <string.h>

TestSuite(cluster_messages, .fini = shards_close);

#define SOON_MS 10000
#define WOKEN_MS 500

static int64_t subscribers(const char *command, const char *channel)
{
    int64_t all = 0;
    for (int node = 0; node < MASTERS; node++) {
        redisReply *reply = server_command(cluster_node(shards.cluster, node), "PUBSUB %s %s", command, channel);
        all += reply->elements == 2 ? reply->element[1]->integer : 0;
        freeReplyObject(reply);
    }
    return all;
}

static bool wait_total(const char *command, const char *channel, int64_t count)
{
    for (int64_t until_ms = limit_end_ms(SOON_MS); now_ms() < until_ms; pass_ms(2)) {
        if (subscribers(command, channel) == count)
            return true;
    }
    return false;
}

static void open_told(const char *mode)
{
    char query[200];
    snprintf(query, sizeof query, PATIENT "&shardedSubscriptionMode=%s", mode);
    shards_open_with(0, NULL, query);
}

static void skip_unless(bool by_slot)
{
    if (shards_go_by_slot() != by_slot)
        cr_skip_test("servers %s messages by slot", by_slot ? "without" : "with");
}

/* A waiter is heard of by slot, or plainly, not the other way, and woken. */
static void assert_spread(bool by_slot)
{
    const char *how = by_slot ? "SHARDNUMSUB" : "NUMSUB", *other = by_slot ? "NUMSUB" : "SHARDNUMSUB";
    for (int node = 0; node < MASTERS; node++) {
        const char *name = cluster_key(shards.cluster, node, "heard:"), *channel = shards_channel(name);
        rlock *held = lock_of(shards.other, name), *wanted = lock_of(shards.client, name);
        actor *waiter = actor_start();
        assert_ok(rlock_lock(held));
        actor_begin_lock(waiter, wanted);
        cr_assert(wait_total(how, channel, 1), "not subscribed");
        cr_assert(subscribers(other, channel) == 0, "subscribed the other way");
        cr_assert(actor_asleep(waiter, SOON_MS));
        int64_t since_ms = now_ms();
        assert_ok(rlock_unlock(held));
        assert_ok(actor_finish(waiter, SOON_MS));
        assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
        assert_ok(actor_unlock(waiter, wanted));
        actor_end(waiter);
        cr_assert(wait_total(how, channel, 0), "still subscribed");
    }
    shards_assert_nothing_left();
}

Test(cluster_messages, go_by_slot_where_the_servers_know_it)
{
    shards_open();
    assert_spread(shards_go_by_slot());
}

Test(cluster_messages, go_by_slot_when_told_to)
{
    open_told("ON");
    skip_unless(true);
    assert_spread(true);
}

Test(cluster_messages, told_to_go_by_slot_are_refused_where_the_servers_do_not_know_it)
{
    open_told("ON");
    skip_unless(false);
    const char *name = cluster_key(shards.cluster, 0, "heard:");
    freeReplyObject(server_command(cluster_at(shards.cluster, name), "HSET %s another:1 1", name));
    freeReplyObject(server_command(cluster_at(shards.cluster, name), "PEXPIRE %s 60000", name));
    rlock *wanted = lock_of(shards.client, name);
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(wanted, SOON_MS, RLOCK_WATCHDOG), RLOCK_SERVER);
    assert_between(now_ms() - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_error("shardedSubscriptionMode must not be ON");
    freeReplyObject(server_command(cluster_at(shards.cluster, name), "DEL %s", name));
    assert_ok(rlock_lock(wanted));
    assert_status(rlock_unlock(wanted), RLOCK_SERVER);
    assert_error("shardedSubscriptionMode");
}

Test(cluster_messages, go_to_everybody_when_told_to)
{
    open_told("OFF");
    assert_spread(false);
}

static void await_scripts(server *at, int64_t times)
{
    for (int64_t until_ms = limit_end_ms(SOON_MS); server_times(at, "evalsha") < times; pass_ms(2))
        cr_assert(now_ms() < until_ms, "the waiter does not ask once more");
}

/* A plain message reaches those who listen at any node: as those of older Redissons do. */
Test(cluster_messages, published_plainly_at_another_node_wake)
{
    shards_open_with(0, NULL, PATIENT "&shardedSubscriptionMode=OFF");
    const char *name = cluster_key(shards.cluster, 0, "heard:"), *channel = shards_channel(name);
    rlock *held = lock_of(shards.other, name), *wanted = lock_of(shards.client, name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    int64_t asked = server_times(cluster_at(shards.cluster, name), "evalsha");
    actor_begin_lock(waiter, wanted);
    await_scripts(cluster_at(shards.cluster, name), asked + 2); /* once more when it has subscribed */
    cr_assert(actor_asleep(waiter, SOON_MS));
    freeReplyObject(server_command(cluster_at(shards.cluster, name), "DEL %s", name));
    cr_assert(!actor_ended(waiter, 100));
    int64_t since_ms = now_ms();
    freeReplyObject(server_command(cluster_node(shards.cluster, 2), "PUBLISH %s 0", channel));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    assert_ok(actor_unlock(waiter, wanted));
    assert_status(rlock_unlock(held), RLOCK_LOST);
    actor_end(waiter);
}

static void assert_heard(const char *channel, const char *message)
{
    cr_assert(cluster_heard(shards.cluster, channel, message, SOON_MS), "\"%s\" was not heard on %s", message, channel);
}

static void cycle(const kind *of, const char *name)
{
    rlock *lock = kind_of(of, shards.client, name);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

/* docs/internals/wire.md's messages, heard by another's SSUBSCRIBE. */
Test(cluster_messages, are_those_of_redisson)
{
    shards_open();
    skip_unless(true);
    char channel[128];
    const char *name = cluster_key(shards.cluster, 1, "said:");
    cluster_listen(shards.cluster, shards_channel(name));
    cycle(&kind_reentrant, name);
    assert_heard(shards_channel(name), "0");

    const char *sides = cluster_key(shards.cluster, 2, "sides:");
    snprintf(channel, sizeof channel, "redisson_rwlock:{%s}", sides);
    cluster_listen(shards.cluster, channel);
    cycle(&kind_read, sides);
    assert_heard(channel, "0");
    cycle(&kind_write, sides);
    assert_heard(channel, "1");

    const char *permits = cluster_key(shards.cluster, 0, "sem:");
    snprintf(channel, sizeof channel, "redisson_sc:{%s}", permits);
    cluster_listen(shards.cluster, channel);
    assert_ok(rlock_semaphore_release(semaphore_of(shards.client, permits), 7));
    assert_heard(channel, "7");

    const char *latch = cluster_key(shards.cluster, 0, "latch:");
    snprintf(channel, sizeof channel, "redisson_countdownlatch__channel__{%s}", latch);
    cluster_listen(shards.cluster, channel);
    bool set = false;
    assert_ok(rlock_count_down_latch_try_set_count(latch_of(shards.client, latch), 1, &set));
    assert_heard(channel, "1");
    assert_ok(rlock_count_down_latch_count_down(latch_of(shards.client, latch)));
    assert_heard(channel, "0");
}

/* Each fair waiter has a channel of its own, and the one at the head alone is told. */
Test(cluster_messages, of_a_fair_lock_are_for_the_head_of_the_queue)
{
    shards_open();
    skip_unless(true);
    const char *name = cluster_key(shards.cluster, 1, "fair:");
    server *node = cluster_at(shards.cluster, name);
    rlock *held = kind_of(&kind_fair, shards.other, name), *wanted = kind_of(&kind_fair, shards.client, name);
    assert_ok(rlock_lock(held));
    actor *waiter = actor_start();
    actor_begin_lock(waiter, wanted);
    redisReply *queue = NULL;
    for (int64_t until_ms = limit_end_ms(SOON_MS); now_ms() < until_ms; pass_ms(2)) {
        queue = server_command(node, "LRANGE redisson_lock_queue:{%s} 0 -1", name);
        if (queue->elements == 1)
            break;
        freeReplyObject(queue);
        queue = NULL;
    }
    cr_assert(queue != NULL, "nobody queues");
    char channel[256];
    snprintf(channel, sizeof channel, "%s:%s", shards_channel(name), queue->element[0]->str);
    freeReplyObject(queue);
    cr_assert(cluster_wait_subscribers(shards.cluster, channel, 1, SOON_MS));
    cluster_listen(shards.cluster, channel);
    assert_ok(rlock_unlock(held));
    assert_heard(channel, "0");
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, wanted));
    actor_end(waiter);
    cr_assert(shards_keys() == 0);
}
