/* A parker: where one operation waits until another thread wakes it. Mostly its thread sleeps there; an operation
 * without a thread is put on a ready list when it is woken (ready.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PARK_H
#define RLI_PARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Lives on the sleeping thread's stack. Other threads find it through a list. Before the parker ends, the sleeping
 * thread removes itself from that list under the list's mutex, unless news has shown it that nobody will unpark it any
 * more. The parker has no mutex: the woken thread would run into it while the waking thread still holds it. */
typedef struct rli_parker {
    atomic_uint state;       /* a futex: RLI_ASLEEP, RLI_WOKEN, and news */
    struct rli_ready *ready; /* where it is put when it is woken; NULL: a thread sleeps here */
    /* with `ready`: it is put there instead, among the parts of a whole; NULL: it is no part */
    struct rli_parts *parts;
    struct rli_parker *next; /* on that list */
    int64_t wake_ms;         /* without a thread: when to go on if nothing wakes it before */
    atomic_int bell;         /* with RLI_POLLING: what wakes it (bell.h); the next sleep may begin while it is read */
} rli_parker;

enum {
    RLI_ASLEEP = 1,
    RLI_WOKEN = 2,          /* unparked since the last park */
    RLI_AMONG_MANY = 4,     /* with RLI_ASLEEP: asleep on a shared futex, not a private one */
    RLI_GROUPED = 8,        /* asleep in rli_park_in_group; the upper bits name the place */
    RLI_NEWS = 16,          /* The first of four bits whose meaning the users of a parker agree on. */
    RLI_STEPPING = 1 << 24, /* without a thread: a thread carries out the operation at present */
    RLI_POLLING = 1 << 25   /* asleep in rli_park_polling */
};

/* Number of places for rli_park_in_group. Sharing a place is harmless: each of the two threads is woken more often
 * than needed. */
#define RLI_PLACES 16384u

/* A wake batch: threads to be woken later. It holds one thread that sleeps alone, and any number that sleep at places
 * of one group (place / 32), which one system call wakes. All zero: empty. */
typedef struct rli_wake_batch {
    /* the group, and the bits of its places to wake; `who` 0: none */
    unsigned group, who;
    atomic_uint *alone; /* state of the parker that sleeps alone; NULL: none */
    unsigned how;       /* that parker's state bits, which tell private from shared */
} rli_wake_batch;

void rli_parker_init(rli_parker *parker);
/* Makes the parker of an operation without a thread. The caller carries the operation out first; see
 * rli_parker_rest. None of the rli_park functions may be used with it. */
void rli_parker_init_ready(rli_parker *parker, struct rli_ready *ready);
/* The same for a part, which is put on the list of `parts`: that stands for the ready list below. */
void rli_parker_init_part(rli_parker *parker, struct rli_parts *parts);
/* The caller, who carries out an operation without a thread, can do no more for it now. From here on it is put on its
 * ready list when it is woken, and then another thread may carry it out. False: it has been woken meanwhile, so the
 * caller must go on with it. */
bool rli_parker_rest(rli_parker *parker);
/* The caller has taken the parker from its ready list, and carries its operation out from now on. */
void rli_parker_resume(rli_parker *parker);

/* Sleeps until `deadline_ms` or until unparked; an unpark before the call counts. Check the condition again
 * afterwards: a wake-up may be for something that is already past. */
void rli_park(rli_parker *parker, int64_t deadline_ms);
/* Like rli_park, for places where thousands of threads may be asleep at once: a wake-up costs slightly more, but its
 * cost does not grow with their number. */
void rli_park_among_many(rli_parker *parker, int64_t deadline_ms);

/* Like rli_park, and also until bytes can be read from the socket `fd`. Returns whether they can, or it has ended. All
 * that a parker sleeps on so share one bell, which the thread has taken, and which lives as long as those that may
 * unpark it. */
bool rli_park_polling(rli_parker *parker, int bell, int fd, int64_t deadline_ms);

/* Like rli_park, at a place (any number; taken modulo RLI_PLACES). rli_unpark_batched can wake neighbouring places with
 * one system call. This saves context switches: after each such call the woken thread usually takes the processor from
 * the thread that woke it. */
void rli_park_in_group(rli_parker *parker, unsigned place, int64_t deadline_ms);

/* Wakes the thread, or keeps its next park from sleeping. */
void rli_unpark(rli_parker *parker);
/* Unparks with news: bits from RLI_NEWS up, which stay set until taken. A thread that sees the news also sees
 * everything written before this call. The parker is not touched after the news is set, because its thread may go on
 * without having slept. */
void rli_unpark_flags(rli_parker *parker, unsigned news);
/* Like rli_unpark_flags, but a sleeping thread is only added to `batch` and sleeps on until rli_wake_batch_end, which
 * must follow. Call that without holding the mutex that the woken thread needs first. The parker may be gone by
 * then. */
void rli_unpark_batched(rli_parker *parker, unsigned news, rli_wake_batch *batch);
void rli_wake_batch_end(rli_wake_batch *batch);
/* Until the next call, this thread's rli_unpark and rli_unpark_flags add to `batch`, which the thread ends when it has
 * released a mutex that the woken threads need. NULL: they wake at once. */
void rli_wakes_gather(rli_wake_batch *batch);
/* Whether it does so: the thread holds an engine's mutex, with which nothing may be sent or awaited. */
bool rli_wakes_are_gathered(void);
/* Whether any of these news bits is set. */
bool rli_parker_has(const rli_parker *parker, unsigned news);
/* Whether any of these news bits was set; clears them. */
bool rli_parker_take(rli_parker *parker, unsigned news);

#endif
