/* How messages reach those who wait in a cluster: by SPUBLISH where its servers know it, as Redisson's do. All who share locks
 * must choose alike, so nothing is guessed, and the choice follows when the servers are replaced by later ones. The
 * topology's discovery alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CLUSTER_PUBSUB_MODE_H
#define RLI_CLUSTER_PUBSUB_MODE_H

#include "redis/topology/topology.h"

/* Asks a node whether it knows SPUBLISH, unless the settings say what is to be used. RLOCK_OK; while nothing is known:
 * RLOCK_UNAVAILABLE: it does not answer, or not yet; RLOCK_SERVER: it does not let the user ask. */
rlock_status rli_cluster_pubsub_mode_learn(rli_topology *topology, rli_operation *op, rli_node *node);
/* Goes by what is known of the masters of the map, after each look. */
void rli_cluster_pubsub_mode_decide(rli_topology *topology);

#endif
