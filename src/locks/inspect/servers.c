/* Servers: all servers that hold data, and questions to one of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/inspect/servers.h"

#include "base/error.h"
#include "redis/topology/route.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool has(const rli_servers *self, const rli_node *node)
{
    /* Slots of one node mostly stand beside each other. */
    for (size_t i = self->count; i > 0; i--) {
        if (self->all[i - 1] == node)
            return true;
    }
    return false;
}

/* Takes over the reference to the node. */
static rlock_status add(rli_servers *self, rli_node *node)
{
    if (has(self, node)) {
        rli_node_unref(node);
        return RLOCK_OK;
    }
    rli_node **more = realloc(self->all, (self->count + 1) * sizeof(rli_node *));
    if (!more) {
        rli_node_unref(node);
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a list of servers");
    }
    self->all = more;
    self->all[self->count++] = node;
    return RLOCK_OK;
}

rlock_status rli_servers_list(rli_servers *self, rli_topology *topology, rli_operation *op)
{
    *self = (rli_servers){NULL, 0};
    (void)rli_topology_await_look(topology, op, RLI_NEVER);
    rlock_status status = rli_operation_check(op);
    for (size_t slot = 0; status == RLOCK_OK && slot < topology->slot_count; slot++) {
        rli_node *node = rli_topology_ref_server(topology, (unsigned)slot);
        status = node ? add(self, node) : rli_topology_fail_unserved(topology, (unsigned)slot, NULL);
    }
    if (status != RLOCK_OK)
        rli_servers_clear(self);
    return status;
}

void rli_servers_clear(rli_servers *self)
{
    for (size_t i = 0; i < self->count; i++)
        rli_node_unref(self->all[i]);
    free(self->all);
    *self = (rli_servers){NULL, 0};
}

rlock_status rli_servers_ask(rli_node *node, rli_operation *op, const char *const words[], redisReply **reply)
{
    size_t lengths[8], count = 0;
    for (; words[count]; count++)
        lengths[count] = strlen(words[count]);
    const rli_command command = {.count = count, .words = words, .lengths = lengths};
    rli_route route = {NULL};
    rli_pipeline *pipeline = rli_route_to(&route, node);
    rli_answer answer;
    rli_outcome outcome = rli_pipeline_call(pipeline, op, &command, pipeline->settings->timeout_ms, &answer);
    *reply = NULL;
    if (outcome == RLI_UNSENT)
        return answer.status;
    if (outcome != RLI_ANSWERED)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s did not answer %s", node->address.text, words[0]);
    *reply = answer.reply;
    return RLOCK_OK;
}
