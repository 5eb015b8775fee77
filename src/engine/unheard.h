/* Unheard: the head of the server's queue that did not hear that the lock is free, and may be dead.
 *
 * Whoever finds it unheard sends its name along with a request later: the script removes it if it is unheard again. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_UNHEARD_H
#define RLI_UNHEARD_H

#include "engine/attempt.h"

/* Notes the unheard head that an answer names; NULL: the head is not unheard. The same head keeps the time at which it
 * was first noted, until it is notified again RLI_UNHEARD_MS later. A place of this client that none of its sessions
 * has is not given that time: the server has gone back to an older state. Mutex held. */
void rli_unheard_note(rli_attempt *attempt, const char *unheard);
/* Returns the head that was noted then, if the next request is to notify it again, or "". */
const char *rli_unheard_again(const char *unheard, int64_t unheard_ms);

#endif
