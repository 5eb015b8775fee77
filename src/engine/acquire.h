/* Acquire: takes one more hold for an owner, at once or after a wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ACQUIRE_H
#define RLI_ACQUIRE_H

#include "engine/engine.h"
#include "engine/kind.h"
#include "engine/owner.h"

#include <rlock/cancel.h>
#include <rlock/lock.h>

typedef struct rli_acquire {
    rli_engine *engine;
    const rli_kind *kind;
    const rli_names *names;
    rli_owner owner;
    int64_t wait_ms; /* RLOCK_FOREVER; 0 or less: ask once */
    bool asks_once;  /* the wait is for its session's turn and for the answer, and not for who holds the lock */
    /* How long to wait for an answer at least, even if the wait ends earlier: the shorter of this and the configured
     * timeout. RLI_NEVER: the configured timeout. */
    int64_t answer_ms;
    int64_t lease_ms;   /* RLOCK_WATCHDOG, or a lease in the valid range */
    bool non_reentrant; /* RLOCK_ALREADY_HELD if the owner holds the lock already, whatever the kind allows */
    /* Kinds that poll (rli_kind_polls): the pauses between two requests. */
    const rlock_back_off *back_off;
    /* Receives the fencing token of a fenced lock on RLOCK_OK; NULL: not wanted. */
    uint64_t *token;
    /* Receives the number of the session that was granted the hold; NULL: not wanted. */
    uint64_t *took;
    rlock_cancel *cancel;
} rli_acquire;

/* Acquires as rlock_lock_with does, with the same statuses, for an operation with or without a thread. Takes the
 * engine's mutex itself. rli_acquire_begin: RLOCK_OK, or the status with which the operation ends. `asked` must live
 * until its end. rli_acquire_go_on: RLI_WAITING, or the status with which it has ended. */
struct rli_attempt;
rlock_status rli_acquire_begin(struct rli_attempt *attempt, const rli_acquire *asked, rli_operation *op);
rlock_status rli_acquire_go_on(struct rli_attempt *attempt);

#endif
