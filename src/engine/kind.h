/* A kind of lock: its scripts, its names, and how its answers read. All else is shared. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_KIND_H
#define RLI_KIND_H

#include "engine/names.h"
#include "redis/call.h"

#include <stdbool.h>
#include <stdint.h>

/* What a script is asked to do for one session. The texts outlive the call. */
typedef struct rli_request {
    const rli_names *names;
    const char *owner; /* wire owner */
    int64_t lease_ms;
    int count;           /* what the hold will have; a release to 0 is the last one */
    int highest;         /* the most that the session ever asked for */
    const char *over;    /* acquire: the wire owner of a session that is over and is replaced, or "" */
    const char *writer;  /* acquire: the wire owner of the same owner's write hold, or "" */
    int64_t wait_ms;     /* how long a queue on the server keeps its place; 0: it does not queue */
    int64_t place_ms;    /* and kept the one that it may have there, when it was asked for first */
    const char *unheard; /* the head of that queue that nobody heard for some time, or "" */
    /* A last release: the wire owner that it hands the lock to if that one comes next, NULL: none; the lease
     * that it asked for, and how long it asked to keep its place. */
    const char *successor;
    int64_t heir_lease_ms, heir_place_ms;
    const char *heir_counter; /* where the successor is to have a token from, NULL: none */
    size_t heir_counter_length;
    int64_t listening; /* how many of the channel's listeners are this process's own: where there are more, nothing
                            is handed over this time; -1: nobody is looked for */
    const char *calm;  /* one that asks before that lease can end, and need not be told to; NULL: none */
} rli_request;

/* What acquire answered. */
typedef enum rli_grant {
    RLI_GRANTED,
    RLI_DENIED,     /* somebody else has it */
    RLI_OUTER_LOST, /* the holds that this one was to be added to are gone */
    RLI_ODD_GRANT   /* no answer of that script */
} rli_grant;

typedef struct rli_verdict {
    rli_grant grant;
    int64_t pttl_ms;     /* denied: ask again after so many ms without a message, -1: unknown. Granted: how
                            long the server keeps it, 0: the lease */
    uint64_t token;      /* granted by a fenced lock */
    bool beneath;        /* granted under the same owner's write hold */
    bool free;           /* denied though nobody holds it: it is another's turn */
    int heard;           /* of an successor, and free: how many were told */
    const char *unheard; /* denied, and free: the head of the queue that nobody heard; in the reply */
} rli_verdict;

/* What release answered. */
typedef enum rli_released {
    RLI_RELEASED,   /* that hold */
    RLI_NOT_HELD,   /* the owner holds nothing: nothing changed */
    RLI_ODD_RELEASE /* no answer of that script */
} rli_released;

typedef struct rli_kind {
    const char *name; /* as rlock_inspection has it */
    rli_naming naming;
    const rli_script *renew; /* KEYS: the names; ARGV: lease ms, their owners; a list of 1 and 0, or 2: a read hold
                                beneath its owner's write hold */

    bool writes; /* its field is OWNER:write: a hold apart from the owner's other ones */
    bool once;   /* who holds it can't take it again */
    bool shared; /* many may hold it: its waiters here do not queue behind one that asks for all */
    bool queues; /* on the server, each waiter with a channel of its own */
    bool spins;  /* its waiters ask again and again; nothing is published */
    bool levels; /* each hold has a time of its own, and is not lengthened by the next */
    bool fenced; /* a grant carries a token */
    bool keeps;  /* a hold may go from thread to thread here without the server (local_handoff.h) */

    void (*acquire)(rli_call *call, const rli_request *request);
    void (*release)(rli_call *call, const rli_request *request);
    void (*force)(rli_call *call, const rli_names *names); /* 1 or 0, or as release answers */
    /* A list: PTTL (-2: not locked), this owner's hold count. */
    void (*state)(rli_call *call, const rli_names *names, const char *owner);
    /* Leaves the queue on the server; NULL where there is none. Its answers read as those of release. */
    void (*give_up)(rli_call *call, const rli_request *request);

    rli_verdict (*parse_acquire)(const redisReply *reply);
    /* *unheard: the head of the queue that was told and did not hear, NULL: none; in the reply. */
    rli_released (*parse_release)(const redisReply *reply, const char **unheard);
    /* What a release says of the successor that was named: granted, or denied; NULL: it can't be handed over. */
    rli_verdict (*parse_handoff)(const redisReply *reply);
} rli_kind;

/* So many read holds an owner may have at a time: scripts look at each (lua/read/levels.inc). */
#define RLI_LEVELS_MAX 10000

/* How long a head of a queue on the server may be unheard before it counts as dead. */
#define RLI_UNHEARD_MS 10000

extern const rli_kind rli_kind_reentrant, rli_kind_non_reentrant, rli_kind_spin, rli_kind_fenced;
extern const rli_kind rli_kind_fair, rli_kind_non_reentrant_fair, rli_kind_read, rli_kind_write;

/* Parts that several kinds share (reentrant.c). */
#define RLI_LOCK_CHANNEL "redisson_lock__channel"
/* The session that is replaced, and, where there is one, the channel of those who are told. */
void rli_reentrant_add_over(rli_call *call, const rli_request *request);
void rli_reentrant_acquire(rli_call *call, const rli_request *request);
void rli_reentrant_release(rli_call *call, const rli_request *request);
void rli_reentrant_force(rli_call *call, const rli_names *names);
void rli_reentrant_state(rli_call *call, const rli_names *names, const char *owner);
rli_verdict rli_reentrant_parse_acquire(const redisReply *reply);
rli_released rli_reentrant_parse_release(const redisReply *reply, const char **unheard);
rli_verdict rli_reentrant_parse_handoff(const redisReply *reply);

#endif
