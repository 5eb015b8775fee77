/* Names of hosts: what they stand for, which may change while clients are connected. Of the topology's discovery alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HOST_NAME_H
#define RLI_HOST_NAME_H

#include "redis/topology/topology.h"

/* Whether it is a name that could come to stand for another place. */
bool rli_host_name_is(const rli_address *address);
/* Begins to look whether the node's name leads elsewhere than at the last look at that node. Does not wait. */
void rli_host_name_follow(rli_topology *topology, rli_node *node);
/* Takes the answer to a look, if it has come, and gives up all connections to the node when its name leads elsewhere now.
 * For a discovery's has_heard. False: the answer is no reason to ask the servers. */
bool rli_host_name_hear(rli_topology *topology);
void rli_host_name_end(rli_topology *topology);

#endif
