/* Reporter: tells the program of lost holds, on a thread that renews nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_REPORTER_H
#define RLI_REPORTER_H

#include "engine/engine.h"

#include <pthread.h>
#include <rlock/client.h>
#include <stdbool.h>

typedef struct rli_reporter {
    rli_engine *engine;
    /* The engine's mutex guards the rest. */
    rlock_lost_fn *fn;
    void *argument;
    pthread_t thread; /* started by the first rlock_on_lost */
    bool running, stopping;
    bool calling;  /* the program's function runs now… */
    unsigned call; /* …for the call-th time */
    pthread_cond_t idle;
} rli_reporter;

void rli_reporter_init(rli_reporter *reporter, rli_engine *engine);
void rli_reporter_destroy(rli_reporter *reporter);
/* Sets the function as rlock_on_lost does. It gets the losses from now on. Unless called by the function itself,
 * waits until a call of the former function has returned. RLOCK_OK; RLOCK_NO_MEMORY: no thread for it can be started;
 * RLOCK_CLOSED: it was stopped. */
rlock_status rli_reporter_set(rli_reporter *reporter, rlock_lost_fn *fn, void *argument);
/* Returns whether the calling thread is the one that runs the function. */
bool rli_reporter_is_self(rli_reporter *reporter);
/* Waits for a call of the function that is under way, makes no other, and joins the thread. */
void rli_reporter_stop(rli_reporter *reporter);

#endif
