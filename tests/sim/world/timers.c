/* Descriptors that become readable at an instant: timerfd, for one time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/descriptor.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/os.h"
#include "tests/sim/world/threads.h"
#include "tests/sim/world/watch.h"

#define LONGEST_S INT64_C(4000000000) /* as the kernel, which has an end of time, too */

/* It may have been set anew, or closed, since this was planned. */
static void go_off(void *argument)
{
    descriptor *self = argument;
    if (self->kind != TIMER || !self->due_ns || self->due_ns > world_now_ns())
        return;
    self->due_ns = 0;
    self->value = 1;
    watch_changed(self);
}

int os_timerfd_create(int clock, int flags)
{
    sim_point();
    if (clock != CLOCK_BOOTTIME || !(flags & TFD_NONBLOCK))
        finding("timerfd_create(%d, %d) is not simulated", clock, flags);
    return descriptor_take(TIMER);
}

int os_timerfd_settime(int fd, int flags, const struct itimerspec *to, struct itimerspec *before)
{
    sim_point();
    descriptor *self = descriptor_at(fd, "timerfd_settime");
    const machine *on = thread_machine(thread_self());
    int64_t span_s = to->it_value.tv_sec < LONGEST_S ? to->it_value.tv_sec : LONGEST_S;
    int64_t span_ns = span_s * 1000000000 + to->it_value.tv_nsec;
    if (self->kind != TIMER || flags || before || to->it_interval.tv_sec || to->it_interval.tv_nsec)
        finding("a timer that repeats, or is set to an instant, is not simulated");
    self->value = 0;
    self->due_ns = 0;
    if (span_ns) {
        self->due_ns = machine_instant_ns(on, CLOCK_BOOTTIME, machine_clock_ns(on, CLOCK_BOOTTIME, world_now_ns()) + span_ns);
        event_at(self->due_ns, go_off, self);
    }
    return 0;
}
