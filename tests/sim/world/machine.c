/* Machines: clocks, and standing still. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/machine.h"

#include "tests/sim/world/threads.h"

#include <stdio.h>
#include <stdlib.h>

#define MACHINES 64

static machine machines[MACHINES];
static int machine_count;

machine *machine_make(const char *name, int rate_ppm, int64_t wall_ns)
{
    if (machine_count == MACHINES)
        abort();
    machine *self = &machines[machine_count];
    *self = (machine){.number = machine_count, .booted_ns = world_now_ns(), .rate_ppm = rate_ppm, .wall_ns = wall_ns};
    self->since_boot_ns = (1000 + (int64_t)world_chance(1000000)) * 1000000;
    self->last_thread = 1000 * (machine_count + 1);
    snprintf(self->name, sizeof self->name, "%s", name);
    machine_count++;
    return self;
}

static int64_t scaled(int64_t span_ns, int rate_ppm)
{
    return span_ns + span_ns / 1000000 * rate_ppm + span_ns % 1000000 * rate_ppm / 1000000;
}

int64_t machine_clock_ns(const machine *self, clockid_t clock, int64_t now_ns)
{
    int64_t shown_ns = self->since_boot_ns + scaled(now_ns - self->booted_ns, self->rate_ppm);
    if (clock == CLOCK_MONOTONIC)
        return shown_ns - self->suspended_ns;
    return clock == CLOCK_REALTIME ? shown_ns + self->wall_ns : shown_ns;
}

int64_t machine_instant_ns(const machine *self, clockid_t clock, int64_t clock_ns)
{
    if (clock_ns > WORLD_NEVER / 2) /* of a clock that is ahead, it would be past the last instant */
        return WORLD_NEVER;
    int64_t span_ns = clock_ns - machine_clock_ns(self, clock, self->booted_ns);
    if (span_ns <= 0)
        return self->booted_ns;
    int64_t at_ns = self->booted_ns + span_ns - span_ns / 1000000 * self->rate_ppm;
    /* the division lost a little: not before it is due */
    while (machine_clock_ns(self, clock, at_ns) < clock_ns)
        at_ns += 1 + (clock_ns - machine_clock_ns(self, clock, at_ns));
    return at_ns;
}

void machine_stop(machine *self, int64_t span_ns, bool suspended)
{
    int64_t from_ns = world_now_ns(), until_ns = from_ns + span_ns;
    if (self->stopped_until_ns > from_ns)
        from_ns = self->stopped_until_ns;
    int64_t longer_ns = until_ns - from_ns; /* than it stands still anyway */
    if (longer_ns <= 0)
        return;
    if (until_ns < WORLD_NEVER) /* else nobody knows yet for how long */
        self->stood_still_ns += longer_ns;
    self->stopped_until_ns = until_ns;
    if (suspended) {
        self->suspended_ns += scaled(longer_ns, self->rate_ppm);
        threads_put_off(self, longer_ns);
    }
}
