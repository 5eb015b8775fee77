/* An operation: one public call under way, from its entry to its return. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/operation.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/parts.h"
#include "base/ready.h"

#include <pthread.h>
#include <stdlib.h>

void rli_turn_join(rli_turn **turns, rli_turn *own)
{
    if (own->joined)
        return;
    own->joined = true;
    own->next = *turns;
    *turns = own;
}

void rli_turn_leave(rli_turn **turns, rli_turn *own)
{
    if (!own->joined)
        return;
    own->joined = false;
    while (*turns != own)
        turns = &(*turns)->next;
    *turns = own->next;
}

void rli_turn_wake_all(rli_turn *turns)
{
    for (; turns; turns = turns->next)
        rli_unpark(turns->parker);
}

/* Does what all operations need; the parker is there. */
static void begin(rli_operation *op, rli_gate *gate, rlock_cancel *cancel, rli_parker *parker)
{
    rli_gate_ref(gate);
    op->gate = gate;
    op->cancel = op->registered = cancel;
    op->whole = NULL;
    op->outlives_whole = op->others_stand_in = false;
    op->connects = true;
    op->call_options = NULL;
    op->deadline_ms = op->attempts_until_ms = RLI_NEVER;
    op->parker = parker;
    op->frame = NULL;
    op->listed = false;
    op->turn = (rli_turn){.parker = parker};
    op->sleeper.parker = parker;
    rli_cancel_enter(cancel, &op->watch, parker);
}

static _Thread_local rli_preparation preparation;

rli_preparation rli_operation_prepare(rli_preparation next)
{
    rli_preparation before = preparation;
    preparation = next;
    return before;
}

rlock_status rli_operation_begin(rli_operation *op, rli_gate *gate, rlock_cancel *cancel)
{
    rlock_status status = rli_gate_check(gate);
    if (status != RLOCK_OK)
        return status;
    if (preparation.prepare)
        preparation.prepare(preparation.arg);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &op->cancel_state);
    rli_parker_init(&op->own);
    begin(op, gate, cancel, &op->own);
    return RLOCK_OK;
}

rlock_status rli_operation_begin_async(rli_operation *op, rli_gate *gate, rlock_cancel *cancel, rli_ready *ready)
{
    rlock_status status = rli_gate_check(gate);
    if (status != RLOCK_OK)
        return status;
    rli_parker_init_ready(&op->own, ready);
    begin(op, gate, cancel, &op->own);
    return RLOCK_OK;
}

rlock_status rli_operation_begin_part(rli_operation *op, rli_gate *gate, rlock_cancel *cancel, rli_operation *whole)
{
    if (!whole)
        return rli_operation_begin(op, gate, cancel);
    rlock_status status = rli_gate_check(gate);
    if (status != RLOCK_OK)
        return status;
    if (!rli_operation_is_async(whole))
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &op->cancel_state);
    begin(op, gate, cancel, whole->parker);
    op->whole = whole;
    return RLOCK_OK;
}

void rli_operation_begin_among(rli_operation *op, rli_gate *gate, rli_operation *whole, rli_parts *parts)
{
    rli_parker_init_part(&op->own, parts);
    begin(op, gate, NULL, &op->own);
    op->whole = whole;
}

void rli_operation_end(rli_operation *op)
{
    if (op->listed)
        rli_gate_unlist(op->gate, &op->sleeper);
    rli_cancel_exit(op->registered, &op->watch);
    if (!rli_operation_is_async(op))
        pthread_setcancelstate(op->cancel_state, NULL);
    rli_gate_unref(op->gate);
}

/* Has the gates of the operation, and of those that it is a part of, unpark it when they close. False: one is
 * closed. */
static bool list(rli_operation *op)
{
    bool open = true;
    for (; op; op = op->whole) {
        if (op->listed)
            continue;
        op->listed = true;
        open &= rli_gate_list(op->gate, &op->sleeper);
    }
    return open;
}

bool rli_operation_sleep(rli_operation *op, int64_t until_ms)
{
    rli_check(!rli_wakes_are_gathered());
    if (!list(op)) {
        op->parker->wake_ms = 0;
        return !rli_operation_is_async(op);
    }
    if (rli_operation_is_async(op)) {
        op->parker->wake_ms = until_ms;
        return false;
    }
    rli_park_among_many(op->parker, until_ms);
    return true;
}

bool rli_operation_sleep_polling(rli_operation *op, int fd, int64_t until_ms)
{
    rli_check(!rli_wakes_are_gathered());
    return list(op) && rli_park_polling(op->parker, op->gate->bell.fd, fd, until_ms);
}

void *rli_operation_frame(rli_operation *op, void *own, size_t size, bool *begins)
{
    *begins = !op->frame;
    if (!rli_operation_is_async(op))
        return own;
    if (!op->frame)
        op->frame = calloc(1, size);
    return op->frame;
}

void rli_operation_end_frame(rli_operation *op)
{
    free(op->frame);
    op->frame = NULL;
}

/* Connecting and queueing may take this long before the request is sent. Adding it makes the pipeline's own timeout
 * end before the operation's deadline, so the pipeline finds the connection silent for all requests on it. */
#define SEND_MS 100

void rli_operation_limit(rli_operation *op, int64_t end_ms, int64_t answer_ms)
{
    int64_t answered_ms = rli_after_ms(answer_ms);
    op->attempts_until_ms = end_ms > answered_ms ? end_ms : answered_ms;
    op->deadline_ms = end_ms > answered_ms ? end_ms : answered_ms + SEND_MS;
}

bool rli_operation_is_abandoned(const rli_operation *op)
{
    return rli_cancel_fired(op->cancel) ||
           (op->whole && !op->outlives_whole && rli_gate_check_open(op->whole->gate) != RLOCK_OK);
}

rlock_status rli_operation_check(rli_operation *op)
{
    rlock_status status = rli_gate_check_open(op->gate);
    if (status == RLOCK_OK && op->whole && !op->outlives_whole)
        status = rli_gate_check_open(op->whole->gate);
    if (status == RLOCK_OK && rli_cancel_fired(op->cancel))
        status = rli_fail(RLOCK_CANCELLED, "the wait was cancelled by its token");
    return status;
}
