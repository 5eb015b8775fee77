/* Replaces ${NAME} and ${NAME:-default} in a configuration file as Redisson does: in the text, before it is
 * parsed as YAML, so quotes do not matter and comments are included. A name consists of letters, digits, _
 * and dots. Anything else, also an empty default, stays as it is; so does a name that is not set. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/environment.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct output {
    char *text;
    size_t length, room;
} output;

static rlock_status put(output *to, const char *text, size_t length)
{
    if (to->room - to->length <= length) {
        size_t room = (to->length + length + 1) * 2;
        char *more = realloc(to->text, room);
        if (!more)
            return rli_fail(RLOCK_NO_MEMORY, "out of memory for the configuration file");
        to->text = more;
        to->room = room;
    }
    memcpy(to->text + to->length, text, length);
    to->length += length;
    to->text[to->length] = 0;
    return RLOCK_OK;
}

typedef struct reference {
    /* standby: the default; NULL: none. */
    const char *name, *standby, *end;
    size_t name_length, standby_length;
} reference;

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* Reads the ":-default}" behind a reference's name; false: there is none. */
static bool read_standby(const char *at, const char *end, reference *found)
{
    if (end - at < 4 || at[0] != ':' || at[1] != '-' || at[2] == '\n')
        return false;
    found->standby = at + 2;
    /* A default has at least one character, so a } directly here belongs to the default. */
    const char *brace = found->standby + 1;
    while (brace < end && *brace != '}' && *brace != '\n')
        brace++;
    if (brace == end || *brace != '}')
        return false;
    found->standby_length = (size_t)(brace - found->standby);
    found->end = brace + 1;
    return true;
}

/* Reads the reference that begins with the $ at `at`; false: there is none. */
static bool read_reference(const char *at, const char *end, reference *found)
{
    if (end - at < 4 || at[1] != '{')
        return false;
    const char *name_end = at + 2;
    while (name_end < end && is_name(*name_end))
        name_end++;
    *found = (reference){.name = at + 2, .name_length = (size_t)(name_end - at) - 2};
    if (!found->name_length || name_end == end)
        return false;
    found->end = name_end + 1;
    return *name_end == '}' || read_standby(name_end, end, found);
}

/* Redisson ignores a default that itself contains ":-". */
static bool has_standby(const reference *found)
{
    return found->standby && !memmem(found->standby, found->standby_length, ":-", 2);
}

/* *set: whether there was a value to put. */
static rlock_status put_value(output *to, const reference *found, bool *set)
{
    char *name = strndup(found->name, found->name_length);
    if (!name)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the configuration file");
    const char *value = getenv(name);
    free(name);
    *set = value || has_standby(found);
    if (value)
        return put(to, value, strlen(value));
    return *set ? put(to, found->standby, found->standby_length) : RLOCK_OK;
}

/* Appends what stands for the reference at the $ at *at, or the $ itself if that begins none, and moves *at behind it. */
static rlock_status put_reference(output *to, const char **at, const char *end, size_t line, rli_unset_fn *unset,
                                  void *arg)
{
    reference found;
    const char *from = *at;
    bool set = false;
    if (!read_reference(from, end, &found)) {
        *at = from + 1;
        return put(to, from, 1);
    }
    *at = found.end;
    rlock_status status = put_value(to, &found, &set);
    if (status == RLOCK_OK && !set)
        status = unset(arg, line, found.name, found.name_length);
    return status != RLOCK_OK || set ? status : put(to, from, (size_t)(found.end - from));
}

rlock_status rli_environment_expand(const char *text, size_t length, char **expanded, size_t *expanded_length,
                                    rli_unset_fn *unset, void *arg)
{
    output to = {0};
    const char *end = text + length;
    size_t line = 1;
    rlock_status status = put(&to, "", 0);
    for (const char *at = text; status == RLOCK_OK && at < end;) {
        const char *plain_end = at;
        for (; plain_end < end && *plain_end != '$'; plain_end++)
            line += *plain_end == '\n';
        status = put(&to, at, (size_t)(plain_end - at));
        at = plain_end;
        if (status == RLOCK_OK && at < end)
            status = put_reference(&to, &at, end, line, unset, arg);
    }
    if (status != RLOCK_OK) {
        free(to.text);
        return status;
    }
    *expanded = to.text;
    *expanded_length = to.length;
    return RLOCK_OK;
}
