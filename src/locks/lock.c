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
        return rli_fail(RLOCK_INVALID, "lock is NULL; did rlock_get_lock fail?");
    return lock->methods->check(lock);
}

static rlock_status check_place(const rlock *lock, const void *place, const char *what)
{
    rlock_status status = rli_handle_check(lock);
    if (status == RLOCK_OK && !place)
        return rli_fail(RLOCK_INVALID, "the pointer for %s must not be NULL", what);
    return status;
}

rlock_status rli_handle_unsupported(const char *operation)
{
    return rli_fail(RLOCK_UNSUPPORTED, "%s is not supported by this kind of lock", operation);
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
                    "a lease of %lld ms; it must be from 1 ms to 100 years (%lld ms), or RLOCK_WATCHDOG (-1)",
                    (long long)lease_ms, (long long)RLOCK_LEASE_MAX_MS);
}

rlock_status rli_handle_read_options(rlock_lock_options *full, const rlock_lock_options *options)
{
    static const rli_sized sized = RLI_SIZED(rlock_lock_options, owner, "options", "RLOCK_LOCK_OPTIONS_INIT");
    return rli_sized_read(full, options, &sized);
}

static rlock_status acquire(rlock *lock, const rlock_lock_options *options, uint64_t *token)
{
    rlock_status status = rli_handle_check(lock);
    if (status != RLOCK_OK)
        return status;
    status = rli_handle_check_lease(options->lease_ms);
    if (status != RLOCK_OK)
        return status;
    return rli_handle_told(lock, lock->methods->acquire(lock, options, RLI_NEVER, token));
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
        status = rli_handle_unsupported("a fencing token");
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
    return status == RLOCK_OK ? rli_handle_told(lock, lock->methods->release(lock, RLI_NEVER)) : status;
}

rlock_status rlock_force_unlock(rlock *lock, bool *was_locked)
{
    rlock_status status = rli_handle_check(lock);
    if (status == RLOCK_OK && !lock->methods->force)
        status = rli_handle_unsupported("force unlock");
    return status == RLOCK_OK ? rli_handle_told(lock, lock->methods->force(lock, was_locked)) : status;
}

/* --- asking --- */

static rlock_status ask_state(rlock *lock, const void *place, const char *what, int64_t *pttl_ms, int *count)
{
    rlock_status status = check_place(lock, place, what);
    if (status == RLOCK_OK && !lock->methods->state)
        status = rli_handle_unsupported(what);
    return status == RLOCK_OK ? rli_handle_told(lock, lock->methods->state(lock, pttl_ms, count)) : status;
}

rlock_status rlock_is_locked(rlock *lock, bool *locked)
{
    int64_t pttl_ms;
    int count;
    rlock_status status = ask_state(lock, locked, "whether it is locked", &pttl_ms, &count);
    if (status == RLOCK_OK)
        *locked = pttl_ms != -2;
    return status;
}

rlock_status rlock_remain_time_to_live(rlock *lock, int64_t *ms)
{
    int64_t pttl_ms;
    int count;
    rlock_status status = ask_state(lock, ms, "the time to live", &pttl_ms, &count);
    if (status == RLOCK_OK)
        *ms = pttl_ms;
    return status;
}

rlock_status rlock_get_hold_count(rlock *lock, int *out)
{
    int64_t pttl_ms;
    int count;
    rlock_status status = ask_state(lock, out, "the hold count", &pttl_ms, &count);
    if (status == RLOCK_OK)
        *out = count;
    return status;
}

rlock_status rlock_is_held(rlock *lock, bool *held)
{
    rlock_status status = check_place(lock, held, "the answer");
    return status == RLOCK_OK ? rli_handle_told(lock, lock->methods->is_held(lock, held)) : status;
}

int64_t rlock_valid_for(rlock *lock)
{
    return rli_handle_check(lock) == RLOCK_OK ? lock->methods->valid_for(lock) : 0;
}

rlock_status rlock_get_token(rlock *lock, uint64_t *token)
{
    rlock_status status = check_place(lock, token, "the token");
    if (status == RLOCK_OK && !lock->methods->get_token)
        status = rli_handle_unsupported("a fencing token");
    return status == RLOCK_OK ? lock->methods->get_token(lock, token) : status;
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
