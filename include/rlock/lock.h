/* RLock: a reentrant lock, shared with every process, C or Java, that uses the same name. */
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

#define RLOCK_WATCHDOG     ((int64_t)-1)          /* as a lease: renewed until unlocked */
#define RLOCK_FOREVER      INT64_MAX              /* as a wait: no limit */
#define RLOCK_LEASE_MAX_MS INT64_C(3155760000000) /* 100 years */

/* Makes a handle for the lock `name` (1 byte to 512 MiB, none of them 0; copied). Does not ask the server, and does
 * not keep a lock held. Threads may share the handle. It keeps a reference to the client. NULL:
 * rlock_last_error() says why. End it with rlock_free(). */
RLOCK_API rlock *rlock_get_lock(rlock_client *client, const char *name);

/* As rlock_get_lock, for a spin lock: it publishes nothing, and its waiters do not listen for messages. They
 * ask repeatedly: after 1 ms, then with a pause that doubles each time plus a small random part, up to 128
 * ms. For servers on which pub/sub is a burden. Java: getSpinLock(name). */
RLOCK_API rlock *rlock_get_spin_lock(rlock_client *client, const char *name);

/* How long a waiter of a spin, token or signal-list lock sleeps between two requests: initial_ms after the first
 * refusal; after each further refusal multiplier times as long; at most max_ms. jitter_percent says which part of that
 * is left to chance: with 50 a pause of 100 ms lasts 50 to 100 ms. With 0 it is Redisson's: a random number of ms from
 * 0 to the number of earlier refusals is added before max_ms limits it, and with a multiplier of 1 it is exactly
 * initial_ms. Ranges: times 1 ms to a day (86400000), multiplier 1 to 1000, jitter_percent 0 to 100. With other values
 * no handle is made (RLOCK_INVALID). */
typedef struct rlock_back_off {
    size_t size; /* sizeof(rlock_back_off) in the program */
    int64_t initial_ms;
    int64_t max_ms;
    int64_t multiplier;
    int64_t jitter_percent;
} rlock_back_off;
#define RLOCK_BACK_OFF_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(rlock_back_off), 1, 128, 2, 0                                                                           \
    } /* Java: ExponentialBackOff */
#define RLOCK_BACK_OFF_CONSTANT_INIT(ms)                                                                               \
    {                                                                                                                  \
        sizeof(rlock_back_off), ms, ms, 1, 0                                                                           \
    } /* Java: ConstantBackOff (64) */

#define RLOCK_BACK_OFF_TOKEN_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(rlock_back_off), 50, 200, 2, 50                                                                         \
    } /* the default of token locks */

/* Makes a spin lock with another back-off, which is copied. NULL: as rlock_get_spin_lock. Java:
 * getSpinLock(name, backOff). */
RLOCK_API rlock *rlock_get_spin_lock_with(rlock_client *client, const char *name, const rlock_back_off *back_off);

/* As rlock_get_lock, for a token lock: a string under the name itself, written as by SET NX PX, whose value is a token
 * that no other owner has. It is the lock of redis-py, of npm's redlock and of many programs that have no library, and
 * shares names with them; Redisson knows no such lock.
 * The server stores no hold count; this process counts. Such programs publish no message when they release, so waiters
 * ask repeatedly, with pauses of 25 to 50 ms at first and up to 200 ms, and when the token expires; a release by this
 * library wakes them at once. A token without expiry is waited for as long as it stands, and never broken. */
RLOCK_API rlock *rlock_get_token_lock(rlock_client *client, const char *name);

/* Makes a token lock with another back-off, which is copied. NULL: as rlock_get_token_lock. */
RLOCK_API rlock *rlock_get_token_lock_with(rlock_client *client, const char *name, const rlock_back_off *back_off);

/* As rlock_get_lock, for a signal-list lock, the lock of python-redis-lock: a string "lock:NAME" whose value is a token
 * that no other owner has, and a list "lock-signal:NAME". It shares names with that library; Redisson knows no such
 * lock. Of the waiting clients, a release wakes the one that has waited longest, and no other: while threads of a
 * client wait, a separate connection waits in BLPOP for the first of them. The others are served in their order.
 * The server stores no hold count; this process counts. A lock that expires wakes no waiter, so waiters also ask when
 * the token that they saw expires, and every five seconds.
 * In a cluster the name must have a part in braces, as in "a{b}c": otherwise the two keys would be in different slots
 * (RLOCK_INVALID). */
RLOCK_API rlock *rlock_get_signal_lock(rlock_client *client, const char *name);

/* As rlock_get_lock, for a fair lock: it is granted in the order of the requests of all processes. Each
 * waiter has a place in a queue on the server.
 * A waiter whose process has died is passed over two to five seconds after its turn came. With sentinels, with
 * replicas, or in a cluster without sharded messages it is passed over when its place in the queue expires:
 * at the latest its wait time (fairLockWaitTimeout, 300 s, if it has no limit) after its turn was expected.
 * A call without a wait (asks once) never joins the queue, and is refused while others wait. Java: getFairLock. */
RLOCK_API rlock *rlock_get_fair_lock(rlock_client *client, const char *name);

/* As rlock_get_lock, for a fenced lock: every acquisition, also a re-entry, gets a fencing token that is
 * greater than all before it. The protected resource can refuse requests with an older token. Java:
 * getFencedLock. */
RLOCK_API rlock *rlock_get_fenced_lock(rlock_client *client, const char *name);

/* As rlock_get_lock and rlock_get_fair_lock, for locks that their owner cannot take twice: the second acquire
 * returns RLOCK_ALREADY_HELD at once and changes nothing. Java: getNonReentrantLock, getNonReentrantFairLock. */
RLOCK_API rlock *rlock_get_non_reentrant_lock(rlock_client *client, const char *name);
RLOCK_API rlock *rlock_get_non_reentrant_fair_lock(rlock_client *client, const char *name);

/* Makes one lock out of `n` others (1 to 1,000,000), of any kinds and any clients, so on any servers. It is held
 * when all of its members are held.
 * The members are taken in the given order, many of one client with one round trip. While one is waited for, only those
 * before it are held. If it cannot be acquired soon, all are released, and
 * the attempt starts over, from then on in an order by server and name that is the same for all multi locks.
 * So two multi locks that want the same members in different orders do not block each other. A lease applies
 * to each member and counts from the acquisition of the last one.
 * The multi lock makes its own handles for its members: `locks` and the handles in it remain the caller's and
 * may be freed at once. The owner is the calling thread, or the owner that a member's handle names
 * (rlock_for_owner). A member may itself be a red lock or a sharded lock; a multi lock stands for its own members. A
 * lock that is given twice is taken twice, which reentrant locks allow.
 * Differences from what is said below for all locks:
 * rlock_unlock       releases all members, even if one fails; returns the status of the first that failed. Members of
 *                    one client are released from the last to the first.
 * RLOCK_TIMEOUT      is also possible for a wait without limit: again and again the lease of the first member
 *                    ended before the last one was taken; the lease is too short.
 * rlock_is_held      asks for each member.
 * rlock_valid_for    is the least of its members'.
 * RLOCK_UNSUPPORTED  hold count, is-locked, time to live and force unlock: ask the members.
 * rlock_get_token    if one member at least is a fenced lock: the token of the first such one in the order by server
 *                    and name, which is the same for all multi locks of these members. It excludes late writes of
 *                    owners that hold that member, and of no other owners.
 * rlock_name         is NULL. rlock_on_lost reports the member that was lost, by its name.
 * NULL: RLOCK_INVALID (no locks, too many, or a NULL among them), RLOCK_NO_MEMORY, RLOCK_CLOSED or
 * RLOCK_FORKED; see rlock_last_error(). End it with rlock_free(). Any thread.
 * Java: getMultiLock(locks), org.redisson.RedissonMultiLock. */
RLOCK_API rlock *rlock_get_multi_lock(rlock *const *locks, size_t n);

/* As rlock_get_multi_lock, for a red lock of 1 to 1024 locks: it is held when more than half of its members (n/2 + 1)
 * are held, each on a separate server. So it works while fewer than half of the servers are down. The wait for each
 * member is the n-th part of the whole wait.
 * The members must be single locks, and none may be given twice (the same name on the same server and
 * database); else RLOCK_INVALID.
 * rlock_unlock       tries all members; RLOCK_OK if more than half were held and released.
 * rlock_valid_for    how long more than half of the members are valid, less 2 ms for clock drift (the
 *                    members' times are already 1 % shorter than the lease).
 * RLOCK_TIMEOUT      too many members are held by others. Fewer than half that fail for another reason (a closed
 *                    client, a refusal) do not end the wait for the rest.
 * RLOCK_UNAVAILABLE  there is no majority, but the members that did not answer could have made one.
 * rlock_get_token    if all members are fenced locks: greater than the token of every earlier grant of a majority of
 *                    them, since a majority's counters are raised to it before the call returns.
 * If all members are token locks, it is the lock of npm's redlock and of other libraries that follow the description of
 * "Redlock". Then all members are asked at the same time, each for at most 250 ms (or its client's timeout, if that is
 * less), and no call waits at a server: without a majority, it releases its members and asks again after the back-off
 * of the first member. While its owner holds it under the watchdog, it takes a member anew whose server was down or
 * came back empty. Java: RedissonRedLock(locks), which Redisson has deprecated. */
RLOCK_API rlock *rlock_get_red_lock(rlock *const *locks, size_t n);

/* How a red lock is acquired. min_valid_percent, 0 to 100: an acquisition after which the lock would be valid for less
 * than that part of its lease (under the watchdog: of lockWatchdogTimeout) is undone, and tried again or refused
 * (RLOCK_TIMEOUT). 0: it is enough if any of it is left. */
typedef struct rlock_red_options {
    size_t size; /* sizeof(rlock_red_options) in the program */
    int64_t min_valid_percent;
} rlock_red_options;
#define RLOCK_RED_OPTIONS_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(rlock_red_options), 0                                                                                   \
    }

/* As rlock_get_red_lock, with options, which are copied. NULL options: as rlock_get_red_lock. RLOCK_INVALID also: an
 * option is out of range. */
RLOCK_API rlock *rlock_get_red_lock_with(rlock *const *locks, size_t n, const rlock_red_options *options);

/* Makes a lock for a hot resource in `shards` parts (1 to 1024): as many owners hold it at a time, each another part,
 * which is a reentrant lock of the name NAME:0, NAME:1 and so on. In a cluster the parts spread over the masters,
 * unless NAME has a hash tag in braces. All programs must use the same number of parts.
 * An acquire takes any part that is free; they are asked in random order. When none is free it waits for one of them,
 * for 10 to 200 ms, or for as long as four requests take if that is longer (1 s at most), and then looks at all again.
 * An owner that holds a part takes the same one again.
 * Differences from what is said below for all locks:
 * rlock_unlock, rlock_is_held, rlock_get_hold_count, rlock_valid_for: of the part that this owner holds by the sharded
 * lock. What it holds by the part's name is not counted, and not given back.
 * rlock_is_locked             whether all parts are held.
 * rlock_remain_time_to_live   of the part that is free first; -2: one is free.
 * rlock_force_unlock          frees all parts; *was_locked: whether any was held.
 * RLOCK_UNAVAILABLE, RLOCK_SERVER, RLOCK_NOT_SYNCED: none of the parts could be asked or acquired. While others hold
 * one, it is RLOCK_TIMEOUT. Each server that does not answer makes an acquire up to 750 ms longer than its wait,
 * whatever its number of parts.
 * rlock_name                  is NULL. rlock_on_lost reports the part that was lost, by its name.
 * NULL: RLOCK_INVALID, RLOCK_NO_MEMORY, RLOCK_CLOSED or RLOCK_FORKED; see rlock_last_error(). End it with rlock_free().
 * Any thread. */
RLOCK_API rlock *rlock_get_sharded_lock(rlock_client *client, const char *name, int shards);

/* Which part of a sharded lock this owner holds: 0 to shards - 1. Local: does not ask the server. RLOCK_OK;
 * RLOCK_NOT_OWNER: none, or it was lost; RLOCK_UNSUPPORTED: not a sharded lock; RLOCK_INVALID, RLOCK_CLOSED,
 * RLOCK_FORKED. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_get_shard(rlock *lock, int *shard);

/* Sets the timeout and retries of this handle's calls from now on. They are copied, and go along to the handles that
 * rlock_for_owner and the functions for multi and red locks make of this one. On a multi, red or sharded lock: sets
 * them for each member. No other thread may use the handle meanwhile; set them before it is shared. Renewals and
 * clean-up in the background keep the client's. Local: does not ask the server.
 * RLOCK_OK; RLOCK_INVALID: a pointer is NULL, an option is out of range, or the options were not started from
 * RLOCK_CALL_OPTIONS_INIT: nothing was changed; RLOCK_CLOSED, RLOCK_FORKED. Java: getLock(CommonOptions). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_set_call_options(rlock *lock, const rlock_call_options *options);

/* Makes another handle for the same lock that acts for the named owner `owner` (a task, a coroutine, a
 * request) instead of the calling thread: whichever thread uses the handle acts for that owner. A named owner
 * is never the same as a thread, whatever the numbers. Any value is allowed. End the new handle with
 * rlock_free(). NULL: rlock_last_error() says why. */
RLOCK_API rlock *rlock_for_owner(rlock *lock, int64_t owner);

/* Frees the handle; a lock that is held stays held. NULL is allowed. No call may be using the handle. */
RLOCK_API void rlock_free(rlock *lock);

/* The name that the handle was made with; owned by the handle. NULL for NULL. */
RLOCK_API const char *rlock_name(const rlock *lock);

/* For all calls that acquire. The owner is the calling thread, or the handle's named owner. An owner that
 * holds the lock acquires it again at once, and must unlock as often as it locked.
 * lease_ms: 1 to RLOCK_LEASE_MAX_MS: the server frees the lock after that time at the latest;
 *           RLOCK_WATCHDOG: the lock is renewed as long as this process and the owner's thread live.
 * The calls block, are no cancellation points, and do not end because of a signal (EINTR).
 * RLOCK_OK            held.
 * RLOCK_UNAVAILABLE   not held: the server could not be asked within the configured attempts, or within the
 *                     time that the call has for them.
 * RLOCK_SERVER        not held: the server refused. WRONGTYPE: the name is a key of another type.
 * RLOCK_LOST          this owner held the lock already, and the call found that this hold is lost. Unlock as often as
 *                     it was locked (each unlock returns RLOCK_LOST), then lock again. Nothing new is held. If the loss
 *                     was known before the call (rlock_valid_for() was 0), it acquires the lock anew instead. The first
 *                     unlock then releases the new hold; the others, for the lost holds, return RLOCK_LOST.
 * RLOCK_ALREADY_HELD  a non-reentrant lock that this owner holds; it still holds it.
 * RLOCK_NOT_SYNCED    not held: no replica confirmed the acquisition, so it was undone (checkLockSyncedSlaves). Only
 *                     with servers that have replicas.
 * RLOCK_INVALID       an argument is wrong, or this owner holds the lock as often as can be counted: 2147483647 times,
 *                     of a read side fewer. Also RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY: nothing new is held.
 * Follows org.redisson.RedissonLock. */

/* Acquires the lock; waits without limit; renewed by the watchdog. Java: lock(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_lock(rlock *lock);

/* Acquires the lock with a lease; waits without limit. Java: lock(leaseTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_lock_lease(rlock *lock, int64_t lease_ms);

/* Acquires the lock; waits for up to wait_ms; 0 or less: asks once. Java: tryLock(waitTime, leaseTime, unit).
 * Also RLOCK_TIMEOUT: not held, and no longer in any queue.
 * RLOCK_UNAVAILABLE if the server answers neither before the wait ends nor within the configured timeout
 * (3000 ms) of a request. So a server that stalls for less than the timeout fails no call, however short its
 * wait; and while a server is away, the call overruns its wait by the timeout and about 100 ms at most (where there are
 * replicas, by slavesSyncTimeout, too). If all configured attempts have failed before that, the call ends then. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_try_lock(rlock *lock, int64_t wait_ms, int64_t lease_ms);

/* All options of an acquire. Start from RLOCK_LOCK_OPTIONS_INIT: no limit, renewed by the watchdog. */
typedef struct rlock_lock_options {
    size_t size;          /* sizeof(rlock_lock_options) in the program */
    int64_t wait_ms;      /* RLOCK_FOREVER; 0 or less: ask once */
    int64_t lease_ms;     /* RLOCK_WATCHDOG, or 1 to RLOCK_LEASE_MAX_MS */
    rlock_cancel *cancel; /* NULL: cannot be cancelled */
    bool named_owner;     /* true: act for `owner`, as with rlock_for_owner */
    int64_t owner;
} rlock_lock_options;
#define RLOCK_LOCK_OPTIONS_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(rlock_lock_options), RLOCK_FOREVER, RLOCK_WATCHDOG, NULL, false, 0                                      \
    }

/* As rlock_try_lock, with options. Also RLOCK_CANCELLED: the token ended the wait; not held. Java:
 * lockInterruptibly() with a cancel token. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_lock_with(rlock *lock, const rlock_lock_options *options);

/* Acquires a fenced lock, and tells its token: as rlock_lock and rlock_try_lock; *token is set on RLOCK_OK. Also
 * RLOCK_UNSUPPORTED: another kind of lock. Java: lockAndGetToken(), tryLockAndGetToken(waitTime, leaseTime, unit). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_lock_and_get_token(rlock *lock, uint64_t *token);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_try_lock_and_get_token(rlock *lock, int64_t wait_ms, int64_t lease_ms,
                                                                     uint64_t *token);

/* --- Tokens, release and questions --- */

/* The fencing token of this owner's latest acquisition. Local: does not ask the server.
 * RLOCK_OK; RLOCK_NOT_OWNER: this owner does not hold the lock, or lost it; RLOCK_UNSUPPORTED: not a fenced
 * lock; RLOCK_INVALID, RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY. Java: getToken(), which reads the counter on the
 * server instead. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_get_token(rlock *lock, uint64_t *token);

/* Writes the string `key` (with the client's prefix) in Redis, unless a holder with a newer fencing token has written
 * it: a holder that was paused beyond its lease overwrites nothing that the next one wrote. `value` is `length` bytes
 * of any kind, 512 MiB at most. The key rlock_fence:{key} keeps the token, without a time to live; both are in one
 * cluster slot. Every program that writes the string must write it this way, or the way that docs/fenced-lock.md shows
 * for other programs.
 * RLOCK_OK            written.
 * RLOCK_LOST          a newer token has written it: the hold that had this one is over. Nothing changed.
 * RLOCK_UNAVAILABLE   no answer: it may have been written, or may be written later, but not over a write with a newer
 *                     token, nor over a later write of this client with this token. It may come after a write that
 *                     another client made with the same token.
 * RLOCK_SERVER        the server refused. WRONGTYPE: the key is of another type.
 * RLOCK_INVALID (also: a token of 0), RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY. Blocks. Any thread. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_fenced_set(rlock_client *client, const char *key, const void *value,
                                                         size_t length, uint64_t token);

/* Releases one hold of this owner; the last release frees the lock and wakes a waiter.
 * RLOCK_OK           released.
 * RLOCK_NOT_OWNER    this owner does not hold the lock; nothing changed.
 * RLOCK_LOST         this owner did hold the lock, but the hold had expired or was forced open; others may hold it.
 * RLOCK_UNAVAILABLE, RLOCK_SERVER, RLOCK_NO_MEMORY: this process has given up the hold and no longer renews
 * it; do not unlock again for it. The server is told in the background, or the lock's TTL ends.
 * RLOCK_FORKED, RLOCK_INVALID: nothing was done; the lock is still held.
 * RLOCK_CLOSED       the client is closed. If that was before the call, the lock stays held until its TTL ends; if
 *                    another thread closed it during the call, the server may have released it.
 * With unlock_waits = false (rlock_config), the call returns RLOCK_OK when the release of the last hold is on
 * its way, and does not wait for the answer:
 *   - On return, the operating system has the request: it reaches the server even if the process ends. If the
 *     connection has no room for it, the call waits, for `timeout` at most. Later requests of this client
 *     about the lock, and the next acquire of it in this process, come after the release.
 *   - What is known locally is returned at once: RLOCK_NOT_OWNER; RLOCK_LOST if the hold has expired or its
 *     loss was reported. If the hold was gone on the server, or the server refused the release, rlock_on_lost
 *     reports it, within about 100 ms of the answer. A program without that function is not told.
 *   - If the answer is lost, the release is repeated in the background until it is answered or its lease has ended.
 *   - The call still waits if an outer hold remains, if the lock is handed to a waiter of this process, if
 *     replicas have to confirm, if there is no connection, if many requests are unanswered, and for the first
 *     release of each kind on a server.
 *   - Other processes that wait for the lock are woken as usual. But a thread that locks again at once is
 *     likely to come before them; use a fair lock if that matters. */
RLOCK_API rlock_status rlock_unlock(rlock *lock);

/* Extends this owner's hold: with all its levels it lasts for at least lease_ms from now (1 to RLOCK_LEASE_MAX_MS), on
 * the server and by rlock_valid_for. Shortens nothing. A hold under the watchdog is renewed as before; so it lasts
 * longer if the process dies, until the end of the extension.
 * Multi lock: all members, those of one client together; after one has failed, no further ones. Red lock: more than
 * half of the members must be extended. Sharded lock: the part that this owner holds.
 * RLOCK_OK            extended.
 * RLOCK_NOT_OWNER     this owner does not hold the lock.
 * RLOCK_LOST          the hold had expired or was forced open before it could be extended. It stays lost: unlock as
 *                     often as it was locked.
 * RLOCK_UNAVAILABLE, RLOCK_SERVER, RLOCK_NO_MEMORY: still held, as long as before or longer.
 * RLOCK_INVALID, RLOCK_FORKED: nothing was done. RLOCK_CLOSED: the same, unless another thread closed the client during
 * the call: then the server may have extended it. The request may be repeated, and is. Blocks. Any thread.
 * Java: none; Redisson has no call that extends a lease. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_extend(rlock *lock, int64_t lease_ms);

/* Frees the lock, whoever holds it. *was_locked (may be NULL): whether it was held. Holds of this client on
 * it are lost from then on. The request is sent only once: RLOCK_UNKNOWN if its answer was lost; then ask
 * rlock_is_locked(). Otherwise RLOCK_OK, or the statuses of rlock_is_locked(). Java: forceUnlock(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_force_unlock(rlock *lock, bool *was_locked);

/* Whether any owner holds the lock. Asks the server. *locked is set only on RLOCK_OK; else RLOCK_UNAVAILABLE,
 * RLOCK_SERVER, RLOCK_NO_MEMORY, RLOCK_UNSUPPORTED (a multi or red lock), RLOCK_INVALID, RLOCK_CLOSED, RLOCK_FORKED.
 * Java: isLocked(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_is_locked(rlock *lock, bool *locked);

/* How long the server keeps the lock if it is not renewed, in ms; -2: not locked; -1: no expiry. Asks the server; *ms
 * is set only on RLOCK_OK; else the statuses of rlock_is_locked(). Java: remainTimeToLive(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_remain_time_to_live(rlock *lock, int64_t *ms);

/* Whether this owner holds the lock. Asks the server; *held is set only on RLOCK_OK; else the statuses of
 * rlock_is_locked(). Java: isHeldByCurrentThread(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_is_held(rlock *lock, bool *held);

/* How often this owner holds the lock; 0: not at all. Asks the server; *count is set only on RLOCK_OK; else the
 * statuses of rlock_is_locked(). Java: getHoldCount(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_get_hold_count(rlock *lock, int *count);

/* For how many more ms this owner may rely on holding the lock; 0: not held, or lost. Local: does not ask the
 * server and never blocks. Call it before each step that must not run while another owner holds the lock. It
 * cannot account for a pause of the process after it has returned; fencing tokens are for that. After a wait for a lock
 * without a lease it may begin with less than 5,000 ms; the watchdog makes a whole lease of that within some 50 ms. */
RLOCK_API int64_t rlock_valid_for(rlock *lock);

/* --- RLOCK_WITH(lock) { … } else { … } ---
 *
 * Locks (rlock_lock), runs the block, and unlocks on every way out of it: its end, break, continue, return
 * and goto; in C++ also an exception. Does not unlock on longjmp, exit or thread exit.
 *   break, continue   leave the block. RLOCK_WITH is a loop that runs once, so inside a loop of the program
 *                     they do not reach that loop.
 *   return, goto      unlock first, then go on. A goto into the block is an error.
 *   failed acquire    the block is skipped; `else { … }`, if present, runs instead, without the lock.
 * RLOCK_WITH_STATUS(lock, &status) also gives the status of the acquire and, if that was RLOCK_OK, then the
 * status of the unlock: RLOCK_LOST means that another owner may have held the lock while the block ran. Needs
 * gcc or clang. rlock_with_enter() and rlock_with_leave() are what the two macros call; programs call the macros. */
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
