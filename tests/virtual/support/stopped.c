/* Stopped threads: an actor's thread is kept from its turns until it is let go on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stopped.h"

#include "tests/sim/world/threads.h"

static thread *stopped;

void actor_stop(actor *self)
{
    stopped = (thread *)(size_t)actor_thread(self);
    thread_hold(stopped, true);
}

void actor_go_on(void)
{
    thread_hold(stopped, false);
}
