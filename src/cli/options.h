/* Options: parses the command line of a sub-command: options, the lock's name, and what follows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* One option, and where its value is stored: the pointer that is not NULL gives the option's type. A table of
 * options ends with a NULL name. */
typedef struct cli_option {
    const char *name; /* with its dashes */
    bool *flag;
    const char **text;
    int64_t *duration_ms;
    int *number; /* 1 and up */
    const struct cli_kind **kind;
} cli_option;

typedef struct cli_words {
    const char *command; /* name of the sub-command, for messages */
    const char *form;    /* what follows that name, for messages */
    bool nameless;       /* it takes no NAME */
    const char *name;    /* NAME of the lock */
    /* What follows a "--" after NAME; NULL: there is no such "--". */
    char **rest;
    bool help; /* --help was given; what follows it was not parsed */
} cli_words;

/* Parses argv (argv[0] is the sub-command) into `words` and the targets of `options`: options before or after
 * NAME, up to a "--" after NAME. A "--" before NAME allows a NAME that begins with "-". False: the command
 * line is wrong, and a message was written to stderr. */
bool options_read(cli_words *words, const cli_option *options, char **argv);

/* Writes "rlock: <command>: …" and where to find help; returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
