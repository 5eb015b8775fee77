/* Multi lock, Redisson's RedissonMultiLock: all of its members are held, or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "locks/multi_acquire.h"
#include "locks/sweep.h"

#include <stdlib.h>

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

static bool is_multi(const rlock *lock)
{
    return lock->methods == &plain || lock->methods == &fenced;
}

/* Whether one is a multi lock, and none is NULL: that is refused with its place among the locks that were given. */
static bool has_multi(rlock *const *locks, size_t n)
{
    bool has = false;
    for (size_t i = 0; i < n; i++) {
        if (!locks[i])
            return false;
        has |= is_multi(locks[i]);
    }
    return has;
}

/* Puts the locks in a row, the members of a multi lock instead of it: each of them is then acquired and given back by
 * itself. flat: NULL: only counts them. Returns how many there are. */
static size_t flatten(rlock *const *locks, size_t n, rlock **flat)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const rli_composite *inner = is_multi(locks[i]) ? rli_composite_of(locks[i]) : NULL;
        for (size_t k = 0; k < (inner ? inner->count : 1); k++, count++) {
            if (flat)
                flat[count] = inner ? inner->members[k] : locks[i];
        }
    }
    return count;
}

static rlock *make(rlock *const *locks, size_t n)
{
    rlock *lock = rli_composite_make(&plain, "multi lock", locks, n, RLI_MULTI_MEMBERS_MAX);
    if (lock && rli_multi_fenced(rli_composite_of(lock)))
        lock->methods = &fenced;
    return lock;
}

rlock *rlock_get_multi_lock(rlock *const *locks, size_t n)
{
    if (!locks || n > RLI_MULTI_MEMBERS_MAX || !has_multi(locks, n))
        return make(locks, n);
    size_t count = flatten(locks, n, NULL);
    if (count > RLI_MULTI_MEMBERS_MAX)
        return make(locks, count); /* which refuses so many */
    rlock **flat = malloc(count * sizeof *flat);
    if (!flat) {
        rli_fail(RLOCK_NO_MEMORY, "out of memory for a multi lock of %zu locks", count);
        return NULL;
    }
    flatten(locks, n, flat);
    rlock *lock = make(flat, count);
    free(flat);
    return lock;
}
