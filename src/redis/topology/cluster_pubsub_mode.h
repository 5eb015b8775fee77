/* The pub/sub mode in a cluster: whether messages are sent by SPUBLISH.
 *
 * Redisson uses SPUBLISH where the servers know it, and all programs that share locks must choose alike. So nothing is
 * guessed, and the choice follows when newer servers replace the old ones. Used only by the topology's discovery. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CLUSTER_PUBSUB_MODE_H
#define RLI_CLUSTER_PUBSUB_MODE_H

#include "redis/topology/topology.h"

/* Asks a node whether it knows SPUBLISH, unless the settings decide. RLOCK_OK. Only while no map has been accepted
 * yet: RLOCK_UNAVAILABLE: it does not answer, or not yet; RLOCK_SERVER: the user may not ask it. */
rlock_status rli_cluster_pubsub_mode_learn(rli_topology *topology, rli_operation *op, rli_node *node);
/* Chooses the mode from what is known about the masters in the map; called after each round. */
void rli_cluster_pubsub_mode_decide(rli_topology *topology);

#endif
