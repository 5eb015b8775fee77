/* Names: the keys and channels that belong to the name of one object. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NAMES_H
#define RLI_NAMES_H

#include "config/settings.h"

#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>

#define RLI_NAME_MAX ((size_t)512 * 1024 * 1024) /* Redis allows no longer key */

#define RLI_NAMES_MORE 2

/* Describes which keys and channels a kind of object has besides its own key. */
typedef struct rli_naming {
    const char *what;           /* for messages: "lock", "semaphore"… */
    const char *channel_prefix; /* NULL: the object publishes nothing */
    /* Whether the channel is always P{NAME}, as Redisson's latch has it. */
    bool braces_always;
    const char *key_prefixes[RLI_NAMES_MORE]; /* of the further keys; NULL: none */
    const char *key_suffix;                   /* of the first further key, when it has no prefix; NULL: none */
    /* The prefix of the object's own key, and the one that the first further key has in its place. Neither adds
     * braces, so in a cluster the name must have some. NULL: nothing. */
    const char *name_prefix, *twin_prefix;
} rli_naming;

/* The full names of one object's keys and channel on the server. */
typedef struct rli_names {
    char *name; /* includes the client's prefix */
    size_t length;
    size_t prefix_length; /* of the kind's and the client's prefix; the program's own name follows them */
    char *channel;
    size_t channel_length;
    char *keys[RLI_NAMES_MORE]; /* the further keys; NULL: none */
    size_t key_lengths[RLI_NAMES_MORE];
    struct rli_values *values; /* of a group lock, whose name is the group; referenced; NULL: it is none */
} rli_names;

/* Builds the names of an object. `name`: as the program gave it. `settings` adds the client's prefix and checks for
 * a cluster; NULL: `name` has its prefix and was checked before. Free them with rli_names_free.
 * RLOCK_OK; RLOCK_NO_MEMORY; RLOCK_INVALID: the name is NULL, empty or too long, or a cluster would put its keys in
 * different slots. */
rlock_status rli_names_make(rli_names *names, const rli_settings *settings, const char *name, const rli_naming *naming);
void rli_names_free(rli_names *names);

#endif
