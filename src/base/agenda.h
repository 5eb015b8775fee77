/* The agenda: what the watchdog has to do when, soonest first. A binary heap of items that carry
 * their own place in it. Guarded by the engine's mutex. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_AGENDA_H
#define RLI_AGENDA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rli_due {
    int64_t at_ms;
    uint32_t place; /* from 1; 0: not on the agenda */
} rli_due;

typedef struct rli_agenda {
    rli_due **items;         /* from 1 */
    size_t count, capacity;
    size_t reserved;         /* items that may come; room is kept for them */
    int64_t awake_at_ms;     /* when the watchdog looks again by itself */
    pthread_cond_t earlier;  /* something is due before that; CLOCK_MONOTONIC */
} rli_agenda;

void rli_agenda_init(rli_agenda *agenda);
void rli_agenda_destroy(rli_agenda *agenda);

/* Keeps room for one item more, so that setting it can't fail. False: out of memory. */
bool rli_agenda_reserve(rli_agenda *agenda);
void rli_agenda_unreserve(rli_agenda *agenda);

/* Puts the item on the agenda, or moves it; wakes the watchdog when that is sooner than it expects. */
void rli_agenda_set(rli_agenda *agenda, rli_due *due, int64_t at_ms);
/* Wakes the watchdog if it does not look by itself before that instant. */
void rli_agenda_expect(rli_agenda *agenda, int64_t at_ms);
void rli_agenda_remove(rli_agenda *agenda, rli_due *due);
/* The item that is due first; NULL: none. */
rli_due *rli_agenda_first(const rli_agenda *agenda);

#endif
