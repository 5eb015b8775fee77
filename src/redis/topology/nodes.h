/* Nodes: the servers that are known now.
 *
 * A node that is neither configured, nor named by a server that is believed, nor in use for keys is taken out of
 * service: no more requests and no password are sent to it, and its connections, threads and descriptors end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NODES_H
#define RLI_NODES_H

#include "redis/node.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list of nodes. It only grows, and may be read without a mutex. A node that was taken out of service stays in the
 * list; its memory becomes another node once it has no references (rli_node_ref). So a pointer to a node or to one of
 * its pipelines always stays valid, and while a thread holds a reference, the node's address does not change.
 *
 * There are two ways to take the first reference safely:
 * - with the topology's mutex held, while the node is in service;
 * - without the mutex, for a node found as the owner of a slot, if it is still the owner after the reference was taken
 *   (rli_topology_ref_server).
 *
 * Owners are always in service, because a node is taken out of service, under the mutex, only when it owns nothing. A
 * node with references does not become another node. So neither way leads to a node that is just being reused. */
typedef struct rli_nodes {
    const rli_settings *settings;
    const _Atomic rli_pubsub_mode *pubsub_mode;
    const atomic_bool *closed; /* the client is closed */
    rli_ear *ear;
    rli_node *_Atomic first;
    /* Counts the times that a server named others. rli_node.naming has the value of the latest one that included the
     * node. */
    unsigned naming;
} rli_nodes;

/* The most servers in service. The largest cluster that Redis is designed for has a thousand nodes. */
#define RLI_NODES_MOST 1024
/* The most of these that are known only from a redirect. */
#define RLI_NODES_REDIRECTED 64

void rli_nodes_init(rli_nodes *nodes, const rli_settings *settings, const _Atomic rli_pubsub_mode *pubsub_mode,
                    const atomic_bool *closed, rli_ear *ear);

/* The next node in service. Start with NULL; NULL at the end. */
rli_node *rli_nodes_next(const rli_nodes *nodes, const rli_node *after);
/* Likewise for all nodes, in service or not. */
rli_node *rli_nodes_next_of_all(const rli_nodes *nodes, const rli_node *after);

/* --- with the topology's mutex held --- */

/* Whether this can be the address of a server. `host` may be any text that a server sent. Needs no mutex. */
bool rli_nodes_may_be_at(const char *host, size_t length, int port);
/* Finds the node at an address, or puts one in service. `like`: its user and password are used there, too; NULL: none.
 * RLOCK_OK; RLOCK_SERVER: too many servers; RLOCK_NO_MEMORY. */
rlock_status rli_nodes_meet(rli_nodes *nodes, const char *host, size_t length, int port, const rli_address *like,
                            rli_node **node);
/* The same for the address in a redirect. The node stays in service until `until_ms`, even if no server names it, and
 * *node has a reference. At most RLI_NODES_REDIRECTED nodes are known only in this way. */
rlock_status rli_nodes_meet_redirected(rli_nodes *nodes, const char *host, size_t length, int port,
                                       const rli_address *like, int64_t until_ms, rli_node **node);
/* Takes a node out of service, and a reference to it. Follow with rli_nodes_end, without the mutex. */
void rli_nodes_give_up(rli_node *node);
void rli_nodes_end(rli_node *node);

/* --- which nodes the servers name --- */

/* Begins a new list of named nodes; those not added by rli_nodes_name are no longer named. */
void rli_nodes_begin_naming(rli_nodes *nodes);
void rli_nodes_name(const rli_nodes *nodes, rli_node *node);
/* Whether the latest list includes the node. */
bool rli_nodes_is_named(const rli_nodes *nodes, const rli_node *node);
/* Whether the node is named or configured: only such nodes are asked for the topology. */
bool rli_nodes_is_current(const rli_nodes *nodes, const rli_node *node);

#endif
