/* Permit-expirable semaphore: permits that have ids and leases. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/permit_semaphore.h"

#include "base/error.h"
#include "base/sized.h"
#include "client/client.h"
#include "net/reply.h"

#include <limits.h>
#include <rlock/async.h>

static const rli_object *object_of(const rlock_permit_semaphore *semaphore)
{
    return semaphore ? &semaphore->object : NULL;
}

rlock_status rli_permit_check(const rlock_permit_semaphore *semaphore)
{
    return rli_object_check(object_of(semaphore), rli_permit_naming.what);
}

rlock_status rli_permit_check_place(const rlock_permit_semaphore *semaphore, const void *place, const char *answer)
{
    return rli_object_check_place(object_of(semaphore), rli_permit_naming.what, place, answer);
}

rlock_permit_semaphore *rlock_get_permit_expirable_semaphore(rlock_client *client, const char *name)
{
    rlock_permit_semaphore *semaphore = rli_object_new(sizeof *semaphore, client, name, &rli_permit_naming);
    if (semaphore && rli_permits_in_doubt_prepare(&client->engine) != RLOCK_OK) {
        rli_object_unref(&semaphore->object);
        return NULL;
    }
    return semaphore;
}

void rlock_permit_semaphore_free(rlock_permit_semaphore *semaphore)
{
    rli_object_unref(semaphore ? &semaphore->object : NULL);
}

rlock_object *rlock_permit_semaphore_object(rlock_permit_semaphore *semaphore)
{
    return semaphore ? &semaphore->object : NULL;
}

const char *rlock_permit_semaphore_name(const rlock_permit_semaphore *semaphore)
{
    return rli_object_name(object_of(semaphore));
}

static void put(rli_call *call, const rli_object_call *asked)
{
    rli_permit_call(call, &asked->object->names, asked->script);
    rli_object_put_numbers(call, asked);
}

/* --- the number of permits --- */

/* Prepares a change by a number, which must not be repeated. */
static rli_object_call change_of(rlock_permit_semaphore *semaphore, const rli_script *script, int permits)
{
    return (rli_object_call){.object = &semaphore->object,
                             .script = script,
                             .put = put,
                             .read = rli_object_read_flag,
                             .once = true,
                             .synced = true,
                             .numbers = {permits},
                             .number_count = 1};
}

/* Prepares a change to a number. */
static rlock_status prepare_change(rli_object_call *asked, rlock_permit_semaphore *semaphore, const rli_script *script,
                                   int permits)
{
    rlock_status status = rli_permit_check(semaphore);
    if (status == RLOCK_OK && permits < 0)
        status = rli_fail(RLOCK_INVALID, "the number of permits is %d; it must not be negative", permits);
    if (status == RLOCK_OK)
        *asked = change_of(semaphore, script, permits);
    return status;
}

static rlock_status prepare_set(rli_object_call *asked, rlock_permit_semaphore *semaphore, int permits)
{
    rlock_status status = prepare_change(asked, semaphore, &rli_script_permit_semaphore_set, permits);
    if (status == RLOCK_OK)
        asked->read = rli_object_read_nothing;
    return status;
}

static rlock_status prepare_add(rli_object_call *asked, rlock_permit_semaphore *semaphore, int permits)
{
    rlock_status status = rli_permit_check(semaphore);
    if (status != RLOCK_OK)
        return status;
    *asked = change_of(semaphore, &rli_script_permit_semaphore_add, permits);
    asked->read = rli_object_read_nothing;
    return RLOCK_OK;
}

rlock_status rlock_permit_semaphore_try_set_permits(rlock_permit_semaphore *semaphore, int permits, bool *set)
{
    rli_object_call asked;
    rlock_status status = prepare_change(&asked, semaphore, &rli_script_permit_semaphore_try_set, permits);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, set) : status;
}

rlock_status rlock_permit_semaphore_try_set_permits_async(rlock_permit_semaphore *semaphore, int permits,
                                                          rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_change(&asked, semaphore, &rli_script_permit_semaphore_try_set, permits);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_permit_semaphore_set_permits(rlock_permit_semaphore *semaphore, int permits)
{
    rli_object_call asked;
    rlock_status status = prepare_set(&asked, semaphore, permits);
    return status == RLOCK_OK ? rli_object_call_run(&asked, NULL) : status;
}

rlock_status rlock_permit_semaphore_set_permits_async(rlock_permit_semaphore *semaphore, int permits,
                                                      rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_set(&asked, semaphore, permits);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_permit_semaphore_add_permits(rlock_permit_semaphore *semaphore, int permits)
{
    rli_object_call asked;
    rlock_status status = prepare_add(&asked, semaphore, permits);
    return status == RLOCK_OK ? rli_object_call_run(&asked, NULL) : status;
}

rlock_status rlock_permit_semaphore_add_permits_async(rlock_permit_semaphore *semaphore, int permits,
                                                      rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_add(&asked, semaphore, permits);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_permit_semaphore_delete(rlock_permit_semaphore *semaphore, bool *deleted)
{
    rli_object_call asked;
    rlock_status status = prepare_change(&asked, semaphore, &rli_script_permit_semaphore_delete, 0);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, deleted) : status;
}

rlock_status rlock_permit_semaphore_delete_async(rlock_permit_semaphore *semaphore, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_change(&asked, semaphore, &rli_script_permit_semaphore_delete, 0);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

typedef struct state {
    bool exists;
    int64_t available, taken;
} state;

static rlock_status read_state(const rli_object *object, const redisReply *reply, state *now)
{
    bool read = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                rli_reply_integer(reply->element[1], &now->taken) && now->taken >= 0 && now->taken <= INT_MAX;
    now->exists = read && !rli_reply_is_nil(reply->element[0]);
    now->available = 0;
    if (!read || (now->exists && !rli_reply_integer(reply->element[0], &now->available)))
        return rli_reply_unexpected(reply, object->names.name);
    return RLOCK_OK;
}

/* Available and taken permits together. A sum above INT64_MAX is cut to it; it does not fit in an int anyway. */
static int64_t total_of(const state *now)
{
    if (!now->exists)
        return 0;
    return now->available > INT64_MAX - now->taken ? INT64_MAX : now->available + now->taken;
}

static rlock_status read_total(const rli_object_call *asked, int64_t total, int64_t *answer)
{
    rlock_status status = rli_object_check_int(asked->object, total);
    if (status == RLOCK_OK)
        *answer = total;
    return status;
}

static rlock_status read_available(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    state now;
    rlock_status status = read_state(asked->object, call->reply, &now);
    return status == RLOCK_OK ? read_total(asked, now.available, answer) : status;
}

static rlock_status read_taken(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    state now;
    rlock_status status = read_state(asked->object, call->reply, &now);
    return status == RLOCK_OK ? read_total(asked, now.taken, answer) : status;
}

static rlock_status read_all(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    state now;
    rlock_status status = read_state(asked->object, call->reply, &now);
    return status == RLOCK_OK ? read_total(asked, total_of(&now), answer) : status;
}

typedef rlock_status read_fn(const rli_object_call *asked, const rli_call *call, int64_t *answer);

static rlock_status ask_state(rlock_permit_semaphore *semaphore, read_fn *read, int *permits)
{
    rlock_status status = rli_permit_check_place(semaphore, permits, "the number of permits");
    if (status != RLOCK_OK)
        return status;
    rli_object_call asked = {
        .object = &semaphore->object, .script = &rli_script_permit_semaphore_state, .put = put, .read = read};
    return rli_object_call_run_int(&asked, permits);
}

static rlock_status ask_state_async(rlock_permit_semaphore *semaphore, read_fn *read, rlock_result_fn *fn, void *arg)
{
    rlock_status status = rli_permit_check(semaphore);
    if (status != RLOCK_OK)
        return status;
    rli_object_call asked = {
        .object = &semaphore->object, .script = &rli_script_permit_semaphore_state, .put = put, .read = read};
    return rli_object_call_async(&asked, fn, arg);
}

rlock_status rlock_permit_semaphore_available_permits(rlock_permit_semaphore *semaphore, int *permits)
{
    return ask_state(semaphore, read_available, permits);
}

rlock_status rlock_permit_semaphore_available_permits_async(rlock_permit_semaphore *semaphore, rlock_result_fn *fn,
                                                            void *arg)
{
    return ask_state_async(semaphore, read_available, fn, arg);
}

rlock_status rlock_permit_semaphore_acquired_permits(rlock_permit_semaphore *semaphore, int *permits)
{
    return ask_state(semaphore, read_taken, permits);
}

rlock_status rlock_permit_semaphore_acquired_permits_async(rlock_permit_semaphore *semaphore, rlock_result_fn *fn,
                                                           void *arg)
{
    return ask_state_async(semaphore, read_taken, fn, arg);
}

rlock_status rlock_permit_semaphore_get_permits(rlock_permit_semaphore *semaphore, int *permits)
{
    return ask_state(semaphore, read_all, permits);
}

rlock_status rlock_permit_semaphore_get_permits_async(rlock_permit_semaphore *semaphore, rlock_result_fn *fn, void *arg)
{
    return ask_state_async(semaphore, read_all, fn, arg);
}

/* --- acquiring --- */

static bool is_lease(int64_t lease_ms)
{
    return lease_ms == RLOCK_PERMIT_FOREVER || (lease_ms >= 1 && lease_ms <= RLOCK_LEASE_MAX_MS);
}

rlock_status rli_permit_check_lease(int64_t lease_ms)
{
    if (!is_lease(lease_ms))
        return rli_fail(RLOCK_INVALID,
                        "the lease is %lld ms; it must be from 1 ms to 100 years (%lld ms), or RLOCK_PERMIT_FOREVER "
                        "(-1)",
                        (long long)lease_ms, (long long)RLOCK_LEASE_MAX_MS);
    return RLOCK_OK;
}

static rlock_status check_acquire_lease(int64_t lease_ms)
{
    if (!is_lease(lease_ms) && lease_ms != RLOCK_PERMIT_WATCHDOG)
        return rli_fail(RLOCK_INVALID,
                        "the lease is %lld ms; it must be from 1 ms to 100 years (%lld ms), RLOCK_PERMIT_FOREVER (-1) "
                        "or RLOCK_PERMIT_WATCHDOG (-2)",
                        (long long)lease_ms, (long long)RLOCK_LEASE_MAX_MS);
    return RLOCK_OK;
}

rlock_status rli_permit_check_many(const rlock_permit_semaphore *semaphore, int count, const rlock_permit *permits)
{
    rlock_status status = rli_permit_check_place(semaphore, permits, "the permits");
    return status == RLOCK_OK ? rli_permit_check_count(semaphore, count) : status;
}

rlock_status rli_permit_check_count(const rlock_permit_semaphore *semaphore, int count)
{
    rlock_status status = rli_permit_check(semaphore);
    if (status == RLOCK_OK && (count < 1 || count > RLOCK_PERMITS_AT_ONCE))
        return rli_fail(RLOCK_INVALID, "the number of permits is %d; it must be from 1 to %d", count,
                        RLOCK_PERMITS_AT_ONCE);
    return status;
}

static rlock_status read_options(const rlock_permit_options *options, rlock_permit_options *full)
{
    static const rli_sized sized = RLI_SIZED(rlock_permit_options, cancel, "options", "RLOCK_PERMIT_OPTIONS_INIT");
    rlock_status status = rli_sized_read(full, options, &sized);
    return status == RLOCK_OK ? check_acquire_lease(full->lease_ms) : status;
}

rlock_status rlock_permit_semaphore_acquire_with(rlock_permit_semaphore *semaphore, int count,
                                                 const rlock_permit_options *options, rlock_permit *permits)
{
    rlock_permit_options full = RLOCK_PERMIT_OPTIONS_INIT;
    rlock_status status = rli_permit_check_many(semaphore, count, permits);
    if (status == RLOCK_OK)
        status = read_options(options, &full);
    return status == RLOCK_OK ? rli_permits_acquire(&semaphore->object, count, &full, permits) : status;
}

rlock_status rlock_permit_semaphore_try_acquire_many(rlock_permit_semaphore *semaphore, int count, int64_t wait_ms,
                                                     int64_t lease_ms, rlock_permit *permits)
{
    rlock_permit_options options = RLOCK_PERMIT_OPTIONS_INIT;
    options.wait_ms = wait_ms;
    options.lease_ms = lease_ms;
    return rlock_permit_semaphore_acquire_with(semaphore, count, &options, permits);
}

rlock_status rlock_permit_semaphore_acquire_many(rlock_permit_semaphore *semaphore, int count, int64_t lease_ms,
                                                 rlock_permit *permits)
{
    return rlock_permit_semaphore_try_acquire_many(semaphore, count, RLOCK_FOREVER, lease_ms, permits);
}

rlock_status rlock_permit_semaphore_try_acquire(rlock_permit_semaphore *semaphore, int64_t wait_ms, int64_t lease_ms,
                                                rlock_permit *permit)
{
    return rlock_permit_semaphore_try_acquire_many(semaphore, 1, wait_ms, lease_ms, permit);
}

rlock_status rlock_permit_semaphore_acquire(rlock_permit_semaphore *semaphore, int64_t lease_ms, rlock_permit *permit)
{
    return rlock_permit_semaphore_try_acquire_many(semaphore, 1, RLOCK_FOREVER, lease_ms, permit);
}

rlock_status rlock_permit_semaphore_acquire_with_async(rlock_permit_semaphore *semaphore, int count,
                                                       const rlock_permit_options *options, rlock_result_fn *fn,
                                                       void *arg)
{
    rlock_permit_options full = RLOCK_PERMIT_OPTIONS_INIT;
    rlock_status status = rli_permit_check_count(semaphore, count);
    if (status == RLOCK_OK && !fn)
        status = rli_fail(RLOCK_INVALID, "the callback must not be NULL, as it receives the ids of the permits");
    if (status == RLOCK_OK)
        status = read_options(options, &full);
    return status == RLOCK_OK ? rli_permits_acquire_async(&semaphore->object, count, &full, fn, arg) : status;
}

rlock_status rlock_permit_semaphore_try_acquire_many_async(rlock_permit_semaphore *semaphore, int count,
                                                           int64_t wait_ms, int64_t lease_ms, rlock_result_fn *fn,
                                                           void *arg)
{
    rlock_permit_options options = RLOCK_PERMIT_OPTIONS_INIT;
    options.wait_ms = wait_ms;
    options.lease_ms = lease_ms;
    return rlock_permit_semaphore_acquire_with_async(semaphore, count, &options, fn, arg);
}

rlock_status rlock_permit_semaphore_acquire_many_async(rlock_permit_semaphore *semaphore, int count, int64_t lease_ms,
                                                       rlock_result_fn *fn, void *arg)
{
    return rlock_permit_semaphore_try_acquire_many_async(semaphore, count, RLOCK_FOREVER, lease_ms, fn, arg);
}

rlock_status rlock_permit_semaphore_try_acquire_async(rlock_permit_semaphore *semaphore, int64_t wait_ms,
                                                      int64_t lease_ms, rlock_result_fn *fn, void *arg)
{
    return rlock_permit_semaphore_try_acquire_many_async(semaphore, 1, wait_ms, lease_ms, fn, arg);
}

rlock_status rlock_permit_semaphore_acquire_async(rlock_permit_semaphore *semaphore, int64_t lease_ms,
                                                  rlock_result_fn *fn, void *arg)
{
    return rlock_permit_semaphore_try_acquire_many_async(semaphore, 1, RLOCK_FOREVER, lease_ms, fn, arg);
}
