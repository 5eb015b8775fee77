/* Semaphores: permits that processes share. The plain one counts them; the permit-expirable one knows
 * each by an id, which may have a lease. */
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
 * A number of permits. Whoever takes some may be gone the next moment without giving them back: they
 * are then gone, too. No order among those who wait; a large demand does not hold up a smaller one.
 *
 * Common to all calls: any thread; they block; they are no cancellation points. Out-parameters are set
 * only on RLOCK_OK. Besides what stands at a call:
 * RLOCK_UNKNOWN      (calls that change something) the request left and its answer was lost, so it was
 *                    not repeated: it may have been carried out, or may be yet. Look at the available
 *                    permits before you repeat it.
 * RLOCK_UNAVAILABLE  the server could not be asked within the configured attempts; nothing was changed.
 * RLOCK_SERVER       the server refused, nothing was changed; WRONGTYPE: the name is another kind of
 *                    key. Or there are more permits than an int holds.
 * RLOCK_INVALID      an argument; RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY.
 * Follows org.redisson.RedissonSemaphore. */
typedef struct rlock_semaphore rlock_semaphore;

/* A handle on the semaphore called `name` (UTF-8, 1 byte to 512 MiB; copied). Cheap; asks no server; may
 * be shared by threads. It keeps a reference on the client. NULL: rlock_last_error() says why. End with
 * rlock_semaphore_free(). Java: getSemaphore(name). */
RLOCK_API rlock_semaphore *rlock_get_semaphore(rlock_client *client, const char *name);

/* Frees the handle; permits that were taken stay taken. NULL is allowed. No call may be using it. */
RLOCK_API void rlock_semaphore_free(rlock_semaphore *semaphore);

/* The name the handle was made with; owned by it. NULL for NULL. */
RLOCK_API const char *rlock_semaphore_name(const rlock_semaphore *semaphore);

/* Makes the semaphore with `permits` (from 0), unless there is one; *set (may be NULL): whether it did.
 * Java: trySetPermits(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_set_permits(rlock_semaphore *semaphore, int permits,
                                                                        bool *set);

/* As rlock_semaphore_try_set_permits, a semaphore that ends after ttl_ms (1 to RLOCK_LEASE_MAX_MS),
 * whatever is taken of it then. Java: trySetPermits(permits, timeToLive). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_set_permits_ttl(rlock_semaphore *semaphore, int permits,
                                                                            int64_t ttl_ms, bool *set);

/* Takes `permits` (from 0; 0: at once, asking nobody), all of them or none, and waits as long as it
 * takes. RLOCK_OK: taken; else nothing is (but see RLOCK_UNKNOWN). Java: acquire(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_acquire(rlock_semaphore *semaphore, int permits);

/* Waits up to wait_ms; 0 or less: asks once. Also RLOCK_TIMEOUT: nothing taken, nothing left behind. As with
 * rlock_try_lock, a server that is slow to answer is waited for until the end of the wait, and for the configured
 * timeout (3000 ms) at least; permits that it takes later are lost, so then the answer is RLOCK_UNKNOWN, or
 * RLOCK_UNAVAILABLE when the request never left. Java: tryAcquire(permits, waitTime). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_try_acquire(rlock_semaphore *semaphore, int permits,
                                                                    int64_t wait_ms);

/* Everything at once. Start from RLOCK_SEMAPHORE_OPTIONS_INIT, which waits for ever. */
typedef struct rlock_semaphore_options {
    size_t size;          /* sizeof(rlock_semaphore_options) of the program */
    int64_t wait_ms;      /* RLOCK_FOREVER; 0 or less: asks once */
    rlock_cancel *cancel; /* NULL: cannot be cancelled */
} rlock_semaphore_options;
#define RLOCK_SEMAPHORE_OPTIONS_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(rlock_semaphore_options), RLOCK_FOREVER, NULL                                                           \
    }

/* As rlock_semaphore_try_acquire, with options. Also RLOCK_CANCELLED: the token ended the wait, nothing is
 * taken. A request that is under way when it fires is waited for, as above; permits that it takes are
 * the caller's (RLOCK_OK). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_acquire_with(rlock_semaphore *semaphore, int permits,
                                                                     const rlock_semaphore_options *options);

/* Gives back `permits` (from 0; 0: nothing to do), and wakes those who wait. Nobody checks who took how
 * many: it makes a semaphore where there is none, and there is no ceiling. Java: release(permits). */
RLOCK_API rlock_status rlock_semaphore_release(rlock_semaphore *semaphore, int permits);

/* As rlock_semaphore_release, only when the semaphore exists; *released (may be NULL): whether it does;
 * false for 0 permits. Java: releaseIfExists(permits). */
RLOCK_API rlock_status rlock_semaphore_release_if_exists(rlock_semaphore *semaphore, int permits, bool *released);

/* Adds `permits`, or takes that many away when below 0, also below 0 available. Ends a time to live of
 * the semaphore. Java: addPermits(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_add_permits(rlock_semaphore *semaphore, int permits);

/* Takes all that are available; *permits (may be NULL): how many. Ends a time to live of the semaphore.
 * Java: drainPermits(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_drain_permits(rlock_semaphore *semaphore, int *permits);

/* How many are available; 0 without a semaphore. Java: availablePermits(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_available_permits(rlock_semaphore *semaphore, int *permits);

/* Deletes the semaphore; *deleted (may be NULL): whether there was one. Those who wait go on waiting
 * for permits of another. Java: delete(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_semaphore_delete(rlock_semaphore *semaphore, bool *deleted);

/* --- The permit-expirable semaphore ---
 *
 * Each permit has an id, by which it is given back, from any process, and may have a lease: when that
 * ends, the permit is available again without anybody's call. A permit without a lease whose holder is
 * gone stays taken.
 *
 * Common to all calls: as for the semaphore. RLOCK_UNKNOWN comes from the calls that set the number of
 * permits and from delete alone: the others may be repeated and are, because the ids are made here. An
 * acquire that was never answered is undone in the background: RLOCK_UNAVAILABLE and RLOCK_CANCELLED
 * say that nothing is held.
 * Follows org.redisson.RedissonPermitExpirableSemaphore. */
typedef struct rlock_permit_semaphore rlock_permit_semaphore;

/* A permit, as 32 hex digits; Java has the same text. */
typedef struct rlock_permit {
    char id[33];
} rlock_permit;

#define RLOCK_PERMIT_FOREVER  ((int64_t)-1) /* a lease: none */
#define RLOCK_PERMITS_AT_ONCE 100000        /* the most that one call takes or gives back */

/* As rlock_get_semaphore; end with rlock_permit_semaphore_free(). Not for the name of a plain semaphore.
 * Java: getPermitExpirableSemaphore(name). */
RLOCK_API rlock_permit_semaphore *rlock_get_permit_expirable_semaphore(rlock_client *client, const char *name);

/* Frees the handle; permits that were taken stay taken. NULL is allowed. No call may be using it. */
RLOCK_API void rlock_permit_semaphore_free(rlock_permit_semaphore *semaphore);

/* The name the handle was made with; owned by it. NULL for NULL. */
RLOCK_API const char *rlock_permit_semaphore_name(const rlock_permit_semaphore *semaphore);

/* Makes the semaphore with `permits` (from 0), unless there is one; *set (may be NULL): whether it did.
 * Java: trySetPermits(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_set_permits(rlock_permit_semaphore *semaphore,
                                                                               int permits, bool *set);

/* Has the semaphore have `permits` (from 0) in all, taken ones included: when more are taken, fewer than
 * 0 are available. Java: setPermits(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_set_permits(rlock_permit_semaphore *semaphore,
                                                                           int permits);

/* Adds `permits`, or takes that many away when below 0, also below 0 available. Ends a time to live of
 * the counter. Java: addPermits(permits). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_add_permits(rlock_permit_semaphore *semaphore,
                                                                           int permits);

/* Takes one permit and waits as long as it takes. lease_ms: 1 to RLOCK_LEASE_MAX_MS, by the server's
 * clock, or RLOCK_PERMIT_FOREVER. Java: acquire(leaseTime). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire(rlock_permit_semaphore *semaphore,
                                                                       int64_t lease_ms, rlock_permit *permit);

/* Waits up to wait_ms; 0 or less: asks once. Also RLOCK_TIMEOUT: nothing taken, nothing left behind.
 * RLOCK_UNAVAILABLE when the server answers neither before the end of the wait nor within the configured timeout
 * (3000 ms) of being asked, as with rlock_try_lock. Java: tryAcquire(waitTime, leaseTime). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_acquire(rlock_permit_semaphore *semaphore,
                                                                           int64_t wait_ms, int64_t lease_ms,
                                                                           rlock_permit *permit);

/* Take `count` permits (1 to RLOCK_PERMITS_AT_ONCE) into the caller's array of as many, all of them or
 * none. Java: acquire(permits, leaseTime), tryAcquire(permits, waitTime, leaseTime). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire_many(rlock_permit_semaphore *semaphore,
                                                                            int count, int64_t lease_ms,
                                                                            rlock_permit *permits);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_try_acquire_many(rlock_permit_semaphore *semaphore,
                                                                                int count, int64_t wait_ms,
                                                                                int64_t lease_ms,
                                                                                rlock_permit *permits);

/* Everything at once. Start from RLOCK_PERMIT_OPTIONS_INIT, which waits for ever, without a lease. */
typedef struct rlock_permit_options {
    size_t size;          /* sizeof(rlock_permit_options) of the program */
    int64_t wait_ms;      /* RLOCK_FOREVER; 0 or less: asks once */
    int64_t lease_ms;     /* RLOCK_PERMIT_FOREVER or 1…RLOCK_LEASE_MAX_MS */
    rlock_cancel *cancel; /* NULL: cannot be cancelled */
} rlock_permit_options;
#define RLOCK_PERMIT_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(rlock_permit_options), RLOCK_FOREVER, RLOCK_PERMIT_FOREVER, NULL                                        \
    }

/* As rlock_permit_semaphore_try_acquire_many, with options. Also RLOCK_CANCELLED: the token ended the wait;
 * nothing is held. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquire_with(rlock_permit_semaphore *semaphore,
                                                                            int count,
                                                                            const rlock_permit_options *options,
                                                                            rlock_permit *permits);

/* Gives back the permit with this id (32 hex digits; from any process). Also RLOCK_INVALID: there is no such
 * permit, it was given back already, or its lease has ended; the message names it. An id that is gone
 * when the answer to the first attempt was lost counts as given back. Java: release(permitId). */
RLOCK_API rlock_status rlock_permit_semaphore_release(rlock_permit_semaphore *semaphore, const char *id);

/* As rlock_permit_semaphore_release; *released (may be NULL): false instead of RLOCK_INVALID for a permit
 * that is not there. Java: tryRelease(permitId). */
RLOCK_API rlock_status rlock_permit_semaphore_try_release(rlock_permit_semaphore *semaphore, const char *id,
                                                          bool *released);

/* Gives back `count` permits (1 to RLOCK_PERMITS_AT_ONCE), all of them or, when one is not there, has expired
 * or stands in the array twice, none. Java: release(permitsIds). */
RLOCK_API rlock_status rlock_permit_semaphore_release_many(rlock_permit_semaphore *semaphore, int count,
                                                           const rlock_permit *permits);

/* As rlock_permit_semaphore_release_many; *released (may be NULL): how many, `count` or 0.
 * Java: tryRelease(permitsIds). */
RLOCK_API rlock_status rlock_permit_semaphore_try_release_many(rlock_permit_semaphore *semaphore, int count,
                                                               const rlock_permit *permits, int *released);

/* Has the permit expire lease_ms from now (RLOCK_PERMIT_FOREVER: not at all). *updated (may be NULL): false when
 * there is no such permit, or its lease has ended. Java: updateLeaseTime(permitId, leaseTime). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_update_lease_time(rlock_permit_semaphore *semaphore,
                                                                                 const char *id, int64_t lease_ms,
                                                                                 bool *updated);

/* What is left of the permit's lease: ms, or RLOCK_PERMIT_FOREVER. Also RLOCK_INVALID: there is no such
 * permit, or its lease has ended. Java: getLeaseTime(permitId). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_get_lease_time(rlock_permit_semaphore *semaphore,
                                                                              const char *id, int64_t *ms);

/* How many permits are available, may be below 0; how many are taken; how many there are in all. Those
 * that have expired are available. 0 without a semaphore. Java: availablePermits(), acquiredPermits(),
 * getPermits(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_available_permits(rlock_permit_semaphore *semaphore,
                                                                                 int *permits);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_acquired_permits(rlock_permit_semaphore *semaphore,
                                                                                int *permits);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_get_permits(rlock_permit_semaphore *semaphore,
                                                                           int *permits);

/* Deletes the semaphore and all its permits; *deleted (may be NULL): whether there was one. Java: delete(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_permit_semaphore_delete(rlock_permit_semaphore *semaphore, bool *deleted);

#ifdef __cplusplus
}
#endif
#endif
