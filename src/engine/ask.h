/* Asking: one question to the server on behalf of a call that acquires. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ASK_H
#define RLI_ASK_H

#include "engine/acquire.h"
#include "engine/engine.h"
#include "engine/queue.h"
#include "engine/wait.h"

/* One acquiring call under way. */
typedef struct rli_attempt {
    rli_wait wait; /* first: the wait loop hands it back */
    const rli_acquire *asked;
    rli_engine *engine;
    rli_entry *entry;
    rli_session *session; /* joined */
    rli_waiter waiter;
    int64_t failed_ms; /* of the last question: since when the server was out of reach */
    rli_yield_seen chance;
    int denied;                /* questions in a row that are worth another soon */
    int64_t prompted_until_ms; /* answered before, the question under way has no reason but that another was refused */
    bool moved;                /* to a session that hears messages on another channel */
    char *unheard;             /* the head of the queue on the server that nobody heard… */
    int64_t unheard_ms;        /* …at that instant */
    rli_operation op;
} rli_attempt;

/* The attempt that a waiter is of. */
static inline rli_attempt *rli_attempt_of(rli_waiter *waiter)
{
    return RLI_ITEM(rli_attempt, waiter, waiter);
}

/* Asks the server for one hold more; `wait` is an attempt's. As rli_wait's `ask`; RLOCK_OK also when
 * the attempt moved. */
rlock_status rli_ask(rli_wait *wait, int64_t *again_ms);

/* Why the server denied a lock of this kind, for a message: where waiters queue, a free lock is denied to those behind;
 * an owner's own read hold keeps it from writing. */
const char *rli_denial(const rli_kind *kind);

/* Tells the entry's chances whether the server counts this process among those who hear the lock's channel; mutex held. */
void rli_note_listening(rli_attempt *attempt);

/* A grant, as it came. */
typedef struct rli_gain {
    const rli_verdict *verdict;
    int64_t lease_ms; /* that was asked for… */
    int64_t sent_ms;  /* …at that instant at the latest */
    bool repeated;    /* an earlier request may have been granted, unheard */
    bool handed;      /* through the release of another session */
} rli_gain;

/* The server granted one hold more; mutex held. RLOCK_TIMEOUT: too late to be of use, it is to be asked for again. */
rlock_status rli_granted(rli_attempt *attempt, const rli_gain *gain);

/* Ends a wait that came to nothing: waits a moment for the answer to a release that may hand it the lock, and leaves
 * the queue on the server, unless another thread of this owner waits there, too. What is not
 * answered soon is done again in the background. Answers `why`, with its message; RLOCK_OK: it was handed the
 * lock meanwhile. */
rlock_status rli_give_up(rli_attempt *attempt, rlock_status why);

#endif
