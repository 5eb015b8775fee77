/* Discovery with one server: it serves everything; only the addresses of its host name may change. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/host_name.h"

static rlock_status look(rli_topology *topology, rli_operation *op)
{
    (void)op;
    rli_node *node;
    rlock_status status = rli_topology_meet_configured(topology, &topology->nodes, &topology->settings->addresses[0],
                                                       &node);
    if (status != RLOCK_OK)
        return status;
    rli_topology_set_server(topology, 0, 0, node);
    if (topology->settings->dns_interval_ms > 0)
        rli_host_name_follow(topology, node);
    return RLOCK_OK;
}

static int64_t interval_ms(const rli_settings *settings)
{
    return rli_host_name_is(&settings->addresses[0]) ? settings->dns_interval_ms : 0;
}

const rli_discovery rli_discovery_single = {
    .look = look, .interval_ms = interval_ms, .has_heard = rli_host_name_hear, .end = rli_host_name_end};
