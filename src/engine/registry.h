/* Registry: how the waiters of one name register on the server, and hear that it is their turn.
 *
 * The server tells one registered waiter at a time (lua/lock/waiters.inc), on a channel that its client has for the
 * name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_REGISTRY_H
#define RLI_REGISTRY_H

#include "engine/attempt.h"

/* Listens to the client's own channel for the lock, where the kind registers its waiters and the server counts
 * receivers; otherwise to the lock's channel. Statuses as rli_wait_join. Needs no mutex. */
rlock_status rli_registry_join_channel(rli_attempt *attempt);
/* The same before the first request, if the client is subscribed to its own channel already, as shortly after an
 * earlier wait. Needs no mutex. */
void rli_registry_rejoin_channel(rli_attempt *attempt);

/* Adds to the attempt's next request what is registered, or is to be. Mutex held. */
void rli_registry_request(rli_attempt *attempt, rli_request *request);
/* Notes what the answer says about the registration. Mutex held. */
void rli_registry_note_denied(rli_attempt *attempt, const rli_acquire_result *verdict, const rli_call *call);
/* Returns when a registered waiter asks again without having heard anything. */
int64_t rli_registry_ask_again_ms(const rli_acquire_result *verdict);
/* Listens to the lock's channel, too, if the last answer made that necessary; then sets *again_ms to ask once more.
 * Statuses as rli_wait_join. The mutex must not be held. */
rlock_status rli_registry_join_common(rli_attempt *attempt, int64_t *again_ms);

/* The attempt, which has left the queue, ends without the lock. The place that its session has on the server is that of
 * other waiters of the same owner now. Those that stand behind others in the queue here do not hear when its turn
 * comes: so one of them asks, and listens from then on. Mutex held. */
void rli_registry_leave_to_owner(const rli_attempt *attempt);

/* Adds the successor's registration to the release that may hand it the lock. `others`: it is to be registered if the
 * lock goes to others. Mutex held. */
void rli_registry_request_handoff(rli_waiter *successor, rli_request *request, bool others);

#endif
