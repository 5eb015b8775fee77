/* A route: the pipeline that a name's requests use. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/route.h"

rli_pipeline *rli_route_to(rli_route *route, rli_node *node)
{
    rli_pipeline *pipeline = atomic_load_explicit(&route->pipeline, memory_order_relaxed);
    if (!pipeline || pipeline->address != &node->address) {
        pipeline = rli_pool_pick(&node->pool);
        atomic_store_explicit(&route->pipeline, pipeline, memory_order_relaxed);
    }
    return pipeline;
}

bool rli_route_leave(rli_route *route, rli_node *node, const rli_pipeline *failed)
{
    rli_pipeline *other = rli_pool_pick_connected(&node->pool, failed);
    if (other)
        atomic_store_explicit(&route->pipeline, other, memory_order_relaxed);
    return other;
}
