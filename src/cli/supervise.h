/* Supervise: the command that runs under the lock, from its start to its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SUPERVISE_H
#define CLI_SUPERVISE_H

#include "cli/descendants.h"
#include "cli/hold.h"
#include "cli/signals.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct cli_child {
    pid_t pid;
    bool ended;
    int status; /* from waitpid, once `ended` */
    cli_elders elders;
} cli_child;

/* Starts `command`, which is searched in PATH, with the signal state from before signals_open. The command
 * gets SIGTERM when rlock dies. Must be called by the main thread, because the death of the thread that
 * started the command counts. Returns EXIT_DONE: it runs; otherwise the exit status for rlock, after a
 * message on stderr. */
int child_start(cli_child *child, char *const *command, char *const *environment, const cli_signals *signals);

/* The exit status for rlock. The command must have ended. */
int child_exit(const cli_child *child);

/* Waits for the end of the command, and passes signals on to it. If the lock is lost first, ends the command
 * and everything that it started: sends SIGTERM, and SIGKILL after kill_after_ms, until no process is left,
 * except those that cannot be found or may not be signalled, of which it writes a message. Returns true if
 * the command ended while the lock was held. */
bool supervise(cli_child *child, cli_loss *loss, const cli_signals *signals, int64_t kill_after_ms);

#endif
