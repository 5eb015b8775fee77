/* Stopped threads: an actor's thread is kept in a signal handler until it is let go on, so that a test decides what
 * happens meanwhile. One at a time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STOPPED_H
#define STOPPED_H

#include "tests/integration/support/actor.h"

/* Returns when the actor's thread is in the handler. */
void actor_stop(actor *self);
/* Lets it return from there. */
void actor_go_on(void);

#endif
