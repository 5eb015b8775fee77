/* Composite: a lock made of others; what multi and red locks have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_COMPOSITE_H
#define RLI_COMPOSITE_H

#include "locks/handle.h"

#include <stddef.h>

#define RLI_MEMBERS_MAX 1024

/* How long the answers are waited for of releases that nobody asked for, of extensions, and of members that others may
 * stand in for or be waiting for. */
#define RLI_COMPOSITE_ANSWER_MS 250

typedef struct rli_composite {
    rlock base;
    size_t count;
    /* Handles of its own, in the order given; then the same ones in an order that every composite of
     * this and other processes has them in. */
    rlock *members[];
} rli_composite;

static inline rli_composite *rli_composite_of(const rlock *handle)
{
    return (rli_composite *)(void *)handle;
}

/* The members in the order that depends on their servers and names alone. */
rlock *const *rli_composite_settled(const rli_composite *set);

/* A handle on `n` locks, copied; NULL: rlock_last_error(). `what`: "multi lock"… */
rlock *rli_composite_make(const rli_methods *methods, const char *what, rlock *const *locks, size_t n);

/* Whether two locks are one on their server. */
bool rli_composite_same_place(const rlock *a, const rlock *b);

/* As the operation of that name. */
rlock *rli_composite_copy(rlock *handle);
rlock *rli_composite_for_owner(rlock *handle, int64_t owner);
rli_place rli_composite_place(const rlock *handle);
const char *rli_composite_name(const rlock *handle); /* NULL */
void rli_composite_free(rlock *handle);

/* Acquires for the options' named owner, through a handle that is the owner's. */
rlock_status rli_composite_acquire_for(rlock *handle, const rlock_lock_options *options, int64_t answer_ms);

/* Lengthens a member that was taken with lease_ms but has lost more than a tenth of it meanwhile. What
 * comes of that shows in how long it is valid. */
void rli_composite_refresh(rlock *member, int64_t lease_ms);

/* Releases a member. A silent server is waited for by the client's `timeout` at most, not by all its
 * attempts: the other members are still to be released. */
rlock_status rli_composite_release(rlock *member, int64_t answer_ms);

/* Rests between two attempts, for most_ms at most, by chance. False: the call is over: the time was up, then *status
 * stays as it is; or the token ended it, or the closing of the first client that is open: RLOCK_CANCELLED,
 * RLOCK_CLOSED, RLOCK_FORKED. */
bool rli_composite_pause(const rli_composite *set, rlock_cancel *cancel, int64_t most_ms, int64_t deadline_ms,
                         rlock_status *status);

/* A member's name for a message. */
#define RLI_MEMBER_SHOWN 160
const char *rli_composite_show(const rlock *member, char shown[RLI_MEMBER_SHOWN]);

#endif
