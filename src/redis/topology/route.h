/* A route: the pipeline that a name's requests use, as long as it leads to the node that serves the name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ROUTE_H
#define RLI_ROUTE_H

#include "redis/node.h"
#include "redis/pipeline/pipeline.h"

/* All zero: no pipeline chosen yet. Any thread. */
typedef struct rli_route {
    rli_pipeline *_Atomic pipeline;
} rli_route;

/* The route's pipeline to `node`. Chooses a new one if the previous one leads to another node. */
rli_pipeline *rli_route_to(rli_route *route, rli_node *node);
/* Leads the route elsewhere if `failed`, its pipeline to `node`, cannot connect and another one is connected: the
 * server may have no room for more connections. False: there is none. */
bool rli_route_leave(rli_route *route, rli_node *node, const rli_pipeline *failed);

#endif
