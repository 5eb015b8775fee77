/* The pub/sub mode in a cluster: whether messages are sent by SPUBLISH. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/cluster_pubsub_mode.h"

#include "base/error.h"

#include <string.h>

static rlock_status hear(rli_node *node, const redisReply *reply)
{
    bool knows_not = reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "ERR ", 4) == 0;
    if (reply->type != REDIS_REPLY_ERROR || knows_not) {
        node->spublish = knows_not ? RLI_SPUBLISH_UNKNOWN : RLI_SPUBLISH_KNOWN;
        return RLOCK_OK;
    }
    if (strncmp(reply->str, "NOPERM", 6) == 0)
        return rli_fail(
            RLOCK_SERVER,
            "%s does not let the user ask whether it knows sharded messages: give it the right to "
            "pubsub|shardnumsub, or set shardedSubscriptionMode to the value that all programs with these locks use, "
            "ON (as Redisson does with Redis 7.0 and later) or OFF: %.120s",
            node->address.text, reply->str);
    return rli_fail(RLOCK_UNAVAILABLE, "%s does not tell whether it knows sharded messages: %.200s", node->address.text,
                    reply->str);
}

rlock_status rli_cluster_pubsub_mode_learn(rli_topology *topology, rli_operation *op, rli_node *node)
{
    redisReply *reply;
    if (topology->settings->sharding != RLI_SHARDING_AUTO)
        return RLOCK_OK;
    rlock_status status = rli_topology_ask(topology, op, node, (const char *const[]){"PUBSUB", "SHARDNUMSUB", NULL},
                                           &reply);
    if (status == RLOCK_OK)
        status = hear(node, reply);
    if (reply)
        freeReplyObject(reply);
    return topology->asked ? RLOCK_OK : status; /* later the mode is known, and answers only confirm it */
}

/* Sharded if all masters know SPUBLISH, scattered if one is known not to. While some have not been asked, the mode
 * stays as it is; at first, it is the one of the node that was asked. */
static rli_pubsub_mode choose(const rli_topology *topology, rli_pubsub_mode before)
{
    bool all = true, none = false;
    for (const rli_node *node = NULL; (node = rli_nodes_next(&topology->nodes, node));) {
        bool is_master = rli_nodes_is_named(&topology->nodes, node) && !node->replica;
        all = all && (!is_master || node->spublish == RLI_SPUBLISH_KNOWN);
        none = none || (is_master && node->spublish == RLI_SPUBLISH_UNKNOWN);
    }
    return all ? RLI_SHARDED : none ? RLI_SCATTERED : before;
}

/* Changes the mode. The subscribers reconnect and subscribe in the new way, and their listeners check again. */
static void change(rli_topology *topology, rli_pubsub_mode pubsub_mode)
{
    atomic_store(&topology->pubsub_mode, pubsub_mode);
    for (rli_node *node = NULL; (node = rli_nodes_next(&topology->nodes, node));)
        rli_subscriber_drop(&node->subscriber);
}

void rli_cluster_pubsub_mode_decide(rli_topology *topology)
{
    rli_sharding wanted = topology->settings->sharding;
    rli_pubsub_mode before = atomic_load(&topology->pubsub_mode), now = before;
    if (!topology->pubsub_mode_is_chosen)
        now = wanted == RLI_SHARDING_ON || topology->asked->spublish == RLI_SPUBLISH_KNOWN ? RLI_SHARDED
                                                                                           : RLI_SCATTERED;
    topology->pubsub_mode_is_chosen = true;
    if (wanted == RLI_SHARDING_AUTO)
        now = choose(topology, now);
    if (now != before)
        change(topology, now);
}
