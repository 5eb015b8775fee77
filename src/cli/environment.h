/* The environment of the command: that of rlock, and what only rlock knows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ENVIRONMENT_H
#define CLI_ENVIRONMENT_H

#include <stdint.h>

/* rlock's own, with RLOCK_TOKEN=<token> unless that is NULL. A copy: setenv() is not for a process
 * with threads. NULL: no memory. Its other texts are the environment's own. */
char **environment_with_token(const uint64_t *token);
void environment_free(char **environment);

#endif
