/* Names: the keys and channels that belong to the name of one object. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/names.h"

#include "base/error.h"
#include "engine/values.h"

#include <stdlib.h>
#include <string.h>

static char *join(const char *const parts[], const size_t lengths[], size_t *length)
{
    *length = 0;
    for (int i = 0; parts[i]; i++)
        *length += lengths[i];
    char *key = malloc(*length + 1), *at = key;
    for (int i = 0; key && parts[i]; i++) {
        memcpy(at, parts[i], lengths[i]);
        at += lengths[i];
    }
    if (key)
        *at = 0;
    return key;
}

/* docs/internals/wire.md, Names: prefix(P, NAME) is P:NAME when NAME contains {, else P:{NAME}. */
static char *prefixed(const rli_names *names, const char *prefix, bool braces_always, size_t *length)
{
    bool tagged = !braces_always && memchr(names->name, '{', names->length);
    const char *const parts[] = {prefix,
                                 braces_always ? "{"
                                 : tagged      ? ":"
                                               : ":{",
                                 names->name, tagged ? "" : "}", NULL};
    const size_t lengths[] = {strlen(prefix), strlen(parts[1]), names->length, strlen(parts[3])};
    return join(parts, lengths, length);
}

/* docs/internals/wire.md, Names: suffix(NAME, S) is NAME:S when NAME contains {, else {NAME}:S. */
static char *suffixed(const rli_names *names, const char *suffix, size_t *length)
{
    bool tagged = memchr(names->name, '{', names->length);
    const char *const parts[] = {tagged ? "" : "{", names->name, tagged ? ":" : "}:", suffix, NULL};
    const size_t lengths[] = {strlen(parts[0]), names->length, strlen(parts[2]), strlen(suffix)};
    return join(parts, lengths, length);
}

/* Returns by how many bytes the longest derived name exceeds the name itself. */
static size_t longest_addition(const rli_naming *naming)
{
    size_t longest = naming->channel_prefix ? strlen(naming->channel_prefix) : 0;
    for (int i = 0; i < RLI_NAMES_MORE; i++) {
        if (naming->key_prefixes[i] && strlen(naming->key_prefixes[i]) > longest)
            longest = strlen(naming->key_prefixes[i]);
    }
    if (naming->key_suffix && strlen(naming->key_suffix) > longest)
        longest = strlen(naming->key_suffix);
    if (naming->twin_prefix && strlen(naming->twin_prefix) > longest)
        longest = strlen(naming->twin_prefix);
    return longest + 3; /* a colon, and braces around the name */
}

/* The name with another prefix. */
static char *twin(const rli_names *names, const rli_naming *naming, size_t *length)
{
    size_t own = strlen(naming->name_prefix);
    const char *const parts[] = {naming->twin_prefix, names->name + own, NULL};
    const size_t lengths[] = {strlen(naming->twin_prefix), names->length - own};
    return join(parts, lengths, length);
}

static bool make_all(rli_names *names, const char *const prefixes[2], const char *name, const rli_naming *naming)
{
    const char *const parts[] = {prefixes[0], prefixes[1], name, NULL};
    const size_t lengths[] = {strlen(parts[0]), strlen(parts[1]), strlen(name)};
    names->name = join(parts, lengths, &names->length);
    if (!names->name)
        return false;
    if (naming->twin_prefix && !(names->keys[0] = twin(names, naming, &names->key_lengths[0])))
        return false;
    if (naming->channel_prefix &&
        !(names->channel = prefixed(names, naming->channel_prefix, naming->braces_always, &names->channel_length)))
        return false;
    for (int i = 0; i < RLI_NAMES_MORE; i++) {
        if (naming->key_prefixes[i] &&
            !(names->keys[i] = prefixed(names, naming->key_prefixes[i], false, &names->key_lengths[i])))
            return false;
    }
    return !naming->key_suffix || (names->keys[0] = suffixed(names, naming->key_suffix, &names->key_lengths[0]));
}

/* A cluster hashes what is between the first { and the next }, if there is anything. Returns whether that is what
 * the two rules above assume, so that all keys are in one slot. */
static bool keeps_together(const rli_names *names)
{
    const char *open = memchr(names->name, '{', names->length);
    const char *close = memchr(open ? open : names->name, '}', names->length - (size_t)(open ? open - names->name : 0));
    return open ? close && close > open + 1 : !close;
}

/* docs/internals/wire.md, Names: what a cluster refuses. */
static rlock_status check_in_cluster(const rli_names *names, const rli_naming *naming)
{
    char shown[RLI_NAME_SHOWN];
    if (naming->twin_prefix && !memchr(names->name, '{', names->length))
        return rli_fail(RLOCK_INVALID,
                        "the %s's name \"%s\" would have its keys in different slots of the cluster: "
                        "put a part of it between { and }, as in a{b}c",
                        naming->what, rli_show_name(names->name + names->prefix_length, shown));
    if (!keeps_together(names))
        return rli_fail(RLOCK_INVALID,
                        "the %s's name \"%s\" would have its keys in different slots of the cluster: "
                        "leave { and } out of it, or put a part of it between them, as in a{b}c",
                        naming->what, rli_show_name(names->name, shown));
    return RLOCK_OK;
}

rlock_status rli_names_make(rli_names *names, const rli_settings *settings, const char *name, const rli_naming *naming)
{
    const char *const prefixes[] = {settings && naming->name_prefix ? naming->name_prefix : "",
                                    settings && settings->name_prefix ? settings->name_prefix : ""};
    *names = (rli_names){0};
    if (!name)
        return rli_fail(RLOCK_INVALID, "the %s's name is NULL", naming->what);
    size_t own_length = strlen(name);
    if (own_length == 0)
        return rli_fail(RLOCK_INVALID, "the %s's name is empty", naming->what);
    names->prefix_length = strlen(prefixes[0]) + strlen(prefixes[1]);
    names->length = names->prefix_length + own_length;
    if (names->length + longest_addition(naming) > RLI_NAME_MAX)
        return rli_fail(RLOCK_INVALID,
                        "the %s's name has %zu bytes; with what Redisson puts before it, "
                        "that is more than the 512 MiB that Redis takes",
                        naming->what, own_length);
    rlock_status status = RLOCK_OK;
    if (!make_all(names, prefixes, name, naming))
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a %s's name of %zu bytes", naming->what, own_length);
    else if (settings && settings->mode == RLI_CLUSTER)
        status = check_in_cluster(names, naming);
    if (status != RLOCK_OK)
        rli_names_free(names);
    return status;
}

void rli_names_free(rli_names *names)
{
    rli_values_unref(names->values);
    free(names->name);
    free(names->channel);
    for (int i = 0; i < RLI_NAMES_MORE; i++)
        free(names->keys[i]);
    *names = (rli_names){0};
}
