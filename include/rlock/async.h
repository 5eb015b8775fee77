/* Async calls: every operation of every object, without a thread that waits for it.
 *
 * An async call returns at once. When its operation has ended, its function is called from rlock_client_process(), on
 * the thread that calls that. A program with an event loop watches one descriptor, rlock_client_fd(). Async and
 * blocking calls may be mixed on one client, and on one lock.
 *
 * A thread is not a useful owner here, so locks need a named owner: a handle from rlock_for_owner(), or the owner in
 * the options.
 *
 * While the program does not call rlock_client_process(), operations go on in the background, several times a second,
 * and holds are renewed; only the functions wait to be called.
 *
 * Acquires, extensions and unlocks of one owner on one lock (not one that is made of others) are carried out in the
 * order in which they were begun. But an acquire that has to wait for the lock holds up none of them: begin what needs
 * the lock when the function of the acquire is called. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_ASYNC_H
#define RLOCK_ASYNC_H

#include <rlock/client.h>
#include <rlock/count_down_latch.h>
#include <rlock/lock.h>
#include <rlock/object.h>
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
 * operations, and free handles, also that of this operation. It may close the client. It may fork: the child may return
 * from it, and rlock_client_process() then returns RLOCK_FORKED there. It must not call rlock_client_process() or wait
 * for long: other operations of the client wait meanwhile, and go on in the background only. So a blocking call there
 * takes a tenth of a second or more if it waits for one of them, as for an earlier call of the same owner on the same
 * lock. */
typedef void rlock_result_fn(const rlock_result *result, void *arg);

/* A descriptor that is readable (poll, epoll, select) when rlock_client_process() has something to do. Do not read from
 * it, and do not close it: it belongs to the client, and ends with it. -1: rlock_last_error() says why
 * (RLOCK_NO_MEMORY: no descriptor is left; RLOCK_INVALID, RLOCK_CLOSED, RLOCK_FORKED). Any thread. */
RLOCK_API int rlock_client_fd(rlock_client *client);

/* Does what can be done now without waiting: sends requests, reads answers, and calls the functions of operations that
 * have ended. Never waits for the server. Call it when rlock_client_fd() is readable; at other times it does no harm.
 * Any thread, but one at a time. If another thread closes the client meanwhile, that may return before a function that
 * is being called has returned. Once another thread may have begun to close the client, begin this call only while
 * there is a handle that was made from the client: without one, closing frees the client.
 * RLOCK_OK; RLOCK_INVALID: another thread or a function of this client is in it; RLOCK_CLOSED, RLOCK_FORKED; and
 * RLOCK_NO_MEMORY, as rlock_client_fd(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_client_process(rlock_client *client);

/* For all calls that begin an operation on a lock: RLOCK_OK: the operation has begun, and `fn` (NULL: none) will be
 * called once. Otherwise nothing has begun and `fn` will not be called: RLOCK_INVALID (an argument is wrong, or no
 * owner is named), RLOCK_UNSUPPORTED, RLOCK_NO_MEMORY, RLOCK_CLOSED, RLOCK_FORKED. Any thread, also from a function
 * that is being called. The handle may be freed at once. `arg` is passed on.
 * The status of the result is one that the blocking call of that name returns.
 *
 * Multi and red locks have rlock_lock_async, rlock_unlock_async, rlock_extend_async and rlock_is_held_async; sharded
 * locks have all calls on locks. For all three: each member must name an owner, unless the call does. `fn` is called
 * from rlock_client_process() of the first member's client, or of the first one whose client is open when the call
 * begins. Process the clients of all members: requests to a client that is not processed go on in the background only.
 * If that client is closed meanwhile, the call ends within rlock_client_close(). An acquire ends with RLOCK_CLOSED, and
 * gives back what it has taken through the other clients. An unlock still releases the members of the other clients;
 * its status is RLOCK_OK if all members (of a red lock: a majority) were released, else that of a member that was not,
 * as RLOCK_CLOSED. rlock_client_close() waits for the answers, for each member at most 250 ms after an acquire, or that
 * client's `timeout` after an unlock. A member whose client is closed is held until its lease ends. */

/* As rlock_lock_with(). `options` (NULL: RLOCK_LOCK_OPTIONS_INIT) is copied; its token must live until the operation
 * has ended. Java: lockAsync(threadId), tryLockAsync(waitTime, leaseTime, unit, threadId). */
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

/* As rlock_extend(), `lease_ms` in milliseconds; no answer. `owner` as in rlock_unlock_async(). Java: none. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_extend_async(rlock *lock, int64_t lease_ms, const rlock_owner *owner,
                                                           rlock_result_fn *fn, void *arg);

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
 * Each call does what the blocking call of its name does, with the same ranges. The status of the result can also be
 * RLOCK_UNKNOWN: a request that must not be repeated blindly was sent, and its answer was lost. Arguments are copied,
 * except tokens. A token does not end a request that may take plain permits: its answer is waited for.
 *
 * For all calls that begin an operation on a semaphore or a latch: RLOCK_OK: the operation has begun, and `fn` (NULL:
 * none) will be called once. Otherwise nothing has begun and `fn` will not be called: RLOCK_INVALID (an argument is
 * wrong), RLOCK_UNSUPPORTED (the system has no random bytes for the ids of permits), RLOCK_NO_MEMORY, RLOCK_CLOSED,
 * RLOCK_FORKED. Any thread, also from a function that is being called. The handle may be freed at once. `arg` is passed
 * on. */

/* As rlock_semaphore_try_set_permits(); the answer is whether the number was set. Java: trySetPermitsAsync(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_set_permits_async(rlock_semaphore *semaphore, int permits,
                                                                              rlock_result_fn *fn, void *arg);

/* As rlock_semaphore_try_set_permits_ttl(), `ttl_ms` in milliseconds; the answer is whether the number was set. Java:
 * trySetPermitsAsync(permits, timeToLive). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_set_permits_ttl_async(rlock_semaphore *semaphore,
                                                                                  int permits, int64_t ttl_ms,
                                                                                  rlock_result_fn *fn, void *arg);

/* As rlock_semaphore_add_permits(); no answer. Java: addPermitsAsync(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_add_permits_async(rlock_semaphore *semaphore, int permits,
                                                                          rlock_result_fn *fn, void *arg);

/* As rlock_semaphore_drain_permits(); the answer is how many permits were drained. Java: drainPermitsAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_drain_permits_async(rlock_semaphore *semaphore,
                                                                            rlock_result_fn *fn, void *arg);

/* As rlock_semaphore_available_permits(); the answer is how many permits are available. Java: availablePermitsAsync().
 * */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_available_permits_async(rlock_semaphore *semaphore,
                                                                                rlock_result_fn *fn, void *arg);

/* As rlock_semaphore_delete(); the answer is whether the semaphore existed. Java: deleteAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_delete_async(rlock_semaphore *semaphore, rlock_result_fn *fn,
                                                                     void *arg);

/* As rlock_semaphore_acquire(): waits without a limit; no answer. Java: acquireAsync(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_acquire_async(rlock_semaphore *semaphore, int permits,
                                                                      rlock_result_fn *fn, void *arg);

/* As rlock_semaphore_try_acquire(): waits for up to `wait_ms` milliseconds (0 or less: asks once), then the status is
 * RLOCK_TIMEOUT; no answer. Java: tryAcquireAsync(permits, waitTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_acquire_async(rlock_semaphore *semaphore, int permits,
                                                                          int64_t wait_ms, rlock_result_fn *fn,
                                                                          void *arg);

/* As rlock_semaphore_acquire_with(); no answer. `options` is copied; its token must live until the operation has ended,
 * and ends the wait with RLOCK_CANCELLED. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_acquire_with_async(rlock_semaphore *semaphore, int permits,
                                                                           const rlock_semaphore_options *options,
                                                                           rlock_result_fn *fn, void *arg);

/* As rlock_semaphore_release(); no answer. Java: releaseAsync(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_release_async(rlock_semaphore *semaphore, int permits,
                                                                      rlock_result_fn *fn, void *arg);

/* As rlock_semaphore_release_if_exists(); the answer is whether the semaphore exists, so that the permits were
 * released. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_release_if_exists_async(rlock_semaphore *semaphore, int permits,
                                                                                rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_try_set_permits(); the answer is whether the number was set. Java:
 * trySetPermitsAsync(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_set_permits_async(rlock_permit_semaphore *semaphore,
                                                                                     int permits, rlock_result_fn *fn,
                                                                                     void *arg);

/* As rlock_permit_semaphore_set_permits(); no answer. Java: setPermitsAsync(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_set_permits_async(rlock_permit_semaphore *semaphore,
                                                                                 int permits, rlock_result_fn *fn,
                                                                                 void *arg);

/* As rlock_permit_semaphore_add_permits(); no answer. Java: addPermitsAsync(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_add_permits_async(rlock_permit_semaphore *semaphore,
                                                                                 int permits, rlock_result_fn *fn,
                                                                                 void *arg);

/* As rlock_permit_semaphore_delete(); the answer is whether the semaphore existed. Java: deleteAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_delete_async(rlock_permit_semaphore *semaphore,
                                                                            rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_available_permits(); the answer is how many permits are available. Java:
 * availablePermitsAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status
rlock_permit_semaphore_available_permits_async(rlock_permit_semaphore *semaphore, rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_acquired_permits(); the answer is how many permits are acquired. Java:
 * acquiredPermitsAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquired_permits_async(rlock_permit_semaphore *semaphore,
                                                                                      rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_get_permits(); the answer is how many permits exist in all. Java: getPermitsAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_get_permits_async(rlock_permit_semaphore *semaphore,
                                                                                 rlock_result_fn *fn, void *arg);

/* For the acquires of a permit-expirable semaphore: the permits are result->permits, valid while `fn` runs; copy what
 * is needed later. The calls also return RLOCK_INVALID if `fn` is NULL, because the ids would be lost, and
 * RLOCK_UNSUPPORTED if the system has no random bytes for ids. */

/* As rlock_permit_semaphore_acquire(): waits without a limit for one permit, leased for `lease_ms` milliseconds. Java:
 * acquireAsync(leaseTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire_async(rlock_permit_semaphore *semaphore,
                                                                             int64_t lease_ms, rlock_result_fn *fn,
                                                                             void *arg);

/* As rlock_permit_semaphore_try_acquire(): waits for up to `wait_ms` milliseconds (0 or less: asks once), then the
 * status is RLOCK_TIMEOUT. `lease_ms` is in milliseconds, too. Java: tryAcquireAsync(waitTime, leaseTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_acquire_async(rlock_permit_semaphore *semaphore,
                                                                                 int64_t wait_ms, int64_t lease_ms,
                                                                                 rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_acquire_many(): all `count` permits or none, without a limit. Java: acquireAsync(permits,
 * leaseTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire_many_async(rlock_permit_semaphore *semaphore,
                                                                                  int count, int64_t lease_ms,
                                                                                  rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_try_acquire_many(): all `count` permits or none, after up to `wait_ms` milliseconds (0 or
 * less: asks once) RLOCK_TIMEOUT. Java: tryAcquireAsync(permits, waitTime, leaseTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_acquire_many_async(rlock_permit_semaphore *semaphore,
                                                                                      int count, int64_t wait_ms,
                                                                                      int64_t lease_ms,
                                                                                      rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_acquire_with(). `options` is copied; its token must live until the operation has ended, and
 * ends the wait with RLOCK_CANCELLED. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire_with_async(rlock_permit_semaphore *semaphore,
                                                                                  int count,
                                                                                  const rlock_permit_options *options,
                                                                                  rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_release(); no answer. `id` is copied. The status is RLOCK_INVALID if the permit does not
 * exist or has expired. Java: releaseAsync(permitId). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_release_async(rlock_permit_semaphore *semaphore,
                                                                             const char *id, rlock_result_fn *fn,
                                                                             void *arg);

/* As rlock_permit_semaphore_try_release(); the answer is whether the permit was released. `id` is copied. Java:
 * tryReleaseAsync(permitId). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_release_async(rlock_permit_semaphore *semaphore,
                                                                                 const char *id, rlock_result_fn *fn,
                                                                                 void *arg);

/* As rlock_permit_semaphore_release_many(); no answer. The `count` ids of `permits` are copied. The status is
 * RLOCK_INVALID if one does not exist or has expired. Java: releaseAsync(permitsIds). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_release_many_async(rlock_permit_semaphore *semaphore,
                                                                                  int count,
                                                                                  const rlock_permit *permits,
                                                                                  rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_try_release_many(); the answer is how many permits were released, `count` or 0. The ids are
 * copied. Java: tryReleaseAsync(permitsIds). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_release_many_async(rlock_permit_semaphore *semaphore,
                                                                                      int count,
                                                                                      const rlock_permit *permits,
                                                                                      rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_update_lease_time(), `lease_ms` in milliseconds; the answer is whether the permit existed.
 * `id` is copied. Java: updateLeaseTimeAsync(permitId, leaseTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_update_lease_time_async(
    rlock_permit_semaphore *semaphore, const char *id, int64_t lease_ms, rlock_result_fn *fn, void *arg);

/* As rlock_permit_semaphore_get_lease_time(); the answer is what is left of the lease, in milliseconds, or
 * RLOCK_PERMIT_FOREVER. `id` is copied. Java: getLeaseTimeAsync(permitId). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_get_lease_time_async(rlock_permit_semaphore *semaphore,
                                                                                    const char *id, rlock_result_fn *fn,
                                                                                    void *arg);

/* As rlock_count_down_latch_try_set_count(); the answer is whether the count was set. Java: trySetCountAsync(count). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_try_set_count_async(rlock_count_down_latch *latch,
                                                                                   int64_t count, rlock_result_fn *fn,
                                                                                   void *arg);

/* As rlock_count_down_latch_count_down(); no answer. Java: countDownAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_count_down_async(rlock_count_down_latch *latch,
                                                                                rlock_result_fn *fn, void *arg);

/* As rlock_count_down_latch_get_count(); the answer is the count. Java: getCountAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_get_count_async(rlock_count_down_latch *latch,
                                                                               rlock_result_fn *fn, void *arg);

/* As rlock_count_down_latch_delete(); the answer is whether there was a count. Java: deleteAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_delete_async(rlock_count_down_latch *latch,
                                                                            rlock_result_fn *fn, void *arg);

/* As rlock_count_down_latch_await(): waits without a limit; no answer. Java: awaitAsync(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_await_async(rlock_count_down_latch *latch,
                                                                           rlock_result_fn *fn, void *arg);

/* As rlock_count_down_latch_try_await(): waits for up to `wait_ms` milliseconds (0 or less: asks once), then the status
 * is RLOCK_TIMEOUT; no answer. Java: awaitAsync(waitTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_try_await_async(rlock_count_down_latch *latch,
                                                                               int64_t wait_ms, rlock_result_fn *fn,
                                                                               void *arg);

/* As rlock_count_down_latch_await_with(); no answer. `options` is copied; its token must live until the operation has
 * ended, and ends the wait with RLOCK_CANCELLED. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_await_with_async(rlock_count_down_latch *latch,
                                                                                const rlock_await_options *options,
                                                                                rlock_result_fn *fn, void *arg);

/* As the calls of these names without _async, on what rlock_semaphore_object() and its like return; the answer is what
 * their out-parameter gets. `name` is copied. The handle may be freed at once, and the object with it. Java:
 * isExistsAsync(), expireAsync(duration), expireAtAsync(timestamp), clearExpireAsync(), remainTimeToLiveAsync(),
 * getExpireTimeAsync(), renameAsync(name), renamenxAsync(name). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_exists_async(rlock_object *object, rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_expire_async(rlock_object *object, int64_t ttl_ms,
                                                                  rlock_expire_when when, rlock_result_fn *fn,
                                                                  void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_expire_at_async(rlock_object *object, int64_t epoch_ms,
                                                                     rlock_expire_when when, rlock_result_fn *fn,
                                                                     void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_clear_expire_async(rlock_object *object, rlock_result_fn *fn,
                                                                        void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_remain_time_to_live_async(rlock_object *object,
                                                                               rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_get_expire_time_async(rlock_object *object, rlock_result_fn *fn,
                                                                           void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_rename_async(rlock_object *object, const char *name,
                                                                  rlock_result_fn *fn, void *arg);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_rename_if_absent_async(rlock_object *object, const char *name,
                                                                            rlock_result_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif
#endif
