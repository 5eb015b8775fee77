/* The first look at a cluster, whoever is asked, and its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/support/event.h"
#include "tests/support/port.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(cluster_open, .fini = shards_close);

#define SOON_MS 10000
#define PARTIAL ARGS("--cluster-require-full-coverage", "no")

static int port_of(int node)
{
    return server_port(cluster_node(shards.cluster, node));
}

/* A port at which nobody listens. */
static int dead_port(void)
{
    int fd = port_hold(0), port = port_held(fd);
    close(fd);
    return port;
}

static void use_all_masters(rlock_client *client)
{
    for (int node = 0; node < MASTERS; node++) {
        rlock *lock = lock_of(client, cluster_key(shards.cluster, node, "open:"));
        assert_ok(rlock_try_lock(lock, SOON_MS, 20000));
        assert_ok(rlock_unlock(lock));
    }
}

/* Fails the test unless opening is refused so, with all of the words in the message. */
static void assert_refused(const char *url, rlock_status expected, const char *const *words)
{
    rlock_client *client = NULL;
    rlock_status status = rlock_client_open(&client, url);
    cr_log_info("%s", rlock_last_error());
    cr_assert(status == expected && !client, "%s: %s (%s)", url, rlock_strstatus(status), rlock_last_error());
    for (; *words; words++)
        cr_assert(strstr(rlock_last_error(), *words), "no \"%s\" in: %s", *words, rlock_last_error());
}

Test(cluster_open, goes_on_from_dead_seeds_to_the_next)
{
    char url[200];
    shards_start(MASTERS, 0, NULL);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d", dead_port(), dead_port(), port_of(1));
    use_all_masters(shards_client_at(url));
}

Test(cluster_open, needs_no_more_than_a_replica)
{
    char url[100];
    shards_start(MASTERS, 1, NULL);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d", port_of(MASTERS));
    use_all_masters(shards_client_at(url));
}

Test(cluster_open, goes_on_from_a_frozen_seed_after_a_moment)
{
    shards_start(MASTERS, 1, NULL);
    server_freeze(cluster_node(shards.cluster, MASTERS));
    char url[100];
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d,127.0.0.1:%d", port_of(MASTERS), port_of(0));
    int64_t since_ms = now_ms();
    shards_client_at(url);
    cr_log_info("opened after %lld ms", (long long)(now_ms() - since_ms));
    assert_between(now_ms() - since_ms, 0, at_most_ms(1500));
    server_thaw(cluster_node(shards.cluster, MASTERS));
}

/* One master down, where the others go on without it. */
Test(cluster_open, does_without_a_master_that_is_down)
{
    shards_start(MASTERS, 0, PARTIAL);
    const char *well = cluster_key(shards.cluster, 1, "well:");
    server_kill(cluster_node(shards.cluster, 0));
    rlock *lock = lock_of(shards_client(PATIENT), well);
    assert_ok(rlock_try_lock(lock, SOON_MS, 20000));
    assert_ok(rlock_unlock(lock));
}

Test(cluster_open, says_that_a_server_is_no_cluster_though_another_is_down)
{
    char url[200];
    stage.server = server_start();
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d", server_port(stage.server));
    assert_refused(url, RLOCK_SERVER, ARGS("cluster support disabled", "redis://"));
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d,127.0.0.1:%d", server_port(stage.server), dead_port());
    assert_refused(url, RLOCK_SERVER, ARGS("cluster support disabled", "redis://"));
}

Test(cluster_open, says_that_nobody_is_there)
{
    char url[200], first[40];
    int port = dead_port();
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d", port);
    snprintf(first, sizeof first, "127.0.0.1:%d", port);
    assert_refused(url, RLOCK_UNAVAILABLE, ARGS("no node of the cluster", first));
}

Test(cluster_open, logs_in_on_every_node_and_says_when_the_password_is_wrong)
{
    char url[200];
    shards_start(MASTERS, 0, ARGS("--requirepass", "secret"));
    snprintf(url, sizeof url, "redis-cluster://:secret@127.0.0.1:%d", port_of(0));
    use_all_masters(shards_client_at(url));
    snprintf(url, sizeof url, "redis-cluster://:wrong@127.0.0.1:%d,127.0.0.1:%d", port_of(0), port_of(1));
    assert_refused(url, RLOCK_SERVER, ARGS("WRONGPASS", "password"));
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d", port_of(0));
    assert_refused(url, RLOCK_SERVER, ARGS("NOAUTH"));
}

Test(cluster_open, says_that_a_single_url_leads_into_a_cluster)
{
    shards_start(MASTERS, 0, NULL);
    rlock *lock = lock_of(shards_client_at(server_tcp_url(cluster_node(shards.cluster, 0))),
                          cluster_key(shards.cluster, 1, "open:"));
    assert_status(rlock_lock(lock), RLOCK_SERVER);
    assert_error("redis-cluster://");
}

/* Nodes that go by names; and nodes that say nothing of where they are, as behind a proxy. */
static void announce(const char *type)
{
    shards_start(MASTERS, 1, NULL);
    if (!shards_go_by_slot())
        cr_skip_test("nodes have names from Redis 7.0 on");
    cluster_each(shards.cluster, "CONFIG SET cluster-announce-hostname localhost");
    cluster_each(shards.cluster, "CONFIG SET cluster-preferred-endpoint-type %s", type);
    rlock_client *client = shards_client(PATIENT);
    use_all_masters(client);
    rlock *lock = lock_of(client, cluster_key(shards.cluster, 0, "held:"));
    assert_ok(rlock_lock(lock));
    cluster_move(shards.cluster, cluster_slot(cluster_key(shards.cluster, 0, "held:")), 1);
    assert_ok(rlock_unlock(lock));
}

Test(cluster_open, follows_nodes_by_their_names)
{
    announce("hostname");
}

Test(cluster_open, follows_nodes_that_do_not_say_where_they_are)
{
    announce("unknown-endpoint");
}

/* --- and the end --- */

static void assert_closes_soon(rlock_client *client)
{
    int64_t since_ms = now_ms();
    shards_close_client(client);
    cr_log_info("closed in %lld ms", (long long)(now_ms() - since_ms));
    assert_between(now_ms() - since_ms, 0, at_most_ms(300));
}

Test(cluster_open, closing_ends_waits_on_all_nodes)
{
    shards_open();
    actor *waiters[MASTERS];
    for (int node = 0; node < MASTERS; node++) {
        const char *name = cluster_key(shards.cluster, node, "waited:");
        assert_ok(rlock_lock(lock_of(shards.other, name)));
        waiters[node] = actor_start();
        actor_begin_lock(waiters[node], lock_of(shards.client, name));
        cr_assert(shards_wait_channels_at(node, 1, SOON_MS));
    }
    assert_closes_soon(shards.client);
    for (int node = 0; node < MASTERS; node++) {
        assert_status(actor_finish(waiters[node], SOON_MS), RLOCK_CLOSED);
        actor_end(waiters[node]);
    }
    cr_assert(shards_wait_no_channels(SOON_MS));
}

/* Every node frozen: the topology's thread, a renewal, a lock and a waiter hang in their requests. */
Test(cluster_open, closing_ends_what_hangs_on_frozen_nodes)
{
    shards_open_with(0, NULL, "timeout=20000&connectTimeout=20000&scanInterval=50&lockWatchdogTimeout=60000");
    const char *held = cluster_key(shards.cluster, 0, "held:"), *free_one = cluster_key(shards.cluster, 1, "free:");
    assert_ok(rlock_lock(lock_of(shards.other, held)));
    assert_ok(rlock_lock(lock_of(shards.client, cluster_key(shards.cluster, 2, "own:"))));
    actor *waiter = actor_start(), *asker = actor_start();
    actor_begin_lock(waiter, lock_of(shards.client, held));
    cr_assert(shards_wait_channels_at(0, 1, SOON_MS));
    for (int node = 0; node < MASTERS; node++)
        server_freeze(cluster_node(shards.cluster, node));
    actor_begin_lock(asker, lock_of(shards.client, free_one));
    cr_assert(actor_asleep(asker, SOON_MS));
    pass_ms(300); /* looks at the cluster begin and hang */
    assert_closes_soon(shards.client);
    assert_status(actor_finish(waiter, SOON_MS), RLOCK_CLOSED);
    assert_status(actor_finish(asker, SOON_MS), RLOCK_CLOSED);
    actor_end(waiter);
    actor_end(asker);
    for (int node = 0; node < MASTERS; node++)
        server_thaw(cluster_node(shards.cluster, node));
}

Test(cluster_open, opened_and_closed_many_times_leaves_nothing)
{
    shards_open_with(0, NULL, PATIENT "&scanInterval=1");
    int64_t before = server_info(cluster_node(shards.cluster, 0), "connected_clients");
    for (int i = 0; i < 30; i++) {
        rlock_client *client = NULL;
        assert_ok(rlock_client_open(&client, cluster_url_with(shards.cluster, "scanInterval=1")));
        rlock *lock = rlock_get_lock(client, "open:1");
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_unlock(lock));
        rlock_client_close(client);
        rlock_free(lock);
    }
    for (int64_t until_ms = limit_end_ms(SOON_MS); now_ms() < until_ms; pass_ms(5)) {
        if (server_info(cluster_node(shards.cluster, 0), "connected_clients") <= before)
            return;
    }
    cr_assert_fail("connections are left open");
}
