/* Firing: a cancel token, fired in its time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/firing.h"

#include "tests/sim/program/moment.h"

#include <rlock/cancel.h>

static void *fire(void *argument)
{
    firing *self = argument;
    if (self->of->meets != NO_MOMENT && world_now_ns() < self->at_ns) {
        moment_await(self->of->meets, self, self->at_ns);
        self->at_ns = world_now_ns() + self->of->after_us * INT64_C(1000);
    }
    while (!self->over && world_now_ns() < self->at_ns)
        thread_sleep(self, self->at_ns, ~0u, "the time to cancel");
    if (!self->over) {
        self->fired = true;
        self->fired_ns = world_now_ns();
        rlock_cancel_fire(self->token);
    }
    return NULL;
}

void firing_begin(firing *self, worker *who, const plan_step *of)
{
    *self = (firing){.of = of, .at_ns = world_now_ns() + of->cancel_ms * 1000000};
    if (of->cancel_ms < 0)
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
