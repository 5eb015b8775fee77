/* A node: one server, with all connections to it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NODE_H
#define RLI_NODE_H

#include "redis/pipeline/pipeline.h"
#include "redis/pipeline/pool.h"
#include "redis/pubsub/subscriber.h"
#include "redis/script.h"

#define RLI_NODE_KNOWN 8
#define RLI_NODE_ID    40

/* Of the watchdog's thread alone: its renewals at one server. */
typedef struct rli_renewals {
    int batches, names;    /* under way */
    int64_t heard_ms;      /* when it last answered one, or since when one is under way */
    int64_t mute_until_ms; /* it did not answer, and is not asked again before */
} rli_renewals;

typedef struct rli_node {
    struct rli_node *_Atomic next; /* in the topology's list */
    atomic_int users;              /* who holds it: calls, waits, renewals under way (topology/nodes.h) */
    atomic_bool in_service;        /* else it was given up */
    rli_address address;           /* the same as long as it is in service, or held */

    /* guarded by the topology's mutex */
    bool configured;         /* its address is */
    unsigned naming;         /* the last one that had it (topology/nodes.h); 0: none */
    int64_t needed_until_ms; /* a redirect led there, and until then requests may be under way for it; 0: none did */
    bool left;               /* it serves less than before */

    /* of the topology's discovery alone */
    int64_t mute_until_ms; /* it did not answer: until then it is asked only when nobody else does */
    unsigned look;         /* the last one in which it was asked */
    enum { RLI_SPUBLISH_UNASKED, RLI_SPUBLISH_KNOWN, RLI_SPUBLISH_UNKNOWN } spublish; /* to its server */
    bool replica;             /* as the cluster's map has it… */
    char id[RLI_NODE_ID + 1]; /* …which calls it by that name, at whatever address; "": by none */

    atomic_int replicas; /* that it is said to have; the synced pipeline asks it for those that are in step */
    const rli_script *_Atomic known[RLI_NODE_KNOWN]; /* scripts that it has run; a hint: it may have restarted since */
    rli_pool pool;
    rli_pipeline synced; /* for requests that replicas have to confirm */
    /* Of the watchdog and the topology, made when there is first something to send: renewals then
     * wait for nobody's requests, and a short deadline ends no one else's connection. */
    rli_pipeline background;
    rli_subscriber subscriber;
    rli_renewals renewals;
} rli_node;

/* Makes one, which connects when it is first used; takes over what `address` points to, also on
 * failure. `spread`: how messages reach those who wait, which may change. `closed`: of the client. NULL: out of memory. */
rli_node *rli_node_make(const rli_settings *settings, rli_address *address, const _Atomic rli_pubsub_mode *pubsub_mode,
                        const atomic_bool *closed);
/* Whether it has run that script for us, as far as was noted: of the few scripts that are posted. Any thread. */
bool rli_node_knows(const rli_node *node, const rli_script *script);
void rli_node_learn(rli_node *node, const rli_script *script);
/* On its pipelines that take such: rli_pipeline_collect. Whether there is more to come. */
bool rli_node_collect(rli_node *node, int64_t until_ms);
/* Pings the server on connections that were idle for so long. False: one of them is dead, and given up;
 * the others are for the next time, since each may take a whole timeout. */
bool rli_node_ping_if_idle(rli_node *node, rli_operation *op, int64_t idle_ms);
/* Whoever holds a node may use it, and finds it at the same address, until it is released. */
void rli_node_hold(rli_node *node);
void rli_node_release(rli_node *node); /* NULL allowed */
/* New connections from now on: its name may lead elsewhere. The server answers what is under way, which
 * may be such that it must not be asked again. */
void rli_node_renew(rli_node *node);
/* Its server serves nothing any more: requests under way end unanswered, those who listen look again. */
void rli_node_abandon(rli_node *node);
/* Nobody is to talk to its server any more: ends its connections and threads. Those who hold it get RLI_UNSENT, and
 * subscribe in vain. By one thread at a time, which is not one of the node's. */
void rli_node_retire(rli_node *node);
/* A node that was retired, and that nobody holds, is one for that address from now on; takes over what `address`
 * points to. */
void rli_node_revive(rli_node *node, rli_address *address);
/* Ends what is under way, and what comes later, with RLI_GAVE_UP; */
void rli_node_close(rli_node *node);
void rli_node_stop(rli_node *node); /* joins its threads; */
void rli_node_free(rli_node *node); /* and no call may be under way any more. */

#endif
