/* Fleets behind fault proxies: what their servers name is the proxies, and each of them can be cut off
 * alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/fronts.h"
#include "tests/support/certificates.h"
#include "tests/support/cluster.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(fronts, .init = fronts_begin, .fini = fronts_end);

static redisContext *reach(int port)
{
    redisContext *context = redisConnectWithTimeout("127.0.0.1", port, (struct timeval){.tv_sec = 5});
    cr_assert(context && !context->err, "no connection: %s", context ? context->errstr : "");
    redisSetTimeout(context, (struct timeval){.tv_sec = 5});
    return context;
}

/* The port that a node redirects to. */
static int moved_to(redisContext *context, const char *key)
{
    redisReply *reply = redisCommand(context, "GET %s", key);
    cr_assert(reply && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "MOVED ", 6) == 0);
    int port = atoi(strrchr(reply->str, ':') + 1);
    freeReplyObject(reply);
    return port;
}

Test(fronts, cluster_names_its_proxies_and_fails_over_behind_them, .lasts = 12)
{
    int64_t since_ms = now_ms();
    cluster *own = cluster_start(3, 1, NULL);
    cr_log_info("a cluster of 3 + 3 behind proxies was up after %lld ms", (long long)(now_ms() - since_ms));
    const char *key = cluster_key(own, 1, "k");
    int other = server_public_port(cluster_node(own, 0)), port = server_public_port(cluster_node(own, 1));
    cr_assert(port != server_port(cluster_node(own, 1)) && port == proxy_port(front_of(cluster_node(own, 1))));
    redisContext *context = reach(other);
    cr_assert(moved_to(context, key) == port);
    fronts_rule rule = fronts_add(&(proxy_rule){.act = PROXY_CUT_AFTER, .text = "SET", .and_text = key});
    redisContext *cut = reach(port);
    redisReply *reply = redisCommand(cut, "SET %s 1", key);
    cr_assert(reply == NULL && cut->err);
    redisFree(cut);
    cr_assert(fronts_count(&rule, PROXY_ACTED) == 1);
    fronts_release(&rule);
    cr_assert(server_integer(cluster_at(own, key), "WAIT 1 10000") == 1);

    server_kill(cluster_node(own, 1));
    cr_assert(cluster_await_takeover(own, cluster_slot(key), 1, 30000) == 4);
    server_restart(cluster_node(own, 1));
    cr_assert(cluster_await_settled(own, 30000));
    cr_assert(moved_to(context, key) == server_public_port(cluster_node(own, 4)));
    cr_assert(server_integer(cluster_node(own, 4), "GET %s", key) == 1);
    redisFree(context);
    cluster_stop(own);
}

/* Cut off from clients and sentinels alone, a master is replaced while it lives and its replicas hear it. */
Test(fronts, sentinels_replace_a_master_that_only_they_and_clients_do_not_reach)
{
    int64_t since_ms = now_ms();
    sentinel *own = sentinel_start(NULL);
    cr_log_info("sentinels behind proxies were up after %lld ms", (long long)(now_ms() - since_ms));
    server *master = sentinel_server(own, 0);
    cr_assert(strstr(fleet_hosts(sentinel_fleet(own)), sentinel_hosts(own)) == NULL);
    redisContext *context = reach(server_public_port(sentinel_node(own, 0)));
    redisReply *reply = redisCommand(context, "SENTINEL REPLICAS " SENTINEL_MASTER);
    cr_assert(reply && reply->elements == 2);
    for (int i = 0; i < 2; i++) {
        int node = fleet_node_at(sentinel_fleet(own), atoi(reply->element[i]->element[5]->str));
        cr_assert(node > 0, "a replica is said to be at port %s", reply->element[i]->element[5]->str);
    }
    freeReplyObject(reply);
    redisFree(context);

    proxy_pass(front_of(master), false, false);
    freeReplyObject(server_command(master, "SET key 1"));
    cr_assert(server_integer(master, "WAIT 2 10000") == 2);
    int next = sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS);
    cr_assert(next > 0);
    cr_assert(server_integer(sentinel_server(own, next), "GET key") == 1);
    cr_assert(fleet_wait_master(sentinel_fleet(own), 0, 0), "nobody can have told it");
    proxy_pass(front_of(master), true, true);
    cr_assert(fleet_wait_in_step(sentinel_fleet(own), 0, 30000));
    sentinel_stop(own);
}

Test(fronts, tls_cluster_names_its_proxies)
{
    texts kept = {0};
    cluster *own = cluster_start(3, 0, certificates_args(&kept, CERTIFICATE_SERVER, "no", NULL));
    const char *key = cluster_key(own, 2, "k");
    char *said = shell("redis-cli -c -h localhost -p %d --tls --cacert '%s' set %s 1",
                       server_public_port(cluster_node(own, 0)), certificate_file(CERTIFICATE_AUTHORITY), key);
    cr_assert_str_eq(said, "OK\n");
    free(said);
    cr_assert(proxy_accepted(front_of(cluster_node(own, 2))) == 1);
    cr_assert(server_integer(cluster_node(own, 2), "GET %s", key) == 1);
    cluster_stop(own);
    texts_free(&kept);
}
