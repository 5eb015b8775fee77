/* Servers that tell addresses which lead nowhere from here, as in Docker, and the natMap that leads back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/event.h"
#include "tests/support/port.h"
#include "tests/support/sentinel.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOWHERE "10.9.8.7"
#define SOON_MS 10000

/* --- cluster --- */

static int held[MASTERS]; /* ports at which nobody listens; 0: none */

static void close_cluster(void)
{
    shards_close();
    for (int node = 0; node < MASTERS; node++) {
        if (held[node])
            close(held[node]);
    }
}

TestSuite(nat_cluster, .fini = close_cluster);

/* Whether every master that a node tells is at that host, or else at one of the held ports. */
static bool tells(int node, const char *host)
{
    bool all = true;
    redisReply *map = server_command(cluster_node(shards.cluster, node), "CLUSTER SLOTS");
    for (size_t i = 0; i < map->elements; i++) {
        redisReply *const *master = map->element[i]->element[2]->element;
        bool announced = host && master[0]->str && strcmp(master[0]->str, host) == 0;
        for (int other = 0; !host && other < MASTERS; other++)
            announced |= master[1]->integer == port_held(held[other]);
        all &= announced;
    }
    freeReplyObject(map);
    return all;
}

static void await_told(const char *host)
{
    for (int64_t end_ms = limit_end_ms(SOON_MS); !(tells(0, host) && tells(1, host) && tells(2, host)); pass_ms(10))
        cr_assert(now_ms() < end_ms, "the nodes do not tell what they were told to");
}

static int real_port(int node)
{
    return server_port(cluster_node(shards.cluster, node));
}

static void start_with_ports_of_nothing(void)
{
    shards_start(MASTERS, 0, NULL);
    for (int node = 0; node < MASTERS; node++) {
        held[node] = port_hold(0);
        server_announce(cluster_node(shards.cluster, node), port_held(held[node]));
    }
    await_told(NULL);
}

static void assert_all_masters_work(rlock_client *client)
{
    for (int node = 0; node < MASTERS; node++) {
        const char *name = cluster_key(shards.cluster, node, "nat:");
        rlock *lock = lock_of(client, name);
        assert_ok(rlock_lock(lock));
        cr_assert(server_integer(cluster_node(shards.cluster, node), "EXISTS %s", name) == 1);
        assert_ok(rlock_unlock(lock));
    }
}

static rlock_client *client_through_ports(void)
{
    char url[400];
    int length = snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d?" PATIENT "&natMap=", real_port(0));
    for (int node = 0; node < MASTERS; node++)
        length += snprintf(url + length, sizeof url - (size_t)length, "%s127.0.0.1:%d=127.0.0.1:%d", node ? "," : "",
                           port_held(held[node]), real_port(node));
    return shards_client_at(url);
}

Test(nat_cluster, whose_ports_lead_nowhere_needs_the_map)
{
    char url[100], named[40];
    start_with_ports_of_nothing();
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d?retryAttempts=0", real_port(0));
    snprintf(named, sizeof named, "127.0.0.1:%d", port_held(held[2]));
    refused_at(url, RLOCK_UNAVAILABLE, named, NULL);
    assert_all_masters_work(client_through_ports());
}

/* ASK and MOVED name such addresses, too. */
Test(nat_cluster, is_followed_where_slots_move)
{
    start_with_ports_of_nothing();
    rlock_client *client = client_through_ports();
    assert_all_masters_work(client);
    const char *name = cluster_key(shards.cluster, 1, "nat:");
    int slot = cluster_slot(name);
    rlock *lock = lock_of(client, name);
    cluster_move_begin(shards.cluster, slot, 2);
    assert_ok(rlock_lock(lock));
    cr_assert(server_integer(cluster_node(shards.cluster, 2), "DBSIZE") == 1);
    cluster_move_end(shards.cluster, slot);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    cr_assert(server_integer(cluster_node(shards.cluster, 2), "EXISTS %s", name) == 1);
    assert_ok(rlock_unlock(lock));
}

Test(nat_cluster, is_reached_by_redissons_file)
{
    char section[400];
    start_with_ports_of_nothing();
    int length = snprintf(section, sizeof section, "natMapper: !<org.redisson.config.HostPortNatMapper> {hostsPortMap: {");
    for (int node = 0; node < MASTERS; node++)
        length += snprintf(section + length, sizeof section - (size_t)length, "%s\"127.0.0.1:%d\": \"127.0.0.1:%d\"",
                           node ? ", " : "", port_held(held[node]), real_port(node));
    snprintf(section + length, sizeof section - (size_t)length, "}}\n");
    rlock_config config;
    rlock_config_init(&config);
    assert_ok(rlock_config_load_yaml(&config, cluster_yaml(shards.cluster, section, NULL)));
    cr_assert(strcmp(rlock_config_warnings(&config), "") == 0, "%s", rlock_config_warnings(&config));
    rlock_client *client = NULL;
    assert_ok(rlock_client_open_config(&client, &config));
    rlock_config_free(&config);
    assert_all_masters_work(client);
    rlock_client_close(client);
}

/* Names of hosts that only the servers' own network knows, which they tell from Redis 7.0 on. */
Test(nat_cluster, whose_names_nobody_knows_is_reached_by_the_map_of_hosts)
{
    char url[200];
    shards_start(MASTERS, 0, NULL);
    redisReply *known = server_command(cluster_node(shards.cluster, 0), "CONFIG GET cluster-announce-hostname");
    bool names = known->elements == 2;
    freeReplyObject(known);
    if (!names)
        cr_skip_test("before 7.0 there are no names in a cluster");
    cluster_each(shards.cluster, "CONFIG SET cluster-announce-hostname inside.invalid");
    cluster_each(shards.cluster, "CONFIG SET cluster-preferred-endpoint-type hostname");
    await_told("inside.invalid");
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d?retryAttempts=0", real_port(0));
    refused_at(url, RLOCK_UNAVAILABLE, "inside.invalid", NULL);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d?" PATIENT "&natMap=inside.invalid=127.0.0.1", real_port(0));
    assert_all_masters_work(shards_client_at(url));
}

/* --- sentinels --- */

static sentinel *own;

static void close_sentinels(void)
{
    clients_close();
    sentinel_stop(own);
    own = NULL;
}

TestSuite(nat_sentinel, .fini = close_sentinels);

/* Whether a client of that name, with that in its line, is connected. */
static bool has_client(server *at, const char *name, const char *words)
{
    char *all = server_text(at, "CLIENT LIST"), *rest = all;
    bool has = false;
    for (char *line; (line = strsep(&rest, "\n"));)
        has |= strstr(line, name) && strstr(line, words);
    free(all);
    return has;
}

/* The servers are at 127.0.0.2 as well, which no sentinel knows. */
Test(nat_sentinel, names_masters_that_are_reached_elsewhere_before_and_after_a_failover)
{
    own = sentinel_start(&(sentinel_plan){
        .server_args = (const char *const[]){"--bind", "127.0.0.1", "127.0.0.2", NULL},
    });
    char query[300];
    int length = snprintf(query, sizeof query, SPRY "&clientName=natted&natMap=");
    for (int node = 0; node < 3; node++) {
        int port = server_port(sentinel_server(own, node));
        length += snprintf(query + length, sizeof query - (size_t)length, "%s127.0.0.1:%d=127.0.0.2:%d", node ? "," : "", port,
                           port);
    }
    rlock_client *client = client_at("%s", sentinel_url_with(own, query));
    rlock *lock = lock_of(client, "order");
    for (int master = 0, turn = 0; turn < 2; turn++) {
        assert_ok(rlock_lock(lock));
        server *node = sentinel_server(own, master);
        cr_assert(server_integer(node, "EXISTS order") == 1);
        cr_assert(has_client(node, "name=natted", "laddr=127.0.0.2:"));
        cr_assert(!has_client(node, "name=natted", "laddr=127.0.0.1:"));
        assert_ok(rlock_unlock(lock));
        if (turn == 0)
            master = sentinel_fail_over(own);
    }
}

/* The other sentinel is known by what the first tells of it, and listened to. */
Test(nat_sentinel, leads_to_sentinels_that_announce_other_addresses)
{
    own = sentinel_start(&(sentinel_plan){
        .replicas = 1,
        .sentinels = 2,
        .config = "sentinel announce-ip " NOWHERE "\n",
    });
    client_at("redis-sentinel://127.0.0.1:%d?masterName=" SENTINEL_MASTER "&clientName=natted&natMap=" NOWHERE "=127.0.0.1",
              server_port(sentinel_node(own, 0)));
    for (int64_t end_ms = limit_end_ms(SOON_MS); !has_client(sentinel_node(own, 1), "name=natted", " sub=1"); pass_ms(10))
        cr_assert(now_ms() < end_ms, "the other sentinel is not listened to");
}
