/* Defer: whether a waiter that was woken asks the server now, or later, because others have the lock or come first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_DEFER_H
#define RLI_DEFER_H

#include "engine/attempt.h"

/* Updates the entry's `yield.listening` and `guards` from the attempt's channels. Mutex held. */
void rli_defer_note_listening(rli_attempt *attempt);

/* Returns whether the waiter would ask in vain or out of turn; then sets *again_ms. Call it once for each request that
 * it is about to send: its news count as heard. Mutex held. */
bool rli_defer(rli_attempt *attempt, int64_t *again_ms);
/* It was deferred: begins to listen to the lock's channel if it is to. Should that fail, it asks at *again_ms all the
 * same. The mutex must not be held. */
void rli_defer_listen(rli_attempt *attempt);

#endif
