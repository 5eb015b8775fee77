/* The end of the wait for a lock when a signal comes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INTERRUPTION_H
#define CLI_INTERRUPTION_H

#include "cli/signals.h"

#include <pthread.h>
#include <rlock/cancel.h>

typedef struct cli_interruption {
    const cli_signals *signals;
    rlock_cancel *cancel; /* fired by the first signal, once waiting */
    pthread_t thread;
    int stop_fd; /* eventfd: tells the thread to end */
    pthread_mutex_t mutex;
    bool waiting; /* guarded by mutex: a wait is under way, or about to be */
    int signal;   /* guarded by mutex: the first that came; 0: none */
} cli_interruption;

/* Starts to listen. Until interruption_wait_begins() a signal ends the process at once, with
 * 128 + its number: nothing is held by then. False: errno says why. */
bool interruption_start(cli_interruption *interruption, const cli_signals *signals, rlock_cancel *cancel);

/* From now on a signal fires the cancel token. */
void interruption_wait_begins(cli_interruption *interruption);

/* Stops listening: later signals stay readable in `signals`. Answers the signal that came; 0: none. */
int interruption_stop(cli_interruption *interruption);

#endif
