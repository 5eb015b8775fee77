/* Listeners in a cluster: they hear of a key at the master that serves it, also a new one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

#include <rlock/listener.h>
#include <stdio.h>

#define SOON_MS 30000

static event heard;

static void note(const rlock_event *of, void *arg)
{
    (void)arg;
    if (of->kind == RLOCK_EVENT_DELETED)
        event_set(&heard);
}

static void open_shards(void)
{
    shards_open_with(1, NULL, PATIENT);
    event_init(&heard);
}

TestSuite(cluster_listener, .init = open_shards, .fini = shards_close);

static void notify(int node)
{
    freeReplyObject(server_command(cluster_node(shards.cluster, node), "CONFIG SET notify-keyspace-events Kgx"));
}

static rlock_listener *listen(rlock *lock)
{
    rlock_listener *listener = NULL;
    assert_ok(rlock_add_listener(lock, note, NULL, &listener));
    return listener;
}

static void take_and_release(rlock *lock)
{
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

Test(cluster_listener, hears_of_keys_at_each_master)
{
    for (int node = 0; node < MASTERS; node++) {
        rlock *lock = lock_of(shards.client, cluster_key(shards.cluster, node, "heard:"));
        notify(node);
        rlock_listener *listener = listen(lock);
        take_and_release(lock);
        cr_assert(event_wait_count(&heard, node + 1, SOON_MS), "of node %d", node);
        rlock_remove_listener(listener);
    }
}

/* The letters are checked at the master of the key. */
Test(cluster_listener, is_refused_where_the_master_of_the_key_tells_nothing)
{
    rlock_listener *listener;
    notify(0);
    rlock *lock = lock_of(shards.client, cluster_key(shards.cluster, 1, "heard:"));
    assert_status(rlock_add_listener(lock, note, NULL, &listener), RLOCK_UNSUPPORTED);
}

Test(cluster_listener, follows_its_key_to_a_new_master)
{
    rlock *lock = lock_of(shards.client, cluster_key(shards.cluster, 0, "heard:"));
    int replica = cluster_replica_of(shards.cluster, 0);
    notify(0);
    notify(replica);
    rlock_listener *listener = listen(lock);
    take_and_release(lock);
    cr_assert(event_wait_count(&heard, 1, SOON_MS));
    cluster_promote(shards.cluster, replica);
    for (int64_t end_ms = limit_end_ms(SOON_MS); event_count(&heard) < 2;) { /* until it is subscribed there */
        cr_assert(now_ms() < end_ms, "nothing is heard from the new master");
        take_and_release(lock);
        (void)event_wait_count(&heard, 2, 20);
    }
    rlock_remove_listener(listener);
}

static void open_partial(void)
{
    shards_open_with(0, ARGS("--cluster-require-full-coverage", "no"),
                     "timeout=5000&retryAttempts=2&retryBaseDelay=200&retryMaxDelay=400");
    event_init(&heard);
}

TestSuite(cluster_listener_gap, .init = open_partial, .fini = shards_close);

/* Nobody serves the slot for a while, and then another master does. */
Test(cluster_listener_gap, is_heard_across_when_it_is_closed)
{
    const char *gone = cluster_key(shards.cluster, 0, "gone:");
    rlock *lock = lock_of(shards.client, gone);
    notify(0);
    notify(2);
    rlock_listener *listener = listen(lock);
    take_and_release(lock);
    cr_assert(event_wait_count(&heard, 1, SOON_MS));
    cluster_uncover(shards.cluster, cluster_slot(gone));
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE); /* the client knows of the gap */
    cluster_cover(shards.cluster, cluster_slot(gone), 2);
    for (int64_t end_ms = limit_end_ms(SOON_MS); event_count(&heard) < 2;) { /* until it is subscribed there */
        cr_assert(now_ms() < end_ms, "nothing is heard from the master that serves the slot");
        take_and_release(lock);
        (void)event_wait_count(&heard, 2, 20);
    }
    rlock_remove_listener(listener);
}
