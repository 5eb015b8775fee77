/* The parts of the fixture's cluster, for cluster*.c alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CLUSTER_PARTS_H
#define TEST_CLUSTER_PARTS_H

#include "tests/support/cluster.h"
#include "tests/support/texts.h"

#define CLUSTER_ID 40
#define CLUSTER_WAIT_MS 30000 /* for what takes a moment, unless the machine is busy */

struct cluster {
    server *nodes[CLUSTER_NODES];
    char ids[CLUSTER_NODES][CLUSTER_ID + 1];
    int count, masters;
    const char *hosts, *url;
    const char *password; /* NULL: none */
    bool tls;
    bool left[CLUSTER_NODES]; /* it is no node of this cluster any more */
    int moving_from[CLUSTER_SLOTS], moving_to[CLUSTER_SLOTS];
    texts texts;
};

/* What a node says of itself. */
typedef struct cluster_self {
    bool master;
    char of[CLUSTER_ID + 1]; /* whose replica it is; "-" of a master */
    long long epoch;
    char *slots; /* "0-5460 7000": to be freed */
} cluster_self;

/* Whether the node is in the cluster, and up. */
bool cluster_has(const cluster *cluster, int node);
cluster_self cluster_ask_self(cluster *cluster, int node);
bool cluster_has_slot(const cluster_self *self, int slot);
/* Whether the node says that the cluster is well. */
bool cluster_is_well(cluster *cluster, int node);
/* The node that another names for a slot; -1: none. */
int cluster_owner_of(cluster *cluster, int node, int slot);
/* A command that must not be refused. */
__attribute__((format(printf, 3, 4))) void cluster_tell(cluster *cluster, int node, const char *format, ...);
/* Parts of cluster_start, for those that are in the cluster. */
void cluster_introduce(cluster *cluster);
void cluster_share_slots(cluster *cluster);
void cluster_add_slots(cluster *cluster, int node, int first, int last);
void cluster_ask_id(cluster *cluster, int node);
/* Waits until all nodes that are up name that one for the slot; fails the test otherwise. */
void cluster_await_owner(cluster *cluster, int slot, int owner);

#endif
