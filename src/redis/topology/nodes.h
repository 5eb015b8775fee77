/* Nodes: which servers are known now. One that is neither configured, nor named by those that are believed, nor in use for
 * keys, is given up: it is asked nothing more and told no password; its connections, threads and descriptors end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NODES_H
#define RLI_NODES_H

#include "redis/node.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list of nodes, which only grows and may be read without a mutex. A node that was given up stays in it, as memory for
 * another: that is made of it once nobody holds it any more (rli_node_hold). So a pointer to a node, or to a pipeline of one,
 * is always one to a node or a pipeline, and whoever holds the node knows that its address does not change.
 * A node is held for the first time in one of two ways: by a thread that has the topology's mutex, while the node is in
 * service; or by one that found it as the owner of a slot, and finds it there still after it counted itself among
 * its users (rli_topology_hold). An owner is in service: it is given up, under the mutex, only when it owns nothing. And
 * a node with users is not made into another, so neither way can lead to one that is just being made. */
typedef struct rli_nodes {
    const rli_settings *settings;
    const _Atomic rli_pubsub_mode *pubsub_mode;
    const atomic_bool *closed; /* of the client */
    rli_node *_Atomic first;
    unsigned naming; /* how often servers have named others; a node knows by which naming it was last */
} rli_nodes;

/* Servers in service at a time. The largest cluster that Redis is meant for has a thousand. */
#define RLI_NODES_MOST 1024
/* Of these, such as were named by a redirect alone. */
#define RLI_NODES_REDIRECTED 64

void rli_nodes_init(rli_nodes *nodes, const rli_settings *settings, const _Atomic rli_pubsub_mode *pubsub_mode,
                    const atomic_bool *closed);

/* The next node in service; the first one after NULL; NULL: there are no more. */
rli_node *rli_nodes_next(const rli_nodes *nodes, const rli_node *after);
/* The next of all, whether in service or not. */
rli_node *rli_nodes_next_of_all(const rli_nodes *nodes, const rli_node *after);

/* --- with the topology's mutex held --- */

/* Whether that may be the address of a server; *host is any text that a server sent. */
bool rli_nodes_may_be_at(const char *host, size_t length, int port);
/* Finds the node there, or puts one in service. `like`: whose user and password are used there, too; NULL: nobody's.
 * RLOCK_OK; RLOCK_SERVER: it is no address, or one too many; RLOCK_NO_MEMORY. */
rlock_status rli_nodes_meet(rli_nodes *nodes, const char *host, size_t length, int port, const rli_address *like,
                            rli_node **node);
/* The same for an address that a redirect names, and holds the node: it is needed until then, whoever names it. Of such as
 * nobody else names there are only so many. */
rlock_status rli_nodes_meet_redirected(rli_nodes *nodes, const char *host, size_t length, int port,
                                       const rli_address *like, int64_t until_ms, rli_node **node);
/* Takes a node out of service. It is held until rli_nodes_end, which is called without the mutex. */
void rli_nodes_give_up(rli_node *node);
void rli_nodes_end(rli_node *node);

/* --- what servers name --- */

/* A new naming: from here on those that it does not name are gone. */
void rli_nodes_begin_naming(rli_nodes *nodes);
void rli_nodes_name(const rli_nodes *nodes, rli_node *node);
/* Whether the latest naming has it. */
bool rli_nodes_is_named(const rli_nodes *nodes, const rli_node *node);
/* Whether it has, or the configuration does: whether it may be asked who serves what. */
bool rli_nodes_is_current(const rli_nodes *nodes, const rli_node *node);

#endif
