/* Ready list: operations without a thread that were woken, for the thread that goes on with them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_READY_H
#define RLI_READY_H

#include "base/park.h"

#include <rlock/status.h>

typedef struct rli_ready {
    rli_parker *_Atomic last; /* the parker that was added last; it leads to the one before */
    int fd;                   /* an eventfd, readable when there is something to do */
    /* The descriptor is readable, or a thread is at it: it need not be made readable. */
    atomic_bool told;
    /* How many writes to the descriptor have not been read. Only for the thread between rli_ready_begin and
     * rli_ready_end. */
    uint64_t unread;
} rli_ready;

/* RLOCK_OK; RLOCK_NO_MEMORY: no descriptor is left. */
rlock_status rli_ready_init(rli_ready *ready);
void rli_ready_destroy(rli_ready *ready);

/* Adds a parker that was woken. Any thread, with any mutex held. */
void rli_ready_add(rli_ready *ready, rli_parker *parker);
/* Takes all parkers from the list, and returns the one that was added first, which leads to the next; NULL: none. The
 * caller must rli_parker_resume each, and carry its operation out. Any thread. */
rli_parker *rli_ready_take(rli_ready *ready);

/* Makes the descriptor readable. */
void rli_ready_tell(rli_ready *ready);
/* The calling thread does what there is to do, until rli_ready_end. The descriptor is unreadable meanwhile. */
void rli_ready_begin(rli_ready *ready);
/* Makes the descriptor readable if something was added that nobody has taken. */
void rli_ready_end(rli_ready *ready);

#endif
