/* Kind: an object that a command can run under, as named by --kind. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/kind.h"

#include <rlock/read_write_lock.h>
#include <string.h>

static rlock *side(rlock_client *client, const char *name, rlock *(*of)(rlock_read_write_lock *))
{
    rlock_read_write_lock *both = rlock_get_read_write_lock(client, name);
    rlock *lock = both ? of(both) : NULL;
    rlock_read_write_lock_free(both);
    return lock;
}

static rlock *read_side(rlock_client *client, const char *name)
{
    return side(client, name, rlock_read_lock);
}

static rlock *write_side(rlock_client *client, const char *name)
{
    return side(client, name, rlock_write_lock);
}

const cli_kind kind_plain = {.name = "lock", .lock = rlock_get_lock};

static const cli_kind others[] = {
    {.name = "fair", .lock = rlock_get_fair_lock},
    {.name = "spin", .lock = rlock_get_spin_lock},
    {.name = "fenced", .lock = rlock_get_fenced_lock, .fenced = true},
    {.name = "read", .lock = read_side},
    {.name = "write", .lock = write_side},
    {.name = "non-reentrant", .lock = rlock_get_non_reentrant_lock},
    {.name = "semaphore"},
    {.name = "permit", .leased = true},
};

const cli_kind *kind_find(const char *name)
{
    if (strcmp(name, kind_plain.name) == 0)
        return &kind_plain;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(name, others[i].name) == 0)
            return &others[i];
    }
    return NULL;
}
