/* Replaces ${NAME} and ${NAME:-default} in a configuration file as Redisson does. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ENVIRONMENT_H
#define RLI_ENVIRONMENT_H

#include <rlock/status.h>
#include <stddef.h>

/* Called for each ${name} that is not set and has no default, with the number of its line; and for each ${name:-}, with
 * name:- as the name. A status other than RLOCK_OK ends the expansion. */
typedef rlock_status rli_unset_fn(void *arg, size_t line, const char *name, size_t length);

/* Copies `text` with the references replaced from the environment. The caller frees *expanded, which ends
 * with a 0 byte that *expanded_length does not count. RLOCK_OK, RLOCK_NO_MEMORY, or the status that `unset`
 * returned. */
rlock_status rli_environment_expand(const char *text, size_t length, char **expanded, size_t *expanded_length,
                                    rli_unset_fn *unset, void *arg);

#endif
