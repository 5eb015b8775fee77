/* Queued: a waiter's time in the local queue, from which its queue leader asks for all. No function here expects the
 * engine's mutex to be held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_QUEUED_H
#define RLI_QUEUED_H

#include "engine/attempt.h"

/* Sleeps until the waiter may ask the server (RLOCK_OK), was handed the lock (RLOCK_OK, *handed), or its wait ends:
 * RLOCK_TIMEOUT; RLOCK_CANCELLED, RLOCK_CLOSED; RLOCK_UNAVAILABLE: the queue leader has found the server out of reach.
 * RLI_WAITING: the operation has no thread, call it again. */
rlock_status rli_queued_await(rli_attempt *attempt, bool *handed);
/* RLOCK_TIMEOUT promises that the server did answer. A waiter that never asked relies on an answer that the queue
 * leader got since it queued; returns whether there was one. Without it, the waiter must ask once itself. */
bool rli_queued_was_answered(rli_attempt *attempt);

#endif
