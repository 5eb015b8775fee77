/* Attempt: one acquire under way. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ATTEMPT_H
#define RLI_ATTEMPT_H

#include "engine/acquire.h"
#include "engine/queue.h"
#include "engine/wait.h"

/* How far an acquire is. acquire.c has the table of the legal transitions. */
typedef enum rli_acquire_stage {
    RLI_ACQUIRE_BEGINS,
    RLI_ACQUIRE_ASKS_FIRST, /* asks the server before it waits */
    RLI_ACQUIRE_SUBSCRIBES, /* waits, and listens to the channel from here on */
    RLI_ACQUIRE_QUEUED,     /* waits in the local queue until it leads it, is handed the lock, or its time ends */
    RLI_ACQUIRE_LISTENS,    /* asks, and sleeps until a message */
    RLI_ACQUIRE_ASKS_LAST,  /* its time has ended without an answer of the server: asks once */
    RLI_ACQUIRE_UNSUBSCRIBES,
    RLI_ACQUIRE_GIVES_UP,     /* leaves the server's queue, and ends what was under way */
    RLI_ACQUIRE_LEAVES,       /* leaves the local queue */
    RLI_ACQUIRE_RETURNS_KEPT, /* releases the hold that was kept for it and that it does not take */
    RLI_ACQUIRE_DONE,
    RLI_ACQUIRE_STAGES
} rli_acquire_stage;

/* How far an attempt's present request is. ask.c has the table of the legal transitions. */
typedef enum rli_asking_stage {
    RLI_ASKS_NOTHING,
    RLI_ASKS_FOR_TURN, /* another operation of the owner is under way in its session */
    RLI_ASKS_SERVER,   /* the request is under way, in the session's turn */
    RLI_ASKING_STAGES
} rli_asking_stage;

/* How far it is with giving up. give_up.c has the table of the legal transitions. */
typedef enum rli_giving_up_stage {
    RLI_GIVES_UP_NOT,
    RLI_GIVES_UP_AFTER_TURN, /* a request is under way in its session, which may hand it the lock */
    RLI_GIVES_UP_PLACE,      /* its request to leave the server's queue is under way, in the session's turn */
    RLI_GIVING_UP_STAGES
} rli_giving_up_stage;

/* One acquiring operation under way. */
typedef struct rli_attempt {
    rli_wait wait; /* must be first: rli_ask and may_ask convert it back */
    const rli_acquire *asked;
    rli_engine *engine;
    rli_entry *entry;
    rli_session *session; /* the session that the attempt has joined */
    rli_waiter waiter;
    /* Since when the server was out of reach, as of the last request; RLI_NEVER: it was reachable. */
    int64_t failed_ms;
    rli_yield_seen yield_seen;
    /* Reads: the number of the owner's write session that its latest request named; 0: there was none. */
    uint64_t writer;
    bool own_channel; /* a registered waiter: it listens to its client's own channel */
    int64_t since_us; /* since when it has waited, by the server's clock; 0: it was not registered yet */
    /* An offer that it is told may be taken without a request, and counts from here; 0: it must ask (offer.h). */
    int64_t offered_from_ms;
    enum { RLI_OWN_CHANNEL_IS_ENOUGH, RLI_WANTS_TO_GUARD, RLI_WANTS_COMMON } wants;
    /* How many answers in a row let it ask again soon; determines the back-off. */
    int denied;
    bool moved;     /* its session changed, and the new one listens on another channel */
    bool postpones; /* it subscribes before it asks, since it will have to queue (acquire.c) */
    /* The request under way was sent only because the server refused another local waiter (waiter.prompted),
     * provided that its answer comes before this instant. 0: it has another reason. */
    int64_t prompted_until_ms;
    /* The unheard head of the server's queue (kind.h); NULL: none. */
    char *unheard;
    int64_t unheard_ms; /* when that was */
    rli_operation *op;
    rli_acquire_stage stage;
    rli_asking_stage asks;
    rli_giving_up_stage gives_up;
    rlock_status status; /* what the operation returns, as far as it is known; the message is waiter.message */
    rli_session *kept;   /* RLI_ACQUIRE_RETURNS_KEPT: the session whose hold was kept for it */
} rli_attempt;

/* Returns the attempt that contains `waiter`. */
static inline rli_attempt *rli_attempt_of(rli_waiter *waiter)
{
    return RLI_ITEM(rli_attempt, waiter, waiter);
}

/* Keeps the status, and the thread's last error with it, until the operation ends; returns it with that error. */
void rli_attempt_keep_status(rli_attempt *attempt, rlock_status status);
rlock_status rli_attempt_tell_status(rli_attempt *attempt);

#endif
