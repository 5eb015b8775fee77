/* lazyInitialization: a client that is opened before its servers answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/fleet.h"
#include "tests/support/sentinel.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/shards.h"

#include <string.h>

#define LAZY "lazyInitialization=true&" SPRY
#define SOON_MS 30000
#define LEASE_MS 60000

static fleet *nodes;
static sentinel *watchers;

static void close_all(void)
{
    clients_close();
    fleet_stop(nodes);
    sentinel_stop(watchers);
    nodes = NULL;
    watchers = NULL;
    shards_close();
}

TestSuite(lazy_open, .fini = close_all);

static rlock_status lock_once(void *lock)
{
    rlock_status status = rlock_try_lock(lock, SOON_MS, LEASE_MS);
    return status == RLOCK_OK ? rlock_unlock(lock) : status;
}

/* A call without further attempts fails, and says why. */
static void assert_fails_now(const char *url, const char *reason)
{
    rlock_client *client = client_at("%s", url);
    rlock *lock = lock_of(client, "lazy");
    assert_status(rlock_try_lock(lock, 0, LEASE_MS), RLOCK_UNAVAILABLE);
    cr_assert(strstr(rlock_last_error(), reason), "no \"%s\" in: %s", reason, rlock_last_error());
    client_end(client);
}

Test(lazy_open, of_one_server_succeeds_before_the_server_starts)
{
    stage.server = server_start();
    server_kill(stage.server);
    assert_fails_now(server_url_with(stage.server, "lazyInitialization=true&retryAttempts=0"), "Connection refused");
    rlock *lock = lock_of(client_at("%s", server_url_with(stage.server, LAZY)), "lazy");
    actor *waiter = actor_start();
    actor_begin(waiter, lock_once, lock);
    server_restart(stage.server);
    assert_ok(actor_finish(waiter, SOON_MS));
    actor_end(waiter);
}

Test(lazy_open, connects_to_no_server_before_the_first_call)
{
    stage_open();
    int64_t before = server_info(stage.server, "total_connections_received");
    rlock_client *client = stage_client("lazyInitialization=true");
    cr_assert(server_info(stage.server, "total_connections_received") == before);
    assert_ok(lock_once(lock_of(client, "lazy")));
    cr_assert(server_info(stage.server, "total_connections_received") > before);
}

Test(lazy_open, says_at_the_first_call_that_the_password_is_wrong)
{
    stage.server = server_start_with((const char *const[]){"--requirepass", "secret", NULL});
    rlock_client *client = client_at("redis://:wrong@127.0.0.1:%d?" LAZY, server_port(stage.server));
    assert_status(rlock_try_lock(lock_of(client, "lazy"), 0, LEASE_MS), RLOCK_SERVER);
    cr_assert(strstr(rlock_last_error(), "WRONGPASS"), "%s", rlock_last_error());
}

Test(lazy_open, of_a_cluster_succeeds_before_the_nodes_start)
{
    shards_start(MASTERS, 0, NULL);
    for (int node = 0; node < MASTERS; node++)
        server_kill(cluster_node(shards.cluster, node));
    assert_fails_now(cluster_url_with(shards.cluster, "lazyInitialization=true&retryAttempts=0&connectTimeout=1000"),
                     "no server has been found yet: no node of the cluster answered CLUSTER SLOTS");
    rlock_client *client = client_at("%s", cluster_url_with(shards.cluster, LAZY));
    actor *waiter = actor_start();
    actor_begin(waiter, lock_once, lock_of(client, "lazy"));
    for (int node = 0; node < MASTERS; node++)
        server_restart(cluster_node(shards.cluster, node));
    assert_ok(actor_finish(waiter, SOON_MS));
    actor_end(waiter);
    client_end(client);
}

/* The attempts that retryAttempts allows are made after the search, not during it. */
Test(lazy_open, the_first_call_waits_for_the_first_search)
{
    shards_start(MASTERS, 0, NULL);
    const char *url = cluster_url_with(shards.cluster, "lazyInitialization=true&retryAttempts=0");
    for (int i = 0; i < 20; i++) {
        rlock_client *client = client_at("%s", url);
        assert_ok(lock_once(lock_of(client, "lazy")));
        client_end(client);
    }
    rlock_client *client = client_at("%s", url);
    rlock_inspection *inspection;
    assert_ok(rlock_inspect(client, "lazy", &inspection));
    assert_ok(rlock_inspect_processes(client, "lazy", inspection));
    rlock_inspection_free(inspection);
    client_end(client);
}

Test(lazy_open, with_sentinels_succeeds_before_the_master_answers)
{
    watchers = sentinel_start(&(sentinel_plan){.replicas = 1, .sentinels = 1});
    server_freeze(sentinel_node(watchers, 0));
    assert_fails_now(sentinel_url_with(watchers, "lazyInitialization=true&retryAttempts=0&connectTimeout=500&timeout=500"),
                     "no server has been found yet: ");
    rlock_client *client = client_at("%s", sentinel_url_with(watchers, LAZY));
    actor *waiter = actor_start();
    actor_begin(waiter, lock_once, lock_of(client, "lazy"));
    server_thaw(sentinel_node(watchers, 0));
    assert_ok(actor_finish(waiter, SOON_MS));
    actor_end(waiter);
}

Test(lazy_open, among_replicas_succeeds_before_a_master_answers)
{
    nodes = fleet_start(1, NULL);
    char url[300];
    server_kill(fleet_node(nodes, 0));
    server_kill(fleet_node(nodes, 1));
    snprintf(url, sizeof url, "redis-replicated://%s?lazyInitialization=true&retryAttempts=0", fleet_hosts(nodes));
    assert_fails_now(url, "no server has been found yet: no master among the 2 addresses");
    rlock_client *client = client_at("redis-replicated://%s?" LAZY, fleet_hosts(nodes));
    actor *waiter = actor_start();
    actor_begin(waiter, lock_once, lock_of(client, "lazy"));
    server_restart(fleet_node(nodes, 0));
    assert_ok(actor_finish(waiter, SOON_MS));
    actor_end(waiter);
}

/* The search does not outlive the client. */
Test(lazy_open, client_that_finds_nothing_is_closed_at_once)
{
    shards_start(MASTERS, 0, NULL);
    for (int node = 0; node < MASTERS; node++)
        server_freeze(cluster_node(shards.cluster, node));
    rlock_client *client = client_at("%s", cluster_url_with(shards.cluster, "lazyInitialization=true&timeout=600000"));
    client_end(client);
}
