/* Firing: a cancel token, fired in its time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/firing.h"

#include <rlock/cancel.h>

static void *fire(void *argument)
{
    firing *self = argument;
    while (!self->over && world_now_ns() < self->at_ns)
        thread_sleep(self, self->at_ns, ~0u, "the time to cancel");
    if (!self->over) {
        self->fired = true;
        self->fired_ns = world_now_ns();
        rlock_cancel_fire(self->token);
    }
    return NULL;
}

void firing_begin(firing *self, worker *who, int64_t after_ms)
{
    *self = (firing){.at_ns = world_now_ns() + after_ms * 1000000};
    if (after_ms < 0)
        return;
    self->token = rlock_cancel_new();
    self->by = self->token ? thread_start(who->of->machine, "canceller", fire, self) : NULL;
}

void firing_end(firing *self)
{
    self->over = true;
    threads_wake(self, 1, ~0u);
    if (self->by)
        thread_join(self->by);
    rlock_cancel_free(self->token);
}
