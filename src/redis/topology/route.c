/* A route: by which lane a name's requests go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/route.h"

rli_lane *rli_route_to(rli_route *route, rli_node *node)
{
    rli_lane *lane = atomic_load_explicit(&route->lane, memory_order_relaxed);
    if (!lane || lane->address != &node->address) {
        lane = rli_pool_pick(&node->pool);
        atomic_store_explicit(&route->lane, lane, memory_order_relaxed);
    }
    return lane;
}
