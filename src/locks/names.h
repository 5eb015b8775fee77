/* Names: the keys and channels that belong to a lock's name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NAMES_H
#define RLI_NAMES_H

#include <rlock/status.h>
#include <stddef.h>

#define RLI_NAME_MAX ((size_t)512 * 1024 * 1024) /* Redis takes no longer key */

/* What one lock is called on the server. */
typedef struct rli_names {
    char *name;           /* with the client's prefix */
    size_t length;
    size_t prefix_length; /* of the client's prefix; the program's own name follows it */
    char *channel;
    size_t channel_length;
} rli_names;

/* `name` with the client's prefix (NULL: none) before it. RLOCK_OK; RLOCK_INVALID: empty or too
 * long; RLOCK_NO_MEMORY. End with rli_names_free. */
rlock_status rli_names_make(rli_names *names, const char *client_prefix, const char *name,
                            const char *channel_prefix);
void rli_names_free(rli_names *names);

/* WIRE.md's prefix(P, NAME): P:NAME when NAME contains {, else P:{NAME}. To be freed; NULL: out of
 * memory. */
char *rli_names_prefixed(const char *prefix, const char *name, size_t name_length, size_t *length);

#endif
