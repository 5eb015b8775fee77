/* A cluster's map: who serves which slots, as one of its nodes tells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/cluster_map.h"

#include "error.h"
#include "redis/topology/slot.h"

#include <stdlib.h>
#include <string.h>

/* So many replicas of a master may be asked who serves what; the others are only counted. */
#define REPLICAS_MOST 16

/* --- CLUSTER SLOTS: [first, last, master, replica…], and each server is [host, port, id…] --- */

static bool is_server(const redisReply *server)
{
    return server->type == REDIS_REPLY_ARRAY && server->elements >= 2 &&
           server->element[1]->type == REDIS_REPLY_INTEGER;
}

static bool is_range(const redisReply *range)
{
    return range->type == REDIS_REPLY_ARRAY && range->elements >= 3 && range->element[0]->type == REDIS_REPLY_INTEGER &&
           range->element[1]->type == REDIS_REPLY_INTEGER && range->element[0]->integer >= 0 &&
           range->element[0]->integer <= range->element[1]->integer && range->element[1]->integer < RLI_SLOTS &&
           is_server(range->element[2]);
}

static bool is_map(const redisReply *map)
{
    bool is = map->elements <= RLI_SLOTS;
    for (size_t i = 0; is && i < map->elements; i++)
        is = is_range(map->element[i]);
    return is;
}

rlock_status rli_cluster_map_ask(rli_topology *topology, rli_caller *caller, rli_node *from, redisReply **map)
{
    const char *at = from->address.text;
    rlock_status status =
        rli_topology_ask(topology, caller, from, (const char *const[]){"CLUSTER", "SLOTS", NULL}, map);
    if (status != RLOCK_OK)
        return status;
    if ((*map)->type == REDIS_REPLY_ERROR)
        status = rli_fail(RLOCK_SERVER, "%s refused CLUSTER SLOTS: %.150s%s", at, (*map)->str,
                          strstr((*map)->str, "cluster support disabled") ? "; it is no cluster: use a redis:// URL" : "");
    else if ((*map)->type != REDIS_REPLY_ARRAY || (*map)->elements == 0)
        status = rli_fail(RLOCK_UNAVAILABLE, "%s knows of no node that serves anything", at);
    else if (!is_map(*map))
        status = rli_fail(RLOCK_SERVER, "%s answered CLUSTER SLOTS with something else", at);
    if (status != RLOCK_OK)
        freeReplyObject(*map);
    return status;
}

/* --- its servers --- */

/* RLOCK_OK: *node; NULL: what it is called is no address, as of one that speaks TLS alone to a client without. */
static rlock_status meet(rli_topology *topology, const rli_node *from, const redisReply *server, rli_node **node)
{
    const char *host = server->element[0]->str ? server->element[0]->str : "";
    long long port = server->element[1]->integer;
    *node = NULL;
    if (strcmp(host, "?") == 0) /* it does not know its own name */
        host = "";
    if (port < 1 || port > 65535 || (*host && !rli_nodes_may_be_at(host, strlen(host), (int)port)))
        return RLOCK_OK;
    return rli_topology_meet(topology, &topology->nodes, host, strlen(host), (int)port, &from->address, node);
}

/* The master of each range; all of them before anything changes. */
static rlock_status meet_masters(rli_topology *topology, const rli_node *from, const redisReply *map,
                                 rli_node *masters[])
{
    rlock_status status = RLOCK_OK;
    for (size_t i = 0; i < map->elements && status == RLOCK_OK; i++)
        status = meet(topology, from, map->element[i]->element[2], &masters[i]);
    return status;
}

static void name_masters(rli_topology *topology, rli_node *const masters[], size_t count)
{
    rli_topology_begin_naming(topology, &topology->nodes);
    for (size_t i = 0; i < count; i++) {
        if (!masters[i])
            continue;
        rli_topology_name(topology, &topology->nodes, masters[i]);
        masters[i]->replica = false;
    }
}

/* They tell the map when no master does. */
static void name_replicas(rli_topology *topology, const rli_node *from, const redisReply *range)
{
    for (size_t i = 3; i < range->elements && i < 3 + REPLICAS_MOST; i++) {
        rli_node *node = NULL;
        if (!is_server(range->element[i]) || meet(topology, from, range->element[i], &node) != RLOCK_OK)
            return; /* there are too many */
        if (!node || rli_nodes_is_named(&topology->nodes, node))
            continue;
        rli_topology_name(topology, &topology->nodes, node);
        node->replica = true;
    }
}

/* --- its slots --- */

static void serve(rli_topology *topology, const redisReply *map, rli_node *const masters[], bool served[])
{
    /* They come in no order: first who serves something, then what is left. */
    for (size_t i = 0; i < map->elements; i++) {
        const redisReply *range = map->element[i];
        unsigned first = (unsigned)range->element[0]->integer, last = (unsigned)range->element[1]->integer;
        if (!masters[i])
            continue;
        atomic_store(&masters[i]->replicas, (int)(range->elements - 3));
        rli_topology_serve(topology, first, last, masters[i]);
        memset(served + first, true, last - first + 1);
    }
    for (unsigned slot = 0; slot < RLI_SLOTS; slot++) {
        if (!served[slot])
            rli_topology_serve(topology, slot, slot, NULL);
    }
}

rlock_status rli_cluster_map_take(rli_topology *topology, rli_node *from, const redisReply *map)
{
    rli_node **masters = calloc(map->elements, sizeof *masters);
    bool *served = calloc(RLI_SLOTS, sizeof *served);
    rlock_status status = masters && served ? meet_masters(topology, from, map, masters)
                                            : rli_fail(RLOCK_NO_MEMORY, "out of memory for the cluster's map");
    if (status == RLOCK_OK) {
        name_masters(topology, masters, map->elements);
        for (size_t i = 0; i < map->elements; i++)
            name_replicas(topology, from, map->element[i]);
        serve(topology, map, masters, served);
    }
    free(masters);
    free(served);
    return status;
}
