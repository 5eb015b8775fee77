/* Semaphore: a number of permits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/semaphore.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/sized.h"
#include "client/client.h"
#include "engine/synced.h"
#include "locks/object.h"
#include "net/reply.h"

struct rlock_semaphore {
    rli_object object;
};

static const rli_naming naming = {.what = "semaphore", .channel_prefix = "redisson_sc"};

static const rli_object *object_of(const rlock_semaphore *semaphore)
{
    return semaphore ? &semaphore->object : NULL;
}

static rlock_status check(const rlock_semaphore *semaphore)
{
    return rli_object_check(object_of(semaphore), "semaphore");
}

rlock_semaphore *rlock_get_semaphore(rlock_client *client, const char *name)
{
    return rli_object_new(sizeof(rlock_semaphore), client, name, &naming);
}

void rlock_semaphore_free(rlock_semaphore *semaphore)
{
    rli_object_free(semaphore ? &semaphore->object : NULL);
}

const char *rlock_semaphore_name(const rlock_semaphore *semaphore)
{
    return rli_object_name(object_of(semaphore));
}

/* Starts a call of a script on the counter; `publishes`: the script takes the channel as its first argument. */
static void start(rli_call *call, const rlock_semaphore *semaphore, const rli_script *script, bool publishes)
{
    const rli_names *names = &semaphore->object.names;
    rli_call_script(call, script, 1);
    rli_call_add(call, names->name, names->length);
    if (publishes)
        rli_call_add(call, names->channel, names->channel_length);
}

static rlock_status check_permits(const rlock_semaphore *semaphore, int permits)
{
    rlock_status status = check(semaphore);
    if (status == RLOCK_OK && permits < 0)
        return rli_fail(RLOCK_INVALID, "%d permits; the number must not be below 0", permits);
    return status;
}

/* --- the number of permits --- */

static rlock_status set(rlock_semaphore *semaphore, int permits, int64_t ttl_ms, bool *answer)
{
    rli_call call;
    start(&call, semaphore, &rli_script_semaphore_set, true);
    call.synced = true;
    rli_call_add_number(&call, permits);
    rli_call_add_number(&call, ttl_ms);
    call.once = true;
    return rli_object_ask_flag(&semaphore->object, &call, answer);
}

rlock_status rlock_semaphore_try_set_permits(rlock_semaphore *semaphore, int permits, bool *answer)
{
    rlock_status status = check_permits(semaphore, permits);
    return status == RLOCK_OK ? set(semaphore, permits, 0, answer) : status;
}

rlock_status rlock_semaphore_try_set_permits_ttl(rlock_semaphore *semaphore, int permits, int64_t ttl_ms, bool *answer)
{
    rlock_status status = check_permits(semaphore, permits);
    if (status == RLOCK_OK && (ttl_ms < 1 || ttl_ms > RLOCK_LEASE_MAX_MS))
        status = rli_fail(RLOCK_INVALID, "a time to live of %lld ms; it must be from 1 ms to 100 years (%lld ms)",
                          (long long)ttl_ms, (long long)RLOCK_LEASE_MAX_MS);
    return status == RLOCK_OK ? set(semaphore, permits, ttl_ms, answer) : status;
}

rlock_status rlock_semaphore_add_permits(rlock_semaphore *semaphore, int permits)
{
    rlock_status status = check(semaphore);
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    start(&call, semaphore, &rli_script_semaphore_add, true);
    call.synced = true;
    rli_call_add_number(&call, permits);
    call.once = true;
    return rli_object_ask_flag(&semaphore->object, &call, NULL);
}

rlock_status rlock_semaphore_drain_permits(rlock_semaphore *semaphore, int *permits)
{
    rlock_status status = check(semaphore);
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    int64_t drained;
    int number = 0;
    start(&call, semaphore, &rli_script_semaphore_drain, false);
    call.synced = true;
    call.once = true;
    status = rli_object_ask(&semaphore->object, &call, &drained);
    if (status == RLOCK_OK)
        status = rli_object_int(&semaphore->object, drained, &number);
    if (status == RLOCK_OK && permits)
        *permits = number;
    return status;
}

rlock_status rlock_semaphore_available_permits(rlock_semaphore *semaphore, int *permits)
{
    rlock_status status = rli_object_check_place(object_of(semaphore), "semaphore", permits, "the number of permits");
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    int64_t available;
    start(&call, semaphore, &rli_script_semaphore_available, false);
    status = rli_object_ask(&semaphore->object, &call, &available);
    return status == RLOCK_OK ? rli_object_int(&semaphore->object, available, permits) : status;
}

rlock_status rlock_semaphore_delete(rlock_semaphore *semaphore, bool *deleted)
{
    rlock_status status = check(semaphore);
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    start(&call, semaphore, &rli_script_semaphore_delete, false);
    call.once = true;
    return rli_object_ask_flag(&semaphore->object, &call, deleted);
}

/* --- acquiring and releasing --- */

static void start_release(rli_call *call, const rlock_semaphore *semaphore, int permits, bool existing)
{
    start(call, semaphore, &rli_script_semaphore_release, true);
    rli_call_add_number(call, permits);
    rli_call_add_number(call, existing);
    call->once = true;
    call->synced = true;
}

typedef struct acquiring {
    rli_waiting waiting; /* first, because the wait loop passes it to `ask` */
    const rlock_semaphore *semaphore;
    int permits;
} acquiring;

static rlock_status read_answer(const acquiring *attempt, const rli_call *call)
{
    const rli_object *object = &attempt->semaphore->object;
    char shown[RLI_NAME_SHOWN];
    int64_t taken;
    if (!rli_reply_integer(call->reply, &taken))
        return rli_reply_unexpected(call->reply, object->names.name);
    if (taken == 1)
        return RLOCK_OK;
    return rli_fail(RLOCK_TIMEOUT,
                    "semaphore \"%s\" does not have %d permit%s; if nobody has made it yet, "
                    "rlock_semaphore_try_set_permits() does",
                    rli_show_name(object->names.name, shown), attempt->permits, attempt->permits == 1 ? "" : "s");
}

static void put(rli_call *call, const void *what)
{
    const acquiring *attempt = what;
    start(call, attempt->semaphore, &rli_script_semaphore_acquire, false);
    rli_call_add_number(call, attempt->permits);
    call->once = true;
}

static bool is_grant(const redisReply *reply, const void *what)
{
    (void)what;
    int64_t taken = 0;
    return rli_reply_integer(reply, &taken) && taken == 1;
}

static void take_back(rli_call *call, const void *what)
{
    const acquiring *attempt = what;
    start_release(call, attempt->semaphore, attempt->permits, false);
}

/* A request that was sent is waited for, even if the token fires or the wait ends meanwhile: permits taken by
 * a request whose answer nobody reads would be lost for ever. */
static rlock_status ask(rli_wait *wait, int64_t *again_ms)
{
    acquiring *attempt = (acquiring *)(void *)wait;
    rli_operation *op = &attempt->waiting.op;
    const rli_names *names = &attempt->semaphore->object.names;
    rlock_cancel *cancel = op->cancel;
    rli_call call;
    *again_ms = RLI_NEVER; /* permits come with a message */
    const rli_grantable grantable = {
        .ask = put, .granted = is_grant, .take_back = take_back, .what = attempt, .adds = true};
    rli_wait_limit_request(wait, attempt->waiting.wait_ms,
                           rli_synced_patience_ms(wait->topology, names->name, names->length));
    op->cancel = NULL;
    rli_synced synced;
    rli_synced_begin(&synced);
    rlock_status status = rli_synced_run(&synced, &grantable, &call, wait->topology, op, NULL);
    op->cancel = cancel;
    if (status == RLOCK_OK)
        status = read_answer(attempt, &call);
    else if (status == RLOCK_NOT_SYNCED && call.unanswered)
        status = rli_fail(
            RLOCK_UNKNOWN,
            "no replica confirmed the permits, and giving them back was not answered; check how many are available before you repeat it");
    rli_call_clear(&call);
    return status;
}

static rlock_status acquire(rlock_semaphore *semaphore, int permits, int64_t wait_ms, rlock_cancel *cancel)
{
    rlock_status status = check_permits(semaphore, permits);
    if (status != RLOCK_OK || permits == 0)
        return status;
    acquiring attempt = {.waiting.wait.ask = ask, .semaphore = semaphore, .permits = permits};
    return rli_object_wait(&attempt.waiting, &semaphore->object, wait_ms, cancel);
}

rlock_status rlock_semaphore_acquire(rlock_semaphore *semaphore, int permits)
{
    return acquire(semaphore, permits, RLOCK_FOREVER, NULL);
}

rlock_status rlock_semaphore_try_acquire(rlock_semaphore *semaphore, int permits, int64_t wait_ms)
{
    return acquire(semaphore, permits, wait_ms, NULL);
}

rlock_status rlock_semaphore_acquire_with(rlock_semaphore *semaphore, int permits,
                                          const rlock_semaphore_options *options)
{
    static const rli_sized sized = RLI_SIZED(rlock_semaphore_options, cancel, "options",
                                             "RLOCK_SEMAPHORE_OPTIONS_INIT");
    rlock_semaphore_options full = RLOCK_SEMAPHORE_OPTIONS_INIT;
    rlock_status status = check(semaphore);
    if (status == RLOCK_OK)
        status = rli_sized_read(&full, options, &sized);
    return status == RLOCK_OK ? acquire(semaphore, permits, full.wait_ms, full.cancel) : status;
}

static rlock_status release(rlock_semaphore *semaphore, int permits, bool existing, bool *released)
{
    rlock_status status = check_permits(semaphore, permits);
    if (status != RLOCK_OK)
        return status;
    if (permits == 0) {
        if (released)
            *released = false;
        return RLOCK_OK;
    }
    rli_call call;
    start_release(&call, semaphore, permits, existing);
    return rli_object_ask_flag(&semaphore->object, &call, released);
}

rlock_status rlock_semaphore_release(rlock_semaphore *semaphore, int permits)
{
    return release(semaphore, permits, false, NULL);
}

rlock_status rlock_semaphore_release_if_exists(rlock_semaphore *semaphore, int permits, bool *released)
{
    return release(semaphore, permits, true, released);
}
