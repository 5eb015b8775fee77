/* Discovery among a master and replicas with configured addresses: the server that says it is the master serves
 * everything. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/host_name.h"

#include "base/error.h"

#include <stdio.h>

/* Why no master has been found so far. */
typedef struct failure {
    rlock_status status;
    char why[300];
} failure;

/* Asks one server. True: it is the master and now serves everything. A server's refusal tells more than another's
 * silence, and both tell more than that a server is a replica. */
static bool is_master(rli_topology *topology, rli_operation *op, rli_node *node, failure *trouble)
{
    bool master = false;
    rlock_status status = rli_topology_ask_role(topology, op, node, &master);
    if (status != RLOCK_OK && trouble->status != RLOCK_SERVER) {
        trouble->status = status;
        snprintf(trouble->why, sizeof trouble->why, "%.299s", rlock_last_error());
    }
    if (!master)
        return false;
    rli_topology_set_server(topology, 0, 0, node);
    if (topology->settings->mode == RLI_MASTER_SLAVE && topology->settings->dns_interval_ms > 0)
        rli_host_name_follow(topology, node);
    return true;
}

static rlock_status look(rli_topology *topology, rli_operation *op)
{
    const rli_settings *settings = topology->settings;
    failure trouble = {RLOCK_UNAVAILABLE, "every server there says that it is a replica"};
    rli_node *present = rli_topology_server_of(topology, 0);
    if (present && is_master(topology, op, present, &trouble))
        return RLOCK_OK;
    for (size_t i = 0; i < settings->address_count; i++) {
        rli_node *node;
        rlock_status status = rli_topology_meet_configured(topology, &topology->nodes, &settings->addresses[i], &node);
        if (status != RLOCK_OK)
            return status;
        if (node != present && is_master(topology, op, node, &trouble))
            return RLOCK_OK;
    }
    return rli_fail(trouble.status, "no master among the %zu %s: %.280s", settings->address_count,
                    settings->address_count == 1 ? "address" : "addresses", trouble.why);
}

#define DAY_MS INT64_C(86400000)

/* Never 0, so that a failure can bring the next round forward. */
static int64_t interval_ms(const rli_settings *settings)
{
    if (settings->mode == RLI_REPLICATED)
        return settings->scan_interval_ms;
    return settings->dns_interval_ms > 0 ? settings->dns_interval_ms : DAY_MS;
}

const rli_discovery rli_discovery_replicated = {
    .look = look, .interval_ms = interval_ms, .has_heard = rli_host_name_hear, .end = rli_host_name_end};
