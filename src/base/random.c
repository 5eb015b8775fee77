/* Randomness that keeps threads from retrying all at the same moment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <time.h>
#include <unistd.h>

/* The thread's number and no address, which would differ from one run of a simulated seed to the next. */
int64_t rli_random_up_to(int64_t most)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t mixed = ((uint64_t)now.tv_nsec ^ (uint64_t)gettid() << 30) * UINT64_C(0x9E3779B97F4A7C15);
    return (int64_t)((mixed >> 33) % ((uint64_t)most + 1));
}
