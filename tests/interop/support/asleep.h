/* Asleep: whether a waiter of C has gone so far that nothing but a message or a time wakes it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASLEEP_H
#define ASLEEP_H

#include "tests/integration/support/actor.h"

/* How many scripts the server has run to their end; one that it was asked for and did not have is none. */
int64_t scripts_ended(void);

/* Waits until the call of `waiter` sleeps, has asked since scripts_ended() was `before`, and, when it
 * `listens`, somebody has subscribed. (Its thread also sleeps while it subscribes.) Java's:
 * java_await_asleep. */
void await_asleep(actor *waiter, int64_t before, bool listens);

#endif
