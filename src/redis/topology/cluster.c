/* A cluster: its nodes know which of them serves which slots. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/cluster_map.h"

#include "error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands behind `name:` in CLUSTER INFO; 0: nothing. */
static uint64_t number_after(const redisReply *info, const char *name)
{
    const char *at = info && info->type == REDIS_REPLY_STRING ? strstr(info->str, name) : NULL;
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Raised by each failover: a node that knows a lower one than was known before is cut off from the others.
 * 0: it does not tell. */
static rlock_status ask_epoch(rli_topology *topology, rli_caller *caller, rli_node *node, uint64_t *epoch)
{
    redisReply *info;
    rlock_status status =
        rli_topology_ask(topology, caller, node, (const char *const[]){"CLUSTER", "INFO", NULL}, &info);
    *epoch = number_after(info, "cluster_current_epoch:");
    if (info)
        freeReplyObject(info);
    return status;
}

/* *behind: it knows a lower epoch than somebody did before. */
static rlock_status ask_node(rli_topology *topology, rli_caller *caller, rli_node *node, bool *behind)
{
    uint64_t epoch;
    redisReply *map;
    rlock_status status = ask_epoch(topology, caller, node, &epoch);
    *behind = status == RLOCK_OK && epoch && epoch < topology->epoch;
    if (*behind)
        status = rli_fail(RLOCK_UNAVAILABLE, "%s is cut off from the rest of the cluster", node->address.text);
    if (status == RLOCK_OK)
        status = rli_cluster_map_ask(topology, caller, node, &map);
    if (status != RLOCK_OK)
        return status;
    status = rli_cluster_map_take(topology, node, map);
    freeReplyObject(map);
    if (status == RLOCK_OK && epoch > topology->epoch)
        topology->epoch = epoch;
    return status;
}

/* Redisson's shardedSubscriptionMode AUTO: by SPUBLISH where the servers know it. */
static void choose_spread(rli_topology *topology, rli_caller *caller, rli_node *node)
{
    redisReply *reply = NULL;
    bool sharded = topology->settings->sharding == RLI_SHARDING_ON;
    if (topology->settings->sharding == RLI_SHARDING_AUTO) {
        rli_topology_ask(topology, caller, node, (const char *const[]){"PUBSUB", "SHARDNUMSUB", NULL}, &reply);
        sharded = reply && reply->type != REDIS_REPLY_ERROR;
    }
    if (reply)
        freeReplyObject(reply);
    topology->spread = sharded ? RLI_SHARDED : RLI_SCATTERED;
}

/* --- whom to ask --- */

/* In that order; a node that neither the latest map has nor the configuration is never asked. A configured address may be
 * another cluster's by now: it is for the time when no node of the map answers, as at first. */
typedef enum standing { MASTER, REPLICA, CONFIGURED, STANDINGS } standing;

static standing standing_of(const rli_topology *topology, const rli_node *node)
{
    if (rli_nodes_is_named(&topology->nodes, node))
        return node->replica ? REPLICA : MASTER;
    return node->configured ? CONFIGURED : STANDINGS;
}

static rli_node *after(const rli_topology *topology, const rli_node *node)
{
    rli_node *next = rli_nodes_next(&topology->nodes, node);
    return next ? next : rli_nodes_next(&topology->nodes, NULL);
}

/* A look, and what became of it so far. */
typedef struct survey {
    rlock_status trouble;
    char why[300];
    int asked, behind;
} survey;

/* Whether it told a map that is believed. */
static bool ask_one(rli_topology *topology, rli_caller *caller, rli_node *node, survey *found)
{
    bool is_behind;
    node->look = topology->looks;
    rlock_status status = ask_node(topology, caller, node, &is_behind);
    rli_topology_note_answer(node, is_behind ? RLOCK_OK : status);
    found->asked++;
    found->behind += is_behind;
    if (status == RLOCK_OK) {
        topology->asked = node;
        return true;
    }
    /* What a server said tells more than that others are down. */
    if (status == RLOCK_SERVER || found->trouble != RLOCK_SERVER)
        snprintf(found->why, sizeof found->why, "%.299s", rlock_last_error());
    if (status == RLOCK_SERVER)
        found->trouble = status;
    return false;
}

/* Those of one standing, until one tells a map; `mute`: those that did not answer a moment ago, else the others. Another node is
 * first each time: when one is wrong, the next look hears the next. */
static bool ask_those(rli_topology *topology, rli_caller *caller, standing whom, bool mute, survey *found)
{
    rli_node *start = after(topology, topology->asked), *node = start;
    do {
        if (standing_of(topology, node) == whom && rli_topology_is_mute(node) == mute && node->look != topology->looks &&
            ask_one(topology, caller, node, found))
            return true;
        node = after(topology, node);
    } while (node != start);
    return false;
}

static bool ask_around(rli_topology *topology, rli_caller *caller, survey *found)
{
    for (int mute = 0; mute < 2; mute++) {
        for (standing whom = MASTER; whom < STANDINGS; whom++) {
            if (ask_those(topology, caller, whom, mute, found))
                return true;
        }
    }
    return false;
}

static rlock_status look(rli_topology *topology, rli_caller *caller)
{
    bool first = !topology->asked;
    rlock_status status = first ? rli_topology_meet_all_configured(topology, &topology->nodes) : RLOCK_OK;
    if (status != RLOCK_OK)
        return status;
    survey found = {.trouble = RLOCK_UNAVAILABLE};
    if (ask_around(topology, caller, &found)) {
        if (first)
            choose_spread(topology, caller, topology->asked);
        return RLOCK_OK;
    }
    /* They are not cut off from the others, they are the others: the cluster was made anew. */
    if (2 * found.behind > found.asked)
        topology->epoch = 0;
    return rli_fail(found.trouble, found.trouble == RLOCK_SERVER ? "%s" : "no node of the cluster tells its slots: %s",
                    found.why);
}

static int64_t interval_ms(const rli_settings *settings)
{
    return settings->scan_interval_ms;
}

const rli_scout rli_scout_cluster = {.look = look, .interval_ms = interval_ms};
