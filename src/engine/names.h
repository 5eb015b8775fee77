/* Names: the keys and channels that belong to a lock's name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NAMES_H
#define RLI_NAMES_H

#include "config/settings.h"

#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>

#define RLI_NAME_MAX ((size_t)512 * 1024 * 1024) /* Redis takes no longer key */

#define RLI_NAMES_MORE 2

/* Which names an object has besides its own. */
typedef struct rli_naming {
    const char *what;                         /* for messages: "lock", "semaphore"… */
    const char *channel_prefix;               /* NULL: nobody listens */
    bool braces_always;                       /* of the channel: P{NAME}, as Redisson's latch has it */
    const char *key_prefixes[RLI_NAMES_MORE]; /* of further keys; NULL: none */
    const char *key_suffix;                   /* of the first further key, when it has no prefix */
} rli_naming;

/* What one object is called on the server. */
typedef struct rli_names {
    char *name; /* with the client's prefix */
    size_t length;
    size_t prefix_length; /* of the client's prefix; the program's own name follows it */
    char *channel;
    size_t channel_length;
    char *keys[RLI_NAMES_MORE]; /* the further keys */
    size_t key_lengths[RLI_NAMES_MORE];
} rli_names;

/* `name` with the client's prefix before it; `settings` NULL: it has been through this before. RLOCK_OK;
 * RLOCK_INVALID: NULL, empty, too long, or one whose keys a cluster would not keep together;
 * RLOCK_NO_MEMORY. End with rli_names_free. */
rlock_status rli_names_make(rli_names *names, const rli_settings *settings, const char *name, const rli_naming *naming);
void rli_names_free(rli_names *names);

#endif
