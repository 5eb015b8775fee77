/* Handle: the methods that the RLock interface needs of any lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HANDLE_H
#define RLI_HANDLE_H

#include <rlock/lock.h>
#include <stddef.h>

/* Identity of a lock: locks of the same server, database and name are the same lock. */
typedef struct rli_identity {
    rlock_client *client; /* not referenced */
    const char *name;     /* with the client's prefix; owned by the handle */
    size_t length;
    bool several; /* the lock is a composite; this is its first member's place */
} rli_identity;

/* Callers have checked the arguments: no out-parameter is NULL except where allowed, and a lease is in its
 * range. A method that is NULL is not supported by this lock (RLOCK_UNSUPPORTED). */
typedef struct rli_methods {
    /* RLOCK_OK, RLOCK_CLOSED or RLOCK_FORKED; takes no mutex. */
    rlock_status (*check)(const rlock *lock);
    /* Waits for the answer to a request for at least answer_ms, even if the wait ends sooner; RLI_NEVER: for
     * the configured timeout. `token` may be NULL, and is not NULL only for a lock with get_token. */
    rlock_status (*acquire)(rlock *lock, const rlock_lock_options *options, int64_t answer_ms, uint64_t *token);
    /* Waits for the answer for at most answer_ms; RLI_NEVER: for the configured attempts. If no answer comes,
     * the hold is over in this process, and is released again in the background. */
    rlock_status (*release)(rlock *lock, int64_t answer_ms);
    /* For a member of a red lock. miss: the red lock acquired one more hold without this member, which the
     * owner already holds. drop_missed: whether the innermost hold was such a missed one; if so, it is
     * removed. */
    void (*miss)(rlock *lock);
    bool (*drop_missed)(rlock *lock);
    rlock_status (*force)(rlock *lock, bool *was_locked); /* was_locked may be NULL */
    rlock_status (*is_held)(rlock *lock, bool *held);
    /* Reads the lock's PTTL (-2: not locked) and how often this owner holds it. */
    rlock_status (*state)(rlock *lock, int64_t *pttl_ms, int *count);
    int64_t (*valid_for)(rlock *lock);
    rlock_status (*get_token)(rlock *lock, uint64_t *token);
    /* Extends the owner's hold to at least lease_ms from now; never shortens it. Waits for at most answer_ms.
     * RLOCK_OK; RLOCK_NOT_OWNER; RLOCK_LOST: no longer held; other statuses: held as before, or for longer. */
    rlock_status (*extend)(rlock *lock, int64_t lease_ms, int64_t answer_ms);
    rlock *(*copy)(rlock *lock); /* another handle for the same lock and owner */
    rlock *(*for_owner)(rlock *lock, int64_t owner);
    rli_identity (*place)(const rlock *lock);
    const char *(*name)(const rlock *lock);
    void (*free)(rlock *lock);
} rli_methods;

/* The beginning of every handle. */
struct rlock {
    const rli_methods *methods;
};

#endif
