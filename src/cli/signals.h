/* Signals as something to read instead of something that interrupts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

typedef struct cli_signals {
    int fd;               /* readable when one of them came; close-on-exec */
    sigset_t mask_before; /* what the command shall have */
    struct sigaction child_before;
} cli_signals;

typedef struct cli_signal_note {
    int number;
    bool from_terminal; /* a key such as Ctrl-C: the whole foreground group has it already */
} cli_signal_note;

/* From now on the signals that end or inform a command, and SIGCHLD, are read from fd. One that
 * was ignored when rlock started, as under nohup, stays ignored. To be called before any other
 * thread is there. False: errno says why. */
bool signals_open(cli_signals *signals);

/* The next signal that came, if any. Does not wait. */
bool signals_next(const cli_signals *signals, cli_signal_note *note);

/* In a forked child: gives signals back their state from before. Async-signal-safe. */
void signals_restore(const cli_signals *signals);

#endif
