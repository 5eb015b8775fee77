/* Run options: the command line of rlock run, and of rlock NAME COMMAND. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include "cli/hold.h"
#include "cli/options.h"
#include "cli/server.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct run_options {
    cli_server server;
    const cli_kind *kind;
    int64_t wait_ms, lease_ms, kill_after_ms;
    int permits, set_permits, shards; /* 0: not given */
    int timeout_exit;                 /* exit status when the lock is not acquired in time */
    cli_values values;
    const char *codec; /* of the values; NULL: not given */
    bool quiet, verbose; /* not both */
    bool bare; /* the sub-command was left out */
    bool within; /* RLOCK_NAME in the environment is the name: an rlock command around this one may hold the lock */
    const char *name;
    char **command;
    char *shell[4]; /* what `command` is after -c */
} run_options;

/* Parses argv. `bare`: argv[0] is the program itself, and no sub-command follows. False: nothing else is to be done,
 * and *code is the exit status, after a message. `options` must stay where it is; end it with
 * run_options_clear, also after a failure. */
bool run_options_read(run_options *options, char **argv, bool bare, int *code);
void run_options_clear(run_options *options);

#endif
