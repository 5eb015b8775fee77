/* Composite: a lock made of other locks; what multi locks and red locks have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_COMPOSITE_H
#define RLI_COMPOSITE_H

#include "locks/handle.h"

#include <stdatomic.h>
#include <stddef.h>

/* How many members a composite may have: a multi lock, and one that decides by their number. */
#define RLI_MULTI_MEMBERS_MAX 1000000
#define RLI_MEMBERS_MAX       1024

/* How long to wait for the answer
 * - to a release that the program did not ask for,
 * - to an extension,
 * - to an acquire of a member that other members can replace, or whose wait holds up other owners. */
#define RLI_COMPOSITE_ANSWER_MS 250

/* The jobs that composites know. */
#define RLI_COMPOSITE_JOBS                                                                                             \
    (RLI_JOB_BIT(RLI_JOB_ACQUIRE) | RLI_JOB_BIT(RLI_JOB_RELEASE) | RLI_JOB_BIT(RLI_JOB_EXTEND) |                       \
     RLI_JOB_BIT(RLI_JOB_IS_HELD))

typedef struct rli_composite {
    rlock base;
    atomic_int references;   /* the program's, and one for each async call under way */
    int least_valid_percent; /* of a red lock: an acquisition with less of its lease left is refused */
    bool singles;            /* no member is a composite */
    bool one_client;         /* all members are of one */
    /* Of a multi lock: for so many more acquires it is assumed that another owner has the first member. Only a hint. */
    atomic_int contended;
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

/* Makes a composite of copies of `n` handles, of which there may be `most`. `what`: "multi lock" or "red lock", for
 * messages. NULL: rlock_last_error() says why. */
rlock *rli_composite_make(const rli_methods *methods, const char *what, rlock *const *locks, size_t n, size_t most);

static inline rlock_client *rli_composite_client_of(const rlock *member)
{
    return member->methods->place(member).client;
}

/* Whether two locks are the same lock on the same server. */
bool rli_composite_same_identity(const rlock *a, const rlock *b);

/* Implement the methods of these names (handle.h). */
rlock *rli_composite_copy(rlock *handle);
rlock *rli_composite_for_owner(rlock *handle, int64_t owner);
/* Of each member. */
rlock_status rli_composite_set_call_options(rlock *handle, const rlock_call_options *options, bool sets);
rli_identity rli_composite_identity(const rlock *handle);
const char *rli_composite_name(const rlock *handle); /* always NULL */
void rli_composite_ref(rlock *handle);
void rli_composite_free(rlock *handle);
/* Each member must name an owner. */
rlock_status rli_composite_check_owner(const rlock *handle);
/* The client of the first member, or of the first whose client is open. */
rlock_client *rli_composite_home(const rlock *handle);

/* These methods, which all composites share, in a table of methods. */
#define RLI_COMPOSITE_METHODS                                                                                          \
    .check_owner = rli_composite_check_owner, .home = rli_composite_home, .copy = rli_composite_copy,                  \
    .for_owner = rli_composite_for_owner, .set_call_options = rli_composite_set_call_options,                          \
    .place = rli_composite_identity, .name = rli_composite_name, .ref = rli_composite_ref, .free = rli_composite_free

/* Writes a member's name, for a message, to `shown`; returns `shown`. */
#define RLI_MEMBER_SHOWN 160
const char *rli_composite_format_member(const rlock *member, char shown[RLI_MEMBER_SHOWN]);

#endif
