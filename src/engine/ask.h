/* Ask: one acquire request to the server, and what its answer means. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ASK_H
#define RLI_ASK_H

#include "engine/acquire.h"
#include "engine/engine.h"
#include "engine/queue.h"
#include "engine/wait.h"

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
    rli_yield_seen chance;
    /* How many answers in a row let it ask again soon; determines the back-off. */
    int denied;
    /* The request under way was sent only because the server refused another local waiter (waiter.prompted),
     * provided that its answer comes before this instant. 0: it has a reason of its own. */
    int64_t prompted_until_ms;
    /* Its session changed, and the new one listens on another channel. */
    bool moved;
    /* The unheard head of the server's queue (kind.h); NULL: none. */
    char *unheard;
    int64_t unheard_ms; /* when that was */
    rli_operation op;
} rli_attempt;

/* Returns the attempt that contains `waiter`. */
static inline rli_attempt *rli_attempt_of(rli_waiter *waiter)
{
    return RLI_ITEM(rli_attempt, waiter, waiter);
}

/* Asks the server once for one more hold; the `ask` of an attempt's wait loop. The mutex must not be held.
 * RLOCK_OK: granted or handed over; or the attempt moved to another channel (attempt->moved).
 * RLOCK_TIMEOUT: denied; *again_ms as in rli_wait. Any other status ends the wait. */
rlock_status rli_ask(rli_wait *wait, int64_t *again_ms);

/* Returns words for an error message on why the server denied a lock of this kind. Where waiters queue on the
 * server, a free lock is denied to those behind the head; an owner's own read hold keeps it from writing. */
const char *rli_denial_reason(const rli_kind *kind);

/* Updates the entry's `yield.listening` from the attempt's channel. Mutex held. */
void rli_attempt_note_listening(rli_attempt *attempt);

/* A grant. */
typedef struct rli_grant_info {
    const rli_acquire_result *verdict;
    int64_t lease_ms; /* the lease that was requested */
    int64_t sent_ms;  /* when the request was sent, at the latest */
    /* An earlier, unanswered request may have been granted already. */
    bool repeated;
    bool handed; /* it came by a handoff, in another session's release */
} rli_grant_info;

/* Applies a grant of one more hold to the session. Mutex held.
 * RLOCK_OK: held. RLOCK_TIMEOUT: the lease has ended already; the caller asks again. RLOCK_LOST: the session or its
 * outer holds were lost meanwhile. */
rlock_status rli_attempt_granted(rli_attempt *attempt, const rli_grant_info *gain);

/* Ends a wait that failed with status `why`. Waits a moment for a release under way that may hand it the lock, and
 * leaves the server's queue unless another thread of this owner also waits there. What the server does not answer
 * soon is repeated in the background.
 * Returns `why` with its message, or RLOCK_OK: the lock was handed to it meanwhile. Mutex not held. */
rlock_status rli_attempt_give_up(rli_attempt *attempt, rlock_status why);

#endif
