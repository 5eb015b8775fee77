/* RLock: a reentrant lock shared with every process, C or Java, that uses the same name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_LOCK_H
#define RLOCK_LOCK_H

#include <rlock/cancel.h>
#include <rlock/client.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rlock rlock;

#define RLOCK_WATCHDOG     ((int64_t)-1)          /* a lease: renewed until unlocked */
#define RLOCK_FOREVER      INT64_MAX              /* a wait: as long as it takes */
#define RLOCK_LEASE_MAX_MS INT64_C(3155760000000) /* 100 years */

/* A handle on the lock called `name` (UTF-8, 1 byte to 512 MiB; copied). Cheap; asks no server;
 * keeps no lock alive; may be shared by threads. It keeps a reference on the client.
 * NULL: rlock_last_error() says why. End with rlock_free(). */
RLOCK_API rlock *rlock_get_lock(rlock_client *client, const char *name);

/* As rlock_get_lock, a lock that publishes nothing and whose waiters hear no messages: they ask
 * again and again, after 1 ms, then twice as long each time with a small random addend, 128 ms at
 * most. For servers where pub/sub is a burden. Java: getSpinLock(name). */
RLOCK_API rlock *rlock_get_spin_lock(rlock_client *client, const char *name);

/* How long a spin lock's waiter sleeps between two questions: initial_ms, then multiplier times as
 * long after each further refusal, plus a random number of ms from 0 to the number of earlier refusals;
 * max_ms at most. With a multiplier of 1: initial_ms exactly. Each value is from 1; ms up to a day (86400000),
 * multiplier up to 1000. The library refuses others: no handle, RLOCK_INVALID. */
typedef struct rlock_back_off {
    size_t size; /* sizeof(rlock_back_off) of the program */
    int64_t initial_ms;
    int64_t max_ms;
    int64_t multiplier;
} rlock_back_off;
#define RLOCK_BACK_OFF_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(rlock_back_off), 1, 128, 2                                                                              \
    } /* Java: ExponentialBackOff */
#define RLOCK_BACK_OFF_CONSTANT_INIT(ms)                                                                               \
    {                                                                                                                  \
        sizeof(rlock_back_off), ms, ms, 1                                                                              \
    } /* Java: ConstantBackOff (64) */

/* A spin lock with another back-off, which is copied; NULL: as rlock_get_spin_lock.
 * Java: getSpinLock(name, backOff). */
RLOCK_API rlock *rlock_get_spin_lock_with(rlock_client *client, const char *name, const rlock_back_off *back_off);

/* As rlock_get_lock, a lock that is granted in the order of the requests of all processes
 * together: each waiter has a place in a queue on the server. A waiter whose process has died is
 * passed over some ten seconds after its turn came; with Sentinel, replicas, or a cluster without
 * sharded messages, when the time of its place is up: its wait, or fairLockWaitTimeout (300 s)
 * for one without a limit, after its turn was expected at the latest. Asking once (no wait) never
 * queues and is refused while others do. Java: getFairLock. */
RLOCK_API rlock *rlock_get_fair_lock(rlock_client *client, const char *name);

/* As rlock_get_lock, a lock each of whose acquisitions, re-entries too, carries a token greater than
 * all before it: what it protects can refuse whoever comes with an older one. Java: getFencedLock. */
RLOCK_API rlock *rlock_get_fenced_lock(rlock_client *client, const char *name);

/* As rlock_get_lock and rlock_get_fair_lock, locks that their owner can't take twice: the second
 * acquire answers RLOCK_ALREADY_HELD at once and changes nothing.
 * Java: getNonReentrantLock, getNonReentrantFairLock. */
RLOCK_API rlock *rlock_get_non_reentrant_lock(rlock_client *client, const char *name);
RLOCK_API rlock *rlock_get_non_reentrant_fair_lock(rlock_client *client, const char *name);

/* One lock made of `n` others (1 to 1024), of any kinds and of any clients, so on any servers. It is
 * held when all of them are. They are taken one by one in the order given. When one cannot be
 * acquired soon, all are given back and it starts over, from then on in an order by server and name that all
 * have in common: two that want the same locks in different orders do not stand in each other's way.
 * A lease counts for each of them, from the last one on.
 * The multi lock has handles of its own on its locks: `locks` and the handles in it remain the
 * caller's and may be freed at once. The owner is who calls, or whom a member's handle names
 * (rlock_for_owner). A member may itself be a multi or red lock. A lock that is there twice is
 * taken twice: reentrant ones allow it.
 * Beyond what is said below for all locks:
 * rlock_unlock       releases all, though one fails; then answers what the first that failed did.
 * RLOCK_TIMEOUT      also of a wait without end: time after time the lease of the first member ended before the last
 *                    was taken; it is too short.
 * rlock_is_held      asks for each member in turn; rlock_valid_for: the least of its members'.
 * RLOCK_UNSUPPORTED  hold count, is-locked, time to live and force unlock: ask the members.
 * rlock_name         NULL. rlock_on_lost tells of the member that was lost, by its name.
 * NULL: RLOCK_INVALID (no locks, too many, or a NULL among them) or RLOCK_NO_MEMORY, RLOCK_CLOSED,
 * RLOCK_FORKED, as rlock_last_error() says. End with rlock_free(). Any thread.
 * Java: getMultiLock(locks), org.redisson.RedissonMultiLock. */
RLOCK_API rlock *rlock_get_multi_lock(rlock *const *locks, size_t n);

/* As rlock_get_multi_lock, a lock that is held when more than half of its members (n/2 + 1) are,
 * each on a server of its own: it can be had and given back while fewer than half of the servers are
 * down. Each member is waited for by the n-th part of the wait. Its members are single locks, none of
 * them there twice (the same name on the same server and database): else RLOCK_INVALID.
 * rlock_unlock       tries all; RLOCK_OK when more than half were held and released.
 * rlock_valid_for    how long more than half of them are still valid, less 2 ms for clock drift (the
 *                    members' times are 1 % short of the lease already).
 * RLOCK_TIMEOUT      too many members are held by others; RLOCK_UNAVAILABLE: those that did not
 *                    answer would have made a majority.
 * Java: RedissonRedLock(locks), which Redisson has deprecated. */
RLOCK_API rlock *rlock_get_red_lock(rlock *const *locks, size_t n);

/* The same lock, seen by the owner called `owner` (a task, a coroutine, a request) instead of
 * the calling thread: whichever thread uses the handle acts for that owner. Named owners and
 * threads never meet, whatever their numbers. Any value is allowed. A handle of its own: end it
 * with rlock_free(). NULL: rlock_last_error() says why. */
RLOCK_API rlock *rlock_for_owner(rlock *lock, int64_t owner);

/* Frees the handle; a lock that is held stays held. NULL is allowed. No call may be using it. */
RLOCK_API void rlock_free(rlock *lock);

/* The name the handle was made with; owned by it. NULL for NULL. */
RLOCK_API const char *rlock_name(const rlock *lock);

/* Common to all acquiring calls. The owner is the calling thread, or the handle's named owner.
 * An owner that holds the lock gets it again at once and must unlock as often as it locked.
 * lease_ms: 1 to RLOCK_LEASE_MAX_MS: the server frees the lock after that time at the latest;
 *           RLOCK_WATCHDOG: renewed as long as this process, and the owner's thread, live.
 * They block, are no cancellation points, and take no time from a signal (EINTR).
 * RLOCK_OK           held.
 * RLOCK_UNAVAILABLE  not held: the server could not be asked within the configured attempts, or in the
 *                    time that the call has for them.
 * RLOCK_SERVER       not held: the server refused; WRONGTYPE: the name is another kind of key.
 * RLOCK_LOST         this owner held it already and lost that hold: unlock as often as it was
 *                    locked (each answers RLOCK_LOST), then lock anew. Nothing new is held.
 * RLOCK_ALREADY_HELD a non-reentrant lock that this owner holds; it holds it as before.
 * RLOCK_INVALID      an argument; RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY: not held.
 * Follows org.redisson.RedissonLock. */

/* Waits as long as it takes; renewed by the watchdog. Java: lock(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_lock(rlock *lock);

/* Waits as long as it takes, with a lease. Java: lock(leaseTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_lock_lease(rlock *lock, int64_t lease_ms);

/* Waits up to wait_ms; 0 or less: asks once. Java: tryLock(waitTime, leaseTime, unit).
 * Also RLOCK_TIMEOUT: not held, nothing left queued.
 * RLOCK_UNAVAILABLE when the server answers neither before the end of the wait nor within the configured timeout
 * (3000 ms) of being asked: a server that stalls for less than that fails no call, however short its wait, and a
 * server that is away makes the call overrun its wait by that timeout at most, and some 100 ms. When all configured
 * attempts have failed before, the call ends then. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_try_lock(rlock *lock, int64_t wait_ms, int64_t lease_ms);

/* Everything at once. Start from RLOCK_LOCK_OPTIONS_INIT, which waits for ever, renewed. */
typedef struct rlock_lock_options {
    size_t size;          /* sizeof(rlock_lock_options) of the program */
    int64_t wait_ms;      /* RLOCK_FOREVER; 0 or less: asks once */
    int64_t lease_ms;     /* RLOCK_WATCHDOG or 1…RLOCK_LEASE_MAX_MS */
    rlock_cancel *cancel; /* NULL: cannot be cancelled */
    bool named_owner;     /* true: act for `owner`, as through rlock_for_owner */
    int64_t owner;
} rlock_lock_options;
#define RLOCK_LOCK_OPTIONS_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(rlock_lock_options), RLOCK_FOREVER, RLOCK_WATCHDOG, NULL, false, 0                                      \
    }

/* As rlock_try_lock, with options. Also RLOCK_CANCELLED: the token ended the wait; not held.
 * Java: lockInterruptibly() with a cancel token. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_lock_with(rlock *lock, const rlock_lock_options *options);

/* Fenced locks: as rlock_lock and rlock_try_lock; *token is set on RLOCK_OK. Also RLOCK_UNSUPPORTED:
 * another kind of lock. Java: lockAndGetToken(), tryLockAndGetToken(waitTime, leaseTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_lock_and_get_token(rlock *lock, uint64_t *token);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_try_lock_and_get_token(rlock *lock, int64_t wait_ms, int64_t lease_ms,
                                                                     uint64_t *token);

/* The token of this owner's hold, that of its latest acquisition. Local: asks nobody.
 * RLOCK_OK; RLOCK_NOT_OWNER: it holds nothing, or lost it; RLOCK_UNSUPPORTED: no fenced lock;
 * RLOCK_INVALID, RLOCK_CLOSED, RLOCK_FORKED. Java: getToken(), which says what the counter says. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_get_token(rlock *lock, uint64_t *token);

/* Gives back one hold of this owner; the last one frees the lock and wakes a waiter.
 * RLOCK_OK; RLOCK_NOT_OWNER: this owner holds nothing; nothing changed.
 * RLOCK_LOST: it did hold it, but the hold had run out or been forced open; others may hold it.
 * RLOCK_UNAVAILABLE, RLOCK_SERVER, RLOCK_NO_MEMORY: this process has given the hold back, and
 * renews it no longer (do not call again for it); the server hears of it in the background, or the
 * lock's TTL ends. RLOCK_CLOSED, RLOCK_FORKED, RLOCK_INVALID: nothing done, it is still held.
 * With unlock_waits = false (rlock_config) the release of the last hold is on its way to the server when the call
 * returns RLOCK_OK, and its answer is not waited for:
 *   - Its bytes are the system's on return: they reach the server though the process ends. Where the connection has no
 *     room for them, that is waited for, for `timeout` at most. What this client asks about the lock afterwards, and whoever locks it next here, comes after it.
 *   - What is known here is said at once: RLOCK_NOT_OWNER, and RLOCK_LOST when its time was up or the loss was told.
 *     That the hold was gone on the server, or the server refused, is told by rlock_on_lost, within some 100 ms
 *     of the answer. Who has not set that function does not hear of it.
 *   - When the answer is lost, the release is repeated in the background until it is answered or its lease has ended.
 *   - It waits as ever when an outer hold remains, the lock goes to a waiter of this process, replicas have to
 *     confirm, there is no connection, much is unanswered, and for the first release of a kind on a server.
 *   - Another process that waits for the lock is woken as ever; but a thread that locks it again at once is likely
 *     to come before it. Take a fair lock where that matters. */
RLOCK_API rlock_status rlock_unlock(rlock *lock);

/* Frees the lock whoever holds it. *was_locked (may be NULL): whether it was held.
 * Holds of this client on it are lost from then on. Sent once: RLOCK_UNKNOWN when the answer was
 * lost on the way; ask rlock_is_locked(). Otherwise RLOCK_OK or as above. Java: forceUnlock(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_force_unlock(rlock *lock, bool *was_locked);

/* Whether anybody holds it. Asks the server, as the next three do. Out-parameters are set only
 * on RLOCK_OK; else RLOCK_UNAVAILABLE, RLOCK_SERVER, RLOCK_INVALID, RLOCK_CLOSED, RLOCK_FORKED. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_is_locked(rlock *lock, bool *locked);

/* How long the server keeps it without renewal: ms; -2: not locked; -1: no end.
 * Java: remainTimeToLive(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_remain_time_to_live(rlock *lock, int64_t *ms);

/* Whether this owner holds it. Java: isHeldByCurrentThread(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_is_held(rlock *lock, bool *held);

/* How often this owner holds it; 0: not at all. Java: getHoldCount(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_get_hold_count(rlock *lock, int *count);

/* For how many more ms this owner may rely on holding it; 0: not held, or lost. Local: asks
 * nobody and never waits. Call it before each step that must not happen twice. It says nothing
 * about a pause of the process after it returned: a fencing token is for that. */
RLOCK_API int64_t rlock_valid_for(rlock *lock);

/* --- RLOCK_WITH(lock) { … } else { … } ---
 *
 * Locks (rlock_lock), runs the block, and unlocks on every way out of it: its end, break,
 * continue, return and goto; in C++ also an exception. Not on longjmp, exit or thread exit.
 *   break, continue   leave the block (RLOCK_WITH is a loop that runs once, so inside a loop
 *                     of yours they do not reach that loop).
 *   return, goto      unlock first, then go on. A goto into the block is an error.
 *   failed acquire    the block is skipped; `else { … }`, when there, runs instead, without the lock.
 * RLOCK_WITH_STATUS(lock, &status) also says what the acquire answered and, when it was
 * RLOCK_OK, what the unlock answered: RLOCK_LOST says that the block may have run beside another
 * holder. Needs gcc or clang. */
typedef struct rlock_with_guard {
    rlock *lock;
    rlock_status *status; /* the caller's, or NULL */
    bool held, done;
} rlock_with_guard;

RLOCK_API rlock_with_guard rlock_with_enter(rlock *lock, rlock_status *status);
RLOCK_API void rlock_with_leave(rlock_with_guard *guard);

#define RLOCK_WITH_JOIN2_(a, b)         a##b
#define RLOCK_WITH_JOIN_(a, b)          RLOCK_WITH_JOIN2_(a, b)
#define RLOCK_WITH_STATUS(lock, status) RLOCK_WITH_AS_(RLOCK_WITH_JOIN_(rlock_with_guard_, __COUNTER__), lock, status)
#define RLOCK_WITH(lock)                RLOCK_WITH_STATUS(lock, NULL)
#define RLOCK_WITH_AS_(guard, lock, status)                                                                            \
    for (rlock_with_guard guard __attribute__((cleanup(rlock_with_leave))) = rlock_with_enter(lock, status);           \
         !guard.done; guard.done = true)                                                                               \
        if (guard.held)

#ifdef __cplusplus
}
#endif
#endif
