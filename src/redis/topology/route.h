/* A route: by which lane a name's requests go, for as long as that lane leads to who serves the name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ROUTE_H
#define RLI_ROUTE_H

#include "redis/node.h"
#include "redis/pipeline/lane.h"

/* All zero: no lane yet. Any thread. */
typedef struct rli_route {
    rli_lane *_Atomic lane;
} rli_route;

/* The route's lane to that node; another than before when the node is another. */
rli_lane *rli_route_to(rli_route *route, rli_node *node);

#endif
