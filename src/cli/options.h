/* The words of a sub-command: its options, the lock's name, and what follows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* One option and where its value goes: the one of the pointers that is set says which
 * kind it is. A table of them ends with a NULL name. */
typedef struct cli_option {
    const char *name; /* with its dashes */
    bool *flag;
    const char **text;
    int64_t *duration_ms;
    int *number; /* from 1 */
    const struct cli_kind **kind;
} cli_option;

typedef struct cli_words {
    const char *command; /* the sub-command, for messages */
    const char *form;    /* how its words go, for messages */
    bool nameless;       /* no NAME belongs to it */
    const char *name;    /* the lock's */
    char **rest;         /* what follows "--" behind the name; NULL: there was none */
    bool help;           /* --help: the rest was not looked at */
} cli_words;

/* Reads argv (argv[0] is the sub-command) into `words` and the table's targets: options, before
 * or behind the one NAME (or none), up to a "--" behind it. A "--" before NAME lets that begin with "-".
 * Says on stderr what is wrong and answers false. */
bool options_read(cli_words *words, const cli_option *options, char **argv);

/* "rlock: <command>: …" and where to find help; answers EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
