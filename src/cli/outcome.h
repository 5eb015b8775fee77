/* Outcome: the messages and exit statuses for acquiring what a command runs under, and for releasing it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include "cli/hold.h"

/* Checks that the semaphore `name` exists, or creates it with set_permits if that is not 0. Returns
 * EXIT_DONE; otherwise the exit status, after a message on stderr. */
int outcome_find_semaphore(rlock_client *client, cli_hold *hold, const char *name, int set_permits);

/* After a failed acquire: writes a message and returns the exit status. `signal`: the signal that ended the
 * wait; 0: none. */
int outcome_not_held(const cli_hold *hold, rlock_status status, int signal);

/* Releases the hold. `code`: the exit status of the command, or of what prevented it. Returns the exit status
 * for rlock, after a message on stderr if the release failed. */
int outcome_give_back(cli_hold *hold, int code);

#endif
