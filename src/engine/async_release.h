/* Async release: a last release whose answer no thread waits for (unlockWaits=false).
 *
 * Its request is on the wire when unlock returns. The outcome becomes known later, and a refusal is reported as a
 * loss. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ASYNC_RELEASE_H
#define RLI_ASYNC_RELEASE_H

#include "engine/session.h"
#include "redis/call.h"
#include "redis/pipeline/pending.h"

#include <stdbool.h>
#include <stdint.h>

/* The release of one session, from its sending until its outcome is known. The engine's mutex guards it, except for
 * `pending`, which belongs to the pipeline until `told`. */
typedef struct rli_async_release {
    rli_pending pending; /* the request; must be first */
    rli_engine *engine;
    rli_session *session;
    const rli_kind *kind;   /* whose script was sent: the handle's, which may differ from the session's */
    rli_pipeline *pipeline; /* where it was sent… */
    unsigned drops;         /* …and pipeline->drops at that time */
    /* The server run that may have run the release without our hearing; 0: unknown. */
    uint64_t run_id;
    bool told;       /* `pending` has its outcome, and the pipeline does not use it any more */
    bool unanswered; /* the release may have run without our hearing */
    /* A later session of the owner has asked for the lock in this one's place. */
    bool replaced;
} rli_async_release;

/* Sends `call`, the session's last release by the script of `kind`, without waiting for the answer. The caller has an
 * attempt in the session, which keeps it alive, and the session's turn. Engine's mutex held on entry and return, not
 * meanwhile. Returns true: it was sent, and for its owner the session has ended. Returns false: nothing was sent,
 * because of the client's settings or because it cannot be sent in this way; the caller must run `call` and wait. */
bool rli_async_release_send(rli_engine *engine, rli_session *session, const rli_kind *kind, rli_call *call);

/* Applies a repetition that the watchdog sent: the status of `call` and, if that is RLOCK_OK, what its reply says.
 * Returns true when the hold turned out to be lost: the session was reported and perhaps freed. Engine's mutex held. */
bool rli_async_release_apply_retry(rli_engine *engine, rli_session *session, rlock_status status,
                                   rli_release_outcome outcome, const rli_call *call);
/* Ends the repetitions, because the lease has ended. The session is reported as lost, and perhaps freed. Engine's
 * mutex held. */
void rli_async_release_stop_retrying(rli_engine *engine, rli_session *session);

/* Frees the session's async release, whose outcome is known now. Wakes rli_departure_await after the last one. */
void rli_session_forget_async_release(rli_engine *engine, rli_session *session);

#endif
