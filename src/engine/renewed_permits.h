/* Renewed permits: the permits of this client whose leases the watchdog extends until they are released.
 *
 * A permit belongs to no thread, so it is renewed for as long as the client is open. The engine's mutex guards them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RENEWED_PERMITS_H
#define RLI_RENEWED_PERMITS_H

#include "base/table.h"
#include "base/timer_heap.h"
#include "engine/names.h"
#include "engine/permit_id.h"
#include "net/reply.h"

#include <rlock/client.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rli_engine rli_engine;
struct rli_semaphore_name;

typedef struct rli_renewed_permit {
    rli_link link;                        /* in `by_id` */
    struct rli_renewed_permit *next;      /* of those acquired together, or of those to report */
    struct rli_semaphore_name *semaphore; /* referenced */
    rli_timer timer;                      /* when it is renewed; while that is under way: its deadline */
    int64_t deadline_ms;                  /* until when it may be relied on */
    rlock_lost_reason reason;             /* why it was lost; or will be, if it is renewed no more */
    rli_refusal refused;                  /* why the server has refused its latest renewal */
    char id[RLI_PERMIT_ID];
} rli_renewed_permit;

typedef struct rli_renewed_permits {
    rli_timer timer; /* on the engine's timer heap, for the permit that is due first */
    /* Whether it has room there. May be read without the mutex: until then, no permit was renewed. */
    atomic_bool reserved;
    rli_timer_heap timers; /* of the permits */
    rli_table by_id;
    rli_renewed_permit *first_lost, *last_lost; /* to report; the oldest first */
} rli_renewed_permits;

void rli_renewed_permits_init(rli_renewed_permits *permits);
void rli_renewed_permits_destroy(rli_renewed_permits *permits);

/* --- for callers; these take the mutex themselves --- */

/* Allocates `count` permits before they are acquired, so that a lack of memory loses none, and starts the watchdog.
 * Sets *made; end it with rli_renewed_permits_begin or _drop. RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED. */
rlock_status rli_renewed_permits_make(rli_engine *engine, const rli_names *names, int count, rli_renewed_permit **made);
void rli_renewed_permits_drop(rli_engine *engine, rli_renewed_permit *made);
/* They were acquired, under these ids, by a request that was sent at `sent_ms`. Takes over `made`. */
void rli_renewed_permits_begin(rli_engine *engine, rli_renewed_permit *made, const char *ids, int64_t sent_ms);
/* Renews these permits no longer, and says nothing more of them. Those that are not renewed are passed over. */
void rli_renewed_permits_end(rli_engine *engine, const char *ids, int count);

/* Until when the permit may be relied on; 0: it is not renewed. */
int64_t rli_renewed_permits_deadline(rli_engine *engine, const char id[RLI_PERMIT_ID]);

/* --- for watchdog and reporter; mutex held --- */

/* The permit that is due first; NULL: there is none. */
rli_renewed_permit *rli_renewed_permits_first(const rli_renewed_permits *permits);
/* NULL: it is not renewed any more. */
rli_renewed_permit *rli_renewed_permits_find(const rli_renewed_permits *permits, const char id[RLI_PERMIT_ID]);
/* The name of its semaphore, with the client's prefix. */
const char *rli_renewed_permit_name(const rli_renewed_permit *permit);
/* It is due again then, or at its deadline, whichever is first. */
void rli_renewed_permit_put_off(rli_engine *engine, rli_renewed_permit *permit, int64_t until_ms);
/* The server extended its lease by a request that was sent at `sent_ms`. */
void rli_renewed_permit_extend(rli_engine *engine, rli_renewed_permit *permit, int64_t sent_ms);
/* It is renewed no longer, and reported if anybody wants to know. */
void rli_renewed_permit_lose(rli_engine *engine, rli_renewed_permit *permit, rlock_lost_reason reason);
/* Takes the next one to report, for the caller to free. NULL: there is none. */
rli_renewed_permit *rli_renewed_permits_take_lost(rli_renewed_permits *permits);
void rli_renewed_permit_free(rli_renewed_permit *permit);

#endif
