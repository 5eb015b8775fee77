/* Semaphore acquire: takes permits; a grant that no replica confirms is given back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/semaphore.h"

#include "base/error.h"
#include "base/sized.h"
#include "client/client.h"
#include "engine/synced.h"
#include "locks/object_wait.h"
#include "net/reply.h"

#include <rlock/async.h>

typedef struct acquiring {
    /* first, because the wait loop passes it to `ask`. Its count: -1, there is no such semaphore */
    rli_waiting waiting;
    int permits;
    bool must_exist;
} acquiring;

static rlock_status read_answer(acquiring *attempt, const rli_call *call)
{
    int64_t *taken = &attempt->waiting.count;
    if (!rli_reply_integer(call->reply, taken))
        return rli_reply_unexpected(call->reply, attempt->waiting.object->names.name);
    if (*taken == -1 && attempt->must_exist)
        return rli_object_wait_missing(&attempt->waiting, RLOCK_INVALID, "rlock_semaphore_try_set_permits()");
    attempt->waiting.was_there |= *taken != -1;
    return *taken == 1 ? RLOCK_OK : RLOCK_TIMEOUT;
}

static rlock_status denied(const rli_waiting *waiting)
{
    const acquiring *attempt = (const acquiring *)(const void *)waiting;
    char shown[RLI_NAME_SHOWN];
    if (waiting->count == -1)
        return rli_object_wait_missing(waiting, RLOCK_TIMEOUT, "rlock_semaphore_try_set_permits()");
    return rli_fail(RLOCK_TIMEOUT, "semaphore \"%s\" does not have %d permit%s available",
                    rli_show_name(waiting->object->names.name, shown), attempt->permits,
                    attempt->permits == 1 ? "" : "s");
}

static void put_acquire(rli_call *call, const void *what)
{
    const acquiring *attempt = what;
    rli_semaphore_start(call, attempt->waiting.object, &rli_script_semaphore_acquire, false);
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
    const rli_object_call released = rli_semaphore_release_of(attempt->waiting.object, attempt->permits, false);
    rli_semaphore_put(call, &released);
    call->once = released.once;
    call->synced = released.synced;
}

/* The state of one request under way. */
typedef struct ask_frame {
    rli_grantable grantable;
    rlock_cancel *cancel; /* of the operation */
    rli_synced synced;
    rli_call call;
} ask_frame;

/* A request that was sent is waited for, even if the token fires or the wait ends meanwhile: permits taken by
 * a request whose answer nobody reads would be lost for ever. */
static void begin_request(acquiring *attempt, ask_frame *asking)
{
    rli_wait *wait = &attempt->waiting.wait;
    const rli_names *names = &attempt->waiting.object->names;
    asking->grantable = (rli_grantable){
        .ask = put_acquire, .granted = is_grant, .take_back = take_back, .what = attempt, .adds = true};
    asking->cancel = wait->op->cancel;
    rli_wait_limit_request(wait, attempt->waiting.wait_ms,
                           rli_synced_patience_ms(wait->topology, names->name, names->length));
    wait->op->cancel = NULL;
    rli_synced_begin(&asking->synced);
}

static rlock_status end_request(acquiring *attempt, ask_frame *asking, rlock_status status)
{
    attempt->waiting.wait.op->cancel = asking->cancel;
    if (status == RLOCK_OK)
        status = read_answer(attempt, &asking->call);
    else if (status == RLOCK_NOT_SYNCED && asking->call.unanswered)
        status = rli_fail(
            RLOCK_UNKNOWN,
            "no replica confirmed the permits, and the release of them was not answered; check how many are "
            "available before you repeat the call");
    rli_call_clear(&asking->call);
    return status;
}

static rlock_status ask(rli_wait *wait, int64_t *again_ms)
{
    acquiring *attempt = (acquiring *)(void *)wait;
    bool begins;
    ask_frame own, *asking = rli_operation_frame(wait->op, &own, sizeof own, &begins);
    *again_ms = RLI_NEVER; /* permits come with a message */
    if (!asking)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
    if (begins)
        begin_request(attempt, asking);
    rlock_status status = rli_synced_run(&asking->synced, &asking->grantable, &asking->call, wait->topology, wait->op,
                                         NULL);
    if (status == RLI_WAITING)
        return status;
    status = end_request(attempt, asking, status);
    rli_operation_end_frame(wait->op);
    return status;
}

static rlock_status prepare_acquire(acquiring *attempt, rlock_semaphore *semaphore, int permits,
                                    const rlock_semaphore_options *how)
{
    rlock_status status = rli_semaphore_check_permits(semaphore, permits);
    if (status != RLOCK_OK)
        return status;
    *attempt = (acquiring){.waiting = {.wait.ask = ask,
                                       .denied = denied,
                                       .object = &semaphore->object,
                                       .wait_ms = how->wait_ms,
                                       .nothing = permits == 0},
                           .permits = permits,
                           .must_exist = how->must_exist != 0};
    return RLOCK_OK;
}

static rlock_status acquire(rlock_semaphore *semaphore, int permits, const rlock_semaphore_options *how)
{
    acquiring attempt;
    rlock_status status = prepare_acquire(&attempt, semaphore, permits, how);
    return status == RLOCK_OK && permits > 0 ? rli_object_wait(&attempt.waiting, how->cancel) : status;
}

static rlock_semaphore_options waiting_for(int64_t wait_ms)
{
    rlock_semaphore_options how = RLOCK_SEMAPHORE_OPTIONS_INIT;
    how.wait_ms = wait_ms;
    return how;
}

typedef struct async_acquiring {
    rli_async_waiting on; /* first */
    acquiring attempt;
} async_acquiring;

static rlock_status acquire_async(rlock_semaphore *semaphore, int permits, const rlock_semaphore_options *how,
                                  rlock_result_fn *fn, void *arg)
{
    acquiring attempt;
    void *made;
    rlock_status status = prepare_acquire(&attempt, semaphore, permits, how);
    if (status == RLOCK_OK)
        status = rli_object_wait_new(&made, sizeof(async_acquiring), &semaphore->object, how->cancel, fn, arg);
    if (status != RLOCK_OK)
        return status;
    async_acquiring *self = made;
    self->attempt = attempt; /* nothing of it is under way yet */
    rli_object_wait_start(&self->on, &self->attempt.waiting);
    return RLOCK_OK;
}

rlock_status rlock_semaphore_acquire(rlock_semaphore *semaphore, int permits)
{
    const rlock_semaphore_options how = waiting_for(RLOCK_FOREVER);
    return acquire(semaphore, permits, &how);
}

rlock_status rlock_semaphore_acquire_async(rlock_semaphore *semaphore, int permits, rlock_result_fn *fn, void *arg)
{
    const rlock_semaphore_options how = waiting_for(RLOCK_FOREVER);
    return acquire_async(semaphore, permits, &how, fn, arg);
}

rlock_status rlock_semaphore_try_acquire(rlock_semaphore *semaphore, int permits, int64_t wait_ms)
{
    const rlock_semaphore_options how = waiting_for(wait_ms);
    return acquire(semaphore, permits, &how);
}

rlock_status rlock_semaphore_try_acquire_async(rlock_semaphore *semaphore, int permits, int64_t wait_ms,
                                               rlock_result_fn *fn, void *arg)
{
    const rlock_semaphore_options how = waiting_for(wait_ms);
    return acquire_async(semaphore, permits, &how, fn, arg);
}

static rlock_status read_options(const rlock_semaphore *semaphore, const rlock_semaphore_options *options,
                                 rlock_semaphore_options *full)
{
    static const rli_sized sized = RLI_SIZED(rlock_semaphore_options, cancel, "options",
                                             "RLOCK_SEMAPHORE_OPTIONS_INIT");
    rlock_status status = rli_semaphore_check(semaphore);
    return status == RLOCK_OK ? rli_sized_read(full, options, &sized) : status;
}

rlock_status rlock_semaphore_acquire_with(rlock_semaphore *semaphore, int permits,
                                          const rlock_semaphore_options *options)
{
    rlock_semaphore_options full = RLOCK_SEMAPHORE_OPTIONS_INIT;
    rlock_status status = read_options(semaphore, options, &full);
    return status == RLOCK_OK ? acquire(semaphore, permits, &full) : status;
}

rlock_status rlock_semaphore_acquire_with_async(rlock_semaphore *semaphore, int permits,
                                                const rlock_semaphore_options *options, rlock_result_fn *fn, void *arg)
{
    rlock_semaphore_options full = RLOCK_SEMAPHORE_OPTIONS_INIT;
    rlock_status status = read_options(semaphore, options, &full);
    return status == RLOCK_OK ? acquire_async(semaphore, permits, &full, fn, arg) : status;
}
