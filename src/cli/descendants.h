/* Descendants: the processes that the command has started, found in /proc. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DESCENDANTS_H
#define CLI_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Children that this process had before it started the command: a shell that starts a job and becomes rlock then (`job
 * & exec rlock ...`) leaves it that job. They are none of the command's, nor is any other process that is older than
 * the command. (What such a child starts later, and leaves behind when it ends, can't be told from what the command
 * leaves.) */
typedef struct cli_elders {
    pid_t *pids;
    size_t count;
    unsigned long long since; /* when the command began, in the ticks of /proc; 0: unknown */
} cli_elders;

/* Lists them, into a zeroed `elders`; none where /proc does not show children. They stay as long as the process. */
void elders_note(cli_elders *elders);
/* The command is this process. */
void elders_note_command(cli_elders *elders, pid_t command);
/* This process has ended: its number may become another's. */
void elders_forget(cli_elders *elders, pid_t pid);

/* How far a signal got. */
typedef struct cli_reach {
    size_t found; /* how many processes */
    bool unknown; /* /proc does not show them */
    bool refused; /* they run as another user, and the signal is not permitted */
} cli_reach;

/* Sends `signal` (0: none) to all descendants of this process: children, their children, and so on, without the elders.
 * A process that is started at the same moment may be missed; another call finds it. `child` (0: none) is signalled
 * even if
 * /proc does not show it. */
cli_reach descendants_signal(int signal, pid_t child, const cli_elders *elders);

#endif
