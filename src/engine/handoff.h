/* Handoff: a last release that, in the same request, gives the lock to a waiter of this process, the successor.
 *
 * Every function here expects the engine's mutex to be held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HANDOFF_H
#define RLI_HANDOFF_H

#include "engine/ask.h"

typedef struct rli_handoff {
    /* Of the request: lets the successor read the answer itself. */
    rli_witness witness;
    rli_engine *engine;
    rli_session *successor; /* NULL: the handoff has ended */
    const rli_session *from;
    const rli_kind *kind;
    const rli_request *request;
    /* Has the number of unanswered attempts, and when the request was sent. */
    const rli_call *call;
    char owner[RLI_OWNER_TEXT], calm[RLI_OWNER_TEXT]; /* the wire owners that the request names */
    /* The key of the successor's fencing tokens, copied; NULL: none. */
    char *counter;
} rli_handoff;

/* Chooses the successor and names it in `request`, the last release of `from`: the next waiter in the server's
 * queue, as far as this process knows, or in the local queue. Takes the turn of the successor's session, so that it
 * sends nothing meanwhile. All arguments must live until rli_handoff_end.
 * Returns false, with `request` unchanged, when nobody waits or the next waiter cannot be given the lock now. */
bool rli_handoff_begin(rli_handoff *handoff, rli_engine *engine, const rli_session *from, const rli_kind *kind,
                       rli_request *request, rli_call *call);

/* Ends the handoff after the release returned `status`. If the successor has the lock now, its wait ends with
 * RLOCK_OK, unless it has ended so already. If that is unknown, the successor asks at once. May free the
 * successor's session. */
void rli_handoff_end(rli_handoff *handoff, rlock_status status);

/* Called before the attempt does anything other than sleep. If its thread was given the lead of a pipeline
 * meanwhile (which waiter.asleep allows), first leads the pipeline, with the mutex released. */
void rli_handoff_lead_if_asked(rli_attempt *attempt);

/* Called when the attempt's wait has ended without a handoff. A lock that is handed to it from now on goes to
 * another waiting thread of its owner, or is released in the background. */
void rli_handoff_decline(rli_attempt *attempt);

#endif
