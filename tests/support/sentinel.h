/* Sentinels of the test's own over a master and its replicas. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SENTINEL_H
#define TEST_SENTINEL_H

#include "tests/support/fleet.h"

typedef struct sentinel sentinel;

#define SENTINELS 5
#define SENTINEL_MASTER "mymaster"
/* The longest that a failover takes: 6 s from the master's end, and 16 s more when a sentinel is missing and the others'
 * vote is split. */
#define SENTINEL_FAILOVER_MS 30000

typedef struct sentinel_plan {
    int replicas, sentinels;           /* 0: 2 and 3; the quorum is the majority */
    const char *const *server_args;    /* for every redis-server; NULL: none; see fleet_start */
    const char *const *sentinel_args;  /* for every sentinel, as {"--requirepass", …}: they then know each
                                          other's, too. For TLS both get certificates_args. NULL: none */
    const char *config;                /* further lines for the sentinels' configuration, each with its
                                          "\n", as "sentinel auth-user mymaster watcher\n"; NULL: none */
} sentinel_plan;

/* Starts it all and waits until every sentinel knows all replicas and all sentinels: some 0.5 s. A master
 * that does not answer for 4 s is replaced, see SENTINEL_FAILOVER_MS. With --requirepass among the
 * servers' arguments the sentinels know that password. All of it ends with the test's process. Fails
 * the test when it can't. `plan` NULL: 2 replicas, 3 sentinels. */
sentinel *sentinel_start(const sentinel_plan *plan);
void sentinel_stop(sentinel *sentinel); /* NULL allowed */

/* host:port of every sentinel, with commas; the URL of all that, without and with a further query. */
const char *sentinel_hosts(const sentinel *sentinel);
const char *sentinel_url(const sentinel *sentinel); /* redis-sentinel://…/?masterName=mymaster */
const char *sentinel_url_with(sentinel *sentinel, const char *query);
/* A Redisson configuration file (sentinelServersConfig); see cluster_yaml. */
const char *sentinel_yaml(sentinel *sentinel, const char *section, const char *top);

int sentinel_size(const sentinel *sentinel);
server *sentinel_node(const sentinel *sentinel, int number); /* a sentinel, for all of server.h */
fleet *sentinel_fleet(const sentinel *sentinel);             /* what they watch */
server *sentinel_server(const sentinel *sentinel, int node); /* a node of that */

/* The node that all sentinels that are up name as the master; -1: they disagree. */
int sentinel_master(sentinel *sentinel);
/* Waits until that is another node than `from`, which says itself that it is a master; gives its
 * number, or -1 after ms. */
int sentinel_await_switch(sentinel *sentinel, int from, int64_t ms);
/* SENTINEL FAILOVER, all alive: replaces the master, and waits until the former one is a replica of the
 * new one, whose number it gives: some 2 s. */
int sentinel_fail_over(sentinel *sentinel);
/* Restarts a node that was killed, empty, and waits until it has the present master's data. */
void sentinel_rejoin(sentinel *sentinel, int node);

#endif
