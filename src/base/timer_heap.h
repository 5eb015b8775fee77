/* The timer heap: what the watchdog has to do when, soonest first. A binary heap of items that carry
 * their own place in it. Guarded by the engine's mutex. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TIMER_HEAP_H
#define RLI_TIMER_HEAP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rli_timer {
    int64_t at_ms;
    uint32_t place; /* from 1; 0: not on the timer heap */
} rli_timer;

typedef struct rli_timer_heap {
    rli_timer **items; /* from 1 */
    size_t count, capacity;
    size_t reserved;        /* items that may come; room is kept for them */
    int64_t awake_at_ms;    /* when the watchdog looks again by itself */
    pthread_cond_t earlier; /* something is due before that; CLOCK_MONOTONIC */
} rli_timer_heap;

void rli_timer_heap_init(rli_timer_heap *timers);
void rli_timer_heap_destroy(rli_timer_heap *timers);

/* Keeps room for one item more, so that setting it can't fail. False: out of memory. */
bool rli_timer_heap_reserve(rli_timer_heap *timers);
void rli_timer_heap_unreserve(rli_timer_heap *timers);

/* Puts the item on the timer heap, or moves it; wakes the watchdog when that is sooner than it expects. */
void rli_timer_heap_set(rli_timer_heap *timers, rli_timer *timer, int64_t at_ms);
/* Wakes the watchdog if it does not look by itself before that instant. */
void rli_timer_heap_expect(rli_timer_heap *timers, int64_t at_ms);
void rli_timer_heap_remove(rli_timer_heap *timers, rli_timer *timer);
/* The item that is due first; NULL: none. */
rli_timer *rli_timer_heap_first(const rli_timer_heap *timers);

#endif
