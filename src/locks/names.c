/* Names: the keys and channels that belong to a lock's name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/names.h"

#include "error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

char *rli_names_prefixed(const char *prefix, const char *name, size_t name_length, size_t *length)
{
    bool tagged = memchr(name, '{', name_length) != NULL;
    size_t prefix_length = strlen(prefix);
    *length = prefix_length + 1 + name_length + (tagged ? 0 : 2);
    char *key = malloc(*length + 1);
    if (!key)
        return NULL;
    char *at = key;
    memcpy(at, prefix, prefix_length);
    at += prefix_length;
    *at++ = ':';
    if (!tagged)
        *at++ = '{';
    memcpy(at, name, name_length);
    at += name_length;
    if (!tagged)
        *at++ = '}';
    *at = 0;
    return key;
}

rlock_status rli_names_make(rli_names *names, const char *client_prefix, const char *name,
                            const char *channel_prefix)
{
    *names = (rli_names){0};
    if (!name)
        return rli_fail(RLOCK_INVALID, "the lock's name is NULL");
    size_t own_length = strlen(name);
    if (own_length == 0)
        return rli_fail(RLOCK_INVALID, "the lock's name is empty");
    names->prefix_length = client_prefix ? strlen(client_prefix) : 0;
    names->length = names->prefix_length + own_length;
    /* the channel is the longest of the names made from it */
    if (names->length + strlen(channel_prefix) + 3 > RLI_NAME_MAX)
        return rli_fail(RLOCK_INVALID, "the lock's name has %zu bytes; with what Redisson puts before it, "
                        "that is more than the 512 MiB that Redis takes", own_length);
    names->name = malloc(names->length + 1);
    if (names->name) {
        if (client_prefix)
            memcpy(names->name, client_prefix, names->prefix_length);
        memcpy(names->name + names->prefix_length, name, own_length + 1);
        names->channel = rli_names_prefixed(channel_prefix, names->name, names->length, &names->channel_length);
    }
    if (names->channel)
        return RLOCK_OK;
    rli_names_free(names);
    return rli_fail(RLOCK_NO_MEMORY, "out of memory for a lock's name of %zu bytes", own_length);
}

void rli_names_free(rli_names *names)
{
    free(names->name);
    free(names->channel);
    *names = (rli_names){0};
}
