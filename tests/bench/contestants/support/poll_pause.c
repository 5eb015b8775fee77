/* The pause between two attempts of a contestant that polls: 0.5 to 1.5 ms, at random. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/poll_pause.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LEAST_NS  500000
#define SPREAD_NS 1000000

unsigned poll_pause_seed(void)
{
    static atomic_uint made;
    return (unsigned)getpid() * 7919u + atomic_fetch_add(&made, 1) * 104729u;
}

void poll_pause(unsigned *random)
{
    struct timespec pause = {0, LEAST_NS + (long)((double)rand_r(random) / RAND_MAX * SPREAD_NS)};
    nanosleep(&pause, NULL);
}
