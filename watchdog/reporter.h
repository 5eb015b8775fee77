/* The reporter: tells the program of lost holds, on a thread that renews nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_REPORTER_H
#define RLI_REPORTER_H

#include "engine/engine.h"

#include <pthread.h>
#include <rlock/client.h>
#include <stdbool.h>

typedef struct rli_reporter {
    rli_engine *engine;
    /* guarded by the engine's mutex */
    rlock_lost_fn *fn;
    void *argument;
    pthread_t thread; /* started by the first rlock_on_lost */
    bool running, stopping;
    bool calling;  /* the function runs now… */
    unsigned call; /* …for this time */
    pthread_cond_t idle;
} rli_reporter;

void rli_reporter_init(rli_reporter *reporter, rli_engine *engine);
void rli_reporter_destroy(rli_reporter *reporter);
/* As rlock_on_lost: what is told from now on. */
void rli_reporter_set(rli_reporter *reporter, rlock_lost_fn *fn, void *argument);
/* Whether the calling thread is the one that runs the function. */
bool rli_reporter_is_self(rli_reporter *reporter);
/* Waits for a call that is under way, makes no other, joins the thread. */
void rli_reporter_stop(rli_reporter *reporter);

#endif
