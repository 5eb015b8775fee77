/* Permit-expirable semaphore: permits that have ids and leases. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/permit_semaphore.h"

#include "base/error.h"
#include "base/sized.h"
#include "client/client.h"
#include "net/reply.h"

#include <limits.h>

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
        rli_object_free(&semaphore->object);
        return NULL;
    }
    return semaphore;
}

void rlock_permit_semaphore_free(rlock_permit_semaphore *semaphore)
{
    rli_object_free(semaphore ? &semaphore->object : NULL);
}

const char *rlock_permit_semaphore_name(const rlock_permit_semaphore *semaphore)
{
    return rli_object_name(object_of(semaphore));
}

static void start(rli_call *call, const rlock_permit_semaphore *semaphore, const rli_script *script)
{
    rli_permit_call(call, &semaphore->object.names, script);
}

/* --- the number of permits --- */

/* Changes the number of permits; the request must not be repeated. */
static rlock_status change(rlock_permit_semaphore *semaphore, const rli_script *script, int permits, bool *changed)
{
    rlock_status status = rli_permit_check(semaphore);
    if (status == RLOCK_OK && permits < 0)
        status = rli_fail(RLOCK_INVALID, "%d permits; the number must not be below 0", permits);
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    start(&call, semaphore, script);
    call.synced = true;
    rli_call_add_number(&call, permits);
    call.once = true;
    return rli_object_ask_flag(&semaphore->object, &call, changed);
}

rlock_status rlock_permit_semaphore_try_set_permits(rlock_permit_semaphore *semaphore, int permits, bool *set)
{
    return change(semaphore, &rli_script_permit_semaphore_try_set, permits, set);
}

rlock_status rlock_permit_semaphore_set_permits(rlock_permit_semaphore *semaphore, int permits)
{
    return change(semaphore, &rli_script_permit_semaphore_set, permits, NULL);
}

rlock_status rlock_permit_semaphore_delete(rlock_permit_semaphore *semaphore, bool *deleted)
{
    return change(semaphore, &rli_script_permit_semaphore_delete, 0, deleted);
}

rlock_status rlock_permit_semaphore_add_permits(rlock_permit_semaphore *semaphore, int permits)
{
    rlock_status status = rli_permit_check(semaphore);
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    start(&call, semaphore, &rli_script_permit_semaphore_add);
    call.synced = true;
    rli_call_add_number(&call, permits);
    call.once = true;
    return rli_object_ask_flag(&semaphore->object, &call, NULL);
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

static rlock_status ask_state(rlock_permit_semaphore *semaphore, const int *place, state *now)
{
    rlock_status status = rli_permit_check_place(semaphore, place, "the number of permits");
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    start(&call, semaphore, &rli_script_permit_semaphore_state);
    status = rli_object_run(&semaphore->object, &call);
    if (status == RLOCK_OK)
        status = read_state(&semaphore->object, call.reply, now);
    rli_call_clear(&call);
    return status;
}

rlock_status rlock_permit_semaphore_available_permits(rlock_permit_semaphore *semaphore, int *permits)
{
    state now;
    rlock_status status = ask_state(semaphore, permits, &now);
    return status == RLOCK_OK ? rli_object_int(&semaphore->object, now.available, permits) : status;
}

rlock_status rlock_permit_semaphore_acquired_permits(rlock_permit_semaphore *semaphore, int *permits)
{
    state now;
    rlock_status status = ask_state(semaphore, permits, &now);
    return status == RLOCK_OK ? rli_object_int(&semaphore->object, now.taken, permits) : status;
}

rlock_status rlock_permit_semaphore_get_permits(rlock_permit_semaphore *semaphore, int *permits)
{
    state now;
    rlock_status status = ask_state(semaphore, permits, &now);
    if (status != RLOCK_OK)
        return status;
    return rli_object_int(&semaphore->object, total_of(&now), permits);
}

/* --- acquiring --- */

rlock_status rli_permit_check_lease(int64_t lease_ms)
{
    if (lease_ms != RLOCK_PERMIT_FOREVER && (lease_ms < 1 || lease_ms > RLOCK_LEASE_MAX_MS))
        return rli_fail(RLOCK_INVALID,
                        "a lease of %lld ms; it must be from 1 ms to 100 years (%lld ms), or "
                        "RLOCK_PERMIT_FOREVER (-1)",
                        (long long)lease_ms, (long long)RLOCK_LEASE_MAX_MS);
    return RLOCK_OK;
}

rlock_status rli_permit_check_many(const rlock_permit_semaphore *semaphore, int count, const rlock_permit *permits)
{
    rlock_status status = rli_permit_check_place(semaphore, permits, "the permits");
    if (status == RLOCK_OK && (count < 1 || count > RLOCK_PERMITS_AT_ONCE))
        return rli_fail(RLOCK_INVALID, "%d permits; the number must be from 1 to %d", count, RLOCK_PERMITS_AT_ONCE);
    return status;
}

rlock_status rlock_permit_semaphore_acquire_with(rlock_permit_semaphore *semaphore, int count,
                                                 const rlock_permit_options *options, rlock_permit *permits)
{
    static const rli_sized sized = RLI_SIZED(rlock_permit_options, cancel, "options", "RLOCK_PERMIT_OPTIONS_INIT");
    rlock_permit_options full = RLOCK_PERMIT_OPTIONS_INIT;
    rlock_status status = rli_permit_check_many(semaphore, count, permits);
    if (status == RLOCK_OK)
        status = rli_sized_read(&full, options, &sized);
    if (status == RLOCK_OK)
        status = rli_permit_check_lease(full.lease_ms);
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
