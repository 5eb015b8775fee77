/* Ask: what sub-commands have in common that ask about one object and print the answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "cli/kind.h"

#include <rlock/client.h>
#include <stdbool.h>

typedef struct cli_question {
    const char *help;
    bool of_kind; /* accepts --kind, with the name of a lock kind */
    /* Asks about the object `name` and prints the answer, as text or as JSON. kind is NULL if --kind was not
     * given. After a failure, rlock_last_error() has the message. */
    rlock_status (*ask)(rlock_client *client, const char *name, const cli_kind *kind, bool json);
} cli_question;

/* Runs such a sub-command: parses argv, opens the client, asks, and returns the exit status. */
int ask_command(char **argv, const cli_question *question);

#endif
