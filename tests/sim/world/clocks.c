/* Clocks of the simulated system: those of the calling thread's machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/os.h"
#include "tests/sim/world/threads.h"

#include <errno.h>

int os_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!world_is_on())
        return clock_gettime(clock, now);
    sim_point();
    int64_t shown_ns = machine_clock_ns(thread_machine(thread_self()), clock, world_now_ns());
    *now = (struct timespec){shown_ns / 1000000000, shown_ns % 1000000000};
    return 0;
}

int os_nanosleep(const struct timespec *span, struct timespec *left)
{
    int64_t until_ns = world_now_ns() + (int64_t)span->tv_sec * 1000000000 + span->tv_nsec;
    sim_point();
    if (world_happens(50)) {
        if (left)
            *left = *span;
        errno = EINTR;
        return -1;
    }
    thread_sleep(span, until_ns, 0, "a nap");
    return 0;
}

int os_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    if (!world_is_on())
        return clock_nanosleep(clock, flags, time, left);
    int64_t at_ns = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
    int64_t until_ns = flags & TIMER_ABSTIME ? machine_instant_ns(thread_machine(thread_self()), clock, at_ns)
                                             : world_now_ns() + at_ns;
    sim_point();
    if (world_now_ns() < until_ns)
        thread_sleep(time, until_ns, 0, "time to pass");
    return 0;
}

int os_usleep(useconds_t span_us)
{
    return os_nanosleep(&(struct timespec){span_us / 1000000, (long)(span_us % 1000000) * 1000}, NULL);
}
