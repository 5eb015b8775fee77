/* Handle: the methods that the RLock interface needs of any lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HANDLE_H
#define RLI_HANDLE_H

#include <rlock/async.h>
#include <rlock/lock.h>
#include <stddef.h>

/* Identity of a lock: locks of the same server, database and name are the same lock. */
typedef struct rli_identity {
    rlock_client *client; /* not referenced */
    const char *name;     /* with the client's prefix; owned by the handle */
    size_t length;
    bool several; /* the lock is a composite; this is its first member's place */
} rli_identity;

/* The function that an async call calls when it has ended, and its argument. */
typedef struct rli_callback {
    rlock_result_fn *fn;
    void *arg;
} rli_callback;

/* What an async call asks the server for. */
typedef enum rli_asked { RLI_ASKED_LOCKED, RLI_ASKED_TTL, RLI_ASKED_HELD, RLI_ASKED_COUNT } rli_asked;

/* The async calls of a lock: RLOCK_OK, or why nothing has begun. `owner` NULL: the one that the handle names; else
 * RLOCK_INVALID. The arguments were checked otherwise, and are copied. */
typedef struct rli_async_methods {
    rlock_status (*acquire)(rlock *lock, const rlock_lock_options *options, const rli_callback *callback);
    rlock_status (*release)(rlock *lock, const int64_t *owner, const rli_callback *callback);
    rlock_status (*force)(rlock *lock, const rli_callback *callback); /* NULL: not supported */
    rlock_status (*ask)(rlock *lock, rli_asked what, const int64_t *owner, const rli_callback *callback);
} rli_async_methods;

extern const rli_async_methods rli_single_async;

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
    const rli_async_methods *async;
} rli_methods;

/* The beginning of every handle. */
struct rlock {
    const rli_methods *methods;
};

/* RLOCK_OK; RLOCK_INVALID: NULL; RLOCK_CLOSED, RLOCK_FORKED. */
rlock_status rli_handle_check(const rlock *lock);
/* RLOCK_OK, or RLOCK_INVALID: out of range. */
rlock_status rli_handle_check_lease(int64_t lease_ms);
/* Copies options of any version. RLOCK_OK, RLOCK_INVALID. */
rlock_status rli_handle_read_options(rlock_lock_options *full, const rlock_lock_options *options);
/* Returns RLOCK_UNSUPPORTED: this kind of lock does not have the operation. */
rlock_status rli_handle_unsupported(const char *operation);
/* Returns `status`. Adds the lock's name to the message of a failure, because a message from a lower layer names only
 * the connection. */
rlock_status rli_handle_told(const rlock *lock, rlock_status status);

#endif
