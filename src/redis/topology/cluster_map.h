/* A cluster's map: which nodes serve which slots, as one of the nodes reports it.
 *
 * Used only by the topology's discovery. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CLUSTER_MAP_H
#define RLI_CLUSTER_MAP_H

#include "redis/topology/topology.h"

/* Asks a node for its map. RLOCK_OK: *map is valid; the caller frees it. RLOCK_SERVER: it refused, or the answer is no
 * map; RLOCK_UNAVAILABLE: no answer, or the map is empty. */
rlock_status rli_cluster_map_ask(rli_topology *topology, rli_operation *op, rli_node *from, redisReply **map);
/* Whether a map is of the same cluster as the latest one: it contains most of the masters of the latest map, or
 * replicas that took their place. Nodes are identified by their ids. True if the latest map has no ids. */
bool rli_cluster_map_is_kin(const rli_topology *topology, const redisReply *map);
/* Makes `map` the latest one: its masters own their slots, and exactly its servers are named. RLOCK_OK; RLOCK_SERVER:
 * too many servers; RLOCK_NO_MEMORY. On failure no owner and no name has changed. */
rlock_status rli_cluster_map_take(rli_topology *topology, rli_node *from, const redisReply *map);

#endif
