/* A cluster's map: who serves which slots, as one of its nodes tells. The topology's discovery alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CLUSTER_MAP_H
#define RLI_CLUSTER_MAP_H

#include "redis/topology/topology.h"

/* Asks that node. RLOCK_OK: *map, to be freed, is one. RLOCK_SERVER: it refused, or told something else;
 * RLOCK_UNAVAILABLE: it does not answer, or knows of no node. */
rlock_status rli_cluster_map_ask(rli_topology *topology, rli_operation *op, rli_node *from, redisReply **map);
/* Whether it is of the same cluster as the latest map: most of the masters that had slots there are in it, or their
 * replicas are in their place. Nodes are known by the names that they give themselves. True where there are none. */
bool rli_cluster_map_is_kin(const rli_topology *topology, const redisReply *map);
/* From now on that is the map: its masters serve their slots, and its servers, and no others, are named. RLOCK_OK;
 * RLOCK_SERVER: it has more servers than may be; RLOCK_NO_MEMORY: then nothing has changed. */
rlock_status rli_cluster_map_take(rli_topology *topology, rli_node *from, const redisReply *map);

#endif
