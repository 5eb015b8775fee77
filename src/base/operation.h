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

/* A place in a list of operations that wait for somebody to be done; guarded as that list is. */
typedef struct rli_turn {
    struct rli_turn *next;
    rli_parker *parker;
} rli_turn;

void rli_turn_join(rli_turn **turns, rli_turn *own);
void rli_turn_leave(rli_turn **turns, rli_turn *own);
void rli_turn_wake_all(rli_turn *turns);

typedef struct rli_operation {
    rli_gate *gate;            /* kept */
    rlock_cancel *cancel;      /* NULL: cannot be cancelled */
    int64_t deadline_ms;       /* no request is waited for beyond it; RLI_NEVER: attempts bound it */
    int64_t attempts_until_ms; /* no attempt but the first is begun after it; RLI_NEVER: likewise */
    rli_parker parker;
    rli_cancel_watch watch;
    rli_turn turn; /* it waits at one place at a time */
    rli_sleeper sleeper;
    bool listed;      /* among the gate's sleepers */
    int cancel_state; /* of the thread, before the call */
} rli_operation;

/* Begins an operation behind `gate`. RLOCK_OK: end it with rli_operation_end. RLOCK_FORKED, RLOCK_CLOSED: nothing begun.
 * Keeps the thread from being cancelled in between: a cancelled leader would strand the others on its pipeline. */
rlock_status rli_operation_begin(rli_operation *op, rli_gate *gate, rlock_cancel *cancel);
void rli_operation_end(rli_operation *op);

/* Sleeps until unparked, cancelled, the gate's closing, or `until_ms`. Callers look again. */
void rli_operation_sleep(rli_operation *op, int64_t until_ms);

/* Until when another attempt may be begun. */
static inline int64_t rli_operation_attempts_until(const rli_operation *op)
{
    return rli_earlier(op->deadline_ms, op->attempts_until_ms);
}

/* RLOCK_OK, or RLOCK_CANCELLED or RLOCK_CLOSED with its message. */
rlock_status rli_operation_check(rli_operation *op);

#endif
