/* Asking: one request of the discovery to one node. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/topology.h"

#include "base/clock.h"
#include "base/error.h"
#include "redis/pipeline/replica_ack.h"

#include <string.h>

/* How long one server may take to answer, while others are to be asked. */
#define ASK_MS 1000

void rli_topology_heed_news(const rli_topology *topology, rli_operation *op)
{
    op->cancel = topology->cut_short ? NULL : op->registered;
}

void rli_topology_ignore_news(rli_operation *op)
{
    op->cancel = NULL;
}

bool rli_topology_ended_by_news(const rli_operation *op)
{
    return rli_cancel_fired(op->cancel);
}

/* In a patient round the servers share the timeout. */
static int64_t patience_ms(const rli_topology *topology)
{
    int64_t share_ms = topology->settings->timeout_ms / (int64_t)topology->settings->address_count;
    return topology->patient && share_ms > ASK_MS ? share_ms : ASK_MS;
}

bool rli_topology_ref(rli_topology *topology, rli_node *node)
{
    pthread_mutex_lock(&topology->mutex);
    bool there = atomic_load(&node->in_service);
    if (there)
        rli_node_ref(node);
    pthread_mutex_unlock(&topology->mutex);
    return there;
}

rlock_status rli_topology_ask(rli_topology *topology, rli_operation *op, rli_node *node, const char *const words[],
                              redisReply **reply)
{
    size_t lengths[8], count = 0;
    for (; words[count]; count++)
        lengths[count] = strlen(words[count]);
    int64_t timeout_ms = rli_earlier(topology->settings->timeout_ms, patience_ms(topology));
    rli_command command = {.count = count, .words = words, .lengths = lengths};
    rli_answer answer;
    op->deadline_ms = rli_after_ms(timeout_ms < ASK_MS ? ASK_MS : timeout_ms);
    rli_outcome outcome = rli_pipeline_call(&node->background, op, &command, timeout_ms, &answer);
    op->deadline_ms = RLI_NEVER;
    *reply = NULL;
    if (outcome == RLI_UNSENT && !rli_topology_ended_by_news(op))
        return answer.status;
    if (outcome == RLI_DISCONNECTED && answer.garbled)
        return rli_fail(RLOCK_UNAVAILABLE, "the server at %s sent %s", node->address.text, answer.garbled);
    if (outcome != RLI_ANSWERED)
        return rli_fail(RLOCK_UNAVAILABLE, "the server at %s does not answer", node->address.text);
    *reply = answer.reply;
    return RLOCK_OK;
}

/* How long a node that did not answer is avoided. */
#define MUTE_MS 5000

void rli_topology_note_answer(rli_node *node, rlock_status status)
{
    node->mute_until_ms = status == RLOCK_UNAVAILABLE ? rli_after_ms(MUTE_MS) : 0;
}

bool rli_topology_is_mute(const rli_node *node)
{
    return rli_now_ms() < node->mute_until_ms;
}

rlock_status rli_topology_keeps_changing(const rli_node *node)
{
    return rli_fail(RLOCK_UNAVAILABLE, "%s tells of another failover each time that it is asked", node->address.text);
}

rlock_status rli_topology_ask_role(rli_topology *topology, rli_operation *op, rli_node *node, bool *master)
{
    redisReply *reply;
    rlock_status status = rli_topology_ask(topology, op, node, (const char *const[]){"INFO", "replication", NULL},
                                           &reply);
    if (status != RLOCK_OK)
        return status;
    if (reply->type == REDIS_REPLY_STRING) {
        *master = strstr(reply->str, "role:master");
        atomic_store(&node->replicas, rli_replica_ack_online(reply->str));
    } else {
        status = rli_fail(RLOCK_SERVER,
                          "the server at %s does not say whether it is a master: %.150s; the user needs "
                          "the right to INFO",
                          node->address.text, reply->str ? reply->str : "");
    }
    freeReplyObject(reply);
    return status;
}
