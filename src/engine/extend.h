/* Extend: lengthens what an owner holds already. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_EXTEND_H
#define RLI_EXTEND_H

#include "engine/engine.h"
#include "engine/kind.h"
#include "engine/owner.h"
#include "redis/call.h"

typedef struct rli_extend {
    rli_engine *engine;
    const rli_kind *kind;
    const rli_names *names;
    rli_owner owner;
    int64_t lease_ms;
    int64_t answer_ms; /* how long to wait for the answer at most */
    bool sharded;      /* where nothing is held, tells of a lost hold that a sharded lock had taken, and of no other */
} rli_extend;

/* One extension under way. */
typedef struct rli_extending {
    const rli_extend *asked;
    rli_operation *op;
    rli_session *session; /* NULL: not known yet */
    bool sent;            /* the request is under way, in the session's turn */
    char owner[RLI_OWNER_TEXT];
    rli_call call;
} rli_extending;

/* Fails with RLOCK_LOST: the owner has lost the lock before, and unlocks have yet to answer for it. */
rlock_status rli_extend_was_lost(const rli_names *names);
/* Extends the owner's hold, with all its levels, to at least lease_ms from now; shortens nothing.
 * RLOCK_OK; RLOCK_NOT_OWNER; RLOCK_LOST: the hold had expired or was forced open, and counts as lost from now on; or it
 * was lost before, and unlocks have yet to answer for it.
 * RLOCK_UNAVAILABLE, RLOCK_TIMEOUT, RLOCK_SERVER: the hold lasts as long as before, or longer.
 * RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY. For an operation with or without a thread; takes the engine's mutex
 * itself. `asked` must live until its end. rli_extend_go_on: RLI_WAITING, or the status with which it has ended. */
void rli_extend_begin(rli_extending *extending, const rli_extend *asked, rli_operation *op);
rlock_status rli_extend_go_on(rli_extending *extending);

#endif
