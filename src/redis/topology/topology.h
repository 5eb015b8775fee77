/* The topology: which server serves a key now, and what a failover, a moved slot or a new address of a
 * name changes about that. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TOPOLOGY_H
#define RLI_TOPOLOGY_H

#include "base/operation.h"
#include "redis/script.h"
#include "redis/topology/nodes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rli_topology rli_topology;

/* How one kind of topology finds out who serves what (single.c, sentinel.c, cluster.c, replicated.c). */
typedef struct rli_discovery {
    /* Asks around once and says what it found by rli_topology_serve. RLOCK_OK, or why it found nothing. */
    rlock_status (*look)(rli_topology *topology, rli_operation *op);
    /* How often that is due while nothing gives reason to, ms; 0: never. */
    int64_t (*interval_ms)(const rli_settings *settings);
    bool (*has_heard)(rli_topology *topology); /* NULL: nobody tells it; else whether somebody has */
    void (*end)(rli_topology *topology);       /* NULL: has nothing to free */
} rli_discovery;

extern const rli_discovery rli_discovery_single, rli_discovery_sentinel, rli_discovery_cluster,
    rli_discovery_replicated;

struct rli_topology {
    rli_gate *gate; /* of the client */
    const rli_settings *settings;
    const rli_discovery *discovery;
    _Atomic rli_pubsub_mode pubsub_mode; /* how messages reach those who wait; in a cluster it may change */
    size_t slot_count;                   /* 1; in a cluster RLI_SLOTS */
    _Atomic(rli_node *) *owners;         /* by slot; NULL: nobody serves it */
    atomic_uint version;                 /* counts the changes of owners */
    _Atomic int64_t ahead_ms;            /* when a key was last found to have gone ahead of its slot */

    pthread_mutex_t mutex; /* guards the rest; lists may be read without it (nodes.h) */
    rli_nodes nodes;       /* the servers */
    rli_nodes sentinels;
    rli_turn *waiting; /* calls that wait for a change */
    bool changed;      /* since the last announcement */
    bool wanted;       /* somebody has reason to think that it has changed */
    pthread_t thread;
    bool running, stopping;
    rli_parker parker; /* of the thread */

    /* of the discovery alone */
    unsigned looks;               /* how many there were, this one included */
    int64_t looked_ms, pinged_ms; /* when it did so last */
    bool troubled;                /* it looks because something is wrong */
    uint64_t epoch;               /* the highest that anybody knew: who knows less is cut off */
    int64_t doubted_ms;           /* since when only such answer as are not believed; 0: others do */
    rli_node *asked;              /* cluster.c: who answered last */
    struct rli_host_name *name;   /* host_name.c: what a node's name stood for */
    bool spread_is_chosen;        /* cluster_pubsub_mode.c */
    struct heard *heard;          /* sentinel.c: whose messages it hears */
};

void rli_topology_init(rli_topology *topology, const rli_settings *settings, rli_gate *gate);
/* Finds out for the first time, and connects. RLOCK_OK; RLOCK_UNAVAILABLE, RLOCK_SERVER, RLOCK_NO_MEMORY. */
rlock_status rli_topology_open(rli_topology *topology);
void rli_topology_close(rli_topology *topology);   /* ends all that is under way… */
void rli_topology_stop(rli_topology *topology);    /* …then joins its threads… */
void rli_topology_destroy(rli_topology *topology); /* …and when no call is under way, frees all */

/* --- for calls; any thread --- */

/* The slot of a key; 0 where there is but one. */
unsigned rli_topology_slot(const rli_topology *topology, const char *key, size_t length);
/* The node that serves a slot now, held: to be released. NULL: none is known to. */
rli_node *rli_topology_hold(const rli_topology *topology, unsigned slot);
/* Whether what is written there can be confirmed by replicas. */
bool rli_topology_has_replicas(const rli_topology *topology, unsigned slot);
/* `from` said that the slot is served at that address now; an empty host means its own. A node that does not serve the
 * slot is not believed: who does is to be asked. False: it is no address, or one too many, or memory. */
bool rli_topology_moved(rli_topology *topology, unsigned slot, rli_node *from, const char *host, size_t length,
                        int port);
/* `from` said that a key has gone ahead of its slot, which is still its own, to that address. *to: the node there, held;
 * NULL: `from` does not serve the slot, and is not believed. False: as above. */
bool rli_topology_gone_ahead(rli_topology *topology, unsigned slot, rli_node *from, const char *host, size_t length,
                             int port, rli_node **to);
/* Whether one was found to be so in the last second: what is let go there, those who wait do not hear. */
bool rli_topology_is_moving(const rli_topology *topology);
/* Something failed that a change would explain: has the topology looked at soon. */
void rli_topology_suspect(rli_topology *topology);
/* Reads the answers to what was posted to any node (rli_pipeline_post), those that come until `until_ms`. */
void rli_topology_collect(rli_topology *topology, int64_t until_ms);
/* Sleeps until the topology is no longer of that version, the call was ended, or `until_ms`. */
void rli_topology_await_change(rli_topology *topology, rli_operation *op, unsigned version, int64_t until_ms);

/* What was served is announced: whoever waits for a change, or for a message from a server that serves less now, looks
 * again. */
void rli_topology_announce(rli_topology *topology);

/* --- for discoveries; the topology's thread, or the one that opens the client --- */

/* Who serves a slot now; NULL: nobody. Only discoveries may look at a node that they do not hold. */
rli_node *rli_topology_owner(const rli_topology *topology, unsigned slot);
/* That node, which is in service, serves those slots from now on; NULL: nobody does. */
void rli_topology_serve(rli_topology *topology, unsigned first, unsigned last, rli_node *node);
/* One command to a node on its background connection, within a short time of the discovery's own.
 * RLOCK_OK: *reply, which may be an error, is to be freed. RLOCK_UNAVAILABLE, RLOCK_SERVER (no connection). */
rlock_status rli_topology_ask(rli_topology *topology, rli_operation *op, rli_node *node, const char *const words[],
                              redisReply **reply);
/* Notes whether a node answered a discovery at all; whether it did not lately, and is asked only when nobody else answers: a
 * machine that is gone costs a second each time. */
void rli_topology_note_answer(rli_node *node, rlock_status status);
bool rli_topology_is_mute(const rli_node *node);
/* In a look that nobody is believed in, though some answer: whether that has been so for long enough for those to be the
 * servers now. By then all holds that this client renewed at the former ones have ended. */
bool rli_topology_in_doubt_for_long(rli_topology *topology);
/* Asks a node whether it is a master, and notes how many replicas are in step with it. */
rlock_status rli_topology_ask_role(rli_topology *topology, rli_operation *op, rli_node *node, bool *master);
/* Finds the node in that list, or puts it there, that a server named: at the address that natMapper gives for this one.
 * An empty host means that of `like`, whose user and password are used there, too. As rli_nodes_meet. */
rlock_status rli_topology_meet(rli_topology *topology, rli_nodes *list, const char *host, size_t length, int port,
                               const rli_address *like, rli_node **node);
/* The same for a configured address, and for all of them. RLOCK_OK or RLOCK_NO_MEMORY. */
rlock_status rli_topology_meet_configured(rli_topology *topology, rli_nodes *list, const rli_address *address,
                                          rli_node **node);
rlock_status rli_topology_meet_all_configured(rli_topology *topology, rli_nodes *list);
/* A server that is believed names those nodes, from here on, and no others: the rest is given up when the look has ended. */
void rli_topology_begin_naming(rli_topology *topology, rli_nodes *list);
void rli_topology_name(rli_topology *topology, rli_nodes *list, rli_node *node);

#endif
