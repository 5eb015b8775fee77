/* Host names: detects that a node's name leads to other addresses while clients are connected.
 *
 * Used only by the topology's discovery. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HOST_NAME_H
#define RLI_HOST_NAME_H

#include "redis/topology/topology.h"

/* Whether the address has a host name, which may come to mean other addresses. */
bool rli_host_name_is(const rli_address *address);
/* Starts a lookup of the node's name, to compare its addresses with those of the last lookup. Does not wait. */
void rli_host_name_follow(rli_topology *topology, rli_node *node);
/* Takes the result of the lookup, if there is one, and ends all connections to the node if its name leads elsewhere
 * now. For rli_discovery.has_heard. Always false: no reason for a discovery round. */
bool rli_host_name_hear(rli_topology *topology);
/* For rli_discovery.end. */
void rli_host_name_end(rli_topology *topology);

#endif
