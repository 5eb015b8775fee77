/* A parker: where one thread sleeps until another has something for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "park.h"

#include "clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void rli_parker_init(rli_parker *parker)
{
    atomic_init(&parker->state, 0);
}

/* Sleeps as long as the state is `state`. False: the deadline has come. */
static bool wait(rli_parker *parker, unsigned state, int64_t deadline_ms)
{
    struct timespec at, *until = NULL;
    if (deadline_ms != RLI_NEVER) {
        at = rli_monotonic_at(deadline_ms);
        until = &at;
    }
    return syscall(SYS_futex, &parker->state, FUTEX_WAIT_BITSET_PRIVATE, state, until, NULL, FUTEX_BITSET_MATCH_ANY) == 0 ||
           errno != ETIMEDOUT;
}

void rli_park(rli_parker *parker, int64_t deadline_ms)
{
    unsigned state = atomic_load_explicit(&parker->state, memory_order_relaxed);
    bool in_time = true;
    while (in_time && !(state & RLI_WOKEN)) {
        if (state & RLI_ASLEEP || atomic_compare_exchange_weak(&parker->state, &state, state | RLI_ASLEEP)) {
            in_time = wait(parker, state | RLI_ASLEEP, deadline_ms);
            state = atomic_load_explicit(&parker->state, memory_order_relaxed);
        }
    }
    atomic_fetch_and(&parker->state, ~(unsigned)(RLI_ASLEEP | RLI_WOKEN));
}

void rli_unpark_with(rli_parker *parker, unsigned news)
{
    unsigned state = atomic_load_explicit(&parker->state, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&parker->state, &state, (state & ~(unsigned)RLI_ASLEEP) | RLI_WOKEN | news))
        continue;
    /* The parker may be gone by now; then this wakes nobody, or somebody who looks again. */
    if (state & RLI_ASLEEP)
        syscall(SYS_futex, &parker->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void rli_unpark(rli_parker *parker)
{
    rli_unpark_with(parker, 0);
}

bool rli_parker_has(const rli_parker *parker, unsigned news)
{
    return atomic_load_explicit(&parker->state, memory_order_acquire) & news;
}

bool rli_parker_take(rli_parker *parker, unsigned news)
{
    return rli_parker_has(parker, news) && atomic_fetch_and(&parker->state, ~news) & news;
}
