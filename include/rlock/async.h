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
#include <rlock/count_down_latch.h>
#include <rlock/lock.h>
#include <rlock/semaphore.h>
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
    /* With RLOCK_OK, of an acquire of a permit-expirable semaphore: the permits. Else NULL and 0. */
    const rlock_permit *permits;
    int permit_count;
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
 * The status of the result is one that the blocking call of that name returns.
 *
 * Multi and red locks have rlock_lock_async, rlock_unlock_async and rlock_is_held_async. Each member must name an owner,
 * unless the call does. `fn` is called from rlock_client_process() of the first member's client, or of the first one
 * whose client is open when the call begins. Process the clients of all members: requests to a client that is not
 * processed go on in the background only. If the first client is closed meanwhile, the call ends with RLOCK_CLOSED, and
 * gives back what it has taken through the other clients; rlock_client_close() waits for the answers to that, for each
 * member at most 250 ms after an acquire, or that client's `timeout` after an unlock. */

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

/* --- Semaphores and latches ---
 *
 * Each call does what the blocking call of its name does, with the same units and ranges. A call that is told that its
 * answer was lost (RLOCK_UNKNOWN) must not be repeated blindly, as there. Tokens in options must live until the
 * operation has ended; everything else is copied. A token ends a wait, but not a request that may take plain permits:
 * its answer is waited for. */

/* As the calls on the number of permits of a semaphore. Answers: whether the number was set; how many permits were
 * drained; how many are available; whether the semaphore existed. An addition has none. Java: trySetPermitsAsync(),
 * addPermitsAsync(), drainPermitsAsync(), availablePermitsAsync(), deleteAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_set_permits_async(rlock_semaphore *semaphore, int permits,
                                                                              rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_set_permits_ttl_async(rlock_semaphore *semaphore,
                                                                                  int permits, int64_t ttl_ms,
                                                                                  rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_add_permits_async(rlock_semaphore *semaphore, int permits,
                                                                          rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_drain_permits_async(rlock_semaphore *semaphore,
                                                                            rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_available_permits_async(rlock_semaphore *semaphore,
                                                                                rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_delete_async(rlock_semaphore *semaphore, rlock_result_fn *fn,
                                                                     void *arg);

/* As rlock_semaphore_acquire(), rlock_semaphore_try_acquire() and rlock_semaphore_acquire_with(). `options` are copied.
 * Java: acquireAsync(permits), tryAcquireAsync(permits, waitTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_acquire_async(rlock_semaphore *semaphore, int permits,
                                                                      rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_acquire_async(rlock_semaphore *semaphore, int permits,
                                                                          int64_t wait_ms, rlock_result_fn *fn,
                                                                          void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_acquire_with_async(rlock_semaphore *semaphore, int permits,
                                                                           const rlock_semaphore_options *options,
                                                                           rlock_result_fn *fn, void *arg);

/* As rlock_semaphore_release() and rlock_semaphore_release_if_exists(); the answer of the second is whether it exists.
 * Java: releaseAsync(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_release_async(rlock_semaphore *semaphore, int permits,
                                                                      rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_release_if_exists_async(rlock_semaphore *semaphore, int permits,
                                                                                rlock_result_fn *fn, void *arg);

/* As the calls on the number of permits of a permit-expirable semaphore. Answers: whether the number was set; whether
 * the semaphore existed; how many permits are available, are taken, and exist in all. Setting without a condition and
 * adding have none. Java: trySetPermitsAsync(), setPermitsAsync(), addPermitsAsync(), deleteAsync(),
 * availablePermitsAsync(), acquiredPermitsAsync(), getPermitsAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_set_permits_async(rlock_permit_semaphore *semaphore,
                                                                                     int permits, rlock_result_fn *fn,
                                                                                     void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_set_permits_async(rlock_permit_semaphore *semaphore,
                                                                                 int permits, rlock_result_fn *fn,
                                                                                 void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_add_permits_async(rlock_permit_semaphore *semaphore,
                                                                                 int permits, rlock_result_fn *fn,
                                                                                 void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_delete_async(rlock_permit_semaphore *semaphore,
                                                                            rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_available_permits_async(rlock_permit_semaphore *semaphore,
                                                                                       rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquired_permits_async(rlock_permit_semaphore *semaphore,
                                                                                      rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_get_permits_async(rlock_permit_semaphore *semaphore,
                                                                                 rlock_result_fn *fn, void *arg);

/* As the acquires of a permit-expirable semaphore. The permits are result->permits, valid while `fn` runs: copy what is
 * needed later. Also RLOCK_INVALID: `fn` is NULL, so nobody would learn the ids; RLOCK_UNSUPPORTED: the system has no
 * random bytes for ids. Java: acquireAsync(), tryAcquireAsync(), acquireAsync(permits, leaseTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire_async(rlock_permit_semaphore *semaphore,
                                                                             int64_t lease_ms, rlock_result_fn *fn,
                                                                             void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_acquire_async(rlock_permit_semaphore *semaphore,
                                                                                 int64_t wait_ms, int64_t lease_ms,
                                                                                 rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire_many_async(rlock_permit_semaphore *semaphore,
                                                                                  int count, int64_t lease_ms,
                                                                                  rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_acquire_many_async(rlock_permit_semaphore *semaphore,
                                                                                      int count, int64_t wait_ms,
                                                                                      int64_t lease_ms,
                                                                                      rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire_with_async(rlock_permit_semaphore *semaphore,
                                                                                  int count,
                                                                                  const rlock_permit_options *options,
                                                                                  rlock_result_fn *fn, void *arg);

/* As the releases of permits; ids are copied. Answers of rlock_permit_semaphore_try_release_async(): whether it was
 * released; of rlock_permit_semaphore_try_release_many_async(): how many were, `count` or 0. Java: releaseAsync(),
 * tryReleaseAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_release_async(rlock_permit_semaphore *semaphore,
                                                                             const char *id, rlock_result_fn *fn,
                                                                             void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_release_async(rlock_permit_semaphore *semaphore,
                                                                                 const char *id, rlock_result_fn *fn,
                                                                                 void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_release_many_async(rlock_permit_semaphore *semaphore,
                                                                                  int count,
                                                                                  const rlock_permit *permits,
                                                                                  rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_release_many_async(rlock_permit_semaphore *semaphore,
                                                                                      int count,
                                                                                      const rlock_permit *permits,
                                                                                      rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_update_lease_time(), whose answer is whether the permit was there, and
 * rlock_permit_semaphore_get_lease_time(), whose answer is in ms or RLOCK_PERMIT_FOREVER. Java:
 * updateLeaseTimeAsync(), getLeaseTimeAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_update_lease_time_async(rlock_permit_semaphore *semaphore,
                                                                                       const char *id, int64_t lease_ms,
                                                                                       rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_get_lease_time_async(rlock_permit_semaphore *semaphore,
                                                                                    const char *id, rlock_result_fn *fn,
                                                                                    void *arg);

/* As the calls of a latch. Answers: whether the count was set; the count; whether there was a count to delete. Counting
 * down and waiting have none. Java: trySetCountAsync(), countDownAsync(), getCountAsync(), deleteAsync(),
 * awaitAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_try_set_count_async(rlock_count_down_latch *latch,
                                                                                   int64_t count, rlock_result_fn *fn,
                                                                                   void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_count_down_async(rlock_count_down_latch *latch,
                                                                                rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_get_count_async(rlock_count_down_latch *latch,
                                                                               rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_delete_async(rlock_count_down_latch *latch,
                                                                            rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_await_async(rlock_count_down_latch *latch,
                                                                           rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_try_await_async(rlock_count_down_latch *latch,
                                                                               int64_t wait_ms, rlock_result_fn *fn,
                                                                               void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_await_with_async(rlock_count_down_latch *latch,
                                                                                const rlock_await_options *options,
                                                                                rlock_result_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif
#endif
