/* Signals: read from a descriptor instead of interrupting. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

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

#endif
