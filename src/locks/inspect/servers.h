/* Servers: all servers that hold data, and questions to one of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_INSPECT_SERVERS_H
#define RLI_INSPECT_SERVERS_H

#include "base/operation.h"
#include "redis/topology/topology.h"

#include <stddef.h>

typedef struct rli_servers {
    rli_node **all; /* each with a reference */
    size_t count;
} rli_servers;

/* Lists the masters, for an operation that has a thread. RLOCK_OK: end it with rli_servers_clear; RLOCK_UNAVAILABLE: no
 * node serves some slots; RLOCK_NO_MEMORY, and what rli_operation_check returns. */
rlock_status rli_servers_list(rli_servers *servers, rli_topology *topology, rli_operation *op);
void rli_servers_clear(rli_servers *servers);

/* Sends one command of at most 8 words (`words` ends with NULL), without retries. RLOCK_OK: *reply, possibly an error;
 * the caller frees it. RLOCK_UNAVAILABLE, or why the server cannot be reached: *reply is NULL. */
rlock_status rli_servers_ask(rli_node *node, rli_operation *op, const char *const words[], redisReply **reply);

#endif
