/* A node: one server, with all connections to it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NODE_H
#define RLI_NODE_H

#include "redis/pipeline/pipeline.h"
#include "redis/pipeline/pool.h"
#include "redis/pubsub/subscriber.h"
#include "redis/script.h"
#include "redis/signals/signals.h"

#define RLI_NODE_KNOWN 8
#define RLI_NODE_ID    40

/* The watchdog's renewals and clean-ups at one server. Only the watchdog's thread uses it. */
typedef struct rli_renewals {
    int batches, names;    /* batches and names with an unanswered renewal */
    int64_t heard_ms;      /* when the server last answered a renewal, or since when one is unanswered */
    int64_t mute_until_ms; /* the server did not answer: no renewals are sent there before this instant */
    int64_t silent_ms;     /* when the latest clean-up there went unanswered; 0: it did not */
} rli_renewals;

/* What the watchdog knows of CLIENT TRACKING at one server. Only the watchdog's thread uses it, except `gained`. */
typedef struct rli_tracking {
    bool wanted;        /* a hold there is old enough */
    uint64_t redirect;  /* the number of the subscriber's connection that messages go to; 0: not tracking */
    uint64_t serial;    /* of the background connection that tracks */
    bool refused;       /* the server refuses it… */
    int64_t retry_ms;   /* …or it failed: when to try again; 0: at once */
    int64_t pause_ms;   /* the pause after the latest failure */
    int reread;         /* which holds are to be read again there: rli_reread (engine/watch.h) */
    int rereading;      /* which are being marked for that */
    atomic_bool gained; /* it serves keys that another server served before */
} rli_tracking;

typedef struct rli_node {
    struct rli_node *_Atomic next; /* in the topology's list */
    atomic_int users;              /* references: calls, waits and renewals under way (topology/nodes.h) */
    atomic_bool in_service;        /* false: taken out of service */
    rli_address address;           /* does not change while the node is in service or referenced */

    /* Guarded by the topology's mutex. */
    bool configured; /* the configuration names its address */
    unsigned naming; /* the latest naming that included it (topology/nodes.h); 0: none */
    /* a redirect led there, and requests that follow it may be under way until then; 0: no redirect did */
    int64_t needed_until_ms;
    bool left;   /* it lost slots that have not been announced yet */
    bool gained; /* likewise: it got slots */

    /* Used only by the topology's discovery. */
    int64_t mute_until_ms; /* it did not answer: until then it is asked only if no other node answers */
    unsigned look;         /* number of the latest discovery round in which it was asked */
    /* whether its server knows SPUBLISH */
    enum { RLI_SPUBLISH_UNASKED, RLI_SPUBLISH_KNOWN, RLI_SPUBLISH_UNKNOWN } spublish;
    bool replica;             /* whether it is a replica, by the cluster's map */
    char id[RLI_NODE_ID + 1]; /* the node's name in the cluster's map, which does not depend on its address; "": none */

    /* Number of replicas that it is said to have. The `synced` pipeline asks the server how many are online. */
    atomic_int replicas;
    /* scripts that it has run; only a hint, since it may have restarted */
    const rli_script *_Atomic known[RLI_NODE_KNOWN];
    rli_pool pool;
    rli_pipeline synced; /* for requests that replicas must acknowledge */
    /* For the watchdog and the topology, so that renewals do not queue behind other requests, and so that their short
     * deadlines end no other connection. It connects at the first request. */
    rli_pipeline background;
    rli_subscriber subscriber;
    rli_signals signals;
    rli_renewals renewals;
    rli_tracking tracking;
} rli_node;

/* Makes a node that connects when it is first used. Takes over what `address` points to, even on failure.
 * `pubsub_mode` (which may change) and `closed` are the client's and must live as long. NULL: out of memory. */
rli_node *rli_node_make(const rli_settings *settings, rli_address *address, const _Atomic rli_pubsub_mode *pubsub_mode,
                        const atomic_bool *closed, rli_ear *ear);
/* Whether the server has run this script for us before; noted only for the few scripts that may be posted. Any
 * thread. */
bool rli_node_has_script(const rli_node *node, const rli_script *script);
/* Notes that it has run the script. */
void rli_node_note_script(rli_node *node, const rli_script *script);
/* Calls rli_pipeline_collect on the pipelines that take posted and async requests. Returns whether answers are still
 * missing. */
bool rli_node_collect(rli_node *node, int64_t until_ms);
/* Likewise rli_pipeline_flush, rli_pipeline_watch and rli_polls_add. */
void rli_node_flush(rli_node *node);
void rli_node_watch(rli_node *node, int epoll_fd);
void rli_node_poll(rli_node *node, struct rli_polls *polls);
/* Pings the server on connections that were unused for `idle_ms`. False: one is dead and has been dropped. The rest is
 * left for the next time, because each dead connection may take a whole timeout. */
bool rli_node_ping_if_idle(rli_node *node, rli_operation *op, int64_t idle_ms);
/* Take and drop a reference. While a thread holds one, the node may be used and keeps its address. */
void rli_node_ref(rli_node *node);
void rli_node_unref(rli_node *node); /* NULL is allowed */
/* Makes waiters check again which server to use, because this one serves fewer keys than before. */
void rli_node_rouse(rli_node *node);
/* Uses new connections from now on, because the host name may lead elsewhere. Present requests still get their
 * answers, since some of them must not be sent again. */
void rli_node_renew(rli_node *node);
/* The server serves nothing any more: ends present requests without an answer, and makes listeners check again which
 * server to use. */
void rli_node_abandon(rli_node *node);
/* Ends the node's connections and threads because its server must not be used any more. Threads that still hold a
 * reference get RLI_UNSENT, and their subscriptions fail. Call from one thread at a time, and not from one of the
 * node's threads. */
void rli_node_retire(rli_node *node);
/* Reuses a retired node without references for another address. Takes over what `address` points to. */
void rli_node_revive(rli_node *node, rli_address *address);
/* Ends present requests with RLI_ABANDONED; later ones fail with RLOCK_CLOSED. */
void rli_node_close(rli_node *node);
void rli_node_stop(rli_node *node); /* after rli_node_close: joins its threads */
void rli_node_free(rli_node *node); /* after that, when no call is under way any more */

#endif
