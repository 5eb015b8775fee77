/* The kinds of object that are measured, and one turn on each through the public interface. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/kinds.h"

#include "tests/bench/contestants/support/trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench_object {
    const bench_kind *kind;
    char name[96];
    /* one of them */
    rlock *lock;
    rlock_semaphore *semaphore;
    rlock_permit_semaphore *permits;
    rlock_permit permit; /* that is held */
};

/* --- the kinds --- */

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

static rlock *multi_of_3(rlock_client *client, const char *name)
{
    rlock *members[3], *lock;
    for (int i = 0; i < 3; i++) {
        char own[128];
        snprintf(own, sizeof own, "%s:%d", name, i);
        members[i] = rlock_get_lock(client, own);
    }
    lock = rlock_get_multi_lock(members, 3);
    for (int i = 0; i < 3; i++)
        rlock_free(members[i]);
    return lock;
}

static const bench_kind kinds[] = {
    {.name = "lock", .requests = 2, .lock = rlock_get_lock},
    {.name = "spin", .requests = 2, .lock = rlock_get_spin_lock},
    {.name = "token", .requests = 2, .lock = rlock_get_token_lock},
    {.name = "fenced", .requests = 2, .lock = rlock_get_fenced_lock},
    {.name = "non-reentrant", .requests = 2, .lock = rlock_get_non_reentrant_lock},
    {.name = "read", .requests = 2, .lock = read_side},
    {.name = "write", .requests = 2, .lock = write_side},
    {.name = "fair", .requests = 2, .lock = rlock_get_fair_lock},
    {.name = "semaphore", .requests = 2},
    {.name = "permit", .requests = 2, .permits = true},
    {.name = "multi", .requests = 6, .lock = multi_of_3},
};

const bench_kind *kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    trouble("unsupported: there is no kind \"%s\"", name);
    return NULL;
}

/* --- an object --- */

static bool done(const bench_object *object, const char *what, rlock_status status)
{
    return status == RLOCK_OK || trouble("%s %s %s: %s: %s", what, object->kind->name, object->name,
                                         rlock_strstatus(status), rlock_last_error());
}

static bool make(bench_object *object, rlock_client *client)
{
    if (object->kind->lock)
        return (object->lock = object->kind->lock(client, object->name));
    if (object->kind->permits)
        return (object->permits = rlock_get_permit_expirable_semaphore(client, object->name)) &&
               done(object, "make", rlock_permit_semaphore_try_set_permits(object->permits, 1, NULL));
    return (object->semaphore = rlock_get_semaphore(client, object->name)) &&
           done(object, "make", rlock_semaphore_try_set_permits(object->semaphore, 1, NULL));
}

bench_object *object_open(const bench_kind *kind, rlock_client *client, const char *name)
{
    bench_object *object = calloc(1, sizeof *object);
    if (!object)
        abort();
    object->kind = kind;
    snprintf(object->name, sizeof object->name, "%s", name);
    if (!make(object, client)) {
        trouble("%s", rlock_last_error());
        object_close(object);
        return NULL;
    }
    return object;
}

void object_close(bench_object *object)
{
    rlock_free(object->lock);
    rlock_semaphore_free(object->semaphore);
    rlock_permit_semaphore_free(object->permits);
    free(object);
}

bool object_take(bench_object *object)
{
    return done(object, "take",
                object->lock      ? rlock_lock(object->lock)
                : object->permits ? rlock_permit_semaphore_acquire(object->permits, RLOCK_PERMIT_FOREVER, &object->permit)
                                  : rlock_semaphore_acquire(object->semaphore, 1));
}

bool object_give(bench_object *object)
{
    return done(object, "give back",
                object->lock      ? rlock_unlock(object->lock)
                : object->permits ? rlock_permit_semaphore_release(object->permits, object->permit.id)
                                  : rlock_semaphore_release(object->semaphore, 1));
}
