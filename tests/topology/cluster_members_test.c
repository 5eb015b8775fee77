/* Members of a cluster come and go: one that has left it is asked for nothing, told no password, and believed no longer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>

#define SOON_MS 30000
#define SCANNING PATIENT "&scanInterval=50&lockWatchdogTimeout=3000"

TestSuite(cluster_members, .fini = shards_close);

static server *node(int number)
{
    return cluster_node(shards.cluster, number);
}

/* A client that is told of one node alone. */
static rlock_client *client_of(int seed, const char *login)
{
    char url[400];
    snprintf(url, sizeof url, "redis-cluster://%s127.0.0.1:%d?" SCANNING, login, server_port(node(seed)));
    return shards_client_at(url);
}

/* What a client that looks for the cluster, or locks, asks of it. */
static int64_t asked(server *of)
{
    return server_times(of, "cluster|slots") + server_times(of, "cluster|info") + server_times(of, "auth") +
           server_times(of, "evalsha") + server_times(of, "eval");
}

/* Until the client has looked so often, whoever it asked of those two. */
static void await_looks(server *one, server *other, int64_t looks)
{
    int64_t before = server_times(one, "cluster|slots") + server_times(other, "cluster|slots");
    for (int64_t end_ms = limit_end_ms(SOON_MS);
         server_times(one, "cluster|slots") + server_times(other, "cluster|slots") < before + looks; pass_ms(5))
        cr_assert(now_ms() < end_ms, "it does not look");
}

/* Another cluster has taken over the address of a node that left; the configuration names others. */
Test(cluster_members, whose_address_another_cluster_has_now_are_not_asked_and_told_no_password)
{
    shards_start(MASTERS, 0, ARGS("--requirepass", "secret"));
    rlock_client *client = client_of(0, ":secret@");
    const char *name = cluster_key(shards.cluster, 2, "moved:");
    rlock *lock = lock_of(client, name);
    assert_ok(rlock_try_lock(lock, 0, 20000));
    assert_ok(rlock_unlock(lock));
    cr_assert(asked(node(2)) > 0);

    cluster_leave(shards.cluster, 2, 0);
    cluster_found(shards.cluster, 2);
    assert_ok(rlock_try_lock(lock, SOON_MS, 20000));
    cr_assert(server_integer(node(0), "EXISTS %s", name) == 1, "it stands in the other cluster");
    assert_ok(rlock_unlock(lock));
    await_looks(node(0), node(1), 4); /* the first of them may have begun before the node left */
    int64_t before = asked(node(2));
    await_looks(node(0), node(1), 6);
    cr_assert(asked(node(2)) == before, "the former node was asked %d times", (int)(asked(node(2)) - before));
    for (int i = 0; i < 10; i++) {
        assert_ok(rlock_try_lock(lock, 0, 20000));
        cr_assert(server_integer(node(0), "EXISTS %s", name) == 1, "it stands in the other cluster");
        assert_ok(rlock_unlock(lock));
    }
    cr_assert(asked(node(2)) == before, "the former node was asked %d times", (int)(asked(node(2)) - before));
}

static int64_t connections_to(server *at)
{
    return server_info(at, "connected_clients");
}

/* With a waiter and a holder there until then, so that there are all kinds of connections. */
Test(cluster_members, that_left_have_no_connection_any_more)
{
    shards_start(MASTERS, 0, NULL);
    const char *name = cluster_key(shards.cluster, 2, "moved:");
    rlock *held = lock_of(client_of(0, ""), name), *wanted = lock_of(client_of(1, ""), name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_lock(waiter, wanted);
    cr_assert(shards_wait_channels_at(2, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
    cluster_leave(shards.cluster, 2, 1); /* which forgets the lock */
    assert_ok(actor_finish(waiter, SOON_MS));
    for (int64_t end_ms = limit_end_ms(SOON_MS); connections_to(node(2)) > 1; pass_ms(5)) /* the fixture's own */
        cr_assert(now_ms() < end_ms, "%d connections are left", (int)connections_to(node(2)) - 1);
    cr_assert(server_integer(node(1), "EXISTS %s", name) == 1);
    assert_ok(actor_unlock(waiter, wanted));
    assert_status(rlock_unlock(held), RLOCK_LOST);
    actor_end(waiter);
}

/* One that left and came back is a member like any other. */
Test(cluster_members, that_come_back_serve_again, .lasts = 21)
{
    shards_start(MASTERS, 0, NULL);
    const char *name = cluster_key(shards.cluster, 2, "moved:");
    rlock *lock = lock_of(client_of(0, ""), name);
    for (int round = 0; round < 3; round++) {
        assert_ok(rlock_try_lock(lock, SOON_MS, 20000));
        cr_assert(server_integer(node(2), "EXISTS %s", name) == 1);
        assert_ok(rlock_unlock(lock));
        cluster_leave(shards.cluster, 2, 0);
        assert_ok(rlock_try_lock(lock, SOON_MS, 20000));
        cr_assert(server_integer(node(0), "EXISTS %s", name) == 1);
        assert_ok(rlock_unlock(lock));
        for (int64_t end_ms = limit_end_ms(SOON_MS); connections_to(node(2)) > 1; pass_ms(5))
            cr_assert(now_ms() < end_ms, "connections are left");
        cluster_join(shards.cluster, 2);
        cluster_move(shards.cluster, cluster_slot(name), 2);
    }
}
