/* A route: by which pipeline a name's requests go, for as long as that pipeline leads to who serves the name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ROUTE_H
#define RLI_ROUTE_H

#include "redis/node.h"
#include "redis/pipeline/pipeline.h"

/* All zero: no pipeline yet. Any thread. */
typedef struct rli_route {
    rli_pipeline *_Atomic pipeline;
} rli_route;

/* The route's pipeline to that node; another than before when the node is another. */
rli_pipeline *rli_route_to(rli_route *route, rli_node *node);

#endif
