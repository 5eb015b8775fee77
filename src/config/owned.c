/* Owned: the memory that belongs to a config, and the warnings about its files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/owned.h"

#include "base/error.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

typedef struct piece {
    struct piece *next;
    alignas(max_align_t) char memory[];
} piece;

struct rli_owned {
    piece *pieces;
    char *warnings;
    size_t warned; /* length of `warnings` */
};

rli_owned *rli_owned_new(void)
{
    return calloc(1, sizeof(rli_owned));
}

void rli_owned_free(rli_owned *owned)
{
    if (!owned)
        return;
    for (piece *one = owned->pieces, *next; one; one = next) {
        next = one->next;
        free(one);
    }
    free(owned->warnings);
    free(owned);
}

void *rli_owned_memory(rli_owned *owned, size_t size)
{
    piece *one = calloc(1, sizeof *one + size);
    if (!one) {
        rli_fail(RLOCK_NO_MEMORY, "out of memory for the config");
        return NULL;
    }
    one->next = owned->pieces;
    owned->pieces = one;
    return one->memory;
}

char *rli_owned_text(rli_owned *owned, const char *text, size_t length)
{
    char *copy = rli_owned_memory(owned, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

rlock_status rli_owned_warn(rli_owned *owned, const char *line)
{
    size_t length = strlen(line);
    char *warnings = realloc(owned->warnings, owned->warned + length + 2);
    if (!warnings)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the config");
    memcpy(warnings + owned->warned, line, length);
    owned->warned += length;
    warnings[owned->warned++] = '\n';
    warnings[owned->warned] = 0;
    owned->warnings = warnings;
    return RLOCK_OK;
}

const char *rli_owned_warnings(const rli_owned *owned)
{
    return owned->warnings ? owned->warnings : "";
}

rlock_status rli_owned_join(rli_owned *newer, rli_owned *older)
{
    if (!older)
        return RLOCK_OK;
    char *warnings = malloc(older->warned + newer->warned + 1);
    if (!warnings)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the config");
    memcpy(warnings, rli_owned_warnings(older), older->warned);
    memcpy(warnings + older->warned, rli_owned_warnings(newer), newer->warned + 1);
    free(newer->warnings);
    newer->warnings = warnings;
    newer->warned += older->warned;
    piece **last = &newer->pieces;
    while (*last)
        last = &(*last)->next;
    *last = older->pieces;
    older->pieces = NULL;
    rli_owned_free(older);
    return RLOCK_OK;
}
