/* Access rights on several servers: what docs/security.md adds for replicas, clusters and sentinels suffices. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/rights.h"
#include "tests/support/cluster.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/support/test.h"
#include "tests/topology/support/renewal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(acl);

#define WATCHDOG "lockWatchdogTimeout=4000"
#define WATCHDOG_MS 4000

static rlock_client *open_at(const char *url)
{
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, url));
    return client;
}

/* Held by one, waited for by the other, renewed, and passed on. */
static void pass_on(rlock_client *from, rlock_client *to, rlock *(*get)(rlock_client *, const char *), const char *name)
{
    rlock *lock = get(from, name), *waiting = get(to, name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, waiting);
    await_renewal(lock, WATCHDOG_MS, now_ms());
    cr_assert(!actor_ended(waiter, 0), "%s", actor_error(waiter));
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 10000));
    assert_ok(actor_unlock(waiter, waiting));
    actor_end(waiter);
    rlock_free(lock);
    rlock_free(waiting);
}

Test(acl, rights_suffice_in_a_cluster)
{
    cluster *nodes = cluster_start(3, 1, NULL);
    for (int i = 0; i < cluster_size(nodes); i++) {
        rights_give(cluster_node(nodes, i), RIGHTS);
        rights_give(cluster_node(nodes, i), RIGHTS_FOR_REPLICAS);
        rights_give(cluster_node(nodes, i), RIGHTS_FOR_CLUSTERS);
        if (server_knows(cluster_node(nodes, i), "SSUBSCRIBE"))
            rights_give(cluster_node(nodes, i), RIGHTS_FOR_SHARDS);
    }
    char url[512];
    snprintf(url, sizeof url, "redis-cluster://locks:secret@%s?namePrefix=" RIGHTS_PREFIX "&" WATCHDOG,
             cluster_hosts(nodes));
    rlock_client *one = open_at(url), *other = open_at(url);
    for (int i = 0; i < 3; i++) {
        const char *key = cluster_key(nodes, i, RIGHTS_PREFIX) + strlen(RIGHTS_PREFIX);
        pass_on(one, other, rlock_get_lock, key);
        pass_on(one, other, rlock_get_fair_lock, key);
    }
    const char *moved = cluster_key(nodes, 0, RIGHTS_PREFIX);
    cluster_move(nodes, cluster_slot(moved), 1);
    pass_on(one, other, rlock_get_lock, moved + strlen(RIGHTS_PREFIX));
    rlock_client_close(one);
    rlock_client_close(other);
    for (int i = 0; i < cluster_size(nodes); i++)
        assert_nothing_refused(cluster_node(nodes, i));
    cluster_stop(nodes);
}

Test(acl, rights_suffice_behind_sentinels)
{
    sentinel *watched = sentinel_start(NULL);
    fleet *servers = sentinel_fleet(watched);
    for (int i = 0; i < fleet_size(servers); i++) {
        rights_give(fleet_node(servers, i), RIGHTS);
        rights_give(fleet_node(servers, i), RIGHTS_FOR_REPLICAS);
    }
    for (int i = 0; i < sentinel_size(watched); i++)
        rights_give(sentinel_node(watched, i), RIGHTS_FOR_SENTINELS);
    char url[512];
    snprintf(url, sizeof url, "redis-sentinel://locks:secret@%s?masterName=mymaster&sentinelUsername=watcher&"
             "sentinelPassword=secret&namePrefix=" RIGHTS_PREFIX "&" WATCHDOG, sentinel_hosts(watched));
    rlock_client *one = open_at(url), *other = open_at(url);
    pass_on(one, other, rlock_get_lock, "order");
    cr_assert(sentinel_fail_over(watched) >= 0);
    pass_on(one, other, rlock_get_lock, "order");
    rlock_client_close(one);
    rlock_client_close(other);
    for (int i = 0; i < fleet_size(servers); i++)
        assert_nothing_refused(fleet_node(servers, i));
    for (int i = 0; i < sentinel_size(watched); i++)
        assert_nothing_refused(sentinel_node(watched, i));
    sentinel_stop(watched);
}
