/* Nodes: the servers that are known now. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/nodes.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

#define HOST_MOST 255 /* maximum length of a host name; RFC 1035 */

void rli_nodes_init(rli_nodes *nodes, const rli_settings *settings, const _Atomic rli_pubsub_mode *pubsub_mode,
                    const atomic_bool *closed, rli_ear *ear)
{
    *nodes = (rli_nodes){.settings = settings, .pubsub_mode = pubsub_mode, .closed = closed, .ear = ear};
}

rli_node *rli_nodes_next_of_all(const rli_nodes *nodes, const rli_node *after)
{
    return atomic_load(after ? &after->next : &nodes->first);
}

rli_node *rli_nodes_next(const rli_nodes *nodes, const rli_node *after)
{
    rli_node *node = rli_nodes_next_of_all(nodes, after);
    while (node && !atomic_load(&node->in_service))
        node = rli_nodes_next_of_all(nodes, node);
    return node;
}

/* --- addresses --- */

bool rli_nodes_may_be_at(const char *host, size_t length, int port)
{
    bool may = length > 0 && length <= HOST_MOST && port > 0 && port <= 65535;
    for (size_t i = 0; may && i < length; i++)
        may = host[i] > ' ' && host[i] <= '~';
    return may;
}

static bool is_at(const rli_node *node, const char *host, size_t length, int port)
{
    const rli_address *address = &node->address;
    return address->host && address->port == port && strlen(address->host) == length &&
           memcmp(address->host, host, length) == 0;
}

static rlock_status copy_address(rli_address *to, const char *host, size_t length, int port, const rli_address *like)
{
    static const rli_address none = {0};
    if (!like)
        like = &none;
    bool same = like->host && strlen(like->host) == length && memcmp(like->host, host, length) == 0;
    *to = (rli_address){.port = port, .alone = same && like->alone, .sentinel = like->sentinel};
    rlock_status status = rli_settings_copy(&to->host, host, length);
    if (status == RLOCK_OK)
        status = rli_settings_copy_text(&to->username, like->username);
    if (status == RLOCK_OK)
        status = rli_settings_copy_text(&to->password, like->password);
    if (status == RLOCK_OK)
        status = rli_settings_copy_text(&to->socket_path, like->socket_path);
    if (status != RLOCK_OK)
        rli_address_free(to);
    else if (like->socket_path)
        snprintf(to->text, sizeof to->text, "%s", like->text);
    else
        snprintf(to->text, sizeof to->text, "%.120s:%d", to->host, port);
    return status;
}

/* --- in service, and out of it --- */

static rli_node *find(const rli_nodes *nodes, const char *host, size_t length, int port)
{
    rli_node *node = rli_nodes_next(nodes, NULL);
    while (node && !is_at(node, host, length, port))
        node = rli_nodes_next(nodes, node);
    return node;
}

static size_t count(const rli_nodes *nodes)
{
    size_t number = 0;
    for (const rli_node *node = NULL; (node = rli_nodes_next(nodes, node));)
        number++;
    return number;
}

/* The number of nodes that are known only from a redirect. */
static size_t count_redirected(const rli_nodes *nodes)
{
    size_t number = 0;
    for (const rli_node *node = NULL; (node = rli_nodes_next(nodes, node));)
        number += node->needed_until_ms && !rli_nodes_is_current(nodes, node);
    return number;
}

/* A node out of service without references; NULL: there is none. */
static rli_node *find_unused(const rli_nodes *nodes)
{
    rli_node *node = rli_nodes_next_of_all(nodes, NULL);
    while (node && (atomic_load(&node->in_service) || atomic_load(&node->users) > 0))
        node = rli_nodes_next_of_all(nodes, node);
    return node;
}

static rli_node *make(rli_nodes *nodes, rli_address *address)
{
    rli_node *node = rli_node_make(nodes->settings, address, nodes->pubsub_mode, nodes->closed, nodes->ear);
    if (!node)
        return NULL;
    rli_node *_Atomic *end = &nodes->first;
    for (rli_node *last; (last = atomic_load(end));)
        end = &last->next;
    atomic_store(end, node);
    return node;
}

static rlock_status put_in_service(rli_nodes *nodes, const char *host, size_t length, int port, const rli_address *like,
                                   rli_node **node)
{
    rli_address address;
    if (count(nodes) >= RLI_NODES_MOST)
        return rli_fail(RLOCK_SERVER, "the servers report more than %d others", RLI_NODES_MOST);
    rlock_status status = copy_address(&address, host, length, port, like);
    if (status != RLOCK_OK)
        return status;
    rli_node *fresh = find_unused(nodes);
    if (fresh)
        rli_node_revive(fresh, &address);
    else if (!(fresh = make(nodes, &address)))
        return RLOCK_NO_MEMORY;
    atomic_store(&fresh->in_service, true);
    if (atomic_load(nodes->closed))
        rli_node_close(fresh); /* the closing thread may have passed through the list before */
    *node = fresh;
    return RLOCK_OK;
}

rlock_status rli_nodes_meet(rli_nodes *nodes, const char *host, size_t length, int port, const rli_address *like,
                            rli_node **node)
{
    rli_nat_map(&nodes->settings->nat, &host, &length, &port);
    rli_node *found = find(nodes, host, length, port);
    if (!found)
        return put_in_service(nodes, host, length, port, like, node);
    *node = found;
    return RLOCK_OK;
}

rlock_status rli_nodes_meet_redirected(rli_nodes *nodes, const char *host, size_t length, int port,
                                       const rli_address *like, int64_t until_ms, rli_node **node)
{
    rli_nat_map(&nodes->settings->nat, &host, &length, &port);
    rli_node *found = find(nodes, host, length, port);
    rlock_status status = RLOCK_OK;
    if (!found && count_redirected(nodes) >= RLI_NODES_REDIRECTED)
        status = rli_fail(RLOCK_SERVER, "redirected to more than %d servers that are not in the cluster's map",
                          RLI_NODES_REDIRECTED);
    else if (!found)
        status = put_in_service(nodes, host, length, port, like, &found);
    if (status != RLOCK_OK)
        return status;
    found->needed_until_ms = until_ms;
    rli_node_ref(found);
    *node = found;
    return RLOCK_OK;
}

void rli_nodes_give_up(rli_node *node)
{
    rli_node_ref(node);
    atomic_store(&node->in_service, false);
}

void rli_nodes_end(rli_node *node)
{
    rli_node_retire(node);
    rli_node_unref(node);
}

/* --- which nodes the servers name --- */

void rli_nodes_begin_naming(rli_nodes *nodes)
{
    if (++nodes->naming == 0) /* 0 means never named */
        nodes->naming++;
}

void rli_nodes_name(const rli_nodes *nodes, rli_node *node)
{
    node->naming = nodes->naming;
}

bool rli_nodes_is_named(const rli_nodes *nodes, const rli_node *node)
{
    return node->naming != 0 && node->naming == nodes->naming;
}

bool rli_nodes_is_current(const rli_nodes *nodes, const rli_node *node)
{
    return node->configured || rli_nodes_is_named(nodes, node);
}
