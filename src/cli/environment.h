/* Environment of the command: rlock's own environment, and the fencing token. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ENVIRONMENT_H
#define CLI_ENVIRONMENT_H

#include <stdint.h>

/* Copies rlock's environment and adds RLOCK_TOKEN=<token>, unless `token` is NULL. It is a copy because
 * setenv() is not safe in a process with threads; the other strings are shared with the environment. NULL:
 * out of memory. End it with environment_free(). */
char **environment_with_token(const uint64_t *token);
void environment_free(char **environment);

#endif
