/* One server: it serves everything. What may change is where its host's name leads to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/topology.h"

#include "error.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

static bool is_name(const rli_address *address)
{
    unsigned char bytes[16];
    return !address->socket_path && inet_pton(AF_INET, address->host, bytes) != 1 &&
           inet_pton(AF_INET6, address->host, bytes) != 1;
}

/* Whether one of the places that the name stood for is still among those that it stands for. */
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

/* After a failover behind a name the old server may live on, and still take locks: nothing but the
 * name says that they are void. A name that cannot be resolved says nothing. */
static void follow_name(rli_topology *topology, rli_node *node)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *now;
    if (!is_name(&node->address) || getaddrinfo(node->address.host, NULL, &hints, &now) != 0)
        return;
    if (topology->resolved && !overlaps(topology->resolved, now))
        rli_node_abandon(node);
    if (topology->resolved)
        freeaddrinfo(topology->resolved);
    topology->resolved = now;
}

static rlock_status look(rli_topology *topology, rli_caller *caller)
{
    (void)caller;
    const rli_address *address = &topology->settings->addresses[0];
    const char *host = address->host ? address->host : "";
    rli_node *node = rli_topology_meet(topology, &topology->nodes, host, strlen(host), address->port, address);
    if (!node)
        return RLOCK_NO_MEMORY;
    rli_topology_serve(topology, 0, 0, node);
    if (topology->settings->dns_interval_ms > 0)
        follow_name(topology, node);
    return RLOCK_OK;
}

static int64_t interval_ms(const rli_settings *settings)
{
    return is_name(&settings->addresses[0]) ? settings->dns_interval_ms : 0;
}

static void end(rli_topology *topology)
{
    if (topology->resolved)
        freeaddrinfo(topology->resolved);
}

const rli_scout rli_scout_single = {.look = look, .interval_ms = interval_ms, .end = end};
