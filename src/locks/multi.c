/* Multi lock, Redisson's RedissonMultiLock: all of its members are held, or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "locks/multi_acquire.h"
#include "locks/sweep.h"


/* --- asking --- */

static rlock_status check(const rlock *handle)
{
    const rli_composite *set = rli_composite_of(handle);
    rlock_status status = RLOCK_OK;
    for (size_t i = 0; i < set->count && status == RLOCK_OK; i++)
        status = set->members[i]->methods->check(set->members[i]);
    return status;
}

static int64_t valid_for(rlock *handle, const rli_owner *owner)
{
    const rli_composite *set = rli_composite_of(handle);
    int64_t least_ms = RLI_NEVER;
    for (size_t i = 0; i < set->count && least_ms > 0; i++)
        least_ms = rli_earlier(least_ms, set->members[i]->methods->valid_for(set->members[i], owner));
    return least_ms;
}

/* The first fenced member in the order that all multi locks of these members agree on. */
rlock *rli_multi_fenced(const rli_composite *set)
{
    rlock *const *sorted = rli_composite_sorted(set);
    size_t i = 0;
    while (i < set->count && !sorted[i]->methods->get_token)
        i++;
    return i < set->count ? sorted[i] : NULL;
}

static rlock_status get_token(rlock *handle, const rli_owner *owner, uint64_t *token)
{
    rlock *member = rli_multi_fenced(rli_composite_of(handle));
    return member->methods->get_token(member, owner, token);
}

/* --- releasing, extending, questions --- */

/* All members are released, even if one fails. */
static rli_swept count_released(rli_sweep *sweep, rlock_status status)
{
    rli_sweep_keep_first(sweep, status);
    return RLI_SWEEP_ON;
}

static rli_swept count_extended(rli_sweep *sweep, rlock_status status)
{
    rli_sweep_keep_first(sweep, status);
    return status == RLOCK_OK ? RLI_SWEEP_ON : RLI_SWEEP_ENOUGH;
}

/* One member that is not held decides. */
static rli_swept count_held(rli_sweep *sweep, rlock_status status)
{
    rli_sweep_keep_first(sweep, status);
    sweep->on.base.answer = status == RLOCK_OK && sweep->on.part_answer;
    return sweep->on.base.answer ? RLI_SWEEP_ON : RLI_SWEEP_ENOUGH;
}

static const rli_sweep_rules rules[RLI_JOB_KINDS] = {
    [RLI_JOB_RELEASE] = {.count = count_released, .judge = rli_sweep_judge},
    [RLI_JOB_EXTEND] = {.count = count_extended, .judge = rli_sweep_judge},
    [RLI_JOB_IS_HELD] = {.count = count_held, .judge = rli_sweep_judge},
};

/* --- the handle --- */

static size_t room(const rlock *handle, rli_job_kind kind)
{
    if (kind == RLI_JOB_ACQUIRE)
        return rli_multi_acquire_room(handle);
    size_t together = rli_batch_room(handle, RLI_JOB_BIT(kind));
    return RLI_MACHINE_SIZE(rli_sweep) + (together ? together : rli_composite_members_room(handle, kind));
}

/* `memory` NULL: without batches. */
static rli_machine *begin_sweep(rlock *handle, const rli_job *job, rli_operation *whole, rli_drive *drive,
                                rli_sweep *sweep, void *memory)
{
    rli_sweep_begin(handle, job, whole, sweep, &rules[job->kind]);
    rli_batch_begin(&sweep->batch, handle, RLI_JOB_BIT(job->kind), whole, drive, memory);
    if (sweep->batch.ballot)
        rli_sweep_in_batches(sweep);
    return &sweep->on.base;
}

static rli_machine *begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory)
{
    if (job->kind == RLI_JOB_ACQUIRE)
        return rli_multi_acquire_begin(handle, job, whole, memory);
    return begin_sweep(handle, job, whole, NULL, memory, (char *)memory + RLI_MACHINE_SIZE(rli_sweep));
}

/* A release must not fail for want of memory: then it asks one member after the other. */
static rlock_status run(rlock *handle, const rli_job *job, int64_t *answer)
{
    if (job->kind == RLI_JOB_ACQUIRE)
        return rli_multi_acquire_run(handle, job);
    rli_sweep sweep;
    rli_batch_thread thread;
    rli_batch_thread_begin(&thread, handle, RLI_JOB_BIT(job->kind), NULL);
    begin_sweep(handle, job, NULL, &thread.drive, &sweep, thread.memory);
    rlock_status status = rli_composite_run(&sweep.on, answer);
    rli_batch_thread_end(&thread);
    return status;
}

#define METHODS                                                                                                        \
    RLI_COMPOSITE_METHODS, .check = check, .jobs = RLI_COMPOSITE_JOBS, .run = run, .room = room, .begin = begin,       \
    .valid_for = valid_for
static const rli_methods plain = {METHODS};
static const rli_methods fenced = {METHODS, .get_token = get_token};

rlock *rlock_get_multi_lock(rlock *const *locks, size_t n)
{
    rlock *lock = rli_composite_make(&plain, "multi lock", locks, n, RLI_MULTI_MEMBERS_MAX);
    if (lock && rli_multi_fenced(rli_composite_of(lock)))
        lock->methods = &fenced;
    return lock;
}
