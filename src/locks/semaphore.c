/* Semaphore: a number of permits, which are counted and given back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/semaphore.h"

#include "base/error.h"
#include "client/client.h"

#include <rlock/async.h>

static const rli_naming naming = {.what = "semaphore", .channel_prefix = "redisson_sc"};

static const rli_object *object_of(const rlock_semaphore *semaphore)
{
    return semaphore ? &semaphore->object : NULL;
}

rlock_status rli_semaphore_check(const rlock_semaphore *semaphore)
{
    return rli_object_check(object_of(semaphore), "semaphore");
}

rlock_semaphore *rlock_get_semaphore(rlock_client *client, const char *name)
{
    return rli_object_new(sizeof(rlock_semaphore), client, name, &naming);
}

void rlock_semaphore_free(rlock_semaphore *semaphore)
{
    rli_object_unref(semaphore ? &semaphore->object : NULL);
}

rlock_object *rlock_semaphore_object(rlock_semaphore *semaphore)
{
    return semaphore ? &semaphore->object : NULL;
}

const char *rlock_semaphore_name(const rlock_semaphore *semaphore)
{
    return rli_object_name(object_of(semaphore));
}

void rli_semaphore_start(rli_call *call, const rli_object *object, const rli_script *script, bool publishes)
{
    const rli_names *names = &object->names;
    rli_call_script(call, script, 1);
    rli_call_add(call, names->name, names->length);
    if (publishes)
        rli_call_add(call, names->channel, names->channel_length);
}

void rli_semaphore_put(rli_call *call, const rli_object_call *asked)
{
    rli_semaphore_start(call, asked->object, asked->script, asked->publishes);
    rli_object_put_numbers(call, asked);
}

rlock_status rli_semaphore_check_permits(const rlock_semaphore *semaphore, int permits)
{
    rlock_status status = rli_semaphore_check(semaphore);
    if (status == RLOCK_OK && permits < 0)
        return rli_fail(RLOCK_INVALID, "the number of permits is %d; it must not be negative", permits);
    return status;
}

/* --- the number of permits --- */

static rlock_status prepare_set(rli_object_call *asked, rlock_semaphore *semaphore, int permits, int64_t ttl_ms)
{
    rlock_status status = rli_semaphore_check_permits(semaphore, permits);
    if (status != RLOCK_OK)
        return status;
    *asked = (rli_object_call){.object = &semaphore->object,
                               .script = &rli_script_semaphore_set,
                               .put = rli_semaphore_put,
                               .read = rli_object_read_flag,
                               .once = true,
                               .synced = true,
                               .publishes = true,
                               .numbers = {permits, ttl_ms},
                               .number_count = 2};
    return RLOCK_OK;
}

static rlock_status prepare_set_ttl(rli_object_call *asked, rlock_semaphore *semaphore, int permits, int64_t ttl_ms)
{
    rlock_status status = rli_semaphore_check_permits(semaphore, permits);
    if (status == RLOCK_OK && (ttl_ms < 1 || ttl_ms > RLOCK_LEASE_MAX_MS))
        status = rli_fail(RLOCK_INVALID, "the time to live is %lld ms; it must be from 1 ms to 100 years (%lld ms)",
                          (long long)ttl_ms, (long long)RLOCK_LEASE_MAX_MS);
    return status == RLOCK_OK ? prepare_set(asked, semaphore, permits, ttl_ms) : status;
}

static rlock_status prepare_add(rli_object_call *asked, rlock_semaphore *semaphore, int permits)
{
    rlock_status status = rli_semaphore_check(semaphore);
    if (status != RLOCK_OK)
        return status;
    *asked = (rli_object_call){.object = &semaphore->object,
                               .script = &rli_script_semaphore_add,
                               .put = rli_semaphore_put,
                               .read = rli_object_read_nothing,
                               .once = true,
                               .synced = true,
                               .publishes = true,
                               .numbers = {permits},
                               .number_count = 1};
    return RLOCK_OK;
}

static rlock_status prepare_drain(rli_object_call *asked, rlock_semaphore *semaphore)
{
    rlock_status status = rli_semaphore_check(semaphore);
    if (status != RLOCK_OK)
        return status;
    *asked = (rli_object_call){.object = &semaphore->object,
                               .script = &rli_script_semaphore_drain,
                               .put = rli_semaphore_put,
                               .read = rli_object_read_int,
                               .once = true,
                               .synced = true};
    return RLOCK_OK;
}

static rlock_status prepare_available(rli_object_call *asked, rlock_semaphore *semaphore)
{
    rlock_status status = rli_semaphore_check(semaphore);
    if (status != RLOCK_OK)
        return status;
    *asked = (rli_object_call){.object = &semaphore->object,
                               .script = &rli_script_semaphore_available,
                               .put = rli_semaphore_put,
                               .read = rli_object_read_int};
    return RLOCK_OK;
}

static rlock_status prepare_delete(rli_object_call *asked, rlock_semaphore *semaphore)
{
    rlock_status status = rli_semaphore_check(semaphore);
    if (status != RLOCK_OK)
        return status;
    *asked = (rli_object_call){.object = &semaphore->object,
                               .script = &rli_script_semaphore_delete,
                               .put = rli_semaphore_put,
                               .read = rli_object_read_flag,
                               .once = true};
    return RLOCK_OK;
}

rlock_status rlock_semaphore_try_set_permits(rlock_semaphore *semaphore, int permits, bool *set)
{
    rli_object_call asked;
    rlock_status status = prepare_set(&asked, semaphore, permits, 0);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, set) : status;
}

rlock_status rlock_semaphore_try_set_permits_async(rlock_semaphore *semaphore, int permits, rlock_result_fn *fn,
                                                   void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_set(&asked, semaphore, permits, 0);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_semaphore_try_set_permits_ttl(rlock_semaphore *semaphore, int permits, int64_t ttl_ms, bool *set)
{
    rli_object_call asked;
    rlock_status status = prepare_set_ttl(&asked, semaphore, permits, ttl_ms);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, set) : status;
}

rlock_status rlock_semaphore_try_set_permits_ttl_async(rlock_semaphore *semaphore, int permits, int64_t ttl_ms,
                                                       rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_set_ttl(&asked, semaphore, permits, ttl_ms);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_semaphore_add_permits(rlock_semaphore *semaphore, int permits)
{
    rli_object_call asked;
    rlock_status status = prepare_add(&asked, semaphore, permits);
    return status == RLOCK_OK ? rli_object_call_run(&asked, NULL) : status;
}

rlock_status rlock_semaphore_add_permits_async(rlock_semaphore *semaphore, int permits, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_add(&asked, semaphore, permits);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_semaphore_drain_permits(rlock_semaphore *semaphore, int *permits)
{
    rli_object_call asked;
    rlock_status status = prepare_drain(&asked, semaphore);
    return status == RLOCK_OK ? rli_object_call_run_int(&asked, permits) : status;
}

rlock_status rlock_semaphore_drain_permits_async(rlock_semaphore *semaphore, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_drain(&asked, semaphore);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_semaphore_available_permits(rlock_semaphore *semaphore, int *permits)
{
    rli_object_call asked;
    rlock_status status = rli_object_check_place(object_of(semaphore), "semaphore", permits, "the number of permits");
    if (status == RLOCK_OK)
        status = prepare_available(&asked, semaphore);
    return status == RLOCK_OK ? rli_object_call_run_int(&asked, permits) : status;
}

rlock_status rlock_semaphore_available_permits_async(rlock_semaphore *semaphore, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_available(&asked, semaphore);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_semaphore_delete(rlock_semaphore *semaphore, bool *deleted)
{
    rli_object_call asked;
    rlock_status status = prepare_delete(&asked, semaphore);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, deleted) : status;
}

rlock_status rlock_semaphore_delete_async(rlock_semaphore *semaphore, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_delete(&asked, semaphore);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

/* --- releasing --- */

rli_object_call rli_semaphore_release_of(rli_object *object, int permits, bool existing)
{
    return (rli_object_call){.object = object,
                             .script = &rli_script_semaphore_release,
                             .put = rli_semaphore_put,
                             .read = existing ? rli_object_read_flag : rli_object_read_nothing,
                             .once = true,
                             .synced = true,
                             .publishes = true,
                             .nothing = permits == 0,
                             .numbers = {permits, existing},
                             .number_count = 2};
}

static rlock_status prepare_release(rli_object_call *asked, rlock_semaphore *semaphore, int permits, bool existing)
{
    rlock_status status = rli_semaphore_check_permits(semaphore, permits);
    if (status == RLOCK_OK)
        *asked = rli_semaphore_release_of(&semaphore->object, permits, existing);
    return status;
}

rlock_status rlock_semaphore_release(rlock_semaphore *semaphore, int permits)
{
    rli_object_call asked;
    rlock_status status = prepare_release(&asked, semaphore, permits, false);
    return status == RLOCK_OK ? rli_object_call_run(&asked, NULL) : status;
}

rlock_status rlock_semaphore_release_async(rlock_semaphore *semaphore, int permits, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_release(&asked, semaphore, permits, false);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_semaphore_release_if_exists(rlock_semaphore *semaphore, int permits, bool *released)
{
    rli_object_call asked;
    rlock_status status = prepare_release(&asked, semaphore, permits, true);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, released) : status;
}

rlock_status rlock_semaphore_release_if_exists_async(rlock_semaphore *semaphore, int permits, rlock_result_fn *fn,
                                                     void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_release(&asked, semaphore, permits, true);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}
