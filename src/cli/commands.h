/* Sub-commands: each parses its own argv (argv[0] is its name) and returns the exit status. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/options.h"

#include <rlock/client.h>
#include <rlock/inspect.h>
#include <stdbool.h>

#define SUB_COMMANDS "run, ls, inspect, force-unlock, doctor and bench"

/* Whether a sub-command has that name. */
bool is_sub_command(const char *name);

/* What the user may have meant by a word that is neither a sub-command nor followed by a COMMAND: "ls" of "lss"; NULL:
 * unknown. */
const char *meant_by(const char *word);

int run_command(char **argv);
int bare_command(char **argv); /* as run_command, with the program itself as argv[0] */
int ls_command(char **argv);
int doctor_command(char **argv);
int inspect_command(char **argv);
int force_unlock_command(char **argv);
int bench_command(char **argv);

/* Prints an inspection as one JSON object on a line. */
void inspect_print_json(const char *name, const rlock_inspection *found);

/* A sub-command that asks about one object and prints the answer. */
typedef struct cli_question {
    const char *help;
    bool of_kind; /* accepts --kind, with the name of a lock kind */
    /* Asks about the object `name` and prints the answer, as text or as JSON. kind is NULL if --kind was not
     * given. Returns the exit status, after a message on stderr if it failed. */
    int (*ask)(rlock_client *client, const char *name, const cli_kind *kind, bool json);
} cli_question;

/* Runs such a sub-command: parses argv, opens the client, asks, and returns the exit status. */
int ask_command(char **argv, const cli_question *question);

#endif
