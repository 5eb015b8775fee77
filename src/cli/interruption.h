/* Interruption: ends the wait for a lock when a signal comes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INTERRUPTION_H
#define CLI_INTERRUPTION_H

#include "cli/signals.h"

#include <pthread.h>
#include <rlock/cancel.h>

typedef struct cli_interruption {
    const cli_signals *signals;
    rlock_cancel *cancel; /* fired by the first signal during the wait */
    pthread_t thread;
    int stop_fd; /* eventfd: ends the thread */
    pthread_mutex_t mutex;
    bool waiting; /* guarded by mutex: a wait is under way or about to begin */
    int signal;   /* guarded by mutex: the first signal that came; 0: none */
} cli_interruption;

/* Starts the thread. Until interruption_wait_begins() a signal ends the process at once, with exit status 128
 * + its number, because nothing is held yet. False: errno says why. */
bool interruption_start(cli_interruption *interruption, const cli_signals *signals, rlock_cancel *cancel);

/* From now on a signal fires the cancel token. */
void interruption_wait_begins(cli_interruption *interruption);

/* Ends the thread; later signals stay readable in `signals`. Returns the signal that came; 0: none. */
int interruption_stop(cli_interruption *interruption);

#endif
