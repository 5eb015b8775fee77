/* An operation: one public call under way, from its entry to its return. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/operation.h"

#include "base/error.h"

#include <pthread.h>

void rli_turn_join(rli_turn **turns, rli_turn *own)
{
    own->next = *turns;
    *turns = own;
}

void rli_turn_leave(rli_turn **turns, rli_turn *own)
{
    while (*turns != own)
        turns = &(*turns)->next;
    *turns = own->next;
}

void rli_turn_wake_all(rli_turn *turns)
{
    for (; turns; turns = turns->next)
        rli_unpark(turns->parker);
}

rlock_status rli_operation_begin(rli_operation *op, rli_gate *gate, rlock_cancel *cancel)
{
    rlock_status status = rli_gate_check(gate);
    if (status != RLOCK_OK)
        return status;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &op->cancel_state);
    rli_gate_ref(gate);
    op->gate = gate;
    op->cancel = cancel;
    op->deadline_ms = op->attempts_until_ms = RLI_NEVER;
    op->listed = false;
    rli_parker_init(&op->parker);
    op->turn.parker = op->sleeper.parker = &op->parker;
    rli_cancel_enter(cancel, &op->watch, &op->parker);
    return RLOCK_OK;
}

void rli_operation_end(rli_operation *op)
{
    if (op->listed)
        rli_gate_unlist(op->gate, &op->sleeper);
    rli_cancel_exit(op->cancel, &op->watch);
    pthread_setcancelstate(op->cancel_state, NULL);
    rli_gate_unref(op->gate);
}

void rli_operation_sleep(rli_operation *op, int64_t until_ms)
{
    if (!op->listed) {
        op->listed = true;
        if (!rli_gate_list(op->gate, &op->sleeper))
            return;
    }
    rli_park_among_many(&op->parker, until_ms);
}

rlock_status rli_operation_check(rli_operation *op)
{
    rlock_status status = rli_gate_check_open(op->gate);
    if (status == RLOCK_OK && rli_cancel_fired(op->cancel))
        status = rli_fail(RLOCK_CANCELLED, "the wait was cancelled by its token");
    return status;
}
