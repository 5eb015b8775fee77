/* The RLock interface: checks arguments and calls the methods of the handle. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/lock.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/sized.h"
#include "locks/handle.h"

rlock *rlock_for_owner(rlock *lock, int64_t owner)
{
    if (!lock) {
        rli_fail(RLOCK_INVALID, "lock is NULL");
        return NULL;
    }
    return lock->methods->for_owner(lock, owner);
}

/* First for all members of a composite, so that none is changed if one refuses. */
rlock_status rlock_set_call_options(rlock *lock, const rlock_call_options *options)
{
    rlock_status status = rli_handle_check(lock);
    if (status == RLOCK_OK)
        status = lock->methods->set_call_options(lock, options, false);
    return status == RLOCK_OK ? lock->methods->set_call_options(lock, options, true) : status;
}

void rlock_free(rlock *lock)
{
    if (lock)
        lock->methods->free(lock);
}

const char *rlock_name(const rlock *lock)
{
    return lock ? lock->methods->name(lock) : NULL;
}

rlock_status rli_handle_check(const rlock *lock)
{
    if (!lock)
        return rli_fail_null("lock");
    return lock->methods->check(lock);
}

static rlock_status check_place(const rlock *lock, const void *place, const char *what)
{
    rlock_status status = rli_handle_check(lock);
    if (status == RLOCK_OK && !place)
        return rli_fail(RLOCK_INVALID, "the pointer for %s must not be NULL", what);
    return status;
}

static rlock_status unsupported(const char *operation, const char *advice)
{
    return rli_fail(RLOCK_UNSUPPORTED, "%s is not supported by this kind of lock; %s", operation, advice);
}

rlock_status rli_handle_told(const rlock *lock, rlock_status status)
{
    const char *name = status == RLOCK_OK ? NULL : lock->methods->name(lock);
    return name ? rli_fail_prefix(status, "lock", name) : status;
}

/* --- acquiring and releasing --- */

rlock_status rli_handle_check_lease(int64_t lease_ms)
{
    if (lease_ms == RLOCK_WATCHDOG || (lease_ms >= 1 && lease_ms <= RLOCK_LEASE_MAX_MS))
        return RLOCK_OK;
    return rli_fail(RLOCK_INVALID,
                    "the lease is %lld ms; it must be from 1 ms to 100 years (%lld ms), or RLOCK_WATCHDOG (-1)",
                    (long long)lease_ms, (long long)RLOCK_LEASE_MAX_MS);
}

rlock_status rli_handle_read_options(rlock_lock_options *full, const rlock_lock_options *options)
{
    static const rli_sized sized = RLI_SIZED(rlock_lock_options, owner, "options", "RLOCK_LOCK_OPTIONS_INIT");
    return rli_sized_read(full, options, &sized);
}

rlock_status rli_handle_check_job(const rlock *lock, rli_job_kind kind)
{
    static const char *const words[RLI_JOB_KINDS] = {
        [RLI_JOB_ACQUIRE] = "acquire",           [RLI_JOB_RELEASE] = "unlock",
        [RLI_JOB_EXTEND] = "an extension",       [RLI_JOB_RAISE] = "a fencing token",
        [RLI_JOB_FORCE] = "force unlock",        [RLI_JOB_IS_LOCKED] = "whether it is locked",
        [RLI_JOB_TTL] = "the time to live",      [RLI_JOB_IS_HELD] = "whether it is held",
        [RLI_JOB_HOLD_COUNT] = "the hold count",
    };
    return lock->methods->jobs & RLI_JOB_BIT(kind) ? RLOCK_OK : unsupported(words[kind], "ask its members");
}

rli_job rli_handle_acquire_job(const rlock_lock_options *options)
{
    rli_job job = {.kind = RLI_JOB_ACQUIRE,
                   .has_owner = options->named_owner,
                   .wait_ms = options->wait_ms,
                   .lease_ms = options->lease_ms,
                   .answer_ms = RLI_NEVER,
                   .cancel = options->cancel};
    if (options->named_owner)
        job.owner = rli_owner_named(options->owner);
    return job;
}

static rlock_status run(rlock *lock, const rli_job *job, int64_t *answer)
{
    return rli_handle_told(lock, lock->methods->run(lock, job, answer));
}

static rlock_status acquire(rlock *lock, const rlock_lock_options *options, uint64_t *token)
{
    rlock_status status = rli_handle_check(lock);
    if (status != RLOCK_OK)
        return status;
    status = rli_handle_check_lease(options->lease_ms);
    if (status != RLOCK_OK)
        return status;
    rli_job job = rli_handle_acquire_job(options);
    job.token = token;
    return run(lock, &job, NULL);
}

static rlock_lock_options waiting(int64_t wait_ms, int64_t lease_ms)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = wait_ms;
    options.lease_ms = lease_ms;
    return options;
}

rlock_status rlock_lock_with(rlock *lock, const rlock_lock_options *options)
{
    rlock_lock_options full = RLOCK_LOCK_OPTIONS_INIT;
    rlock_status status = rli_handle_check(lock);
    if (status == RLOCK_OK)
        status = rli_handle_read_options(&full, options);
    return status == RLOCK_OK ? acquire(lock, &full, NULL) : status;
}

rlock_status rlock_try_lock(rlock *lock, int64_t wait_ms, int64_t lease_ms)
{
    rlock_lock_options options = waiting(wait_ms, lease_ms);
    return acquire(lock, &options, NULL);
}

rlock_status rlock_lock_lease(rlock *lock, int64_t lease_ms)
{
    return rlock_try_lock(lock, RLOCK_FOREVER, lease_ms);
}

rlock_status rlock_lock(rlock *lock)
{
    return rlock_try_lock(lock, RLOCK_FOREVER, RLOCK_WATCHDOG);
}

rlock_status rlock_try_lock_and_get_token(rlock *lock, int64_t wait_ms, int64_t lease_ms, uint64_t *token)
{
    rlock_status status = check_place(lock, token, "the token");
    if (status == RLOCK_OK && !lock->methods->get_token)
        status = unsupported("a fencing token", "make it with rlock_get_fenced_lock()");
    rlock_lock_options options = waiting(wait_ms, lease_ms);
    return status == RLOCK_OK ? acquire(lock, &options, token) : status;
}

rlock_status rlock_lock_and_get_token(rlock *lock, uint64_t *token)
{
    return rlock_try_lock_and_get_token(lock, RLOCK_FOREVER, RLOCK_WATCHDOG, token);
}

rlock_status rlock_unlock(rlock *lock)
{
    rlock_status status = rli_handle_check(lock);
    if (status != RLOCK_OK)
        return status;
    return run(lock, &(rli_job){.kind = RLI_JOB_RELEASE, .answer_ms = RLI_NEVER}, NULL);
}

rlock_status rli_handle_check_extension(const rlock *lock, int64_t lease_ms)
{
    rlock_status status = rli_handle_check(lock);
    if (status == RLOCK_OK && (lease_ms < 1 || lease_ms > RLOCK_LEASE_MAX_MS))
        status = rli_fail(RLOCK_INVALID, "the extension is %lld ms; it must be from 1 ms to 100 years (%lld ms)",
                          (long long)lease_ms, (long long)RLOCK_LEASE_MAX_MS);
    return status;
}

rlock_status rlock_extend(rlock *lock, int64_t lease_ms)
{
    rlock_status status = rli_handle_check_extension(lock, lease_ms);
    if (status != RLOCK_OK)
        return status;
    return run(lock, &(rli_job){.kind = RLI_JOB_EXTEND, .lease_ms = lease_ms, .answer_ms = RLI_NEVER}, NULL);
}

rlock_status rlock_force_unlock(rlock *lock, bool *was_locked)
{
    int64_t answer = 0;
    rlock_status status = rli_handle_check(lock);
    if (status == RLOCK_OK)
        status = rli_handle_check_job(lock, RLI_JOB_FORCE);
    if (status == RLOCK_OK)
        status = run(lock, &(rli_job){.kind = RLI_JOB_FORCE}, &answer);
    if (status == RLOCK_OK && was_locked)
        *was_locked = answer;
    return status;
}

/* --- asking --- */

static rlock_status ask(rlock *lock, const void *place, const char *what, rli_job_kind kind, int64_t *answer)
{
    rlock_status status = check_place(lock, place, what);
    if (status == RLOCK_OK)
        status = rli_handle_check_job(lock, kind);
    return status == RLOCK_OK ? run(lock, &(rli_job){.kind = kind}, answer) : status;
}

rlock_status rlock_is_locked(rlock *lock, bool *locked)
{
    int64_t answer;
    rlock_status status = ask(lock, locked, "whether it is locked", RLI_JOB_IS_LOCKED, &answer);
    if (status == RLOCK_OK)
        *locked = answer;
    return status;
}

rlock_status rlock_remain_time_to_live(rlock *lock, int64_t *ms)
{
    int64_t answer;
    rlock_status status = ask(lock, ms, "the time to live", RLI_JOB_TTL, &answer);
    if (status == RLOCK_OK)
        *ms = answer;
    return status;
}

rlock_status rlock_get_hold_count(rlock *lock, int *out)
{
    int64_t answer;
    rlock_status status = ask(lock, out, "the hold count", RLI_JOB_HOLD_COUNT, &answer);
    if (status == RLOCK_OK)
        *out = (int)answer;
    return status;
}

rlock_status rlock_is_held(rlock *lock, bool *held)
{
    int64_t answer;
    rlock_status status = ask(lock, held, "the answer", RLI_JOB_IS_HELD, &answer);
    if (status == RLOCK_OK)
        *held = answer;
    return status;
}

int64_t rlock_valid_for(rlock *lock)
{
    return rli_handle_check(lock) == RLOCK_OK ? lock->methods->valid_for(lock, NULL) : 0;
}

rlock_status rlock_get_token(rlock *lock, uint64_t *token)
{
    rlock_status status = check_place(lock, token, "the token");
    if (status == RLOCK_OK && !lock->methods->get_token)
        status = unsupported("a fencing token", "make it with rlock_get_fenced_lock()");
    return status == RLOCK_OK ? lock->methods->get_token(lock, NULL, token) : status;
}

rlock_status rlock_get_shard(rlock *lock, int *shard)
{
    rlock_status status = check_place(lock, shard, "the shard");
    if (status == RLOCK_OK && !lock->methods->get_shard)
        status = unsupported("a shard", "make it with rlock_get_sharded_lock()");
    return status == RLOCK_OK ? lock->methods->get_shard(lock, shard) : status;
}

/* --- RLOCK_WITH --- */

rlock_with_guard rlock_with_enter(rlock *lock, rlock_status *status)
{
    rlock_status acquired = rlock_lock(lock);
    if (status)
        *status = acquired;
    return (rlock_with_guard){.lock = lock, .status = status, .held = acquired == RLOCK_OK};
}

void rlock_with_leave(rlock_with_guard *guard)
{
    if (!guard->held)
        return;
    guard->held = false;
    rlock_status released = rlock_unlock(guard->lock);
    if (guard->status)
        *guard->status = released;
}
