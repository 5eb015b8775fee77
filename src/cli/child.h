/* The command that runs under the lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include "cli/signals.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct cli_child {
    pid_t pid;
    bool ended;
    int status; /* as waitpid has it, once it ended */
} cli_child;

/* Starts `command`, found by PATH, with the signals as they were before rlock took them. It gets
 * SIGTERM when rlock dies. To be called by the main thread: the death of the thread that started
 * it counts. Says on stderr what failed and answers the exit status; EXIT_DONE: it runs. */
int child_start(cli_child *child, char *const *command, char *const *environment, const cli_signals *signals);

/* Notes the end of the command, and of those it left behind, without waiting. True: one of these
 * processes at least is still there. */
bool child_reap(cli_child *child);

/* Passes a signal on to the command, unless the terminal did that already. */
void child_pass_on(const cli_child *child, cli_signal_note note);

/* The exit status for rlock, once the command has ended. */
int child_exit(const cli_child *child);

#endif
