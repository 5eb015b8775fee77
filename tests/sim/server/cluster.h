/* What a node of a cluster believes about the cluster. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_CLUSTER_H
#define SIM_SERVER_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_NODES_MAX 16
#define SIM_SLOTS 16384
#define SIM_NOBODY (-1)

typedef struct sim_cluster_node {
    char id[41];
    char host[64];
    int port;
    int master; /* of this replica; SIM_NOBODY: it is a master */
    bool failed;
} sim_cluster_node;

typedef struct sim_cluster_view {
    uint64_t epoch;
    bool down; /* cluster_state:fail */
    int self, count;
    sim_cluster_node nodes[SIM_NODES_MAX];
    int8_t owner[SIM_SLOTS];        /* a node, or SIM_NOBODY */
    int8_t migrating_to[SIM_SLOTS]; /* a node, or SIM_NOBODY */
    int8_t importing_from[SIM_SLOTS];
} sim_cluster_view;

/* No nodes, no slots. */
void sim_cluster_view_init(sim_cluster_view *view);
int sim_slot_of(const char *key, size_t length);

#endif
