/* Kept red locks: those that are held under the watchdog, found by their members and their owner. The owner's calls and
 * its keeper share what is here. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RED_KEPT_H
#define RLI_RED_KEPT_H

#include "locks/composite.h"
#include "locks/levels.h"

/* One owner's red lock, by whatever handles. A part of its keeper. */
typedef struct rli_red_kept {
    rlock *lock;       /* one of the handles, referenced */
    rli_job job;       /* names the owner, whose life is counted */
    rli_operation *op; /* of the keeper, which calls wake */

    /* The mutex of the keepers guards the rest. */
    struct rli_red_kept *next; /* in its bucket */
    uint64_t number;           /* no other of these keepers has had it */
    unsigned wanted;           /* how often the owner has taken the lock since there is a keeper */
    unsigned calls;            /* how often it has begun to acquire or to release it since then */
    unsigned calling;          /* how many of these calls are under way */
    rli_levels own;            /* its holds of this lock since then; members may have others, by their names or through
                                * another lock */
    uint64_t *had;             /* of each member: which of the holds have it, as far as known; bit 0 is the innermost */
} rli_red_kept;

/* Says whom the job acts for, in any thread: nobody else than the handles name, or this one. False: out of memory. */
bool rli_red_name_owner(const rli_composite *set, const rli_job *job, rli_job *named);

/* Whether any lock whose keepers share a mutex with this one's is kept, as of a moment ago. Takes no mutex. */
bool rli_red_any_kept(const rli_composite *set);
/* Locks the mutex of the keepers of such a lock, until rli_red_unlock_kept. */
void rli_red_lock_kept(const rli_composite *set);
void rli_red_unlock_kept(const rli_composite *set);

/* With the mutex held: NULL: that owner's lock is not kept. */
rli_red_kept *rli_red_find_kept(const rli_composite *set, const rli_job *named);
void rli_red_add_kept(rli_red_kept *kept);
void rli_red_remove_kept(rli_red_kept *kept);

#endif
