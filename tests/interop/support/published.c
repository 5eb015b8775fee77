/* Published: the instant at which the server published a message, on the clock of the test. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/published.h"

#include "tests/support/test.h"

#include <stdlib.h>
#include <time.h>

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A line begins with the server's wall clock, in seconds with six decimals. */
static void note_first(const char *line, void *arg)
{
    int64_t *first_ns = arg;
    char *dot;
    int64_t seconds = strtoll(line, &dot, 10);
    if (!*first_ns)
        *first_ns = seconds * 1000000000 + strtoll(dot + 1, NULL, 10) * 1000;
}

int64_t first_published_ns(monitor *self)
{
    int64_t wall_ns = 0;
    monitor_each(self, "\"publish\"", note_first, &wall_ns);
    cr_assert(wall_ns > 0, "nothing was published");
    return wall_ns - (clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC));
}
