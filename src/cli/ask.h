/* What the sub-commands that ask something of one lock and print the answer have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include <rlock/client.h>
#include <stdbool.h>

/* Asks about the lock called `name` and prints the answer, as text or as JSON. A failure is left
 * in rlock_last_error(). */
typedef rlock_status ask_fn(rlock_client *client, const char *name, bool json);

/* Reads the words of such a sub-command, asks, and answers the exit status. */
int ask_command(char **argv, const char *help, ask_fn *ask);

#endif
