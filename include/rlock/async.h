/* Async calls: every operation of every object, without a thread that waits for it.
 *
 * An async call returns at once. When its operation has ended, its function is called from rlock_client_process(), on
 * the thread that calls that. A program with an event loop watches one descriptor, rlock_client_fd(). Async and
 * blocking calls may be mixed on one client, and on one lock.
 *
 * A thread is not a useful owner here, so locks need a named owner: a handle from rlock_for_owner(), or the owner in the
 * options.
 *
 * While the program does not call rlock_client_process(), operations go on in the background, several times a second,
 * and holds are renewed; only the functions wait to be called. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_ASYNC_H
#define RLOCK_ASYNC_H

#include <rlock/client.h>
#include <rlock/lock.h>
#include <rlock/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an operation has come to. */
typedef struct rlock_result {
    size_t size;         /* size of this struct in this version of the library */
    rlock_status status; /* as the blocking call returns it */
    const char *error;   /* as rlock_last_error() after the blocking call; "" with RLOCK_OK */
    /* With RLOCK_OK: the answer of a call that asks something; truth is 1 or 0. Else 0. */
    int64_t answer;
    uint64_t token; /* with RLOCK_OK, of an acquire of a fenced lock: the fencing token; else 0 */
} rlock_result;

/* Called once when an operation has ended, from rlock_client_process() or, for what is still under way,
 * rlock_client_close(). `result` and what it points to are valid during the call. The function may start and cancel
 * operations, and free handles, also that of this operation. It may close the client. It must not call
 * rlock_client_process() or wait for long: other operations of the client wait meanwhile. */
typedef void rlock_result_fn(const rlock_result *result, void *arg);

/* A descriptor that is readable (poll, epoll, select) when rlock_client_process() has something to do. Do not read from
 * it, and do not close it: it belongs to the client, and ends with it. -1: rlock_last_error() says why
 * (RLOCK_NO_MEMORY: no descriptor is left; RLOCK_INVALID, RLOCK_CLOSED, RLOCK_FORKED). Any thread. */
RLOCK_API int rlock_client_fd(rlock_client *client);

/* Does what can be done now without waiting: sends requests, reads answers, and calls the functions of operations that
 * have ended. Never waits for the server. Call it when rlock_client_fd() is readable; at other times it does no harm.
 * Any thread, but one at a time. If another thread closes the client meanwhile, that may return before a function that
 * is being called has returned.
 * RLOCK_OK; RLOCK_INVALID: another thread or a function of this client is in it; RLOCK_CLOSED, RLOCK_FORKED; and
 * RLOCK_NO_MEMORY, as rlock_client_fd(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_client_process(rlock_client *client);

/* For all calls below: RLOCK_OK: the operation has begun, and `fn` (NULL: none) will be called once. Otherwise nothing
 * has begun and `fn` will not be called: RLOCK_INVALID (an argument is wrong, or no owner is named), RLOCK_UNSUPPORTED,
 * RLOCK_NO_MEMORY, RLOCK_CLOSED, RLOCK_FORKED. Any thread, also from a function that is being called. The handle may be
 * freed at once. `arg` is passed on.
 * The status of the result is one that the blocking call of that name returns. */

/* As rlock_lock_with(). `options` (NULL: RLOCK_LOCK_OPTIONS_INIT) is copied; its token must live until the operation has
 * ended. Java: lockAsync(threadId), tryLockAsync(waitTime, leaseTime, unit, threadId). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_lock_async(rlock *lock, const rlock_lock_options *options,
                                                         rlock_result_fn *fn, void *arg);

/* Who acts in an async call on a lock. */
typedef struct rlock_owner {
    int64_t owner; /* any value; see rlock_for_owner */
} rlock_owner;

/* As rlock_unlock(). `owner` NULL: the owner that the handle names. On return the request has been passed to the
 * operating system, if the client is connected and no other operation of the same owner is under way; inside a function
 * that rlock_client_process() calls, when that returns. Java:
 * unlockAsync(threadId). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_unlock_async(rlock *lock, const rlock_owner *owner, rlock_result_fn *fn,
                                                           void *arg);

/* As rlock_force_unlock(); the answer is whether it was held. Java: forceUnlockAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_force_unlock_async(rlock *lock, rlock_result_fn *fn, void *arg);

/* As rlock_is_locked(), rlock_remain_time_to_live(), rlock_is_held() and rlock_get_hold_count(). Java: isLockedAsync(),
 * remainTimeToLiveAsync(), isHeldByThreadAsync(threadId), getHoldCountAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_is_locked_async(rlock *lock, rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_remain_time_to_live_async(rlock *lock, rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_is_held_async(rlock *lock, const rlock_owner *owner, rlock_result_fn *fn,
                                                            void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_get_hold_count_async(rlock *lock, const rlock_owner *owner,
                                                                   rlock_result_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif
#endif
