/* Discovery in a cluster: its nodes know which of them serves which slots. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/cluster_map.h"
#include "redis/topology/cluster_pubsub_mode.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what a node says --- */

/* A node's answer. */
typedef struct word {
    /* Raised by each failover: a node with a lower epoch than was known before has missed one; 0: it did not tell. */
    uint64_t epoch;
    bool whole; /* it reaches most of the masters, or did so until a moment ago, or did not tell */
    redisReply *map;
} word;

static uint64_t number_after(const char *info, const char *name)
{
    const char *at = strstr(info, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static rlock_status ask_condition(rli_topology *topology, rli_operation *op, rli_node *node, word *said)
{
    redisReply *info;
    rlock_status status = rli_topology_ask(topology, op, node, (const char *const[]){"CLUSTER", "INFO", NULL}, &info);
    *said = (word){.whole = true};
    if (status == RLOCK_OK && info->type == REDIS_REPLY_STRING)
        *said = (word){number_after(info->str, "cluster_current_epoch:"), strstr(info->str, "cluster_state:ok"), NULL};
    if (info)
        freeReplyObject(info);
    return status;
}

/* Asks for the map, and for the condition after it. RLOCK_OK: *then, with the map, which the caller frees. */
static rlock_status ask_map(rli_topology *topology, rli_operation *op, rli_node *node, word *then)
{
    redisReply *map;
    rlock_status status = rli_cluster_map_ask(topology, op, node, &map);
    if (status != RLOCK_OK)
        return status;
    status = ask_condition(topology, op, node, then);
    then->map = map;
    if (status != RLOCK_OK)
        freeReplyObject(map);
    return status;
}

/* Asks a node. RLOCK_OK: *said; the caller frees said->map. The epoch is asked for before and after the map: one that
 * is newer than its epoch would be given up for the former one, and one that is older would be believed. If a failover
 * comes between, the node is asked again: it knows what others may not know yet. */
static rlock_status ask(rli_topology *topology, rli_operation *op, rli_node *node, word *said)
{
    word before;
    rlock_status status = ask_condition(topology, op, node, &before);
    for (int asked = 0; status == RLOCK_OK && asked < RLI_TOPOLOGY_ASKED_MOST; asked++) {
        status = ask_map(topology, op, node, said);
        if (status != RLOCK_OK || said->epoch == before.epoch)
            return status;
        freeReplyObject(said->map);
        before = *said;
    }
    return status == RLOCK_OK ? rli_topology_keeps_changing(node) : status;
}

/* --- which nodes to ask --- */

/* The order in which nodes are asked. A node that is neither in the latest map nor configured is never asked. A
 * configured address may belong to another cluster by now, so it is asked only if no node of the map answers, or at
 * first. */
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

/* --- which answers to believe --- */

/* The results of one round so far. */
typedef struct survey {
    rlock_status trouble;
    char why[300];
    /* how many nodes were asked; how many of these are whole, but in another cluster or behind a failover */
    int asked, outside;
    rli_node *outsider; /* the first of the latter; NULL: none */
    word said;          /* the outsider's answer */
} survey;

static rlock_status believe(rli_topology *topology, rli_node *node, const word *said)
{
    rlock_status status = rli_cluster_map_take(topology, node, said->map);
    if (status == RLOCK_OK) {
        topology->epoch = said->epoch;
        topology->asked = node;
    }
    return status;
}

/* Judges whether to believe a node. Do not believe one that has missed a failover, nor one of another cluster (its
 * address may have belonged to a node that died), unless no other node is left to believe. */
static rlock_status check(const rli_topology *topology, const rli_node *node, const word *said)
{
    if (said->epoch && said->epoch < topology->epoch)
        return rli_fail(RLOCK_UNAVAILABLE, "%s is cut off from the rest of the cluster", node->address.text);
    if (!rli_cluster_map_is_kin(topology, said->map))
        return rli_fail(RLOCK_UNAVAILABLE, "%s is a node of a different cluster than before", node->address.text);
    return RLOCK_OK;
}

/* Remembers an answer that is not believed. Takes over said->map. */
static void note_outsider(survey *found, rli_node *node, const word *said)
{
    found->outside += said->whole;
    if (!said->whole || found->outsider) {
        freeReplyObject(said->map);
        return;
    }
    found->outsider = node;
    found->said = *said;
}

static void note_trouble(survey *found, rlock_status status)
{
    /* A server's refusal tells more than another server's silence. */
    if (status != RLOCK_UNAVAILABLE || found->trouble == RLOCK_UNAVAILABLE)
        snprintf(found->why, sizeof found->why, "%.299s", rlock_last_error());
    if (status != RLOCK_UNAVAILABLE)
        found->trouble = status;
}

/* Asks one node. True: its map is believed and taken over. */
static bool ask_one(rli_topology *topology, rli_operation *op, rli_node *node, survey *found)
{
    word said;
    node->look = topology->looks;
    found->asked++;
    rlock_status status = ask(topology, op, node, &said);
    rli_topology_note_answer(node, status);
    if (status != RLOCK_OK) {
        note_trouble(found, status);
        return false;
    }
    status = check(topology, node, &said);
    if (status != RLOCK_OK) {
        note_trouble(found, status);
        note_outsider(found, node, &said);
        return false;
    }
    if (!said.epoch)
        said.epoch = topology->epoch;
    status = rli_cluster_pubsub_mode_learn(topology, op, node);
    rli_topology_note_answer(node, status);
    if (status == RLOCK_OK)
        status = believe(topology, node, &said);
    freeReplyObject(said.map);
    if (status != RLOCK_OK)
        note_trouble(found, status);
    return status == RLOCK_OK;
}

/* Asks the nodes of one standing until one is believed. `mute`: all that were not asked yet, else not those that did
 * not answer lately.
 * Each round starts with another node, so that one wrong node is not asked first every time. */
static bool ask_those(rli_topology *topology, rli_operation *op, standing whom, bool mute, survey *found)
{
    rli_node *start = after(topology, topology->asked), *node = start;
    do {
        if (standing_of(topology, node) == whom && (mute || !rli_topology_is_mute(node)) &&
            node->look != topology->looks && ask_one(topology, op, node, found))
            return true;
        node = after(topology, node);
    } while (node != start);
    return false;
}

static bool ask_around(rli_topology *topology, rli_operation *op, survey *found)
{
    for (int mute = 0; mute < 2; mute++) {
        for (standing whom = MASTER; whom < STANDINGS; whom++) {
            if (ask_those(topology, op, whom, mute, found))
                return true;
        }
    }
    return false;
}

/* Whether the nodes that are not believed are the cluster now, because it was set up anew. That is so if most of the
 * nodes say it, or if no former node has answered for long. */
static bool is_made_anew(rli_topology *topology, const survey *found)
{
    return found->outsider && (rli_topology_disbelieved_for_long(topology) || 2 * found->outside > found->asked);
}

static rlock_status look(rli_topology *topology, rli_operation *op)
{
    bool first = !topology->asked;
    rlock_status status = first ? rli_topology_meet_all_configured(topology, &topology->nodes) : RLOCK_OK;
    if (status != RLOCK_OK)
        return status;
    survey found = {.trouble = RLOCK_UNAVAILABLE};
    bool believed = ask_around(topology, op, &found);
    if (!believed && is_made_anew(topology, &found))
        believed = believe(topology, found.outsider, &found.said) == RLOCK_OK;
    if (found.outsider)
        freeReplyObject(found.said.map);
    if (!believed)
        return rli_fail(found.trouble,
                        found.trouble == RLOCK_UNAVAILABLE ? "no node of the cluster answered CLUSTER SLOTS: %s" : "%s",
                        found.why);
    rli_cluster_pubsub_mode_decide(topology);
    return RLOCK_OK;
}

static int64_t interval_ms(const rli_settings *settings)
{
    return settings->scan_interval_ms;
}

const rli_discovery rli_discovery_cluster = {.look = look, .interval_ms = interval_ms};
