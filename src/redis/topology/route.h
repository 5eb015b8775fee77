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

#endif
