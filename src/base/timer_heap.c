/* The timer heap: what the watchdog has to do at which instant, earliest first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timer_heap.h"

#include "base/clock.h"
#include "base/thread.h"

#include <stdlib.h>
#include <time.h>

void rli_timer_heap_init(rli_timer_heap *timers)
{
    *timers = (rli_timer_heap){.awake_at_ms = INT64_MIN}; /* nobody sleeps yet */
    rli_cond_init_monotonic(&timers->earlier);
}

void rli_timer_heap_destroy(rli_timer_heap *timers)
{
    free(timers->items);
    pthread_cond_destroy(&timers->earlier);
}

bool rli_timer_heap_reserve(rli_timer_heap *timers)
{
    if (timers->reserved == UINT32_MAX - 1)
        return false; /* rli_timer.place could not number it */
    if (timers->reserved + 1 >= timers->capacity) {
        size_t capacity = timers->capacity ? timers->capacity * 2 : 16;
        rli_timer **items = realloc(timers->items, capacity * sizeof *items);
        if (!items)
            return false;
        timers->items = items;
        timers->capacity = capacity;
    }
    timers->reserved++;
    return true;
}

void rli_timer_heap_unreserve(rli_timer_heap *timers)
{
    timers->reserved--;
}

static void put(rli_timer_heap *timers, size_t place, rli_timer *timer)
{
    timers->items[place] = timer;
    timer->place = (uint32_t)place;
}

static void rise(rli_timer_heap *timers, rli_timer *timer)
{
    size_t place = timer->place;
    while (place > 1 && timers->items[place / 2]->at_ms > timer->at_ms) {
        put(timers, place, timers->items[place / 2]);
        place /= 2;
    }
    put(timers, place, timer);
}

static void sink(rli_timer_heap *timers, rli_timer *timer)
{
    size_t place = timer->place;
    for (;;) {
        size_t child = place * 2;
        if (child > timers->count)
            break;
        if (child < timers->count && timers->items[child + 1]->at_ms < timers->items[child]->at_ms)
            child++;
        if (timers->items[child]->at_ms >= timer->at_ms)
            break;
        put(timers, place, timers->items[child]);
        place = child;
    }
    put(timers, place, timer);
}

void rli_timer_heap_expect(rli_timer_heap *timers, int64_t at_ms)
{
    if (timers->awake_at_ms == INT64_MIN)
        return; /* it looks at what is due before it sleeps for long; and what it sets itself is not the locks' pace */
    timers->next_ms = rli_earlier(timers->next_ms, at_ms);
    if (at_ms >= timers->awake_at_ms)
        return;
    int64_t now_ms = rli_now_ms(), ahead_ms = at_ms - now_ms;
    timers->pace_ms = now_ms - timers->signalled_ms <= ahead_ms ? ahead_ms : 0;
    timers->signalled_ms = now_ms;
    timers->awake_at_ms = at_ms; /* Do not signal again for this instant. */
    pthread_cond_signal(&timers->earlier);
}

int64_t rli_timer_heap_go_to_sleep(rli_timer_heap *timers, int64_t until_ms)
{
    timers->asleep_from_ms = rli_now_ms();
    if (timers->pace_ms > 0)
        until_ms = rli_earlier(until_ms, timers->asleep_from_ms + timers->pace_ms);
    timers->next_ms = RLI_NEVER;
    timers->awake_at_ms = until_ms;
    return until_ms;
}

void rli_timer_heap_wake_up(rli_timer_heap *timers, int64_t until_ms)
{
    bool signalled = timers->awake_at_ms != until_ms;
    timers->awake_at_ms = INT64_MIN;
    if (signalled)
        return;
    /* Counted from the beginning of the sleep, the instants lie up to twice as far ahead as when they were set. */
    int64_t ahead_ms = timers->next_ms == RLI_NEVER ? 0 : timers->next_ms - timers->asleep_from_ms;
    if (ahead_ms == 0 || ahead_ms / 2 > timers->pace_ms)
        timers->pace_ms = ahead_ms;
}

void rli_timer_heap_set(rli_timer_heap *timers, rli_timer *timer, int64_t at_ms)
{
    timer->at_ms = at_ms;
    if (!timer->place)
        put(timers, ++timers->count, timer);
    rise(timers, timer);
    sink(timers, timer);
    rli_timer_heap_expect(timers, at_ms);
}

void rli_timer_heap_remove(rli_timer_heap *timers, rli_timer *timer)
{
    if (!timer->place)
        return;
    rli_timer *last = timers->items[timers->count--];
    if (last != timer) {
        put(timers, timer->place, last);
        rise(timers, last);
        sink(timers, last);
    }
    timer->place = 0;
}

rli_timer *rli_timer_heap_first(const rli_timer_heap *timers)
{
    return timers->count ? timers->items[1] : NULL;
}
