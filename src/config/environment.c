/* Replaces ${NAME} and ${NAME:-default} in a configuration file as Redisson does: in the text, before it is
 * parsed as YAML, so quotes do not matter and comments are included. A name consists of letters, digits, _
 * and dots. Anything else, also an empty default, stays as it is; so does a name that is not set. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/environment.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rlock_status no_memory(void)
{
    return rli_fail(RLOCK_NO_MEMORY, "out of memory for the configuration file");
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
    *found = (reference){.name = at};
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

/* Whether what read_reference() refused is a ${NAME:-}. */
static bool has_empty_default(const reference *found, const char *end)
{
    const char *behind = found->name + found->name_length;
    return found->name_length && end - behind >= 3 && strncmp(behind, ":-}", 3) == 0;
}

/* Redisson ignores a default that itself contains ":-". */
static bool has_standby(const reference *found)
{
    return found->standby && !memmem(found->standby, found->standby_length, ":-", 2);
}

/* Writes the reference's value or default. *set: whether it has one. */
static rlock_status put_value(FILE *to, const reference *found, bool *set)
{
    char *name = strndup(found->name, found->name_length);
    if (!name)
        return no_memory();
    const char *value = getenv(name);
    free(name);
    *set = value || has_standby(found);
    if (value)
        fputs(value, to);
    else if (*set)
        fwrite(found->standby, 1, found->standby_length, to);
    return RLOCK_OK;
}

/* Writes what stands for the reference at the $ at *at, or the $ itself if that begins none, and moves *at behind
 * it. */
static rlock_status put_reference(FILE *to, const char **at, const char *end, size_t line, rli_unset_fn *unset,
                                  void *arg)
{
    reference found;
    const char *from = *at;
    bool set = false;
    if (!read_reference(from, end, &found)) {
        *at = from + 1;
        fputc('$', to);
        return has_empty_default(&found, end) ? unset(arg, line, found.name, found.name_length + 2) : RLOCK_OK;
    }
    *at = found.end;
    rlock_status status = put_value(to, &found, &set);
    if (status == RLOCK_OK && !set) {
        fwrite(from, 1, (size_t)(found.end - from), to);
        status = unset(arg, line, found.name, found.name_length);
    }
    return status;
}

rlock_status rli_environment_expand(const char *text, size_t length, char **expanded, size_t *expanded_length,
                                    rli_unset_fn *unset, void *arg)
{
    char *copy = NULL;
    FILE *to = open_memstream(&copy, expanded_length);
    if (!to)
        return no_memory();
    const char *end = text + length;
    size_t line = 1;
    rlock_status status = RLOCK_OK;
    for (const char *at = text; status == RLOCK_OK && at < end;) {
        for (; at < end && *at != '$'; at++) {
            line += *at == '\n';
            fputc(*at, to);
        }
        if (at < end)
            status = put_reference(to, &at, end, line, unset, arg);
    }
    bool failed = ferror(to);
    if ((fclose(to) != 0 || failed) && status == RLOCK_OK)
        status = no_memory();
    if (status == RLOCK_OK)
        *expanded = copy;
    else
        free(copy);
    return status;
}
