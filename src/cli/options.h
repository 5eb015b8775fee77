/* Options: parses the command line of a sub-command: options with their values, the lock's name, and what follows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <rlock/lock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object that a command can run under, as named by --kind. */
typedef struct cli_kind {
    const char *name;
    /* Makes a handle for a lock of this kind; NULL: the kind is a semaphore, or a lock of several names. */
    rlock *(*lock)(rlock_client *client, const char *name);
    bool fenced;
    bool sharded; /* a lock of as many parts as --shards says */
    bool grouped; /* a lock of the values of a group that --value says */
    bool braces;  /* in a cluster its name must have some */
    bool leased;  /* a semaphore whose permits have ids and leases */
} cli_kind;

#define KIND_LOCKS "lock, fair, spin, fenced, token, signal, read, write or non-reentrant"
#define KIND_ALL                                                                                                       \
    "lock, fair, spin, fenced, token, signal, read, write, non-reentrant, sharded, group, semaphore or permit"

extern const cli_kind kind_plain; /* the default of --kind */

/* The kind of that name; NULL: there is none. */
const cli_kind *kind_find(const char *name);

/* What an option that may be given again and again was given. */
typedef struct cli_list {
    const char **items; /* on the heap */
    size_t count;
} cli_list;

/* One option, and where its value is stored: the pointer that is not NULL gives the option's type. A table of
 * options ends with a NULL name. */
typedef struct cli_option {
    const char *name; /* with its dashes */
    char letter;      /* its short form, after one dash; 0: none */
    /* The option takes no value, and means this one; NULL: it takes one. */
    const char *fixed;
    bool *flag;
    const char **text;
    cli_list *list;
    int64_t *duration_ms;
    int *number;      /* 1 to `most` */
    int most;         /* 0: INT_MAX */
    int *exit_status; /* 0 to 255 */
    const cli_kind **kind;
    const char *never; /* there is no such option, for this reason */
} cli_option;

typedef struct cli_words {
    const char *command; /* name of the sub-command, for messages */
    const char *form;    /* what follows that name, for messages */
    const char *help;    /* what --help prints */
    const char *kinds;   /* which --kind takes, for messages; NULL: KIND_ALL */
    bool nameless;       /* it takes no NAME */
    bool name_is_optional;
    bool runs;           /* a COMMAND follows NAME, with or without a "--" between them */
    const char *name;    /* NAME of the lock; NULL: none was given */
    bool name_is_marked; /* a "--" stood before NAME */
    /* What follows NAME, or a "--" after it; NULL: nothing, not even a "--". */
    char **rest;
} cli_words;

/* Parses argv (argv[0] is the sub-command) into `words` and the targets of `options`: options before or after
 * NAME, up to a "--" after NAME, or with `runs` up to the next word after NAME that is no option. A "--" before NAME
 * allows a NAME that begins with "-". Short options may be written together, and with their values, as getopt(3) takes
 * them. False: nothing else is to be done, and *code is the exit status: help or the version was printed, or the
 * command line is wrong, as a message on stderr says. */
bool options_read(cli_words *words, const cli_option *options, char **argv, int *code);

/* Writes "rlock: <command>: …" and where to find help; returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
