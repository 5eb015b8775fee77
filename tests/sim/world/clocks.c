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
