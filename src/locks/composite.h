/* Composite: a lock made of other locks; what multi locks and red locks have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_COMPOSITE_H
#define RLI_COMPOSITE_H

#include "locks/handle.h"

#include <stddef.h>

#define RLI_MEMBERS_MAX 1024

/* How long to wait for the answer to a release that the program did not ask for, to an extension, and to an
 * acquire of a member that other members can replace, or whose wait holds up other owners. */
#define RLI_COMPOSITE_ANSWER_MS 250

typedef struct rli_composite {
    rlock base;
    size_t count;
    /* Handles of the composite's own: first in the given order, then the same handles sorted in the order
     * that every composite, in all processes, agrees on. */
    rlock *members[];
} rli_composite;

static inline rli_composite *rli_composite_of(const rlock *handle)
{
    return (rli_composite *)(void *)handle;
}

/* The members, sorted by server, database and name. */
rlock *const *rli_composite_sorted(const rli_composite *set);

/* Makes a composite of copies of `n` handles. `what`: "multi lock" or "red lock", for messages. NULL:
 * rlock_last_error() says why. */
rlock *rli_composite_make(const rli_methods *methods, const char *what, rlock *const *locks, size_t n);

/* Whether two locks are the same lock on the same server. */
bool rli_composite_same_identity(const rlock *a, const rlock *b);

/* Implement the methods of these names (handle.h). */
rlock *rli_composite_copy(rlock *handle);
rlock *rli_composite_for_owner(rlock *handle, int64_t owner);
rli_identity rli_composite_identity(const rlock *handle);
const char *rli_composite_name(const rlock *handle); /* always NULL */
void rli_composite_free(rlock *handle);

/* Acquires for the named owner of `options`, through a temporary handle that acts for that owner. */
rlock_status rli_composite_acquire_for(rlock *handle, const rlock_lock_options *options, int64_t answer_ms);

/* Extends a member that was acquired with lease_ms, if more than a tenth of the lease has passed. Reports no
 * failure: the member's valid_for shows the result. */
void rli_composite_extend_if_aged(rlock *member, int64_t lease_ms);

/* Releases a member. Waits for a silent server no longer than the client's `timeout` (not for all attempts),
 * because other members are still to be released. */
rlock_status rli_composite_release(rlock *member, int64_t answer_ms);

/* Sleeps a random time of at most most_ms between two attempts. False: the call must end. Then either the
 * deadline has passed and *status is unchanged; or the token, a fork, or the closing of the first client that
 * is still open ended the wait, and *status is RLOCK_CANCELLED, RLOCK_FORKED or RLOCK_CLOSED. */
bool rli_composite_pause(const rli_composite *set, rlock_cancel *cancel, int64_t most_ms, int64_t deadline_ms,
                         rlock_status *status);

/* Writes a member's name, for a message, to `shown`; returns `shown`. */
#define RLI_MEMBER_SHOWN 160
const char *rli_composite_format_member(const rlock *member, char shown[RLI_MEMBER_SHOWN]);

#endif
