/* ${NAME} and ${NAME:-default} in a configuration file, as Redisson replaces them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ENVIRONMENT_H
#define RLI_ENVIRONMENT_H

#include <rlock/status.h>
#include <stddef.h>

/* Hears of a ${name} that is not set and has no default, and of the line where it stands. */
typedef rlock_status rli_unset_fn(void *arg, size_t line, const char *name, size_t length);

/* Copies `text` with the names replaced by what the environment has. *expanded is to be freed, and ends
 * with a 0 that *expanded_length does not count. RLOCK_OK, RLOCK_NO_MEMORY, or what `unset` answered. */
rlock_status rli_environment_expand(const char *text, size_t length, char **expanded, size_t *expanded_length,
                                    rli_unset_fn *unset, void *arg);

#endif
