/* Offer: a release by another process gave the lock to a waiter, for a short time, and told it so.
 *
 * Registered waiters are offered the lock by lua/lock/waiters.inc, fair ones by lua/fair/release.lua. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OFFER_H
#define RLI_OFFER_H

#include "engine/attempt.h"

/* Returns whether releases offer the lock at all, and waiters let the server know of them for that. Not in a cluster:
 * while a slot moves, a script would make the key for that at the new node, and then the old one could not be moved. */
bool rli_offer_is_possible(const rli_engine *engine);

/* A request of the attempt is about to be sent. waits: it registers or queues it, so that it may be offered the lock.
 * Mutex held. */
void rli_offer_note_request(rli_attempt *attempt, bool waits);
/* That request was answered: it waits. Mutex held. */
void rli_offer_note_denied(rli_attempt *attempt, const rli_call *call);

/* Takes the lock that it was told is offered to it, without a request, if that is certain; *status is as of
 * rli_grant_apply. False: it has to ask. Mutex held, in the session's turn. */
bool rli_offer_take(rli_attempt *attempt, rlock_status *status);

#endif
