/* Raise: raises the token counter of a fenced lock that its owner holds, as a member of a red lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RAISE_H
#define RLI_RAISE_H

#include "engine/engine.h"
#include "engine/kind.h"
#include "engine/owner.h"
#include "redis/call.h"

typedef struct rli_raise {
    rli_engine *engine;
    const rli_kind *kind;
    const rli_names *names;
    rli_owner owner;
    uint64_t token;
    int64_t answer_ms; /* how long to wait for the answer at most */
} rli_raise;

/* One such request under way. */
typedef struct rli_raising {
    const rli_raise *asked;
    rli_operation *op;
    rli_session *session; /* NULL: not known yet */
    bool sent;            /* the request is under way, in the session's turn */
    char owner[RLI_OWNER_TEXT], token[sizeof "18446744073709551615"];
    rli_call call;
} rli_raising;

/* Raises the counter to at least that token, which is the hold's from then on.
 * RLOCK_OK; RLOCK_NOT_OWNER; RLOCK_LOST: the hold is gone on the server, and counts as lost from now on.
 * RLOCK_UNAVAILABLE,
 * RLOCK_TIMEOUT, RLOCK_SERVER, RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY: the counter may have been raised. For an
 * operation with or without a thread; takes the engine's mutex itself. `asked` must live until its end.
 * rli_raise_go_on: RLI_WAITING, or the status with which it has ended. */
void rli_raise_begin(rli_raising *raising, const rli_raise *asked, rli_operation *op);
rlock_status rli_raise_go_on(rli_raising *raising);

#endif
