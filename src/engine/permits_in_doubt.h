/* Permits in doubt: permits that an unanswered request may have taken, or may still take.
 *
 * The watchdog gives them back in the background for as long as such a request may run. The engine's mutex guards
 * them. */
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

/* Permits that were requested together. Allocated before the request, so that a lack of memory loses none. */
typedef struct rli_doubtful_permits {
    struct rli_doubtful_permits *next;
    /* When they are next given back, the last pause between two attempts, and when the attempts stop. */
    int64_t at_ms, pause_ms, until_ms;
    bool no_answer;      /* the last attempt to give them back went unanswered */
    bool not_given_back; /* no attempt was answered yet: rlock_client_close waits for that */
    int unanswered;      /* requests that may have run, or may still run */
    int count;
    char *ids;   /* RLI_PERMIT_ID bytes each */
    char name[]; /* of the semaphore, with the client's prefix */
} rli_doubtful_permits;

typedef struct rli_permits_in_doubt {
    rli_timer timer;             /* for the permits that are due first */
    bool reserved;               /* whether it has room on the timer heap */
    rli_doubtful_permits *first; /* in no order */
} rli_permits_in_doubt;

/* Reserves what permits in doubt need. Call it before the first of them; calling it again
 * is harmless. RLOCK_OK or RLOCK_NO_MEMORY. */
rlock_status rli_permits_in_doubt_prepare(rli_engine *engine);
/* Allocates room for `count` ids, for the caller to fill in; then add or drop it. NULL: out of memory. */
rli_doubtful_permits *rli_doubtful_permits_make(const rli_names *names, int count);
/* Frees it. */
void rli_doubtful_permits_free(rli_doubtful_permits *in_doubt);
/* Has the permits given back at once, and again with growing pauses, while one of the `unanswered` requests may
 * still run and leave permits: for lease_ms, or for a day if that is 0 or less. Takes ownership of `in_doubt`.
 * Takes the mutex itself. */
void rli_permits_in_doubt_add(rli_engine *engine, rli_doubtful_permits *in_doubt, int64_t lease_ms, int unanswered);
/* Has all of them given back now, and departure wait for that. Returns whether there are any. Mutex held. */
bool rli_permits_in_doubt_hasten(rli_engine *engine);
/* Frees all of them. */
void rli_permits_in_doubt_destroy(rli_permits_in_doubt *permits_in_doubt);

/* --- for the watchdog; mutex held --- */

/* Removes and returns the permits that are due first; there must be some. The caller puts them back or drops them. */
rli_doubtful_permits *rli_permits_in_doubt_take(rli_engine *engine);
/* Puts them back, to be given back again at at_ms. */
void rli_permits_in_doubt_put_back(rli_engine *engine, rli_doubtful_permits *in_doubt);

#endif
