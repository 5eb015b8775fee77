/* Blocked: whether waiters of signal-list locks have gone so far that only a signal wakes them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BLOCKED_H
#define BLOCKED_H

#include "tests/integration/support/actor.h"

/* Waits until so many connections wait in BLPOP. */
void await_blocked(int64_t count);
/* Begins the actor's wait for a lock that somebody else holds, and returns when `count` connections wait in BLPOP and the
 * actor has looked once more since: a lock that is free for a moment is not taken by this look. */
void begin_blocked(actor *waiter, rlock *lock, int64_t count);

#endif
