/* Watchdog: one thread a client that renews holds, declares expired ones lost, and sends compensating releases. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_WATCHDOG_H
#define RLI_WATCHDOG_H

#include "engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct rli_renewal_batch;

/* The renewals under way (renewal_batch.h). Only the watchdog's thread touches them, except `landed`. */
typedef struct rli_renewal_batches {
    /* In the order of sending, including answered ones that are not taken up yet. */
    struct rli_renewal_batch *first, *last;
    /* Answered ones, the latest first; any thread that reads an answer adds to it. */
    struct rli_renewal_batch *_Atomic landed;
    struct rli_renewal_batch *back; /* those of `landed` that are taken up next, the oldest first */
} rli_renewal_batches;

/* What is in doubt, is due, and waits until nothing else is (clean_up.h). Guarded by the engine's mutex. */
typedef struct rli_clean_ups {
    struct rli_session *first, *last; /* in the order in which they became due */
    bool permits;                     /* permits in doubt wait, too */
    bool after_permits;               /* the latest were permits: the next is a session, if one waits */
    bool late;                        /* answers come late, if they come */
    int64_t after_ms; /* the latest went unanswered, so none begins before this instant; 0: it did not */
} rli_clean_ups;

typedef struct rli_watchdog {
    rli_engine *engine;
    pthread_t thread;
    bool running, stopping; /* guarded by the engine's mutex */
    rli_renewal_batches batches;
    rli_clean_ups clean_ups;
} rli_watchdog;

void rli_watchdog_init(rli_watchdog *watchdog, rli_engine *engine);
void rli_watchdog_destroy(rli_watchdog *watchdog);

/* Starts the thread unless it runs. Engine's mutex held. RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED. */
rlock_status rli_watchdog_start(rli_watchdog *watchdog);
/* A part of lockWatchdogTimeout, ms. */
static inline int64_t rli_watchdog_timeout_part(const rli_watchdog *watchdog, int parts)
{
    return watchdog->engine->settings->watchdog_timeout_ms / parts;
}

/* Begins an operation of the watchdog's thread that waits for nothing from when the client begins to be closed. As
 * rli_operation_begin. */
rlock_status rli_watchdog_begin(const rli_watchdog *watchdog, rli_operation *op);
/* Returns whether the timer is a session's, and not that of permits. */
bool rli_watchdog_is_of_session(const rli_watchdog *watchdog, const rli_timer *timer);
/* Stops and joins the thread: nothing is renewed after the return. */
void rli_watchdog_stop(rli_watchdog *watchdog);

#endif
