/* Child: the command that runs under the lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include "cli/signals.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct cli_child {
    pid_t pid;
    bool ended;
    int status; /* from waitpid, once `ended` */
} cli_child;

/* Starts `command`, which is searched in PATH, with the signal state from before signals_open. The command
 * gets SIGTERM when rlock dies. Must be called by the main thread, because the death of the thread that
 * started the command counts. Returns EXIT_DONE: it runs; otherwise the exit status for rlock, after a
 * message on stderr. */
int child_start(cli_child *child, char *const *command, char *const *environment, const cli_signals *signals);

/* Reaps the command, and processes that it left behind, if they have ended; does not wait. Returns whether at
 * least one of these processes still exists. */
bool child_reap(cli_child *child);

/* Passes a signal on to the command, unless the terminal has sent it there already. */
void child_pass_on(const cli_child *child, cli_signal_note note);

/* The exit status for rlock. The command must have ended. */
int child_exit(const cli_child *child);

#endif
