/* Signals: read from a descriptor instead of interrupting; one that comes during the wait for a lock ends the wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <pthread.h>
#include <rlock/cancel.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cli_signals {
    int fd;               /* signalfd: readable when a signal came; close-on-exec */
    sigset_t mask_before; /* signal mask that the command gets */
    struct sigaction child_before;
} cli_signals;

typedef struct cli_signal_note {
    int number;
    /* From a key such as Ctrl-C: the whole foreground process group got it already. */
    bool from_terminal;
} cli_signal_note;

/* From now on, SIGCHLD and the signals that are passed on to a command are read from fd. A signal that was
 * ignored when rlock started, as under nohup, stays ignored. Must be called before any other thread exists.
 * False: errno says why. */
bool signals_open(cli_signals *signals);

/* Reads the next signal that came. False: there is none; does not wait. */
bool signals_next(const cli_signals *signals, cli_signal_note *note);

/* For a forked child: restores the signal state from before signals_open. Async-signal-safe. */
void signals_restore(const cli_signals *signals);

/* Ends the wait for a lock when a signal comes. */
typedef struct cli_interruption {
    const cli_signals *signals;
    rlock_cancel *cancel; /* fired by the first signal during the wait */
    pthread_t thread;
    int stop_fd;            /* eventfd: ends the thread */
    const char *last_words; /* of a release; NULL: of a wait */
    pthread_mutex_t mutex;
    bool waiting;      /* guarded by mutex: a wait is under way or about to begin */
    int signal;        /* guarded by mutex: the first signal that came; 0: none */
    int64_t signal_ms; /* of a release: when that was */
} cli_interruption;

/* Starts the thread. Until interruption_wait_begins() a signal ends the process at once, with exit status 128
 * + its number, because nothing is held yet. False: errno says why. */
bool interruption_start(cli_interruption *interruption, const cli_signals *signals, rlock_cancel *cancel);

/* The same during a release: whoever interrupts it again half a second later does not want to wait for the server any
 * longer. The process then ends with that message. False: errno says why. */
bool interruption_start_releasing(cli_interruption *interruption, const cli_signals *signals, const char *last_words);

/* From now on a signal fires the cancel token. */
void interruption_wait_begins(cli_interruption *interruption);

/* Ends the thread; later signals stay readable in `signals`. Returns the signal that came; 0: none. */
int interruption_stop(cli_interruption *interruption);

#endif
