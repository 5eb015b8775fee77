/* Silent servers: which servers of a lock's parts have not answered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/silent_servers.h"

#include "client/client.h"
#include "locks/single.h"

/* After this number of silent parts, the server is not asked for more of them. */
#define SILENT_MOST 3

static const void *server_of(rlock *part)
{
    const rli_single *single = rli_single_of(part);
    rli_node *node = rli_topology_ref_server_for(&single->client->topology, single->names.name, single->names.length);
    if (node)
        rli_node_unref(node);
    return node;
}

/* NULL: others are watched already. */
static int *silent_parts_of(rli_silent_servers *servers, const void *node)
{
    for (size_t i = 0; i < RLI_SILENT_SERVERS; i++) {
        if (!servers->all[i].node)
            servers->all[i].node = node;
        if (servers->all[i].node == node)
            return &servers->all[i].parts;
    }
    return NULL;
}

void rli_silent_servers_note(rli_silent_servers *servers, rlock *part)
{
    const void *node = server_of(part);
    int *parts = node ? silent_parts_of(servers, node) : NULL;
    if (parts)
        ++*parts;
}

bool rli_silent_servers_has(rli_silent_servers *servers, rlock *part)
{
    const void *node = server_of(part);
    const int *parts = node ? silent_parts_of(servers, node) : NULL;
    return parts && *parts >= SILENT_MOST;
}
