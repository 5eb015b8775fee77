/* Doubts: permits that a request which was never answered may have taken, or may take yet, and that are
 * given back in the background for as long as that can be. Guarded by the holds' mutex. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_DOUBTS_H
#define RLI_DOUBTS_H

#include "engine/names.h"
#include "src/base/agenda.h"

#include <rlock/client.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Permits asked for together. Made before they are asked for, so that no doubt is forgotten for want of
 * memory. */
typedef struct rli_doubt {
    struct rli_doubt *next;
    int64_t at_ms, pause_ms, until_ms;
    bool no_answer; /* when they were given back last */
    int unanswered; /* requests that may have run, or may run yet */
    int count;
    char *ids;      /* RLI_PERMIT_ID bytes each */
    char name[];    /* of the semaphore, with the client's prefix */
} rli_doubt;

typedef struct rli_doubts {
    rli_due due;      /* for the one that comes first */
    bool reserved;    /* its room on the agenda */
    rli_doubt *first; /* in no order */
} rli_doubts;

/* Once a client, before there can be a doubt. RLOCK_OK or RLOCK_NO_MEMORY. */
rlock_status rli_doubts_prepare(rlock_client *client);
/* Room for `count` ids, which are not set; to be added or dropped. NULL: out of memory. */
rli_doubt *rli_doubt_make(const rli_names *names, int count);
void rli_doubt_drop(rli_doubt *doubt);
/* Has its permits given back at once, and again with growing pauses while one of the `unanswered` requests
 * may still run and leave permits: for the lease that they asked for, or, without one, for a day.
 * Takes the doubt over. */
void rli_doubts_add(rlock_client *client, rli_doubt *doubt, int64_t lease_ms, int unanswered);
/* What the watchdog's thread does when the first of them is due. Holds' mutex held on entry and return, not
 * meanwhile. */
struct rli_watchdog;
void rli_doubts_attend(struct rli_watchdog *watchdog);
/* Drops them all. */
void rli_doubts_destroy(rli_doubts *doubts);

#endif
