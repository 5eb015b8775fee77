/* The watchdog: one thread a client that renews what is due, declares holds lost whose time is up,
 * and releases again in the background what may have been granted without anybody's knowledge. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_WATCHDOG_H
#define RLI_WATCHDOG_H

#include "engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct rli_renewal_batch;

/* Renewals under way (renewal_batch.h); of the watchdog's thread, but for those that have landed. */
typedef struct rli_renewal_batchs {
    struct rli_renewal_batch *first, *last;   /* as they left; with those that are back, and not yet taken up */
    struct rli_renewal_batch *_Atomic landed; /* back, the latest first */
    struct rli_renewal_batch *back;           /* of these, those that are taken up next */
} rli_renewal_batchs;

typedef struct rli_watchdog {
    rli_engine *engine;
    pthread_t thread;
    bool running, stopping; /* guarded by the engine's mutex */
    rli_renewal_batchs batches;
    bool compensation_unanswered; /* the last undoing had no answer… */
    int64_t compensate_after_ms;  /* …so none before that instant… */
    int put_off; /* …and so many have been put off to then, each 1 ms behind the one before: in their order */
} rli_watchdog;

void rli_watchdog_init(rli_watchdog *watchdog, rli_engine *engine);
void rli_watchdog_destroy(rli_watchdog *watchdog);

/* Starts the thread unless it runs; engine's mutex held. RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED. */
rlock_status rli_watchdog_start(rli_watchdog *watchdog);
/* What may stand on the server and is nobody's is given back after pauses that double, from this one on… */
#define RLI_TIDY_FIRST_MS 500
/* …while there is no answer up to this one: perhaps nothing was done at all. */
#define RLI_TIDY_UNANSWERED_MS 2000
/* The pause after one of pause_ms; 0: there was none yet. */
int64_t rli_watchdog_tidy_pause(int64_t pause_ms, bool answered);
/* An undoing had no answer, or had one. Many may be due in an outage: they do not wait for the server one after the other. */
void rli_watchdog_note_undo(rli_watchdog *watchdog, bool answered);
/* When what is due now may be undone; 0: at once. What was due first stays first, so that none is put off for ever. */
int64_t rli_watchdog_put_off(rli_watchdog *watchdog);
/* Until when a request that only tidies up is waited for: it need not be answered to be done, and while it
 * waits nothing is renewed or declared lost. A client that is being closed has nothing else to do. Engine's mutex held. */
int64_t rli_watchdog_tidy_by(const rli_watchdog *watchdog);
/* Ends and joins it: nothing is renewed after the return. */
void rli_watchdog_stop(rli_watchdog *watchdog);

#endif
