/* A cluster's map: which nodes serve which slots, as one of the nodes reports it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/cluster_map.h"

#include "base/error.h"
#include "redis/topology/slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most replicas per master that may be asked for the map; further ones are only counted. */
#define REPLICAS_MOST 16

/* --- CLUSTER SLOTS: [first, last, master, replica…], where each server is [host, port, id…] --- */

static bool is_server(const redisReply *server)
{
    return server->type == REDIS_REPLY_ARRAY && server->elements >= 2 &&
           server->element[1]->type == REDIS_REPLY_INTEGER && server->element[1]->integer >= 0 &&
           server->element[1]->integer <= 65535;
}

static bool is_range(const redisReply *range)
{
    return range->type == REDIS_REPLY_ARRAY && range->elements >= 3 && range->element[0]->type == REDIS_REPLY_INTEGER &&
           range->element[1]->type == REDIS_REPLY_INTEGER && range->element[0]->integer >= 0 &&
           range->element[0]->integer <= range->element[1]->integer && range->element[1]->integer < RLI_SLOTS &&
           is_server(range->element[2]);
}

/* Rejects maps with a total of more than RLI_SLOTS slots: otherwise a long list of long ranges would hold the
 * topology's mutex for minutes. */
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

rlock_status rli_cluster_map_ask(rli_topology *topology, rli_operation *op, rli_node *from, redisReply **map)
{
    const char *at = from->address.text;
    rlock_status status = rli_topology_ask(topology, op, from, (const char *const[]){"CLUSTER", "SLOTS", NULL}, map);
    if (status != RLOCK_OK)
        return status;
    if ((*map)->type == REDIS_REPLY_ERROR)
        status = rli_fail(RLOCK_SERVER, "%s refused CLUSTER SLOTS: %.150s%s", at, (*map)->str,
                          strstr((*map)->str, "cluster support disabled") ? "; it is not a cluster: use a redis:// URL"
                                                                          : "");
    else if ((*map)->type != REDIS_REPLY_ARRAY || (*map)->elements == 0)
        status = rli_fail(RLOCK_UNAVAILABLE, "%s knows no node that serves slots", at);
    else if (!is_map(*map))
        status = rli_fail(RLOCK_SERVER, "%s gave an unexpected answer to CLUSTER SLOTS", at);
    if (status != RLOCK_OK)
        freeReplyObject(*map);
    return status;
}

static const char *id_of(const redisReply *server)
{
    const redisReply *id = server->elements > 2 ? server->element[2] : NULL;
    return id && id->type == REDIS_REPLY_STRING && id->len <= RLI_NODE_ID ? id->str : "";
}

/* --- which cluster a map is of --- */

/* A server of the latest map. */
typedef struct member {
    const char *id;
    bool replica, found;
} member;

static int by_id(const void *one, const void *other)
{
    return strcmp(((const member *)one)->id, ((const member *)other)->id);
}

/* Lists the servers of the latest map, sorted by id. *masters: how many of them are masters. */
static size_t list_members(const rli_topology *topology, member members[], size_t *masters)
{
    size_t count = 0;
    *masters = 0;
    for (const rli_node *node = NULL; count < RLI_NODES_MOST && (node = rli_nodes_next(&topology->nodes, node));) {
        if (!*node->id || !rli_nodes_is_named(&topology->nodes, node))
            continue;
        members[count++] = (member){.id = node->id, .replica = node->replica};
        *masters += !node->replica;
    }
    qsort(members, count, sizeof *members, by_id);
    return count;
}

/* Marks the member that is this server. A former master counts even as a replica; a former replica only as a master. */
static void look_up(member members[], size_t count, const redisReply *server, bool is_master)
{
    const member wanted = {.id = id_of(server)};
    member *known = bsearch(&wanted, members, count, sizeof *members, by_id);
    if (known && (is_master || !known->replica))
        known->found = true;
}

bool rli_cluster_map_is_kin(const rli_topology *topology, const redisReply *map)
{
    size_t masters, found = 0;
    member *members = malloc(RLI_NODES_MOST * sizeof *members);
    if (!members)
        return false; /* treated as another cluster; tried again in the next round */
    size_t count = list_members(topology, members, &masters);
    for (size_t i = 0; i < map->elements; i++) {
        const redisReply *range = map->element[i];
        for (size_t j = 2; j < range->elements && j < 3 + REPLICAS_MOST; j++) {
            if (is_server(range->element[j]))
                look_up(members, count, range->element[j], j == 2);
        }
    }
    for (size_t i = 0; i < count; i++)
        found += members[i].found;
    free(members);
    return masters == 0 || 2 * found > masters;
}

/* --- its servers --- */

/* RLOCK_OK: *node. NULL there: it has no usable address, for example because it speaks only TLS and this client does
 * not. */
static rlock_status meet(rli_topology *topology, const rli_node *from, const redisReply *server, rli_node **node)
{
    const char *host = server->element[0]->str ? server->element[0]->str : "";
    int port = (int)server->element[1]->integer;
    *node = NULL;
    if (strcmp(host, "?") == 0) /* the node does not know its own name */
        host = "";
    if (port == 0 || (*host && !rli_nodes_may_be_at(host, strlen(host), port)))
        return RLOCK_OK;
    return rli_topology_meet(topology, &topology->nodes, host, strlen(host), port, &from->address, node);
}

/* Finds the masters of all ranges, before anything is changed. */
static rlock_status meet_masters(rli_topology *topology, const rli_node *from, const redisReply *map,
                                 rli_node *masters[])
{
    rlock_status status = RLOCK_OK;
    for (size_t i = 0; i < map->elements && status == RLOCK_OK; i++)
        status = meet(topology, from, map->element[i]->element[2], &masters[i]);
    return status;
}

static void name(rli_topology *topology, rli_node *node, const redisReply *server, bool replica)
{
    rli_topology_name(topology, &topology->nodes, node);
    node->replica = replica;
    snprintf(node->id, sizeof node->id, "%s", id_of(server));
}

static void name_masters(rli_topology *topology, const redisReply *map, rli_node *const masters[])
{
    rli_topology_begin_naming(topology, &topology->nodes);
    for (size_t i = 0; i < map->elements; i++) {
        if (masters[i])
            name(topology, masters[i], map->element[i]->element[2], false);
    }
}

/* Replicas are asked for the map if no master answers. */
static void name_replicas(rli_topology *topology, const rli_node *from, const redisReply *range)
{
    for (size_t i = 3; i < range->elements && i < 3 + REPLICAS_MOST; i++) {
        rli_node *node = NULL;
        if (!is_server(range->element[i]) || meet(topology, from, range->element[i], &node) != RLOCK_OK)
            return; /* too many servers */
        if (!node || rli_nodes_is_named(&topology->nodes, node))
            continue;
        name(topology, node, range->element[i], true);
    }
}

/* --- its slots --- */

static void serve(rli_topology *topology, const redisReply *map, rli_node *const masters[], bool served[])
{
    /* Ranges come in any order: first assign the served slots, then clear the rest. */
    for (size_t i = 0; i < map->elements; i++) {
        const redisReply *range = map->element[i];
        unsigned first = (unsigned)range->element[0]->integer, last = (unsigned)range->element[1]->integer;
        if (!masters[i])
            continue;
        /* Not back to none: the map may come from a node that the others have cut off. Where there was a replica, the
         * server itself is asked how many are online. */
        if (range->elements > 3)
            atomic_store(&masters[i]->replicas, (int)(range->elements - 3));
        rli_topology_set_server(topology, first, last, masters[i]);
        memset(served + first, true, last - first + 1);
    }
    for (unsigned slot = 0; slot < RLI_SLOTS; slot++) {
        if (!served[slot])
            rli_topology_set_server(topology, slot, slot, NULL);
    }
}

rlock_status rli_cluster_map_take(rli_topology *topology, rli_node *from, const redisReply *map)
{
    rli_node **masters = calloc(map->elements, sizeof *masters);
    bool *served = calloc(RLI_SLOTS, sizeof *served);
    rlock_status status = masters && served ? meet_masters(topology, from, map, masters)
                                            : rli_fail(RLOCK_NO_MEMORY, "out of memory for the cluster's map");
    if (status == RLOCK_OK) {
        name_masters(topology, map, masters);
        for (size_t i = 0; i < map->elements; i++)
            name_replicas(topology, from, map->element[i]);
        serve(topology, map, masters, served);
    }
    free(masters);
    free(served);
    return status;
}
