/* A Redis Cluster of the test's own: servers as of server.h, with slots moved, left and taken over as
 * the test says. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CLUSTER_H
#define TEST_CLUSTER_H

#include "tests/support/server.h"

typedef struct cluster cluster;

#define CLUSTER_NODES 16
#define CLUSTER_SLOTS 16384

/* Starts it and waits until every node agrees and every replica has its master's data: some 2.2 s,
 * for a master of Redis stays down for its first 2 s. Nodes 0…masters-1 are masters with equal shares of
 * the slots, in order; node masters + r * masters + m is replica r of m. A replica takes over some 3 s
 * after its master's end (cluster-node-timeout 1500). `args`: for every redis-server, or NULL; they
 * override what the fixture says, as in {"--cluster-require-full-coverage", "no", NULL}. With
 * --requirepass the nodes know each other's password; with certificates_args all speak TLS alone, their
 * bus too. All of it ends with the test's process. Fails the test when it can't. */
cluster *cluster_start(int masters, int replicas_each, const char *const *args);
void cluster_stop(cluster *cluster); /* NULL allowed */

/* host:port of every node, with commas; the URL of all that, without and with a query. */
const char *cluster_hosts(const cluster *cluster);
const char *cluster_url(const cluster *cluster); /* redis-cluster://127.0.0.1:…,127.0.0.1:… */
const char *cluster_url_with(cluster *cluster, const char *query);
/* A Redisson configuration file for it: `section`: further lines for clusterServersConfig, `top`: for
 * the top level; NULL: none. Each line ends with "\n" and stands unindented. Gives its path. */
const char *cluster_yaml(cluster *cluster, const char *section, const char *top);

int cluster_size(const cluster *cluster);
/* A node, for all of server.h: server_command, server_kill, server_freeze, server_thaw, server_restart
 * (it comes back without its data, but knows who it was), server_listen… */
server *cluster_node(const cluster *cluster, int node);
/* The same command on every node that is up; an error answer fails the test. */
__attribute__((format(printf, 2, 3))) void cluster_each(cluster *cluster, const char *format, ...);

/* --- who serves what --- */

int cluster_slot(const char *key);
/* The master that serves the slot, by what the masters say that are up; -1: none does. */
int cluster_serving_slot(cluster *cluster, int slot);
int cluster_serving(cluster *cluster, const char *key);
/* The node that serves the key, as in server_command(cluster_at(c, key), "HGETALL %s", key); fails the
 * test when none does. */
server *cluster_at(cluster *cluster, const char *key);
/* A key that starts with `prefix`, which `node` serves now; valid until the cluster is stopped. */
const char *cluster_key(cluster *cluster, int node, const char *prefix);
/* A replica that is up of that node; -1: it has none. */
int cluster_replica_of(cluster *cluster, int node);

/* --- failover --- */

/* Waits until another node than `from` serves the slot that `from` served, and says that the cluster
 * is well; gives its number, or -1 after ms. */
int cluster_await_takeover(cluster *cluster, int slot, int from, int64_t ms);
/* Makes a replica the master of its shard, both alive, and waits until all agree: some 100 ms. */
void cluster_promote(cluster *cluster, int replica);
/* Waits until all nodes that are up say that the cluster is well, have one view of who serves what and who
 * is whose replica, and replicas that are up are in step with their masters. False: not within ms. */
bool cluster_await_settled(cluster *cluster, int64_t ms);

/* --- slots on the move --- */

/* From here to cluster_move_end the slot is on its way to `to`, another master: its server answers for
 * keys that it still has, ASK for others, TRYAGAIN when a command's keys are in both places. */
void cluster_move_begin(cluster *cluster, int slot, int to);
void cluster_move_key(cluster *cluster, const char *key); /* takes one key over, if it exists */
void cluster_move_keys(cluster *cluster, int slot);       /* takes all that are left over */
/* The slot is `to`'s: from now on the old server answers MOVED. Waits until all nodes know. */
void cluster_move_end(cluster *cluster, int slot);
void cluster_move(cluster *cluster, int slot, int to); /* all of these */

/* Leaves the slot without a server, and waits until all nodes know: unless the cluster was started with
 * cluster-require-full-coverage no, all of it is down. Gives it back. */
void cluster_uncover(cluster *cluster, int slot);
void cluster_cover(cluster *cluster, int slot, int node);

/* --- another cluster --- */

/* Takes a master without replicas out: it and the others forget each other, and `heir` has its slots. It has lost its keys,
 * and lives on as a node of no cluster, which the other functions no longer count. */
void cluster_leave(cluster *cluster, int node, int heir);
/* Takes it in again, as a master without slots. */
void cluster_join(cluster *cluster, int node);
/* Makes a node that has left a cluster of its own, which serves all slots. */
void cluster_found(cluster *cluster, int node);
/* Makes a member a cluster of its own, with an epoch that is higher than the others', which do not know of it: for them it
 * is a member that says nothing. */
void cluster_secede(cluster *cluster, int node);
/* Makes a new cluster, with new names and epochs that start again, of all nodes that are up: all are masters, with equal
 * shares of the slots, and without keys. The others are no longer counted. */
void cluster_remake(cluster *cluster);

/* --- messages --- */

/* Listens to what is published with SPUBLISH on the channel, at the node that serves it now, and plainly
 * with PUBLISH on any channel. When the channel's slot has moved, it is to be called again. */
void cluster_listen(cluster *cluster, const char *channel);
/* Waits until `message` came on `channel`, wherever it is listened to; false: not within ms. */
bool cluster_heard(cluster *cluster, const char *channel, const char *message, int64_t ms);
/* Waits until the channel has `count` sharded subscribers at the node that serves it; plain ones where the
 * server knows no sharded (Redis 6.2). */
bool cluster_wait_subscribers(cluster *cluster, const char *channel, int64_t count, int64_t ms);

#endif
