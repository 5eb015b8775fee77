/* The agenda: what the watchdog has to do when, soonest first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/agenda.h"

#include <stdlib.h>
#include <time.h>

void rli_agenda_init(rli_agenda *agenda)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    *agenda = (rli_agenda){.awake_at_ms = INT64_MIN}; /* nobody sleeps yet */
    pthread_cond_init(&agenda->earlier, &attributes);
    pthread_condattr_destroy(&attributes);
}

void rli_agenda_destroy(rli_agenda *agenda)
{
    free(agenda->items);
    pthread_cond_destroy(&agenda->earlier);
}

bool rli_agenda_reserve(rli_agenda *agenda)
{
    if (agenda->reserved == UINT32_MAX - 1)
        return false; /* no item could say its place */
    if (agenda->reserved + 1 >= agenda->capacity) {
        size_t capacity = agenda->capacity ? agenda->capacity * 2 : 16;
        rli_due **items = realloc(agenda->items, capacity * sizeof *items);
        if (!items)
            return false;
        agenda->items = items;
        agenda->capacity = capacity;
    }
    agenda->reserved++;
    return true;
}

void rli_agenda_unreserve(rli_agenda *agenda)
{
    agenda->reserved--;
}

static void put(rli_agenda *agenda, size_t place, rli_due *due)
{
    agenda->items[place] = due;
    due->place = (uint32_t)place;
}

static void rise(rli_agenda *agenda, rli_due *due)
{
    size_t place = due->place;
    while (place > 1 && agenda->items[place / 2]->at_ms > due->at_ms) {
        put(agenda, place, agenda->items[place / 2]);
        place /= 2;
    }
    put(agenda, place, due);
}

static void sink(rli_agenda *agenda, rli_due *due)
{
    size_t place = due->place;
    for (;;) {
        size_t child = place * 2;
        if (child > agenda->count)
            break;
        if (child < agenda->count && agenda->items[child + 1]->at_ms < agenda->items[child]->at_ms)
            child++;
        if (agenda->items[child]->at_ms >= due->at_ms)
            break;
        put(agenda, place, agenda->items[child]);
        place = child;
    }
    put(agenda, place, due);
}

void rli_agenda_expect(rli_agenda *agenda, int64_t at_ms)
{
    if (at_ms < agenda->awake_at_ms) {
        agenda->awake_at_ms = at_ms; /* told once */
        pthread_cond_signal(&agenda->earlier);
    }
}

void rli_agenda_set(rli_agenda *agenda, rli_due *due, int64_t at_ms)
{
    due->at_ms = at_ms;
    if (!due->place)
        put(agenda, ++agenda->count, due);
    rise(agenda, due);
    sink(agenda, due);
    rli_agenda_expect(agenda, at_ms);
}

void rli_agenda_remove(rli_agenda *agenda, rli_due *due)
{
    if (!due->place)
        return;
    rli_due *last = agenda->items[agenda->count--];
    if (last != due) {
        put(agenda, due->place, last);
        rise(agenda, last);
        sink(agenda, last);
    }
    due->place = 0;
}

rli_due *rli_agenda_first(const rli_agenda *agenda)
{
    return agenda->count ? agenda->items[1] : NULL;
}
