/* A parker: where one thread sleeps until another has something for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PARK_H
#define RLI_PARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Lives on the sleeping thread's stack. Whoever may unpark it reaches it through a list, and the
 * sleeper takes itself out of that list, under the list's mutex, before the parker ends; or hears
 * by its last news that nobody will unpark it any more. It has no mutex: one that the waker held
 * would be what the woken thread runs into. */
typedef struct rli_parker {
    atomic_uint state; /* a futex: RLI_ASLEEP, RLI_WOKEN, and news */
} rli_parker;

enum {
    RLI_ASLEEP = 1,
    RLI_WOKEN = 2,      /* unparked since the last park */
    RLI_AMONG_MANY = 4, /* how it is asleep */
    RLI_TOGETHER = 8,   /* asleep at a place of those who are woken together, which the upper bits name */
    RLI_NEWS = 16       /* the first of four bits that are free for who parks there to agree on */
};

/* So many places there are. Two who sleep at one place are only woken more often than they need to be. */
#define RLI_PLACES 16384u

/* Threads to be woken later: one that sleeps alone, and those that sleep at places with one system call, as far as
 * these are of one group: the same place / 32. All zero: none. */
typedef struct rli_wake_batch {
    unsigned group, who;
    atomic_uint *alone; /* where that one sleeps… */
    unsigned how;       /* …and how */
} rli_wake_batch;

void rli_parker_init(rli_parker *parker);

/* Sleeps until unparked (also before the call) or the deadline. Callers look again at what they
 * wait for: a wake-up may be for something that has passed. */
void rli_park(rli_parker *parker, int64_t deadline_ms);
/* The same where thousands of threads may be asleep at a time: a wake-up then costs somewhat more, and no more when
 * there are so many. */
void rli_park_among_many(rli_parker *parker, int64_t deadline_ms);

/* The same at a place, any number, where rli_unpark_later has it woken together with its neighbours: each wake-up is a
 * system call, after which the woken thread mostly takes the processor from who woke it. */
void rli_park_together(rli_parker *parker, unsigned place, int64_t deadline_ms);

void rli_unpark(rli_parker *parker);
/* Unparks it with news, which stay until they are taken: what was written before is seen by who
 * has them. From then on the parker is not touched: its thread may go on without having slept. */
void rli_unpark_with(rli_parker *parker, unsigned news);
/* The same, but who sleeps goes on sleeping until the ring is ended, as it must be: best without the mutex that who is
 * woken needs first. The parker may be gone by then. */
void rli_unpark_later(rli_parker *parker, unsigned news, rli_wake_batch *batch);
void rli_wake_batch_end(rli_wake_batch *batch);
bool rli_parker_has(const rli_parker *parker, unsigned news);
/* Whether it had them; it has them no longer. */
bool rli_parker_take(rli_parker *parker, unsigned news);

#endif
