/* The topology: which server serves a key now, and how failovers, moved slots and new addresses of a host name change
 * that. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TOPOLOGY_H
#define RLI_TOPOLOGY_H

#include "base/allowance.h"
#include "base/operation.h"
#include "redis/connector.h"
#include "redis/script.h"
#include "redis/topology/nodes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RLI_SENTINEL_HOST 256 /* the longest host name that a sentinel says, with its end */

typedef struct rli_topology rli_topology;

/* Discovery: how one kind of topology finds out which server serves what (single.c, sentinel.c, cluster.c,
 * replicated.c). */
typedef struct rli_discovery {
    /* One round: asks the servers and reports the result by rli_topology_set_server. RLOCK_OK, or why it found
     * nothing. */
    rlock_status (*look)(rli_topology *topology, rli_operation *op);
    /* Milliseconds from one round to the next while nothing suggests an earlier one; 0: no regular rounds. */
    int64_t (*interval_ms)(const rli_settings *settings);
    /* whether a message or an answer calls for a round now; NULL: there are none */
    bool (*has_heard)(rli_topology *topology);
    void (*end)(rli_topology *topology); /* frees the discovery's own data; NULL: it has none */
} rli_discovery;

extern const rli_discovery rli_discovery_single, rli_discovery_sentinel, rli_discovery_cluster,
    rli_discovery_replicated;

/* Something that is so in each round of late. */
typedef struct rli_lasting {
    unsigned look;  /* number of the last round in which it was so; 0: it never was */
    int64_t at_ms;  /* when that round began; of the first one, when it was found */
    int64_t for_ms; /* for how long it had been so by then */
} rli_lasting;

struct rli_topology {
    rli_gate *gate; /* the client's */
    rli_ear *ear;
    const rli_settings *settings;
    const rli_discovery *discovery;
    _Atomic rli_pubsub_mode pubsub_mode; /* how messages reach waiters; may change in a cluster */
    size_t slot_count;                   /* RLI_SLOTS in a cluster, else 1 */
    /* by slot: the node that serves it, NULL if none does; read without the mutex */
    _Atomic(rli_node *) *owners;
    atomic_uint version;      /* number of announced changes of owners; 0: no server has been found yet */
    atomic_bool looked;       /* a round has ended */
    _Atomic int64_t ahead_ms; /* when an ASK redirect was last followed; 0: never */

    pthread_mutex_t mutex; /* guards the rest; the lists may be read without it (nodes.h) */
    rli_nodes nodes;       /* the servers that hold data */
    rli_nodes sentinels;
    rli_turn *waiting; /* operations that wait for a change */
    bool changed;      /* owners have changed since the last announcement */
    bool wanted;       /* there is reason to think that owners have changed */
    char trouble[256]; /* why the last round that failed did so */
    pthread_t thread;
    bool running, stopping;
    rli_parker parker; /* of the topology's thread */
    rli_connector connector;

    /* Used only by the discovery. */
    unsigned looks;               /* number of the present round */
    unsigned whole_look;          /* number of the last one before it that no news ended */
    int64_t looked_ms, pinged_ms; /* when the last round and the last pings began */
    bool troubled;                /* the present round was started because something is wrong */
    /* the highest that any server knew: a server with a lower one is cut off from the others */
    uint64_t epoch;
    rli_lasting disbelieved; /* all answers come from servers that are not believed */
    rli_lasting former;      /* sentinel.c: most sentinels name a former master */
    /* sentinel.c: where the master is that was followed last, as sentinels say it; port 0: none was */
    char master_host[RLI_SENTINEL_HOST];
    int master_port;
    rli_node *asked;            /* cluster.c: the node whose map was used last */
    struct rli_host_name *name; /* host_name.c: the addresses of a node's host name */
    bool pubsub_mode_is_chosen; /* cluster_pubsub_mode.c: pubsub_mode has been chosen once */
    struct heard *heard;        /* sentinel.c: the sentinels whose messages it receives */
    rli_allowance meetings;     /* likewise: of sentinels that it has not known */
    /* fired by their messages; NULL: none, as memory was short, or there are no sentinels */
    rlock_cancel *news;
    bool cut_short; /* news ended the last round */
    bool found;     /* a round has found the servers */
    bool patient;   /* in this round the servers may take longer to answer */
};

/* `settings`, `gate` and `ear` must live as long as the topology. */
void rli_topology_init(rli_topology *topology, const rli_settings *settings, rli_gate *gate, rli_ear *ear);
/* Runs the first discovery round, connects to one server and starts the thread; with lazyInitialization leaves the
 * round to the thread. RLOCK_OK; RLOCK_UNAVAILABLE, RLOCK_SERVER, RLOCK_NO_MEMORY. On failure, close, stop and destroy
 * it, too. */
rlock_status rli_topology_open(rli_topology *topology);
void rli_topology_close(rli_topology *topology);   /* ends all requests and joins the topology's thread */
void rli_topology_stop(rli_topology *topology);    /* after that: joins the nodes' threads */
void rli_topology_destroy(rli_topology *topology); /* after that, when no call is under way: frees all */

/* --- for calls; any thread --- */

/* The slot of a key; 0 unless in a cluster. */
unsigned rli_topology_slot(const rli_topology *topology, const char *key, size_t length);
/* The node that serves the slot now, with a reference: call rli_node_unref. NULL: none is known. */
rli_node *rli_topology_ref_server(const rli_topology *topology, unsigned slot);
/* The same for the slot of a key. */
rli_node *rli_topology_ref_server_for(const rli_topology *topology, const char *key, size_t length);
/* Takes a reference to a node of a list, which another thread may be taking out of service. False: it is out of
 * service. */
bool rli_topology_ref(rli_topology *topology, rli_node *node);
/* Sets the error of a call for whose slot no node is known; `key` NULL: it concerns all slots. Returns
 * RLOCK_UNAVAILABLE. */
rlock_status rli_topology_fail_unserved(rli_topology *topology, unsigned slot, const char *key);
/* Whether a discovery round has ended; only with lazyInitialization may an operation begin before that. */
bool rli_topology_has_looked(const rli_topology *topology);
/* Waits for that, for the end of the operation, or until `until_ms`. False: as for rli_topology_await_change. */
bool rli_topology_await_look(rli_topology *topology, rli_operation *op, int64_t until_ms);
/* Whether the node serves any slot now. */
bool rli_topology_serves_anything(const rli_topology *topology, const rli_node *node);
/* Whether replicas can acknowledge what is written there. */
bool rli_topology_has_replicas(const rli_topology *topology, unsigned slot);
/* Handles a MOVED redirect: `from` said that the slot is served at this address now; an empty host means the host of
 * `from`. If `from` does not serve the slot, it is not believed; ask the node that does. False: not a valid address,
 * too many servers, or out of memory. */
bool rli_topology_follow_moved(rli_topology *topology, unsigned slot, rli_node *from, const char *host, size_t length,
                               int port);
/* Handles an ASK redirect: `from` said that a key is already at this address, while the slot is still its own. *to:
 * the node there, with a reference; NULL: `from` does not serve the slot, so it is not believed. False: as for
 * rli_topology_follow_moved. */
bool rli_topology_follow_ask(rli_topology *topology, unsigned slot, rli_node *from, const char *host, size_t length,
                             int port, rli_node **to);
/* Whether an ASK redirect was followed within the last second. A lock released at the new node is not heard by waiters
 * that listen at the old one. */
bool rli_topology_is_migrating(const rli_topology *topology);
/* Requests a discovery round soon: something failed that a change would explain. */
void rli_topology_suspect(rli_topology *topology);
/* Reads the answers to requests for which no thread waits, at all nodes, that arrive until `until_ms`. Returns whether
 * any are still missing; where another thread reads, it may return so earlier. */
bool rli_topology_collect(rli_topology *topology, int64_t until_ms);
/* Has the background connection to the server of that key made, unless it is there, and does not wait for it. */
void rli_topology_connect_background(rli_topology *topology, const char *key, size_t length);
/* Calls rli_pipeline_flush and rli_pipeline_watch on all pipelines that take async requests. */
void rli_topology_flush(rli_topology *topology);
void rli_topology_watch(rli_topology *topology, int epoll_fd);
/* Calls rli_polls_add for those pipelines. */
void rli_topology_poll(rli_topology *topology, struct rli_polls *polls);
/* Waits until the version is no longer `version`, the operation is cancelled or closed, or `until_ms`. False: the
 * operation has no thread and must wait; call it again with the same arguments. */
bool rli_topology_await_change(rli_topology *topology, rli_operation *op, unsigned version, int64_t until_ms);

/* Announces the changes of owners made by rli_topology_set_server: wakes operations that wait for a change, and
 * listeners at servers that serve less than before. Any thread. */
void rli_topology_announce(rli_topology *topology);

/* --- for discovery; the topology's thread, or the thread that opens the client --- */

/* The node that serves a slot now; NULL: none. Only discovery may use a node without holding a reference. */
rli_node *rli_topology_server_of(const rli_topology *topology, unsigned slot);
/* Records that `node`, which must be in service, serves the slots from `first` to `last`; NULL: no node does. */
void rli_topology_set_server(rli_topology *topology, unsigned first, unsigned last, rli_node *node);
/* Sends one command (`words` ends with NULL) to a node on its background connection, with the discovery's own short
 * timeout. RLOCK_OK: *reply, possibly an error; the caller frees it. RLOCK_UNAVAILABLE, or RLOCK_SERVER if it cannot
 * connect: *reply is NULL. */
rlock_status rli_topology_ask(rli_topology *topology, rli_operation *op, rli_node *node, const char *const words[],
                              redisReply **reply);
/* `op` is that of a round. From now on news end the round: no answer is waited for any more, and the next one begins at
 * once; or they do not, as at first. News that ended the last round do not end this one: sentinels publish the
 * failovers of all masters that they watch, perhaps faster than they answer. */
void rli_topology_heed_news(const rli_topology *topology, rli_operation *op);
void rli_topology_ignore_news(rli_operation *op);
bool rli_topology_ended_by_news(const rli_operation *op);
/* Note whether a node answered a round, and tell whether it failed to lately. Such a node is asked only if no other
 * one answers, because each question to a machine that is gone costs a second. */
void rli_topology_note_answer(rli_node *node, rlock_status status);
bool rli_topology_is_mute(const rli_node *node);
/* How often a node is asked again at once if its answers belong to different failovers; and what is said of one whose
 * answers do so each time: RLOCK_UNAVAILABLE. */
#define RLI_TOPOLOGY_ASKED_MOST 4
rlock_status rli_topology_keeps_changing(const rli_node *node);
/* Called in each round in which something is so. Returns whether it had been so, in each round that no news ended, for
 * that long when this one began: if answers are slow, or the process was stopped, they are older than the round's end.
 * From one round to the next no more than a quarter of that counts: if all stood still, as on a machine that was
 * suspended, nobody could have learned better. */
bool rli_topology_lasts(const rli_topology *topology, rli_lasting *lasting, int64_t long_ms);
/* Called in a round in which some servers answer but none is believed. Returns whether that has lasted for so long
 * that those servers must be accepted: by then all holds that this client renewed at the former servers have ended. */
static inline bool rli_topology_disbelieved_for_long(rli_topology *topology)
{
    return rli_topology_lasts(topology, &topology->disbelieved, topology->settings->watchdog_timeout_ms);
}
/* Asks a node whether it is a master, and notes how many online replicas it has. */
rlock_status rli_topology_ask_role(rli_topology *topology, rli_operation *op, rli_node *node, bool *master);
/* Finds the node at an address that a server named, after natMapper has mapped it, or adds it to the list. An empty
 * host means the host of `like`, whose user and password are used there, too. Statuses as for rli_nodes_meet. */
rlock_status rli_topology_meet(rli_topology *topology, rli_nodes *list, const char *host, size_t length, int port,
                               const rli_address *like, rli_node **node);
/* The same for a configured address, and for all of them. RLOCK_OK, RLOCK_SERVER (too many servers),
 * RLOCK_NO_MEMORY. */
rlock_status rli_topology_meet_configured(rli_topology *topology, rli_nodes *list, const rli_address *address,
                                          rli_node **node);
rlock_status rli_topology_meet_all_configured(rli_topology *topology, rli_nodes *list);
/* A server that is believed names other servers: begin, then name each. Nodes that are not named are taken out of
 * service after the round, unless they are needed for another reason. */
void rli_topology_begin_naming(rli_topology *topology, rli_nodes *list);
void rli_topology_name(rli_topology *topology, rli_nodes *list, rli_node *node);

#endif
