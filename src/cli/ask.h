/* What the sub-commands that ask something of one lock and print the answer have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "cli/kind.h"

#include <rlock/client.h>
#include <stdbool.h>

typedef struct cli_question {
    const char *help;
    bool of_kind; /* takes --kind, of a lock */
    /* Asks about the object called `name` and prints the answer, as text or as JSON; kind NULL: none
     * was given. A failure is left in rlock_last_error(). */
    rlock_status (*ask)(rlock_client *client, const char *name, const cli_kind *kind, bool json);
} cli_question;

/* Reads the words of such a sub-command, asks, and answers the exit status. */
int ask_command(char **argv, const cli_question *question);

#endif
