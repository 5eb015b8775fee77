/* The RLock interface: its async calls, each a job of the handle without a thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "client/async.h"
#include "locks/handle.h"

#include <rlock/async.h>
#include <stdlib.h>

typedef struct lock_call {
    rli_async async; /* first */
    rlock *lock;     /* referenced */
    rli_job job;
    rli_machine *machine; /* in the memory behind this */
} lock_call;

static lock_call *call_of(rli_async *async)
{
    return (lock_call *)(void *)async;
}

static void discard(rli_async *async)
{
    lock_call *call = call_of(async);
    call->lock->methods->free(call->lock);
    free(call);
}

static rlock_status go_on(rli_async *async)
{
    lock_call *call = call_of(async);
    rlock_status status = call->machine->go_on(call->machine);
    if (status == RLI_WAITING)
        return status;
    async->answer = call->machine->answer;
    return rli_handle_told(call->lock, status);
}

/* A thread is no owner here: it would have to be the same when the operation ends. */
static rlock_status check_owner(const rlock *lock, const rli_job *job)
{
    bool needs = job->kind != RLI_JOB_FORCE && job->kind != RLI_JOB_IS_LOCKED && job->kind != RLI_JOB_TTL;
    return needs && !job->has_owner ? lock->methods->check_owner(lock) : RLOCK_OK;
}

/* Everything that the call needs is allocated here; the arguments were checked but for the owner. */
static rlock_status start(rlock *lock, const rli_job *job, rlock_result_fn *fn, void *arg)
{
    void *made;
    const rli_methods *methods = lock->methods;
    size_t own = RLI_MACHINE_SIZE(lock_call);
    rlock_status status = rli_handle_check_job(lock, job->kind);
    if (status == RLOCK_OK)
        status = check_owner(lock, job);
    if (status == RLOCK_OK)
        status = rli_async_new(&made, own + methods->room(lock, job->kind), methods->home(lock), job->cancel, fn, arg);
    if (status != RLOCK_OK)
        return status;
    lock_call *call = made;
    call->async.go_on = go_on;
    call->async.discard = discard;
    call->lock = lock;
    methods->ref(lock);
    call->job = *job;
    call->job.token = methods->get_token ? &call->async.token : NULL;
    call->machine = methods->begin(lock, &call->job, &call->async.op, (char *)made + own);
    rli_async_start(&call->async);
    return RLOCK_OK;
}

rlock_status rlock_lock_async(rlock *lock, const rlock_lock_options *options, rlock_result_fn *fn, void *arg)
{
    rlock_lock_options full = RLOCK_LOCK_OPTIONS_INIT;
    rlock_status status = rli_handle_check(lock);
    if (status == RLOCK_OK && options)
        status = rli_handle_read_options(&full, options);
    if (status == RLOCK_OK)
        status = rli_handle_check_lease(full.lease_ms);
    if (status != RLOCK_OK)
        return status;
    rli_job job = rli_handle_acquire_job(&full);
    return start(lock, &job, fn, arg);
}

/* Starts a job for that owner; NULL: for the one that the handle names. */
static rlock_status start_for(rlock *lock, rli_job job, const rlock_owner *owner, rlock_result_fn *fn, void *arg)
{
    if (owner) {
        job.has_owner = true;
        job.owner = rli_owner_named(owner->owner);
    }
    return start(lock, &job, fn, arg);
}

/* Starts a job that has no options but its owner. */
static rlock_status start_plain(rlock *lock, rli_job_kind kind, const rlock_owner *owner, rlock_result_fn *fn,
                                void *arg)
{
    rlock_status status = rli_handle_check(lock);
    rli_job job = {.kind = kind, .answer_ms = RLI_NEVER};
    return status == RLOCK_OK ? start_for(lock, job, owner, fn, arg) : status;
}

rlock_status rlock_extend_async(rlock *lock, int64_t lease_ms, const rlock_owner *owner, rlock_result_fn *fn, void *arg)
{
    rlock_status status = rli_handle_check_extension(lock, lease_ms);
    rli_job job = {.kind = RLI_JOB_EXTEND, .lease_ms = lease_ms, .answer_ms = RLI_NEVER};
    return status == RLOCK_OK ? start_for(lock, job, owner, fn, arg) : status;
}

rlock_status rlock_unlock_async(rlock *lock, const rlock_owner *owner, rlock_result_fn *fn, void *arg)
{
    return start_plain(lock, RLI_JOB_RELEASE, owner, fn, arg);
}

rlock_status rlock_force_unlock_async(rlock *lock, rlock_result_fn *fn, void *arg)
{
    return start_plain(lock, RLI_JOB_FORCE, NULL, fn, arg);
}

rlock_status rlock_is_locked_async(rlock *lock, rlock_result_fn *fn, void *arg)
{
    return start_plain(lock, RLI_JOB_IS_LOCKED, NULL, fn, arg);
}

rlock_status rlock_remain_time_to_live_async(rlock *lock, rlock_result_fn *fn, void *arg)
{
    return start_plain(lock, RLI_JOB_TTL, NULL, fn, arg);
}

rlock_status rlock_is_held_async(rlock *lock, const rlock_owner *owner, rlock_result_fn *fn, void *arg)
{
    return start_plain(lock, RLI_JOB_IS_HELD, owner, fn, arg);
}

rlock_status rlock_get_hold_count_async(rlock *lock, const rlock_owner *owner, rlock_result_fn *fn, void *arg)
{
    return start_plain(lock, RLI_JOB_HOLD_COUNT, owner, fn, arg);
}
