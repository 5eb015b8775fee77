/* A parker: where one thread sleeps until another has something for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PARK_H
#define RLI_PARK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Lives on the sleeping thread's stack. Whoever may unpark it reaches it through a list, and the
 * sleeper takes itself out of that list, under the list's mutex, before the parker ends. The
 * parker's mutex is the innermost of the library: it may be taken under any other. */
typedef struct rli_parker {
    pthread_mutex_t mutex;
    pthread_cond_t cond; /* CLOCK_MONOTONIC */
    bool token;          /* guarded by mutex: unparked since the last park */
} rli_parker;

void rli_parker_init(rli_parker *parker);
void rli_parker_destroy(rli_parker *parker);

/* Sleeps until unparked (also before the call) or the deadline; takes the token. Callers look
 * again at what they wait for: a wake-up may be for something that has passed. */
void rli_park(rli_parker *parker, int64_t deadline_ms);

void rli_unpark(rli_parker *parker);

#endif
