/* Handing over: a last release that, in the same request, gives the lock to a waiter of this process, the heir.
 * All of it expects the holds' mutex to be held. No I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HAND_OVER_H
#define RLI_HAND_OVER_H

#include "locks/ask.h"

/* The wire owners that such a request speaks of, and a key. */
typedef struct rli_hand_over_texts {
    char heir[RLI_OWNER_TEXT], calm[RLI_OWNER_TEXT];
    char *counter; /* a key: of the heir's tokens; NULL: it has none. Freed by who has the texts, who sets it to NULL
                      at first */
} rli_hand_over_texts;

/* Names the waiter of the entry that comes next, in the queue on the server as far as this process knows, or in the
 * one here, in a request for a last release. Has the turn of its session, so that it asks for
 * nothing meanwhile: end it with rli_hand_over_end. NULL: nobody waits, or who comes next is not to be
 * bothered now; the request is as it was. */
rli_session *rli_hand_over_begin(rli_holds *holds, rli_entry *entry, const rli_kind *kind, rli_request *request,
                                 rli_hand_over_texts *texts);

/* The release of `from` is done, with that status: if the heir has the lock now, its wait ends with RLOCK_OK; if that
 * is not known, it asks at once. May free the heir. */
void rli_hand_over_end(rli_holds *holds, rli_session *heir, const rli_session *from, const rli_kind *kind,
                       const rli_request *request, const rli_call *call, rlock_status status);

/* The attempt's wait is over, and it was not handed the lock: what is handed to it from now on goes to another
 * thread of its owner that waits, or is released in the background. */
void rli_hand_over_decline(rli_attempt *attempt);

#endif
