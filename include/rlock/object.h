/* Object: what semaphores, permit-expirable semaphores and latches have in common as keys of the server: whether they
 * exist, their time to live, and their name. Java: RObject, RExpirable. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_OBJECT_H
#define RLOCK_OBJECT_H

#include <rlock/count_down_latch.h>
#include <rlock/semaphore.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An object, as the calls of this header see it. */
typedef struct rlock_object rlock_object;

/* The same object, seen as one of these calls sees it. It is the handle's own: it is freed with the handle, and must
 * not be used after that. NULL for NULL. */
RLOCK_API rlock_object *rlock_semaphore_object(rlock_semaphore *semaphore);
RLOCK_API rlock_object *rlock_permit_semaphore_object(rlock_permit_semaphore *semaphore);
RLOCK_API rlock_object *rlock_count_down_latch_object(rlock_count_down_latch *latch);

/* Sets the timeout and retries of the handle's calls from now on, as rlock_set_call_options does for a lock; same
 * statuses. No other thread may use the handle meanwhile. Java: getSemaphore(CommonOptions), … */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_set_call_options(rlock_object *object,
                                                                      const rlock_call_options *options);

/* For all calls that ask the server: any thread; they block; they are no cancellation points. Out-parameters are set
 * only on RLOCK_OK. Each call may return, besides the statuses given with it:
 * RLOCK_UNKNOWN      (only calls that change something) the request was sent, its answer was lost, and it was not
 *                    repeated. It may have been carried out, or may still be. Ask before you repeat the call.
 * RLOCK_UNAVAILABLE  the server could not be asked within the configured attempts; nothing was changed.
 * RLOCK_SERVER       the server refused, nothing was changed. WRONGTYPE: the name is a key of another type. But if the
 *                    user may not publish on the channel, which rlock_last_error() says then, the change was carried
 *                    out, and only the waiters were not told: do not repeat it. docs/security.md
 * RLOCK_INVALID      an argument is wrong. RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY.
 * Follows org.redisson.RedissonExpirable. */

/* Whether it exists: a semaphore whose permits were set and that was not deleted; a latch with a count. Java:
 * isExists(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_exists(rlock_object *object, bool *exists);

/* On which condition an expiry is set. */
typedef enum rlock_expire_when {
    RLOCK_EXPIRE_ALWAYS = 0,
    RLOCK_EXPIRE_IF_SET = 1,     /* only if it has an expiry already */
    RLOCK_EXPIRE_IF_NOT_SET = 2, /* only if it has none */
    RLOCK_EXPIRE_IF_GREATER = 3, /* only if the new one is later; none counts as the latest */
    RLOCK_EXPIRE_IF_LESS = 4     /* only if the new one is earlier */
} rlock_expire_when;

/* Sets its time to live, in ms (1 to RLOCK_LEASE_MAX_MS). *set (may be NULL): whether it exists and the condition
 * holds. At the end it is deleted: a semaphore has no permits then, even if some are taken, and waiters wait for a new
 * one; a latch is open, and its waiters wake. Java: expire(duration), expireIfSet(duration), … */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_expire(rlock_object *object, int64_t ttl_ms,
                                                            rlock_expire_when when, bool *set);

/* As rlock_object_expire; it ends at epoch_ms, milliseconds since 1970 by the server's clock (from 1 on, up to the
 * end of the year 9999). If that has passed, it is deleted at once. Java: expireAt(timestamp), expire(instant),
 * expireIfSet(instant), … */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_expire_at(rlock_object *object, int64_t epoch_ms,
                                                               rlock_expire_when when, bool *set);

/* Removes its expiry. *cleared (may be NULL): whether it had one. Java: clearExpire(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_clear_expire(rlock_object *object, bool *cleared);

/* How long the server keeps it, in ms; -1: it has no expiry; -2: it does not exist. Java: remainTimeToLive(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_remain_time_to_live(rlock_object *object, int64_t *ms);

/* When it expires, in ms since 1970 by the server's clock; -1: it has no expiry; -2: it does not exist. Java:
 * getExpireTime(), which needs Redis 7. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_get_expire_time(rlock_object *object, int64_t *epoch_ms);

/* Gives the object on the server another name, as rlock_get_semaphore takes it, in place of what has that name. Its
 * permits go along; but those with RLOCK_PERMIT_WATCHDOG are renewed under the old name, so they are lost:
 * rlock_on_lost reports them, and they end with their lease. The handle keeps its name, and so stands for an object
 * that does not exist any more: make another one. Waiters of the new name look again. Those of the old one wait for a
 * new semaphore; a latch of the old name is open. Also RLOCK_INVALID: the object does not exist; or a cluster has the
 * two names in different slots. Java: rename(name). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_rename(rlock_object *object, const char *name);

/* As rlock_object_rename, but only if nothing has the new name. *renamed (may be NULL): whether it did. Java:
 * renamenx(name). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_rename_if_absent(rlock_object *object, const char *name,
                                                                      bool *renamed);

#ifdef __cplusplus
}
#endif
#endif
