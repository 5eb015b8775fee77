/* The timer heap: what the watchdog has to do at which instant, earliest first.
 *
 * A binary heap of items; each item knows its own place in it. The engine's mutex guards all of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TIMER_HEAP_H
#define RLI_TIMER_HEAP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rli_timer {
    /* when it is due */
    int64_t at_ms;
    uint32_t place; /* index in items, from 1; 0: not on the timer heap */
} rli_timer;

typedef struct rli_timer_heap {
    rli_timer **items; /* items[1] is the earliest; items[0] is unused */
    size_t count, capacity;
    size_t reserved;        /* number of items that may be on the heap at once; the array has room for all of them */
    int64_t awake_at_ms;    /* when the watchdog wakes by itself; INT64_MIN: it is not asleep */
    int64_t asleep_from_ms; /* when it went to sleep */
    int64_t next_ms;        /* the earliest instant expected since then; RLI_NEVER: none */
    int64_t signalled_ms;   /* when it was last signalled */
    int64_t pace_ms;        /* it also wakes by itself after so long; 0: not without a timer */
    pthread_cond_t earlier; /* signalled when something is due before awake_at_ms; uses CLOCK_MONOTONIC */
} rli_timer_heap;

void rli_timer_heap_init(rli_timer_heap *timers);
void rli_timer_heap_destroy(rli_timer_heap *timers);

/* Reserves room for one more item, so that rli_timer_heap_set cannot fail for it. False: out of memory. Undo it with
 * rli_timer_heap_unreserve once the item is gone for good. */
bool rli_timer_heap_reserve(rli_timer_heap *timers);
void rli_timer_heap_unreserve(rli_timer_heap *timers);

/* Puts the item on the timer heap, or moves it there to `at_ms`. Wakes the watchdog if it would otherwise wake
 * later. */
void rli_timer_heap_set(rli_timer_heap *timers, rli_timer *timer, int64_t at_ms);
/* Wakes the watchdog if it would otherwise wake later than `at_ms`. */
void rli_timer_heap_expect(rli_timer_heap *timers, int64_t at_ms);
/* The watchdog goes to sleep until `until_ms` at the latest; returns until when: locks are mostly released before their
 * timers are due, and while some come and go it wakes at their pace, so that the next one need not signal it. Then
 * rli_timer_heap_wake_up, with the instant that was returned. */
int64_t rli_timer_heap_go_to_sleep(rli_timer_heap *timers, int64_t until_ms);
void rli_timer_heap_wake_up(rli_timer_heap *timers, int64_t until_ms);
/* Takes the item off the timer heap; does nothing if it is not there. Its reservation stays. */
void rli_timer_heap_remove(rli_timer_heap *timers, rli_timer *timer);
/* The item that is due first; NULL if there is none. */
rli_timer *rli_timer_heap_first(const rli_timer_heap *timers);

#endif
