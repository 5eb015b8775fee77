/* Names of hosts: what they stand for, which may change while clients are connected. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HOST_NAME_H
#define RLI_HOST_NAME_H

#include "redis/topology/topology.h"

/* Whether it is a name that could come to stand for another place. */
bool rli_host_name_is(const rli_address *address);
/* Looks whether the node's name leads elsewhere than at the last look at that node, and gives up all
 * connections to it then. The topology's scout alone. */
void rli_host_name_follow(rli_topology *topology, rli_node *node);
void rli_host_name_end(rli_topology *topology);

#endif
