/* Handing over: a last release that, in the same request, gives the lock to a waiter of this process, the successor.
 * All of it expects the engine's mutex to be held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HANDOFF_H
#define RLI_HANDOFF_H

#include "engine/ask.h"

typedef struct rli_handoff {
    rli_witness witness; /* of the request: the successor */
    rli_engine *engine;
    rli_session *successor; /* NULL: what became of it is settled */
    const rli_session *from;
    const rli_kind *kind;
    const rli_request *request;
    const rli_call *call;                             /* its unanswered attempts, and since when */
    char owner[RLI_OWNER_TEXT], calm[RLI_OWNER_TEXT]; /* the wire owners that the request speaks of */
    char *counter;                                    /* a key: of the successor's tokens; NULL: it has none */
} rli_handoff;

/* Names the waiter of the entry that comes next, in the queue on the server as far as this process knows, or in the
 * one here, in a request for the last release of `from`. Has the turn of the successor's session, so that it asks for
 * nothing meanwhile. All of what is given must live until rli_handoff_end. False: nobody waits, or who comes next is
 * not to be bothered now; the request is as it was. */
bool rli_handoff_begin(rli_handoff *over, rli_engine *engine, const rli_session *from, const rli_kind *kind,
                       rli_request *request, rli_call *call);

/* The release is done, with that status: if the successor has the lock now, its wait ends with RLOCK_OK, if it has not
 * already; if that is not known, it asks at once. May free the successor. */
void rli_handoff_end(rli_handoff *over, rlock_status status);

/* The attempt is about to do something else than to sleep. If it was given the lead meanwhile, which its waiter's
 * `asleep` allows, it takes that first, and frees the mutex for as long. */
void rli_handoff_attend(rli_attempt *attempt);

/* The attempt's wait is over, and it was not handed the lock: what is handed to it from now on goes to another
 * thread of its owner that waits, or is released in the background. */
void rli_handoff_decline(rli_attempt *attempt);

#endif
