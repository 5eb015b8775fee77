/* A handle on a lock: what the RLock interface can ask of any lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HANDLE_H
#define RLI_HANDLE_H

#include <rlock/lock.h>

/* Arguments are checked: no place for an answer is NULL, a lease is in its range. A NULL operation
 * is one that this lock does not have: RLOCK_UNSUPPORTED. */
typedef struct rli_operations {
    rlock_status (*check)(const rlock *lock); /* RLOCK_OK, RLOCK_CLOSED, RLOCK_FORKED; touches no mutex */
    /* `token` may be NULL; only a lock with get_token is asked for one. */
    rlock_status (*acquire)(rlock *lock, const rlock_lock_options *options, uint64_t *token);
    rlock_status (*release)(rlock *lock);
    rlock_status (*force)(rlock *lock, bool *was_locked); /* was_locked may be NULL */
    rlock_status (*is_held)(rlock *lock, bool *held);
    /* The lock's PTTL (-2: not locked) and how often this owner holds it. */
    rlock_status (*state)(rlock *lock, int64_t *pttl_ms, int *count);
    int64_t (*valid_for)(rlock *lock);
    rlock_status (*get_token)(rlock *lock, uint64_t *token);
    rlock *(*for_owner)(rlock *lock, int64_t owner);
    const char *(*name)(const rlock *lock);
    void (*free)(rlock *lock);
} rli_operations;

/* What every handle begins with. */
struct rlock {
    const rli_operations *operations;
};

#endif
