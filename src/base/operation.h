/* An operation: one public call under way, from its entry to its return. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OPERATION_H
#define RLI_OPERATION_H

#include "base/cancel.h"
#include "base/clock.h"
#include "base/gate.h"
#include "base/park.h"

#include <rlock/status.h>
#include <stdbool.h>
#include <stdint.h>

/* An operation's entry in a list of operations that wait for another one to finish. The mutex of that list guards
 * it. */
typedef struct rli_turn {
    struct rli_turn *next;
    rli_parker *parker;
} rli_turn;

/* Add an entry to the list, remove it, and unpark all that are in it. Hold the list's mutex. */
void rli_turn_join(rli_turn **turns, rli_turn *own);
void rli_turn_leave(rli_turn **turns, rli_turn *own);
void rli_turn_wake_all(rli_turn *turns);

typedef struct rli_operation {
    rli_gate *gate;       /* the operation holds a reference */
    rlock_cancel *cancel; /* NULL: cannot be cancelled */
    /* End of waiting for any request, unless RLI_NEVER: then only the number of attempts limits it. */
    int64_t deadline_ms;
    int64_t attempts_until_ms; /* After this instant no attempt begins but the first. RLI_NEVER: likewise. */
    rli_parker parker;
    rli_cancel_watch watch;
    rli_turn turn; /* one is enough: an operation waits in one list at a time */
    rli_sleeper sleeper;
    bool listed;      /* whether `sleeper` is registered with the gate */
    int cancel_state; /* the thread's cancel state before the operation */
} rli_operation;

/* Begins an operation and takes a reference to `gate`. On RLOCK_OK, end it with rli_operation_end on the same thread;
 * on RLOCK_FORKED or RLOCK_CLOSED nothing has begun.
 *
 * Disables cancellation of the thread meanwhile: a cancelled leader would leave the others on its pipeline without
 * one. */
rlock_status rli_operation_begin(rli_operation *op, rli_gate *gate, rlock_cancel *cancel);
void rli_operation_end(rli_operation *op);

/* Sleeps until unparked, cancelled, the gate closes, or `until_ms`. It may also return early: check the condition
 * again. */
void rli_operation_sleep(rli_operation *op, int64_t until_ms);

/* The instant after which no further attempt may begin. */
static inline int64_t rli_operation_attempts_until(const rli_operation *op)
{
    return rli_earlier(op->deadline_ms, op->attempts_until_ms);
}

/* RLOCK_OK, or RLOCK_CANCELLED or RLOCK_CLOSED with the error message set. */
rlock_status rli_operation_check(rli_operation *op);

#endif
