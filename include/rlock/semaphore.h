/* Semaphores: permits that processes share. The plain semaphore counts them; the permit-expirable semaphore
 * knows each permit by an id, and a permit may have a lease. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_SEMAPHORE_H
#define RLOCK_SEMAPHORE_H

#include <rlock/cancel.h>
#include <rlock/client.h>
#include <rlock/lock.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- The semaphore ---
 *
 * A number of permits. If a process that has taken permits ends without releasing them, they are lost.
 * Waiters have no order; a large demand does not hold up a smaller one.
 *
 * For all calls: any thread; they block; they are no cancellation points. Out-parameters are set only on
 * RLOCK_OK. Each call may return, besides the statuses given with it:
 * RLOCK_UNKNOWN      (only calls that change something) the request was sent, its answer was lost, and it was
 *                    not repeated. It may have been carried out, or may still be. Read the available permits
 *                    before you repeat the call.
 * RLOCK_UNAVAILABLE  the server could not be asked within the configured attempts; nothing was changed.
 * RLOCK_SERVER       the server refused, nothing was changed. WRONGTYPE: the name is a key of another type.
 *                    Also if there are more permits than an int can hold. But if the user may not publish on the
 *                    channel, which rlock_last_error() says then, a release or a change of the number was carried
 *                    out, and only the waiters were not told: do not repeat it. docs/security.md
 * RLOCK_NOT_SYNCED   (only calls that take permits, with servers that have replicas) nothing is taken: no replica
 *                    confirmed the permits, so they were given back (checkLockSyncedSlaves).
 * RLOCK_INVALID      an argument is wrong. RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY.
 * Follows org.redisson.RedissonSemaphore. */
typedef struct rlock_semaphore rlock_semaphore;

/* Makes a handle for the semaphore `name` (1 byte to 512 MiB, none of them 0; copied). Does not ask the server.
 * Threads may share the handle. It keeps a reference to the client. NULL: rlock_last_error() says why. End it
 * with rlock_semaphore_free(). Java: getSemaphore(name). */
RLOCK_API rlock_semaphore *rlock_get_semaphore(rlock_client *client, const char *name);

/* Frees the handle; permits that were taken stay taken. NULL is allowed. No call may be using the handle. */
RLOCK_API void rlock_semaphore_free(rlock_semaphore *semaphore);

/* The name that the handle was made with; owned by the handle. NULL for NULL. */
RLOCK_API const char *rlock_semaphore_name(const rlock_semaphore *semaphore);

/* Creates the semaphore with `permits` (0 and up), unless it exists. *set (may be NULL): whether it did.
 * Java: trySetPermits(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_set_permits(rlock_semaphore *semaphore, int permits,
                                                                        bool *set);

/* As rlock_semaphore_try_set_permits; the semaphore is deleted after ttl_ms (1 to RLOCK_LEASE_MAX_MS), even
 * if permits are taken then. Java: trySetPermits(permits, timeToLive). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_set_permits_ttl(rlock_semaphore *semaphore, int permits,
                                                                            int64_t ttl_ms, bool *set);

/* Takes `permits` (0 and up; 0 returns at once without asking the server), all or none; waits without limit.
 * RLOCK_OK: taken; otherwise nothing is taken (but see RLOCK_UNKNOWN). Java: acquire(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_acquire(rlock_semaphore *semaphore, int permits);

/* As rlock_semaphore_acquire, but waits for up to wait_ms; 0 or less: asks once. Also RLOCK_TIMEOUT: nothing is taken.
 * As with rlock_try_lock, a server that is slow to answer is waited for until the wait ends, and for the
 * configured timeout (3000 ms) at least. Permits that the server grants after that are lost, so the call then
 * returns RLOCK_UNKNOWN, or RLOCK_UNAVAILABLE if the request was never sent. Java: tryAcquire(permits,
 * waitTime). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_acquire(rlock_semaphore *semaphore, int permits,
                                                                    int64_t wait_ms);

/* All options of an acquire. Start from RLOCK_SEMAPHORE_OPTIONS_INIT: no limit, not cancellable. */
typedef struct rlock_semaphore_options {
    size_t size;          /* sizeof(rlock_semaphore_options) in the program */
    int64_t wait_ms;      /* RLOCK_FOREVER; 0 or less: ask once */
    rlock_cancel *cancel; /* NULL: cannot be cancelled */
    int64_t must_exist;   /* 1: a semaphore that does not exist is RLOCK_INVALID at once; 0: as one without permits */
} rlock_semaphore_options;
#define RLOCK_SEMAPHORE_OPTIONS_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(rlock_semaphore_options), RLOCK_FOREVER, NULL, 0                                                        \
    }

/* As rlock_semaphore_try_acquire, with options. Also RLOCK_INVALID: it must exist, and does not; a call that waits
 * notices a deletion when it asks again, after a message. The message of a RLOCK_TIMEOUT says in any case whether it
 * exists. Also RLOCK_CANCELLED: the token ended the wait; nothing is
 * taken. A request that is under way when the token fires is waited for, as above; if it takes permits, they
 * are the caller's (RLOCK_OK). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_acquire_with(rlock_semaphore *semaphore, int permits,
                                                                     const rlock_semaphore_options *options);

/* Releases `permits` (0 and up; 0 does nothing) and wakes waiters. Nothing checks how many each process took: the call
 * creates a semaphore that does not exist, and there is no upper limit. Java: release(permits). */
RLOCK_API rlock_status rlock_semaphore_release(rlock_semaphore *semaphore, int permits);

/* As rlock_semaphore_release, but only if the semaphore exists. *released (may be NULL): whether it does;
 * false for 0 permits. Java: releaseIfExists(permits). */
RLOCK_API rlock_status rlock_semaphore_release_if_exists(rlock_semaphore *semaphore, int permits, bool *released);

/* Adds `permits`, or takes away as many if negative; the number available may fall below 0. Removes the
 * semaphore's time to live. Java: addPermits(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_add_permits(rlock_semaphore *semaphore, int permits);

/* Takes all permits that are available; *permits (may be NULL): how many. Removes the semaphore's time to
 * live. Java: drainPermits(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_drain_permits(rlock_semaphore *semaphore, int *permits);

/* How many permits are available; 0 if the semaphore does not exist. Java: availablePermits(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_available_permits(rlock_semaphore *semaphore, int *permits);

/* Deletes the semaphore; *deleted (may be NULL): whether it existed. Waiters go on waiting, for permits of a
 * new semaphore of that name. Java: delete(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_delete(rlock_semaphore *semaphore, bool *deleted);

/* --- The permit-expirable semaphore ---
 *
 * Each permit has an id, by which any process can release it, and may have a lease: when the lease ends, the
 * permit is available again without any call. A permit without a lease stays taken if its holder is gone.
 *
 * For all calls: as for the plain semaphore (rlock_semaphore). RLOCK_UNKNOWN is returned only by the calls that set the
 * number of permits and by delete. The other calls can be repeated safely, and are, because this library chooses the
 * ids. An acquire that was never answered is undone in the background: RLOCK_UNAVAILABLE, RLOCK_CANCELLED and
 * RLOCK_NOT_SYNCED mean that nothing is held. Follows org.redisson.RedissonPermitExpirableSemaphore. */
typedef struct rlock_permit_semaphore rlock_permit_semaphore;

/* The id of a permit, as 32 hex digits; Java shows the same text. */
typedef struct rlock_permit {
    char id[33];
} rlock_permit;

/* As a lease: no expiry. Beware: RLOCK_WATCHDOG, the lease of locks, is the same number. It renews no permit. */
#define RLOCK_PERMIT_FOREVER ((int64_t)-1)
/* As the lease of an acquire: the watchdog renews the permit, for lockWatchdogTimeout each time. It stops when the
 * permit is released through this client, or the client is closed; the end of the acquiring thread does not stop it. A
 * permit can be lost: no renewal reached the server in time, another process released it, or the semaphore was deleted
 * or renamed (then the permit ends with its lease, under the new name). rlock_on_lost reports that. Redisson has no
 * counterpart (redisson#3046). */
#define RLOCK_PERMIT_WATCHDOG ((int64_t)-2)
#define RLOCK_PERMITS_AT_ONCE 100000 /* limit for one call */

/* As rlock_get_semaphore; end it with rlock_permit_semaphore_free(). The name must not be that of a plain
 * semaphore. Java: getPermitExpirableSemaphore(name). */
RLOCK_API rlock_permit_semaphore *rlock_get_permit_expirable_semaphore(rlock_client *client, const char *name);

/* Frees the handle; permits that were taken stay taken. NULL is allowed. No call may be using the handle. */
RLOCK_API void rlock_permit_semaphore_free(rlock_permit_semaphore *semaphore);

/* The name that the handle was made with; owned by the handle. NULL for NULL. */
RLOCK_API const char *rlock_permit_semaphore_name(const rlock_permit_semaphore *semaphore);

/* Creates the semaphore with `permits` (0 and up), unless it exists. *set (may be NULL): whether it did.
 * Java: trySetPermits(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_set_permits(rlock_permit_semaphore *semaphore,
                                                                               int permits, bool *set);

/* Sets the number of permits to `permits` (0 and up) in all, including taken ones. If more are taken, the
 * number available is negative. Java: setPermits(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_set_permits(rlock_permit_semaphore *semaphore,
                                                                           int permits);

/* Adds `permits`, or takes away as many if negative; the number available may fall below 0. Removes the
 * semaphore's time to live. Java: addPermits(permits), which leaves that of the taken permits: they end with it for
 * ever. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_add_permits(rlock_permit_semaphore *semaphore,
                                                                           int permits);

/* Takes one permit; waits without limit. lease_ms: 1 to RLOCK_LEASE_MAX_MS, by the server's clock,
 * RLOCK_PERMIT_FOREVER or RLOCK_PERMIT_WATCHDOG. Also RLOCK_UNSUPPORTED: the system has no random bytes for the ids of
 * permits; nothing is taken. Java: acquire(leaseTime). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire(rlock_permit_semaphore *semaphore,
                                                                       int64_t lease_ms, rlock_permit *permit);

/* As rlock_permit_semaphore_acquire, but waits for up to wait_ms; 0 or less: asks once. Also RLOCK_TIMEOUT:
 * nothing is taken. RLOCK_UNAVAILABLE if the server answers neither before the wait ends nor within the
 * configured timeout (3000 ms) of a request, as with rlock_try_lock. Java: tryAcquire(waitTime, leaseTime). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_acquire(rlock_permit_semaphore *semaphore,
                                                                           int64_t wait_ms, int64_t lease_ms,
                                                                           rlock_permit *permit);

/* Take `count` permits (1 to RLOCK_PERMITS_AT_ONCE), all or none, and write them to the caller's array of
 * `count` elements. Java: acquire(permits, leaseTime), tryAcquire(permits, waitTime, leaseTime). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire_many(rlock_permit_semaphore *semaphore,
                                                                            int count, int64_t lease_ms,
                                                                            rlock_permit *permits);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_acquire_many(rlock_permit_semaphore *semaphore,
                                                                                int count, int64_t wait_ms,
                                                                                int64_t lease_ms,
                                                                                rlock_permit *permits);

/* All options of an acquire. Start from RLOCK_PERMIT_OPTIONS_INIT: no limit, no lease, not cancellable. */
typedef struct rlock_permit_options {
    size_t size;          /* sizeof(rlock_permit_options) in the program */
    int64_t wait_ms;      /* RLOCK_FOREVER; 0 or less: ask once */
    int64_t lease_ms;     /* RLOCK_PERMIT_FOREVER, RLOCK_PERMIT_WATCHDOG, or 1 to RLOCK_LEASE_MAX_MS */
    rlock_cancel *cancel; /* NULL: cannot be cancelled */
    int64_t must_exist;   /* 1: a semaphore that does not exist is RLOCK_INVALID at once; 0: as one without permits */
} rlock_permit_options;
#define RLOCK_PERMIT_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(rlock_permit_options), RLOCK_FOREVER, RLOCK_PERMIT_FOREVER, NULL, 0                                     \
    }

/* As rlock_permit_semaphore_try_acquire_many, with options. Also RLOCK_CANCELLED: the token ended the wait;
 * nothing is taken. RLOCK_INVALID: it must exist, and does not; as with rlock_semaphore_acquire_with. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire_with(rlock_permit_semaphore *semaphore,
                                                                            int count,
                                                                            const rlock_permit_options *options,
                                                                            rlock_permit *permits);

/* Releases the permit with this id (32 hex digits), from any process. Also RLOCK_INVALID: there is no such
 * permit, it was released already, or its lease has ended; the message names it. If the answer to the first
 * attempt was lost, an id that is gone counts as released. A release through the client that renews the permit ends the
 * renewals, whatever its status: so does each that follows here. Java: release(permitId). */
RLOCK_API rlock_status rlock_permit_semaphore_release(rlock_permit_semaphore *semaphore, const char *id);

/* As rlock_permit_semaphore_release, but for a permit that is not there returns RLOCK_OK and sets *released
 * (may be NULL) to false. Java: tryRelease(permitId). */
RLOCK_API rlock_status rlock_permit_semaphore_try_release(rlock_permit_semaphore *semaphore, const char *id,
                                                          bool *released);

/* Releases `count` permits (1 to RLOCK_PERMITS_AT_ONCE), all or none: none if one of them is not there, has
 * expired, or occurs twice in the array. Java: release(permitsIds). */
RLOCK_API rlock_status rlock_permit_semaphore_release_many(rlock_permit_semaphore *semaphore, int count,
                                                           const rlock_permit *permits);

/* As rlock_permit_semaphore_release_many; *released (may be NULL): how many were released, `count` or 0.
 * Java: tryRelease(permitsIds). */
RLOCK_API rlock_status rlock_permit_semaphore_try_release_many(rlock_permit_semaphore *semaphore, int count,
                                                               const rlock_permit *permits, int *released);

/* Sets the permit's lease to lease_ms from now (1 to RLOCK_LEASE_MAX_MS; RLOCK_PERMIT_FOREVER: no expiry). *updated
 * (may be NULL): false if there is no such permit, or its lease has ended. From the call on this client renews the
 * permit no longer, whatever the status, unless that is RLOCK_INVALID; a renewal that is under way may still lengthen
 * the lease to lockWatchdogTimeout. Java: updateLeaseTime(permitId, leaseTime). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_update_lease_time(rlock_permit_semaphore *semaphore,
                                                                                 const char *id, int64_t lease_ms,
                                                                                 bool *updated);

/* What is left of the permit's lease in ms, or RLOCK_PERMIT_FOREVER. Also RLOCK_INVALID: there is no such
 * permit, or its lease has ended. Java: getLeaseTime(permitId). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_get_lease_time(rlock_permit_semaphore *semaphore,
                                                                              const char *id, int64_t *ms);

/* For how many more ms this process may rely on a permit that its client renews (RLOCK_PERMIT_WATCHDOG), by the local
 * clock, less 1 % of the lease for clocks that run at different rates. 0: it is lost, released or not renewed here; the
 * client is closed, or an argument is wrong. Does not ask the server, does not block. Redisson has no counterpart. */
RLOCK_API int64_t rlock_permit_semaphore_valid_for(const rlock_permit_semaphore *semaphore, const char *id);

/* How many permits are available (may be negative), how many are taken, and how many there are in all.
 * Permits that have expired count as available. 0 if the semaphore does not exist. Java: availablePermits(),
 * acquiredPermits(), getPermits(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_available_permits(rlock_permit_semaphore *semaphore,
                                                                                 int *permits);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquired_permits(rlock_permit_semaphore *semaphore,
                                                                                int *permits);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_get_permits(rlock_permit_semaphore *semaphore,
                                                                           int *permits);

/* Deletes the semaphore and all its permits; *deleted (may be NULL): whether it existed. Java: delete(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_delete(rlock_permit_semaphore *semaphore, bool *deleted);

#ifdef __cplusplus
}
#endif
#endif
