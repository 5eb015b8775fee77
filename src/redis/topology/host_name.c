/* Names of hosts: what they stand for, which may change while clients are connected. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/host_name.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

bool rli_host_name_is(const rli_address *address)
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
void rli_host_name_follow(rli_topology *topology, rli_node *node)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *now;
    if (!rli_host_name_is(&node->address) || getaddrinfo(node->address.host, NULL, &hints, &now) != 0)
        return;
    if (topology->resolved && topology->resolved_for == node && !overlaps(topology->resolved, now))
        rli_node_abandon(node);
    if (topology->resolved)
        freeaddrinfo(topology->resolved);
    topology->resolved = now;
    topology->resolved_for = node;
}

void rli_host_name_end(rli_topology *topology)
{
    if (topology->resolved)
        freeaddrinfo(topology->resolved);
    topology->resolved = NULL;
}
