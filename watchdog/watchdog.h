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

typedef struct rli_watchdog {
    rli_engine *engine;
    pthread_t thread;
    bool running, stopping; /* guarded by the engine's mutex */
    rli_renewal_batches batches;
    /* The last compensating request went unanswered… */
    bool compensation_unanswered;
    int64_t compensate_after_ms; /* …so none is sent before this instant… */
    /* …and this many have been put off until then, each 1 ms behind the one before, to keep their order. */
    int put_off;
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

/* Returns whether the timer is a session's, and not that of permits. */
bool rli_watchdog_is_of_session(const rli_watchdog *watchdog, const rli_timer *timer);
/* Clean-up requests give back what may be left on the server without an owner. The pauses between them double,
 * beginning with this one… */
#define RLI_COMPENSATE_FIRST_MS 500
/* …but do not exceed this one while there is no answer: perhaps nothing was given back at all. */
#define RLI_COMPENSATE_UNANSWERED_MS 2000
/* Returns the pause after one of pause_ms; 0: there was none yet. answered: the last request was. */
int64_t rli_watchdog_compensation_pause(int64_t pause_ms, bool answered);
/* Notes whether a compensating request was answered. If not, all others that are due are put off for a while: in an
 * outage there may be many, and waiting for the server for each of them would take too long. */
void rli_watchdog_note_compensation(rli_watchdog *watchdog, bool answered);
/* Returns until when a compensation that is due now is put off; 0: not at all. They keep the order in which they became
 * due, so that none is put off for ever. */
int64_t rli_watchdog_put_off(rli_watchdog *watchdog);
/* Returns until when to wait for the answer to a clean-up request. Such a request need not be answered to be
 * carried out, and while the watchdog waits, it renews nothing and declares nothing lost. While the client is being
 * closed, the watchdog has nothing else to do. Engine's mutex held. */
int64_t rli_watchdog_compensation_answer_by(const rli_watchdog *watchdog);
/* Stops and joins the thread: nothing is renewed after the return. */
void rli_watchdog_stop(rli_watchdog *watchdog);

#endif
