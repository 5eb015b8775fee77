/* A handle on a lock: what the RLock interface can ask of any lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HANDLE_H
#define RLI_HANDLE_H

#include <rlock/lock.h>
#include <stddef.h>

/* Where a lock stands: locks of the same server, database and name are one. */
typedef struct rli_place {
    rlock_client *client; /* not kept */
    const char *name;     /* with the client's prefix; the handle's */
    size_t length;
    bool several; /* the lock is made of others: this is the first one's */
} rli_place;

/* Arguments are checked: no place for an answer is NULL, a lease is in its range. A NULL operation
 * is one that this lock does not have: RLOCK_UNSUPPORTED. */
typedef struct rli_methods {
    rlock_status (*check)(const rlock *lock); /* RLOCK_OK, RLOCK_CLOSED, RLOCK_FORKED; touches no mutex */
    /* Waits answer_ms at least for the answer to a question, however soon the wait ends; RLI_NEVER: the configured timeout.
     * `token` may be NULL; only a lock with get_token is asked for one. */
    rlock_status (*acquire)(rlock *lock, const rlock_lock_options *options, int64_t answer_ms, uint64_t *token);
    /* Waits answer_ms at most for the answer, RLI_NEVER: the configured attempts. What is not heard of
     * is given back all the same, and released again in the background. */
    rlock_status (*release)(rlock *lock, int64_t answer_ms);
    /* As a member of a red lock: the red lock took one hold more without this one, which the owner holds already; and
     * whether the innermost hold is such a one, which then is over. */
    void (*miss)(rlock *lock);
    bool (*drop_missed)(rlock *lock);
    rlock_status (*force)(rlock *lock, bool *was_locked); /* was_locked may be NULL */
    rlock_status (*is_held)(rlock *lock, bool *held);
    /* The lock's PTTL (-2: not locked) and how often this owner holds it. */
    rlock_status (*state)(rlock *lock, int64_t *pttl_ms, int *count);
    int64_t (*valid_for)(rlock *lock);
    rlock_status (*get_token)(rlock *lock, uint64_t *token);
    /* The owner's hold stands for lease_ms from now at least; lowers nothing. Waits answer_ms at most.
     * RLOCK_OK; RLOCK_NOT_OWNER; RLOCK_LOST: not held any more; others: held as before, or longer. */
    rlock_status (*extend)(rlock *lock, int64_t lease_ms, int64_t answer_ms);
    rlock *(*copy)(rlock *lock); /* another handle on the same lock, for the same owner */
    rlock *(*for_owner)(rlock *lock, int64_t owner);
    rli_place (*place)(const rlock *lock);
    const char *(*name)(const rlock *lock);
    void (*free)(rlock *lock);
} rli_methods;

/* What every handle begins with. */
struct rlock {
    const rli_methods *methods;
};

#endif
