/* A master of the test's own and its replicas: servers as of server.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FLEET_H
#define TEST_FLEET_H

#include "tests/support/server.h"

typedef struct fleet fleet;

#define FLEET_NODES 8

/* Starts node 0 as the master and 1…replicas behind it, and waits until they have its data: some 200
 * ms. `args`: for every redis-server, or NULL. With --requirepass the nodes know each other's password;
 * with certificates_args all speak TLS alone. Fails the test when it can't. */
fleet *fleet_start(int replicas, const char *const *args);
void fleet_stop(fleet *fleet); /* NULL allowed */

int fleet_size(const fleet *fleet);
/* A node, for all of server.h. A replica that is frozen confirms no WAIT and gets no data until it is
 * thawed; after server_restart it is a lonely master until fleet_follow. */
server *fleet_node(const fleet *fleet, int node);
/* The number of the node to which clients come at that port; -1: there is none. */
int fleet_node_at(const fleet *fleet, int port);
/* The same command on every node that is up; an error answer fails the test. */
__attribute__((format(printf, 2, 3))) void fleet_each(fleet *fleet, const char *format, ...);

/* Makes `node` the master of all others that are up, as an operator would do who has lost the former
 * one, and waits until they have its data. */
void fleet_promote(fleet *fleet, int node);
/* Makes `node` a replica of `master`, and waits until it has its data. */
void fleet_follow(fleet *fleet, int node, int master);
/* Waits until that node says that it is a master; until it is a replica that has its master's data, and
 * that its master, which must be up, counts for WAIT. */
bool fleet_wait_master(fleet *fleet, int node, int64_t ms);
bool fleet_wait_in_step(fleet *fleet, int node, int64_t ms);

/* host:port of all, with commas, the first master's first. */
const char *fleet_hosts(const fleet *fleet);
/* Redisson configuration files: masterSlaveServersConfig (node 0 as the master), and
 * replicatedServersConfig (all, it asks which is the master). See cluster_yaml. */
const char *fleet_master_slave_yaml(fleet *fleet, const char *section, const char *top);
const char *fleet_replicated_yaml(fleet *fleet, const char *section, const char *top);

#endif
