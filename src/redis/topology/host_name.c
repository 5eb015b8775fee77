/* Host names: detects that a node's name leads to other addresses while clients are connected. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/host_name.h"

#include "base/host_port.h"
#include "net/lookup.h"

#include <stdlib.h>
#include <string.h>

struct rli_host_name {
    rli_node *node;          /* the node whose name it is; NULL: none yet */
    rli_lookup_use looks[2]; /* the last result, and the lookup under way; each may be missing */
    int known;               /* index of the last result in `looks` */
};

bool rli_host_name_is(const rli_address *address)
{
    return !address->socket_path && rli_host_is_name(address->host);
}

/* Whether the name's former and present addresses have one in common. */
static bool overlaps(const struct addrinfo *before, const struct addrinfo *now)
{
    for (; before; before = before->ai_next) {
        for (const struct addrinfo *one = now; one; one = one->ai_next) {
            if (one->ai_addrlen == before->ai_addrlen && memcmp(one->ai_addr, before->ai_addr, one->ai_addrlen) == 0)
                return true;
        }
    }
    return false;
}

static void forget(struct rli_host_name *name)
{
    rli_lookup_end(&name->looks[0]);
    rli_lookup_end(&name->looks[1]);
    name->node = NULL;
}

void rli_host_name_follow(rli_topology *topology, rli_node *node)
{
    if (!rli_host_name_is(&node->address))
        return;
    if (!topology->name && !(topology->name = calloc(1, sizeof *topology->name)))
        return; /* out of memory: try again in the next round */
    struct rli_host_name *name = topology->name;
    if (name->node != node)
        forget(name);
    name->node = node;
    rli_lookup_use *now = &name->looks[!name->known];
    if (!now->lookup)
        rli_lookup_begin(now, node->address.host, node->address.port, &topology->parker);
}

/* Compares the result with the previous one. After a failover behind a host name, the old server may live on and still
 * grant locks; only the name tells that these are void. A failed lookup tells nothing. */
static void hear(struct rli_host_name *name)
{
    rli_lookup_use *before = &name->looks[name->known], *now = &name->looks[!name->known];
    const char *why;
    const struct addrinfo *found = rli_lookup_found(now, &why);
    if (!found) {
        rli_lookup_end(now);
        return;
    }
    if (before->lookup && !overlaps(rli_lookup_found(before, &why), found))
        rli_node_abandon(name->node);
    rli_lookup_end(before);
    name->known = !name->known;
}

bool rli_host_name_hear(rli_topology *topology)
{
    struct rli_host_name *name = topology->name;
    const rli_lookup_use *now = name ? &name->looks[!name->known] : NULL;
    if (now && now->lookup && rli_lookup_is_done(now))
        hear(name);
    return false;
}

void rli_host_name_end(rli_topology *topology)
{
    if (topology->name)
        forget(topology->name);
    free(topology->name);
    topology->name = NULL;
}
