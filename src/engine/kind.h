/* Kind: what distinguishes one kind of lock, that is its scripts, its names and how its answers read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_KIND_H
#define RLI_KIND_H

#include "engine/names.h"
#include "redis/call.h"

#include <stdbool.h>
#include <stdint.h>

/* In place of a number of subscribers. The script knows RLI_FREES. */
enum { RLI_FREES = -1, RLI_COUNTS_NOBODY = -2 };

/* The arguments of a script for one session. The strings must outlive the call. */
typedef struct rli_request {
    const rli_names *names;
    const char *owner; /* the wire owner */
    int64_t lease_ms;
    int count;   /* the hold count after the script; 0: the last release */
    int highest; /* the highest count that the session ever requested */
    /* Acquire: the wire owner of an ended session whose field this acquire replaces, or "". */
    const char *replaced;
    const char *writer; /* Acquire: the wire owner of the same owner's write hold, or "". */
    /* The lease with which the session stands in the registry of waiters (lua/lock/waiters.inc), or is to stand there
     * once it is refused (`registers`, with the time since when it has waited by the server's clock; 0: from now). The
     * script removes it where it waits no more. 0: it was never registered. */
    int64_t registered_ms;
    bool registers;
    int64_t since_us;
    /* Fair acquire: the timeout of its place in the server's queue, counted from now, ms; 0: it does not queue. */
    int64_t wait_ms;
    /* Fair locks: the longest timeout that the session has requested since it queued, ms. */
    int64_t place_ms;
    /* Fair acquire: a release by another process may offer it the lock (offer.h). */
    bool expects_offer;
    /* Fair give up: the owner holds nothing, so what the server keeps for it is an offer that it returns. */
    bool returns_offer;
    /* Fair locks: the wire owner that was the unheard head at least RLI_UNHEARD_MS ago, or "". The script removes it
     * from the queue if it is still the head and is unheard again. */
    const char *unheard;
    /* Last release: the wire owner to which the script hands the lock if that owner is next (NULL: no handoff), the
     * lease that it requested, and the timeout of its place in the server's queue. */
    const char *successor;
    int64_t successor_lease_ms, successor_place_ms;
    /* The key from which the script draws the successor's fencing token; NULL: no token. */
    const char *successor_counter;
    size_t successor_counter_length;
    /* The successor's registered_ms, registers and since_us: it is to be registered if others get the lock. */
    int64_t successor_registered_ms;
    bool successor_registers;
    int64_t successor_since_us;
    /* How many of the channel's subscribers belong to this process and are no guards. If there are more subscribers, or
     * waiters of other clients are registered, the script gives the lock to others instead of handing it off.
     * RLI_COUNTS_NOBODY: the script does not count them; RLI_FREES: it frees the lock in any case, for those elsewhere
     * that poll. */
    int64_t listening;
    /* The wire owner of the waiter behind the successor if that waiter asks again before the successor's lease can
     * end, and so needs no message; NULL: none. */
    const char *calm;
} rli_request;

/* The answer of an acquire. */
typedef enum rli_acquire_outcome {
    RLI_GRANTED,
    RLI_DENIED,         /* another owner holds the lock, or comes first */
    RLI_OUTER_LOST,     /* the outer holds that this hold was to be added to are gone */
    RLI_GRANT_MALFORMED /* not an answer of that script */
} rli_acquire_outcome;

typedef struct rli_acquire_result {
    rli_acquire_outcome grant;
    /* RLI_DENIED: ask again after this many ms unless a message comes first; -1: unknown. RLI_GRANTED: how long the
     * server keeps the lock, 0: for the lease. */
    int64_t pttl_ms;
    uint64_t token; /* RLI_GRANTED by a fenced lock: the fencing token */
    bool beneath;   /* RLI_GRANTED: under the same owner's write hold */
    /* RLI_DENIED by a group lock: a session of this client holds one of the values. */
    bool has_rival;
    /* RLI_DENIED although nobody holds the lock: another waiter is next. A handoff answers this with `registered` when
     * it left the lock to listeners of other libraries, and a registered waiter asks after them. */
    bool free;
    /* Handoff answers with `free` set: how many subscribers the script reports for the channel. */
    int heard;
    /* RLI_DENIED, and the owner is registered: how many were registered before it; since when it has waited, by the
     * server's clock; and whether the holder is of another library, so that its release is published for all. */
    bool registered, foreign;
    int64_t before, since_us;
    /* RLI_DENIED with `free` set: the unheard head, pointing into the reply; NULL: none. */
    const char *unheard;
} rli_acquire_result;

/* The answer of a release. */
typedef enum rli_release_outcome {
    RLI_RELEASED,         /* the hold was given back */
    RLI_NOT_HELD,         /* the owner holds nothing; nothing changed */
    RLI_RELEASE_MALFORMED /* not an answer of that script */
} rli_release_outcome;

/* The answer of a renewal when a hold's keys are not where its lock is, because a cluster moves their slot. */
#define RLI_NOT_HERE (-1)

/* What a look answers beside a number of ms. */
typedef enum rli_look_answer {
    RLI_LOOK_ENDLESS = -1, /* the server keeps the hold without expiry */
    RLI_LOOK_GONE = -2,    /* the owner does not hold the lock */
    RLI_LOOK_NOT_HERE = -3 /* as RLI_NOT_HERE */
} rli_look_answer;

/* Where its waiters queue, and how they learn that they may ask again. */
typedef enum rli_queueing {
    RLI_BY_MESSAGE,  /* in a local queue; the queue leader asks for all, after pub/sub messages */
    RLI_BY_SPINNING, /* in a local queue; the queue leader asks with a back-off, and nothing is published */
    RLI_BY_BACK_OFF, /* in a local queue; the queue leader asks with a back-off, and after pub/sub messages */
    RLI_BY_SIGNAL,   /* in a local queue; the queue leader asks after each element of the signal list (keys[0]) that it
                        gets, and with a back-off while it is not connected to that */
    RLI_ON_SERVER,   /* on the server, each with its own channel, and each asks for itself */
    RLI_QUEUES,      /* how many of these are local lists of waiters; all before RLI_ON_SERVER have a queue leader */
    RLI_IN_NO_QUEUE  /* nowhere: all ask, after messages */
} rli_queueing;

/* The other owners that may hold it at the same time. */
typedef enum rli_sharing {
    RLI_EXCLUSIVE, /* nobody */
    RLI_READING,   /* other readers. Each hold has its own expiry, which a re-entry does not extend */
    RLI_WRITING    /* the same owner, for reading. Its field is OWNER:write, apart from the owner's other holds */
} rli_sharing;

typedef struct rli_kind {
    const char *name; /* as in rlock_inspection */
    rli_naming naming;
    /* KEYS: the lock names; one of a group lock. ARGV: the lease in ms, then the wire owner for each name, then the
     * values of a group lock. Answers a list with one number a name: 1 renewed; 0 not held; 2 renewed, a read hold
     * under its owner's write hold; RLI_NOT_HERE, ask again. */
    const rli_script *renew;
    /* KEYS: the lock names. ARGV: the wire owner for each name. Answers a list with one number a name: how many ms the
     * server keeps the hold, or one of rli_look_answer. */
    const rli_script *look;

    rli_queueing queueing;
    rli_sharing sharing;
    bool non_reentrant; /* the owner cannot take it again */
    bool fenced;        /* each grant carries a fencing token */
    bool registers;     /* its waiters register on the server where they can, and are told one at a time */

    /* These five start `call` with the script and its arguments. */
    void (*acquire)(rli_call *call, const rli_request *request);
    void (*release)(rli_call *call, const rli_request *request);
    /* Answers 1 or 0 (whether it was held), or as release does. */
    void (*force)(rli_call *call, const rli_names *names);
    /* Answers a list: PTTL (-2: not locked) and this owner's hold count. */
    void (*state)(rli_call *call, const rli_names *names, const char *owner);
    /* Leaves the server's queue. NULL: there is none. parse_release reads its answer. */
    void (*give_up)(rli_call *call, const rli_request *request);

    /* These three read answers. Their pointers lead into the reply. */
    rli_acquire_result (*parse_acquire)(const redisReply *reply);
    /* *unheard: the unheard head; NULL: none. */
    rli_release_outcome (*parse_release)(const redisReply *reply, const char **unheard);
    /* Reads what a release says about the named successor: granted or denied. NULL: this kind has no handoff. */
    rli_acquire_result (*parse_handoff)(const redisReply *reply);
} rli_kind;

/* Returns whether its waiters ask with a back-off, because a holder's release may tell them nothing. */
static inline bool rli_kind_polls(const rli_kind *kind)
{
    return kind->queueing == RLI_BY_SPINNING || kind->queueing == RLI_BY_BACK_OFF || kind->queueing == RLI_BY_SIGNAL;
}

/* Returns whether its waiters stand in a queue on the server, and each asks for itself. */
static inline bool rli_kind_queues_on_server(const rli_kind *kind)
{
    return kind->queueing == RLI_ON_SERVER;
}

/* Whether a last release hands over to a waiter in the local queue. */
static inline bool rli_kind_hands_over_here(const rli_kind *kind)
{
    return kind->parse_handoff && (kind->queueing == RLI_BY_MESSAGE || kind->queueing == RLI_BY_SPINNING);
}

/* How many read holds one owner may have at a time: scripts look at each of them (lua/read/levels.inc). */
#define RLI_LEVELS_MAX 10000

/* Unheard head: the first waiter in the server's queue, if a script notified it that the lock is free and no subscriber
 * received that message. A head that is unheard twice, at least this far apart, counts as dead. A subscription that
 * broke is there again sooner, if its process lives and reaches the server; one that is not costs its waiter its place,
 * and no more. */
#define RLI_UNHEARD_MS 2000

extern const rli_kind rli_kind_reentrant, rli_kind_non_reentrant, rli_kind_spin, rli_kind_fenced, rli_kind_token,
    rli_kind_signal, rli_kind_group;
extern const rli_kind rli_kind_fair, rli_kind_non_reentrant_fair, rli_kind_read, rli_kind_write;

/* The prefix of a signal-list lock's key. */
#define RLI_SIGNAL_LOCK "lock:"

/* --- shared by token and signal-list locks (token.c) --- */
void rli_token_acquire(rli_call *call, const rli_request *request);
void rli_token_state(rli_call *call, const rli_names *names, const char *owner);

/* Adds the values of a group lock to a request (group.c). They must live until the call is cleared. */
void rli_group_add_values(rli_call *call, const struct rli_values *values);

/* --- shared by several kinds (reentrant.c) --- */
/* The prefix of the channel on which releases are published. */
#define RLI_LOCK_CHANNEL "redisson_lock__channel"
/* Adds the owner of the ended session that is replaced and, if there is one and the kind publishes, the channel. */
void rli_reentrant_add_replaced(rli_call *call, const rli_request *request);
/* Start a call of a script that takes the arguments of lock/acquire, lock/release, lock/force and lock/state. */
void rli_start_acquire(rli_call *call, const rli_request *request, const rli_script *script);
void rli_start_release(rli_call *call, const rli_request *request, const rli_script *script);
void rli_start_force(rli_call *call, const rli_names *names, const rli_script *script);
void rli_start_state(rli_call *call, const rli_names *names, const char *owner, const rli_script *script);
void rli_reentrant_acquire(rli_call *call, const rli_request *request);
void rli_reentrant_release(rli_call *call, const rli_request *request);
void rli_reentrant_force(rli_call *call, const rli_names *names);
void rli_reentrant_state(rli_call *call, const rli_names *names, const char *owner);
/* Sends the release with the registration, so that the owner stands nowhere afterwards. */
void rli_reentrant_give_up(rli_call *call, const rli_request *request);
rli_acquire_result rli_reentrant_parse_acquire(const redisReply *reply);
rli_release_outcome rli_reentrant_parse_release(const redisReply *reply, const char **unheard);
rli_acquire_result rli_reentrant_parse_handoff(const redisReply *reply);

#endif
