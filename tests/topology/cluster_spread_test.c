/* How messages go in a cluster is found out, not guessed: a slow answer is waited for elsewhere, a refusal is told, and the
 * choice follows servers that are replaced by later ones. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/fronts.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/folder.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON_MS 60000
#define SCANNING PATIENT "&scanInterval=50"

static folder place; /* of a configuration file */

static void close_all(void)
{
    shards_close();
    clients_close();
    fronts_end();
    if (*place.path)
        folder_remove(&place);
}

TestSuite(cluster_spread, .fini = close_all);

static server *node(int number)
{
    return cluster_node(shards.cluster, number);
}

/* How many connections to the node have subscribed to something, plainly or by slot. */
static int subscribers(server *at, bool by_slot)
{
    int count = 0;
    char *clients = server_text(at, "CLIENT LIST");
    const char *what = by_slot ? " ssub=1 " : " sub=1 ";
    for (const char *found = clients; (found = strstr(found, what)); found++)
        count++;
    free(clients);
    return count;
}

static void await_subscribers(server *at, bool by_slot, int number)
{
    for (int64_t end_ms = limit_end_ms(SOON_MS); subscribers(at, by_slot) != number; pass_ms(5))
        cr_assert(now_ms() < end_ms, "%d listen %s instead of %d", subscribers(at, by_slot),
                  by_slot ? "by slot" : "plainly", number);
}

static void skip_without_sharded_messages(void)
{
    if (!shards_will_go_by_slot())
        cr_skip_test("servers have no messages by slot");
}

/* A lock held by the one is waited for by the other, who listens by slot or plainly. */
static void assert_listens(rlock_client *client, bool by_slot)
{
    const char *name = cluster_key(shards.cluster, 0, "heard:");
    rlock *held = lock_of(shards.other, name), *wanted = lock_of(client, name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_try(waiter, wanted, SOON_MS, RLOCK_WATCHDOG);
    await_subscribers(node(0), by_slot, 1);
    cr_assert(subscribers(node(0), !by_slot) == 0);
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, wanted));
    actor_end(waiter);
}

/* The node that is asked first is too slow for that question; the next one is not. */
Test(cluster_spread, is_asked_of_the_next_node_when_one_does_not_answer)
{
    skip_without_sharded_messages();
    fronts_begin();
    shards_start(MASTERS, 0, NULL);
    shards.other = shards_client(PATIENT);
    for (int slow = 0; slow < MASTERS; slow++) { /* each may come first, as it is told */
        char url[300] = "redis-cluster://";
        for (int i = 0; i < MASTERS; i++)
            snprintf(url + strlen(url), sizeof url - strlen(url), "%s127.0.0.1:%d", i ? "," : "",
                     server_public_port(node((slow + i) % MASTERS)));
        snprintf(url + strlen(url), sizeof url - strlen(url), "?" PATIENT);
        int rule = proxy_add(front_of(node(slow)), &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "SHARDNUMSUB"});
        rlock_client *client = shards_client_at(url);
        cr_assert(proxy_count(front_of(node(slow)), rule, PROXY_ACTED) == 1, "another was asked first");
        proxy_release(front_of(node(slow)), rule);
        assert_listens(client, true);
    }
}

/* A guess would be wrong for some of those who share its locks, and nobody would know why they wait. */
Test(cluster_spread, is_demanded_where_the_user_may_not_ask)
{
    char url[400];
    skip_without_sharded_messages();
    shards_start(MASTERS, 0, NULL);
    shards.other = shards_client(PATIENT);
    cluster_each(shards.cluster, "ACL SETUSER locks on >secret ~* &* +@all -pubsub|shardnumsub");
    snprintf(url, sizeof url, "redis-cluster://locks:secret@%s?" PATIENT, cluster_hosts(shards.cluster));
    refused_at(url, RLOCK_SERVER, "pubsub|shardnumsub", "shardedSubscriptionMode", "NOPERM", NULL);
    snprintf(url, sizeof url, "redis-cluster://locks:secret@%s?" PATIENT "&shardedSubscriptionMode=ON",
             cluster_hosts(shards.cluster));
    assert_listens(shards_client_at(url), true);
}

/* What the user may not do any more changes nothing for a client that knows. */
Test(cluster_spread, stays_known_when_the_right_to_ask_is_taken_away)
{
    char url[400];
    skip_without_sharded_messages();
    shards_start(MASTERS, 0, NULL);
    shards.other = shards_client(PATIENT);
    cluster_each(shards.cluster, "ACL SETUSER locks on >secret ~* &* +@all");
    snprintf(url, sizeof url, "redis-cluster://locks:secret@%s?" SCANNING, cluster_hosts(shards.cluster));
    rlock_client *client = shards_client_at(url);
    cluster_each(shards.cluster, "ACL SETUSER locks -pubsub|shardnumsub");
    int64_t before = server_times(node(0), "cluster|slots");
    for (int64_t end_ms = limit_end_ms(SOON_MS); server_times(node(0), "cluster|slots") < before + 5; pass_ms(5))
        cr_assert(now_ms() < end_ms, "it does not look");
    assert_listens(client, true);
}

static const char *write_config(const char *text)
{
    static char path[200];
    snprintf(path, sizeof path, "%.150s/more.conf", place.path);
    FILE *file = fopen(path, "we");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

/* As when each node is restarted as a later version: before, none knows the question, nor sharded messages. A waiter that
 * is there all the time listens as those do who come later. */
Test(cluster_spread, follows_servers_that_learn_sharded_messages)
{
    skip_without_sharded_messages();
    folder_make(&place);
    shards_start(MASTERS, 0, ARGS("--include", write_config("rename-command PUBSUB \"\"\nrename-command SPUBLISH \"\"\n")));
    const char *name = cluster_key(shards.cluster, 1, "heard:");
    rlock *held = lock_of(shards_client(SCANNING), name), *wanted = lock_of(shards_client(SCANNING), name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock_lease(held, 3600000));
    actor_begin_try(waiter, wanted, 3600000, RLOCK_WATCHDOG);
    await_subscribers(node(1), false, 1);
    write_config("");
    server_restart(node(0));
    server_restart(node(2));
    cr_assert(cluster_await_settled(shards.cluster, SOON_MS));
    cr_assert(!actor_ended(waiter, 0) && subscribers(node(1), false) == 1, "one of them knows no sharded messages");
    server_restart(node(1)); /* which forgets the lock */
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, wanted));

    shards.other = shards_client(SCANNING);
    for (int64_t end_ms = limit_end_ms(SOON_MS);;) {
        rlock *theirs = lock_of(shards.other, name);
        assert_ok(rlock_lock(theirs));
        actor_begin_try(waiter, wanted, SOON_MS, RLOCK_WATCHDOG);
        for (; subscribers(node(1), false) + subscribers(node(1), true) != 1; pass_ms(5))
            cr_assert(now_ms() < end_ms, "it does not listen");
        bool by_slot = subscribers(node(1), true) == 1;
        if (!by_slot) { /* it will, without being woken */
            await_subscribers(node(1), true, 1);
            cr_assert(!actor_ended(waiter, 0));
        }
        assert_ok(rlock_unlock(theirs));
        assert_ok(actor_finish(waiter, SOON_MS));
        assert_ok(actor_unlock(waiter, wanted));
        if (by_slot)
            break;
    }
    actor_end(waiter);
}
