/* A parker: where one thread sleeps until another wakes it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/park.h"

#include "base/bell.h"
#include "base/clock.h"
#include "base/parts.h"
#include "base/ready.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* On 32-bit systems struct timespec may have a 64-bit time_t, which the older system call would misread. */
#ifdef SYS_futex_time64
#define FUTEX (sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#else
#define FUTEX SYS_futex
#endif

void rli_parker_init(rli_parker *parker)
{
    atomic_init(&parker->state, 0);
    parker->ready = NULL;
}

void rli_parker_init_ready(rli_parker *parker, rli_ready *ready)
{
    atomic_init(&parker->state, RLI_STEPPING);
    parker->ready = ready;
    parker->parts = NULL;
    parker->next = NULL;
    parker->wake_ms = RLI_NEVER;
}

void rli_parker_init_part(rli_parker *parker, rli_parts *parts)
{
    rli_parker_init_ready(parker, parts->whole->ready);
    parker->parts = parts;
}

/* Nobody carries out an operation without a thread before it is on its list, so the parker is still there. */
static void put_on_list(rli_parker *parker)
{
    if (parker->parts)
        rli_parts_add(parker->parts, parker);
    else
        rli_ready_add(parker->ready, parker);
}

bool rli_parker_rest(rli_parker *parker)
{
    unsigned state = atomic_load(&parker->state);
    while (!(state & RLI_WOKEN)) {
        if (atomic_compare_exchange_weak(&parker->state, &state, state & ~(unsigned)RLI_STEPPING))
            return true;
    }
    atomic_fetch_and(&parker->state, ~(unsigned)RLI_WOKEN);
    return false;
}

void rli_parker_resume(rli_parker *parker)
{
    /* One exchange, so that a wake-up in between does not put it on the list again. */
    unsigned state = atomic_load(&parker->state);
    while (!atomic_compare_exchange_weak(&parker->state, &state, (state & ~(unsigned)RLI_WOKEN) | RLI_STEPPING))
        continue;
}

/* How many threads may sleep on private futexes (see rli_park_among_many).
 *
 * Linux keeps a process's private futexes in a few buckets (16 on two cores), and a wake-up walks a bucket until it
 * reaches the sleeper: with 10,000 sleeping threads this took about 50 µs. Shared futexes use 256 buckets per core,
 * but the sleepers of all processes are in them, older ones first. So a process with few sleepers stays private: it
 * must not have to walk past the many sleepers of another process. */
#define FEW 1024

/* Number of threads in rli_park_among_many, on private and shared futexes together. */
static atomic_int sleepers;

static int private_flag(unsigned state)
{
    return state & RLI_AMONG_MANY ? 0 : FUTEX_PRIVATE_FLAG;
}

#define ANYBODY FUTEX_BITSET_MATCH_ANY

/* Sleeps as long as *word is `value`. `who` is the futex bit set on which to wake. False: the deadline has passed. */
static bool wait(atomic_uint *word, unsigned value, int flag, unsigned who, int64_t deadline_ms)
{
    struct timespec at, *until = NULL;
    if (deadline_ms != RLI_NEVER) {
        at = rli_monotonic_at(deadline_ms);
        until = &at;
    }
    return syscall(FUTEX, word, FUTEX_WAIT_BITSET | flag, value, until, NULL, who) == 0 || errno != ETIMEDOUT;
}

static void park(rli_parker *parker, int64_t deadline_ms, unsigned asleep)
{
    unsigned state = atomic_load_explicit(&parker->state, memory_order_relaxed);
    bool in_time = true;
    while (in_time && !(state & RLI_WOKEN)) {
        if (state & RLI_ASLEEP || atomic_compare_exchange_weak(&parker->state, &state, state | asleep)) {
            in_time = wait(&parker->state, state | asleep, private_flag(state | asleep), ANYBODY, deadline_ms);
            state = atomic_load_explicit(&parker->state, memory_order_relaxed);
        }
    }
    atomic_fetch_and(&parker->state, ~(asleep | RLI_WOKEN));
}

void rli_park(rli_parker *parker, int64_t deadline_ms)
{
    park(parker, deadline_ms, RLI_ASLEEP);
}

void rli_park_among_many(rli_parker *parker, int64_t deadline_ms)
{
    bool few = atomic_fetch_add_explicit(&sleepers, 1, memory_order_relaxed) < FEW;
    park(parker, deadline_ms, few ? RLI_ASLEEP : RLI_ASLEEP | RLI_AMONG_MANY);
    atomic_fetch_sub_explicit(&sleepers, 1, memory_order_relaxed);
}

/* --- parking at a socket --- */

/* An unpark that comes too late for one sleep ends the next one early. */
static bool poll_for_bytes(int bell, int fd, int64_t deadline_ms)
{
    struct pollfd polled[2] = {{.fd = fd, .events = POLLIN}, {.fd = bell, .events = POLLIN}};
    /* rounded up, as wait() does: a TTL that ends at that instant is over then */
    int timeout_ms = deadline_ms == RLI_NEVER ? -1 : rli_until_ms(deadline_ms, 60000) + 1;
    int ready = poll(polled, 2, timeout_ms);
    if (ready > 0 && polled[1].revents)
        rli_bell_hush(bell);
    return ready > 0 && polled[0].revents;
}

bool rli_park_polling(rli_parker *parker, int bell, int fd, int64_t deadline_ms)
{
    unsigned state = atomic_load_explicit(&parker->state, memory_order_relaxed);
    bool ready = false;
    atomic_store_explicit(&parker->bell, bell, memory_order_relaxed);
    while (!(state & (RLI_WOKEN | RLI_POLLING))) {
        if (atomic_compare_exchange_weak(&parker->state, &state, state | RLI_POLLING))
            state |= RLI_POLLING;
    }
    if (!(state & RLI_WOKEN))
        ready = poll_for_bytes(bell, fd, deadline_ms);
    atomic_fetch_and(&parker->state, ~(unsigned)(RLI_POLLING | RLI_WOKEN));
    return ready;
}

/* --- parking together: one system call wakes the threads of a group --- */

#define GROUP       32 /* places per group: the bits of a futex's bit set */
#define PLACE_SHIFT 8
#define TOGETHER    (RLI_GROUPED | (RLI_PLACES - 1) << PLACE_SHIFT)

/* One futex word per group; each wake-up of the group increments it. The words are static, so the futex stays valid
 * even if the sleepers are gone before the wake-up. */
static atomic_uint rung[RLI_PLACES / GROUP];

void rli_park_in_group(rli_parker *parker, unsigned place, int64_t deadline_ms)
{
    place %= RLI_PLACES;
    atomic_uint *word = &rung[place / GROUP];
    bool in_time = true;
    for (;;) {
        /* Load the word before looking at the state: a thread that unparks this one later changes the word
         * before it wakes the group, so the wait below returns at once. */
        unsigned value = atomic_load(word);
        if (atomic_fetch_or(&parker->state, RLI_GROUPED | place << PLACE_SHIFT) & RLI_WOKEN || !in_time)
            break;
        in_time = wait(word, value, FUTEX_PRIVATE_FLAG, 1u << place % GROUP, deadline_ms);
    }
    atomic_fetch_and(&parker->state, ~(TOGETHER | RLI_WOKEN));
}

static void end_group(rli_wake_batch *batch)
{
    if (!batch->who)
        return;
    atomic_fetch_add(&rung[batch->group], 1);
    syscall(FUTEX, &rung[batch->group], FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, batch->who);
    batch->who = 0;
}

static void ring_for(rli_wake_batch *batch, unsigned place)
{
    if (batch->group != place / GROUP)
        end_group(batch);
    batch->group = place / GROUP;
    batch->who |= 1u << place % GROUP;
}

/* The parker may be gone by now. Then the system call wakes nobody, or a thread that checks its condition again
 * anyway. */
static void end_alone(rli_wake_batch *batch)
{
    if (!batch->alone)
        return;
    syscall(FUTEX, batch->alone, FUTEX_WAKE | private_flag(batch->how), 1, NULL, NULL, 0);
    batch->alone = NULL;
}

static void ring_alone(rli_wake_batch *batch, rli_parker *parker, unsigned how)
{
    end_alone(batch);
    batch->alone = &parker->state;
    batch->how = how;
}

void rli_wake_batch_end(rli_wake_batch *batch)
{
    end_alone(batch);
    end_group(batch);
}

/* --- waking --- */

void rli_unpark_batched(rli_parker *parker, unsigned news, rli_wake_batch *batch)
{
    const unsigned asleep = RLI_ASLEEP | RLI_AMONG_MANY | RLI_POLLING | TOGETHER;
    rli_ready *ready = parker->ready;
    int bell;
    unsigned state = atomic_load_explicit(&parker->state, memory_order_acquire);
    do
        bell = state & RLI_POLLING ? atomic_load_explicit(&parker->bell, memory_order_relaxed) : -1;
    while (!atomic_compare_exchange_weak(&parker->state, &state, (state & ~asleep) | RLI_WOKEN | news));
    if (ready && !(state & (RLI_WOKEN | RLI_STEPPING)))
        put_on_list(parker);
    else if (state & RLI_POLLING)
        rli_bell_ring(bell);
    else if (state & RLI_ASLEEP)
        ring_alone(batch, parker, state);
    else if (state & RLI_GROUPED)
        ring_for(batch, (state & TOGETHER) >> PLACE_SHIFT);
}

static _Thread_local rli_wake_batch *gathering;

void rli_wakes_gather(rli_wake_batch *batch)
{
    gathering = batch;
}

bool rli_wakes_are_gathered(void)
{
    return gathering;
}

void rli_unpark_flags(rli_parker *parker, unsigned news)
{
    rli_wake_batch batch = {0};
    if (gathering) {
        rli_unpark_batched(parker, news, gathering);
        return;
    }
    rli_unpark_batched(parker, news, &batch);
    rli_wake_batch_end(&batch);
}

void rli_unpark(rli_parker *parker)
{
    rli_unpark_flags(parker, 0);
}

bool rli_parker_has(const rli_parker *parker, unsigned news)
{
    return atomic_load_explicit(&parker->state, memory_order_acquire) & news;
}

bool rli_parker_take(rli_parker *parker, unsigned news)
{
    return rli_parker_has(parker, news) && atomic_fetch_and(&parker->state, ~news) & news;
}
