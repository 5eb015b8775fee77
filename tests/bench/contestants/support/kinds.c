/* The kinds of object that are measured, and one turn on each through the public interface. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/kinds.h"

#include "tests/bench/contestants/support/trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench_object {
    const bench_kind *kind;
    rlock_client *client;
    char name[96];
    /* one of them */
    rlock *lock;
    rlock_semaphore *semaphore;
    rlock_permit_semaphore *permits;
    rlock_permit permit; /* that is held */
    rlock_singleflight *flights;
    rlock_loaded *loaded; /* by the last load */
    uint64_t token;       /* of a fenced lock whose holder writes */
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

static rlock *made_of(rlock_client *client, const char *name, int count, rlock *(*get)(rlock_client *, const char *),
                      rlock *(*make)(rlock *const *, size_t))
{
    rlock **members = calloc((size_t)count, sizeof *members), *lock;
    if (!members)
        abort();
    for (int i = 0; i < count; i++) {
        char own[128];
        snprintf(own, sizeof own, "%s:%d", name, i);
        members[i] = get(client, own);
    }
    lock = make(members, (size_t)count);
    for (int i = 0; i < count; i++)
        rlock_free(members[i]);
    free(members);
    return lock;
}

static rlock *multi_of_3(rlock_client *client, const char *name)
{
    return made_of(client, name, 3, rlock_get_lock, rlock_get_multi_lock);
}

/* On one server, which shows what asking them at the same time costs, and saves. */
static rlock *redlock_of_3(rlock_client *client, const char *name)
{
    return made_of(client, name, 3, rlock_get_token_lock, rlock_get_red_lock);
}

static rlock *sharded_in_8(rlock_client *client, const char *name)
{
    return rlock_get_sharded_lock(client, name, 8);
}

static rlock *multi_of_10(rlock_client *client, const char *name)
{
    return made_of(client, name, 10, rlock_get_lock, rlock_get_multi_lock);
}

static rlock *multi_of_100(rlock_client *client, const char *name)
{
    return made_of(client, name, 100, rlock_get_lock, rlock_get_multi_lock);
}

static rlock *multi_of_1000(rlock_client *client, const char *name)
{
    return made_of(client, name, 1000, rlock_get_lock, rlock_get_multi_lock);
}

static rlock *multi_of_10000(rlock_client *client, const char *name)
{
    return made_of(client, name, 10000, rlock_get_lock, rlock_get_multi_lock);
}

static rlock *group_of_1000(rlock_client *client, const char *name)
{
    int64_t values[1000];
    for (int i = 0; i < 1000; i++)
        values[i] = i;
    return rlock_get_group_lock_of_longs(client, name, RLOCK_CODEC_KRYO5, values, 1000);
}

static const bench_kind kinds[] = {
    {.name = "lock", .requests = 2, .lock = rlock_get_lock},
    {.name = "spin", .requests = 2, .lock = rlock_get_spin_lock},
    {.name = "token", .requests = 2, .lock = rlock_get_token_lock},
    {.name = "signal", .requests = 2, .lock = rlock_get_signal_lock},
    {.name = "fenced", .requests = 2, .lock = rlock_get_fenced_lock},
    {.name = "non-reentrant", .requests = 2, .lock = rlock_get_non_reentrant_lock},
    {.name = "read", .requests = 2, .lock = read_side},
    {.name = "write", .requests = 2, .lock = write_side},
    {.name = "fair", .requests = 2, .lock = rlock_get_fair_lock},
    {.name = "semaphore", .requests = 2},
    {.name = "permit", .requests = 2, .permits = true},
    {.name = "multi", .requests = 6, .lock = multi_of_3},
    {.name = "redlock", .requests = 6, .lock = redlock_of_3},
    {.name = "sharded", .requests = 2, .lock = sharded_in_8},
    {.name = "guarded-write", .requests = 3, .lock = rlock_get_fenced_lock, .writes = true},
    {.name = "singleflight", .requests = 0, .loads = true},
    {.name = "multi-10", .requests = 20, .lock = multi_of_10},
    {.name = "multi-100", .requests = 200, .lock = multi_of_100},
    {.name = "multi-1000", .requests = 2000, .lock = multi_of_1000},
    {.name = "multi-10000", .requests = 20000, .lock = multi_of_10000},
    {.name = "group", .requests = 2, .lock = group_of_1000},
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
    if (object->kind->loads)
        return (object->flights = rlock_singleflight_new());
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
    object->client = client;
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
    rlock_loaded_free(object->loaded);
    rlock_singleflight_free(object->flights);
    free(object);
}

/* --- a turn --- */

static rlock_status load(const char *key, void *unused, void **bytes, size_t *length)
{
    (void)key;
    (void)unused;
    *length = 1;
    *bytes = malloc(*length);
    return *bytes ? RLOCK_OK : RLOCK_NO_MEMORY;
}

static rlock_status take_lock(bench_object *object)
{
    return object->kind->writes ? rlock_lock_and_get_token(object->lock, &object->token) : rlock_lock(object->lock);
}

/* A holder that writes does so before it gives its lock back. */
static rlock_status give_lock(bench_object *object)
{
    char key[128];
    rlock_status status = RLOCK_OK;
    snprintf(key, sizeof key, "%s:written", object->name);
    if (object->kind->writes)
        status = rlock_fenced_set(object->client, key, "value", 5, object->token);
    rlock_status released = rlock_unlock(object->lock);
    return status == RLOCK_OK ? released : status;
}

bool object_take(bench_object *object)
{
    if (object->flights)
        return done(object, "load", rlock_singleflight_do(object->flights, object->name, NULL, load, NULL, &object->loaded));
    return done(object, "take",
                object->lock      ? take_lock(object)
                : object->permits ? rlock_permit_semaphore_acquire(object->permits, RLOCK_PERMIT_FOREVER, &object->permit)
                                  : rlock_semaphore_acquire(object->semaphore, 1));
}

bool object_give(bench_object *object)
{
    if (object->flights) {
        rlock_loaded_free(object->loaded);
        object->loaded = NULL;
        return true;
    }
    return done(object, "give back",
                object->lock      ? give_lock(object)
                : object->permits ? rlock_permit_semaphore_release(object->permits, object->permit.id)
                                  : rlock_semaphore_release(object->semaphore, 1));
}
