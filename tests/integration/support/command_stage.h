/* Runs of the rlock command on the stage's server, some of which stay under a lock until they are told. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMAND_STAGE_H
#define COMMAND_STAGE_H

#include "tests/integration/support/command_process.h"

/* To its end: what came of it; its exit status alone. */
outcome run(const char *const *words);
int status_of(const char *const *words);
command *start(const char *const *words);

/* A program to run under a lock: says when it is, and leaves when a line comes. */
#define UNTIL_LINE "sh", "-c", "echo under; read line; echo over"
/* Starts, and waits until the program is under the lock. */
command *start_under(const char *const *words);
/* Has the program leave; fails the test unless all ended well, and without complaint. Frees. */
void end_under(command *command);

#endif
