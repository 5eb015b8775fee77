/* Doubts: permits that a request which was never answered may have taken, or may take yet, and that are
 * given back in the background for as long as that can be. Guarded by the engine's mutex. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PERMITS_IN_DOUBT_H
#define RLI_PERMITS_IN_DOUBT_H

#include "base/timer_heap.h"
#include "engine/names.h"

#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rli_engine rli_engine;

/* Permits asked for together. Made before they are asked for, so that no doubt is forgotten for want of
 * memory. */
typedef struct rli_permits_doubt {
    struct rli_permits_doubt *next;
    int64_t at_ms, pause_ms, until_ms;
    bool no_answer; /* when they were given back last */
    int unanswered; /* requests that may have run, or may run yet */
    int count;
    char *ids;   /* RLI_PERMIT_ID bytes each */
    char name[]; /* of the semaphore, with the client's prefix */
} rli_permits_doubt;

typedef struct rli_permits_in_doubt {
    rli_timer timer;          /* for the one that comes first */
    bool reserved;            /* its room on the timer heap */
    rli_permits_doubt *first; /* in no order */
} rli_permits_in_doubt;

/* Once an engine, before there can be a doubt. RLOCK_OK or RLOCK_NO_MEMORY. */
rlock_status rli_permits_in_doubt_prepare(rli_engine *engine);
/* Room for `count` ids, which are not set; to be added or dropped. NULL: out of memory. */
rli_permits_doubt *rli_permits_doubt_make(const rli_names *names, int count);
void rli_permits_doubt_drop(rli_permits_doubt *in_doubt);
/* Has its permits given back at once, and again with growing pauses while one of the `unanswered` requests
 * may still run and leave permits: for the lease that they asked for, or, without one, for a day.
 * Takes the doubt over. */
void rli_permits_in_doubt_add(rli_engine *engine, rli_permits_doubt *in_doubt, int64_t lease_ms, int unanswered);
/* Drops them all. */
void rli_permits_in_doubt_destroy(rli_permits_in_doubt *permits_in_doubt);

/* --- for the watchdog; mutex held --- */

/* The one that is due first, taken out: to be put back or dropped. There is one. */
rli_permits_doubt *rli_permits_in_doubt_take(rli_engine *engine);
void rli_permits_in_doubt_put_back(rli_engine *engine, rli_permits_doubt *in_doubt);

#endif
