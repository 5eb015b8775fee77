/* Give up: ends a wait that failed, without leaving anything behind. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_GIVE_UP_H
#define RLI_GIVE_UP_H

#include "engine/attempt.h"

/* Ends a wait that failed with status `why`. Waits a moment for a release under way that may hand it the lock, and
 * leaves the server's queue unless another thread of this owner also waits there. A request that the server does not
 * answer soon is repeated in the background.
 * Returns `why` with its message, or RLOCK_OK: the lock was handed to it meanwhile. RLI_WAITING: call it again; it
 * remembers `why`. Mutex not held. */
rlock_status rli_give_up(rli_attempt *attempt, rlock_status why);

#endif
