/* The RLock interface: its async calls check arguments and call the async methods of the handle. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "base/sized.h"
#include "locks/handle.h"

#include <rlock/async.h>

static rlock_status check(const rlock *lock)
{
    rlock_status status = rli_handle_check(lock);
    if (status == RLOCK_OK && !lock->methods->async)
        status = rli_handle_unsupported("an async call");
    return status;
}

rlock_status rlock_lock_async(rlock *lock, const rlock_lock_options *options, rlock_result_fn *fn, void *arg)
{
    rlock_lock_options full = RLOCK_LOCK_OPTIONS_INIT;
    rlock_status status = check(lock);
    if (status == RLOCK_OK && options)
        status = rli_handle_read_options(&full, options);
    if (status == RLOCK_OK)
        status = rli_handle_check_lease(full.lease_ms);
    if (status != RLOCK_OK)
        return status;
    return lock->methods->async->acquire(lock, &full, &(rli_callback){fn, arg});
}

rlock_status rlock_unlock_async(rlock *lock, const rlock_owner *owner, rlock_result_fn *fn, void *arg)
{
    rlock_status status = check(lock);
    if (status != RLOCK_OK)
        return status;
    return lock->methods->async->release(lock, owner ? &owner->owner : NULL, &(rli_callback){fn, arg});
}

rlock_status rlock_force_unlock_async(rlock *lock, rlock_result_fn *fn, void *arg)
{
    rlock_status status = check(lock);
    if (status == RLOCK_OK && !lock->methods->async->force)
        status = rli_handle_unsupported("force unlock");
    return status == RLOCK_OK ? lock->methods->async->force(lock, &(rli_callback){fn, arg}) : status;
}

static rlock_status ask(rlock *lock, rli_asked what, const char *operation, const rlock_owner *owner,
                        rlock_result_fn *fn, void *arg)
{
    rlock_status status = check(lock);
    if (status == RLOCK_OK && !lock->methods->state && what != RLI_ASKED_HELD)
        status = rli_handle_unsupported(operation);
    if (status != RLOCK_OK)
        return status;
    return lock->methods->async->ask(lock, what, owner ? &owner->owner : NULL, &(rli_callback){fn, arg});
}

rlock_status rlock_is_locked_async(rlock *lock, rlock_result_fn *fn, void *arg)
{
    return ask(lock, RLI_ASKED_LOCKED, "whether it is locked", NULL, fn, arg);
}

rlock_status rlock_remain_time_to_live_async(rlock *lock, rlock_result_fn *fn, void *arg)
{
    return ask(lock, RLI_ASKED_TTL, "the time to live", NULL, fn, arg);
}

rlock_status rlock_is_held_async(rlock *lock, const rlock_owner *owner, rlock_result_fn *fn, void *arg)
{
    return ask(lock, RLI_ASKED_HELD, "whether it is held", owner, fn, arg);
}

rlock_status rlock_get_hold_count_async(rlock *lock, const rlock_owner *owner, rlock_result_fn *fn, void *arg)
{
    return ask(lock, RLI_ASKED_COUNT, "the hold count", owner, fn, arg);
}
