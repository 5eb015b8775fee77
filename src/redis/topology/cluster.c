/* A cluster: its nodes know which of them serves which slots. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/topology.h"

#include "error.h"
#include "redis/topology/slot.h"

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

static bool is_range(const redisReply *range)
{
    return range->type == REDIS_REPLY_ARRAY && range->elements >= 3 && range->element[0]->type == REDIS_REPLY_INTEGER &&
           range->element[1]->type == REDIS_REPLY_INTEGER && range->element[0]->integer >= 0 &&
           range->element[0]->integer <= range->element[1]->integer && range->element[1]->integer < RLI_SLOTS &&
           range->element[2]->type == REDIS_REPLY_ARRAY && range->element[2]->elements >= 2 &&
           range->element[2]->element[1]->type == REDIS_REPLY_INTEGER && range->element[2]->element[1]->integer >= 0 &&
           range->element[2]->element[1]->integer <= 65535;
}

/* No slot is there twice: else a long list of long ranges would keep the topology's mutex for minutes. */
static bool is_map(const redisReply *map)
{
    int64_t slots = 0;
    for (size_t i = 0; i < map->elements; i++) {
        if (!is_range(map->element[i]))
            return false;
        slots += map->element[i]->element[1]->integer - map->element[i]->element[0]->integer + 1;
    }
    return slots <= RLI_SLOTS;
}

/* The map as one node sees it. Slots in no range are served by nobody. */
static rlock_status take_map(rli_topology *topology, rli_node *from, const redisReply *map)
{
    if (!is_map(map))
        return rli_fail(RLOCK_SERVER, "%s answered CLUSTER SLOTS with something else", from->address.text);
    /* They come in no order: first who serves something, then what is left. */
    bool *served = calloc(RLI_SLOTS, sizeof *served);
    if (!served)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the cluster's map");
    rlock_status status = RLOCK_OK;
    for (size_t i = 0; i < map->elements && status == RLOCK_OK; i++) {
        const redisReply *range = map->element[i], *master = range->element[2];
        const char *host = master->element[0]->str ? master->element[0]->str : "";
        if (strcmp(host, "?") == 0) /* it does not know its own name */
            host = "";
        rli_node *node = rli_topology_node_at(topology, from, host, strlen(host), (int)master->element[1]->integer);
        if (!node) {
            status = RLOCK_NO_MEMORY;
            break;
        }
        unsigned first = (unsigned)range->element[0]->integer, last = (unsigned)range->element[1]->integer;
        atomic_store(&node->replicas, (int)range->elements - 3);
        rli_topology_serve(topology, first, last, node);
        memset(served + first, true, last - first + 1);
    }
    for (unsigned slot = 0; slot < RLI_SLOTS && status == RLOCK_OK; slot++) {
        if (!served[slot])
            rli_topology_serve(topology, slot, slot, NULL);
    }
    free(served);
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
        status = rli_topology_ask(topology, caller, node, (const char *const[]){"CLUSTER", "SLOTS", NULL}, &map);
    if (status != RLOCK_OK)
        return status;
    if (map->type == REDIS_REPLY_ERROR)
        status = rli_fail(RLOCK_SERVER, "%s refused CLUSTER SLOTS: %.150s%s", node->address.text, map->str,
                          strstr(map->str, "cluster support disabled") ? "; it is no cluster: use a redis:// URL" : "");
    else if (map->type != REDIS_REPLY_ARRAY || map->elements == 0)
        status = rli_fail(RLOCK_UNAVAILABLE, "%s knows of no node that serves anything", node->address.text);
    else
        status = take_map(topology, node, map);
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

static rli_node *after(rli_topology *topology, rli_node *node)
{
    rli_node *next = atomic_load(&node->next);
    return next ? next : atomic_load(&topology->nodes);
}

static rlock_status look(rli_topology *topology, rli_caller *caller)
{
    bool first = !atomic_load(&topology->nodes);
    rlock_status status = first ? rli_topology_meet_configured(topology, &topology->nodes) : RLOCK_OK;
    if (status != RLOCK_OK)
        return status;
    /* Another node each time: when one is wrong, the next look hears the next. */
    rli_node *start = topology->asked ? after(topology, topology->asked) : atomic_load(&topology->nodes);
    rli_node *node = start;
    rlock_status trouble = RLOCK_UNAVAILABLE;
    char why[300] = "";
    int nodes = 0, behind = 0;
    do {
        bool is_behind;
        status = ask_node(topology, caller, node, &is_behind);
        nodes++;
        behind += is_behind;
        if (status == RLOCK_OK) {
            topology->asked = node;
            if (first)
                choose_spread(topology, caller, node);
            return RLOCK_OK;
        }
        /* What a server said tells more than that others are down. */
        if (status == RLOCK_SERVER || trouble != RLOCK_SERVER)
            snprintf(why, sizeof why, "%.299s", rlock_last_error());
        if (status == RLOCK_SERVER)
            trouble = status;
        node = after(topology, node);
    } while (node != start);
    /* They are not cut off from the others, they are the others: the cluster was made anew. */
    if (2 * behind > nodes)
        topology->epoch = 0;
    return rli_fail(trouble, trouble == RLOCK_SERVER ? "%s" : "no node of the cluster tells its slots: %s", why);
}

static int64_t interval_ms(const rli_settings *settings)
{
    return settings->scan_interval_ms;
}

const rli_scout rli_scout_cluster = {.look = look, .interval_ms = interval_ms};
