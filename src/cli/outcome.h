/* What came of taking what a command runs under, and of giving it back: words, and an exit status. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include "cli/hold.h"

/* Sees to it that there is such a semaphore: makes one with set_permits unless that is 0. Says on stderr what
 * is wrong and answers the exit status; EXIT_DONE: it is there. */
int outcome_find_semaphore(rlock_client *client, cli_hold *hold, const char *name, int set_permits);

/* It was not acquired; `signal` is the one that ended the wait, or 0. */
int outcome_not_held(const cli_hold *hold, rlock_status status, int signal);

/* Gives it back after a command, or whatever came in its place, that `code` is the exit status of. */
int outcome_give_back(cli_hold *hold, int code);

#endif
