/* Give up: ends a wait that failed, without leaving anything behind. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/give_up.h"

#include "base/checked.h"
#include "base/clock.h"
#include "engine/ask.h"
#include "engine/session.h"

/* How long a waiter that gives up waits for the server to answer, if it is connected. The rest is done in the
 * background. */
#define GIVE_UP_MS 250

/* The state of a request to leave the server's queue. */
typedef struct leave_frame {
    rli_ask_owners texts;
    rli_request request;
    rli_call call;
} leave_frame;

/* Sends the request to leave the server's queue. Mutex held on entry and return, not meanwhile. *left is false when the
 * request was not answered and may run late, or was refused, perhaps only for now: the place is still there.
 * RLI_WAITING: call it again. */
static rlock_status leave_queue(rli_attempt *attempt, bool *left)
{
    rli_engine *engine = attempt->engine;
    bool begins;
    leave_frame own, *leaving = rli_operation_frame(attempt->op, &own, sizeof own, &begins);
    *left = false;
    if (!leaving) /* the place is left in the background */
        return RLOCK_OK;
    if (begins) {
        leaving->request = rli_ask_request(attempt, &leaving->texts, 0);
        leaving->request.returns_offer = attempt->session->count == 0;
    }
    rli_engine_unlock(engine);
    if (begins) {
        attempt->asked->kind->give_up(&leaving->call, &leaving->request);
        leaving->call.attempts = 1;
    }
    rlock_status status = rli_call_run(&leaving->call, engine->topology, attempt->op, &attempt->entry->route);
    rli_engine_lock(engine);
    if (status == RLI_WAITING)
        return status;
    const char *unheard = NULL;
    if (status == RLOCK_OK)
        attempt->asked->kind->parse_release(leaving->call.reply, &unheard);
    if (unheard)
        rli_session_note_unheard_head(attempt->session, attempt->asked->kind, unheard);
    rli_call_clear(&leaving->call);
    rli_operation_end_frame(attempt->op);
    *left = status == RLOCK_OK;
    return RLOCK_OK;
}

/* Returns whether the session may have a place on the server that a waiter of this kind leaves: in the queue, or in the
 * registry of waiters. */
static bool has_place(const rli_session *session, const rli_kind *kind)
{
    if (rli_kind_queues_on_server(kind))
        return session->queued;
    return kind->registers && session->registered && session->count == 0;
}

static const bool legal[RLI_GIVING_UP_STAGES][RLI_GIVING_UP_STAGES] = {
    [RLI_GIVES_UP_NOT] = {[RLI_GIVES_UP_AFTER_TURN] = true},
    [RLI_GIVES_UP_AFTER_TURN] = {[RLI_GIVES_UP_PLACE] = true},
};

static void become(rli_attempt *attempt, rli_giving_up_stage stage)
{
    rli_check(legal[attempt->gives_up][stage]);
    attempt->gives_up = stage;
}

/* Gives up in the session's turn, which is kept meanwhile: another thread of this owner that comes now queues after
 * this request, not before it. If the request may run late, that thread must not wait in this session, because the
 * request would take its place away. If the owner holds the lock, as of another kind, the session goes on, and the
 * place is left when it ends. Mutex held. RLI_WAITING: call it again. */
static rlock_status give_up_in_turn(rli_attempt *attempt)
{
    rli_session *session = attempt->session;
    const rli_kind *kind = attempt->asked->kind;
    bool left = true;
    if (attempt->gives_up != RLI_GIVES_UP_PLACE && !attempt->waiter.handed && has_place(session, kind))
        become(attempt, RLI_GIVES_UP_PLACE);
    if (attempt->gives_up == RLI_GIVES_UP_PLACE && leave_queue(attempt, &left) == RLI_WAITING)
        return RLI_WAITING;
    if (attempt->waiter.handed)
        attempt->status = RLOCK_OK;
    else if (left && rli_kind_queues_on_server(kind))
        session->queued = false;
    else if (left && attempt->gives_up == RLI_GIVES_UP_PLACE)
        session->registered = false;
    else if (!left && session->phase == RLI_OPEN && session->count == 0)
        rli_session_become(session, RLI_DONE);
    rli_session_end_turn(session);
    return RLOCK_OK;
}

/* Returns whether there is anything to wait for. From here on, the operation is limited by GIVE_UP_MS alone. Mutex
 * held. */
static bool begin_giving_up(rli_attempt *attempt)
{
    const rli_session *session = attempt->session;
    rli_operation *op = attempt->op;
    op->cancel = NULL;
    op->outlives_whole = true;
    op->connects = false; /* a short attempt to connect would only keep others from a longer one */
    op->deadline_ms = rli_after_ms(GIVE_UP_MS);
    op->attempts_until_ms = RLI_NEVER;
    become(attempt, RLI_GIVES_UP_AFTER_TURN);
    /* If this kind has no queue on the server, the place belongs to another kind: the compensating release leaves
     * that queue. */
    const rli_kind *kind = attempt->asked->kind;
    bool leaves = session->cold->attempts == 1 && has_place(session, kind);
    bool waits_for_release = !session->queued && session->cold->taker == &attempt->waiter;
    return leaves || waits_for_release;
}

rlock_status rli_give_up(rli_attempt *attempt, rlock_status why)
{
    rli_engine *engine = attempt->engine;
    rlock_status status = RLOCK_TIMEOUT;
    if (attempt->gives_up == RLI_GIVES_UP_NOT) {
        rli_attempt_keep_status(attempt, why);
        if (rli_gate_check(attempt->op->gate) != RLOCK_OK)
            return rli_attempt_tell_status(attempt);
    }
    rli_engine_lock(engine);
    if (attempt->gives_up != RLI_GIVES_UP_NOT || begin_giving_up(attempt))
        status = attempt->gives_up == RLI_GIVES_UP_PLACE
                     ? RLOCK_OK
                     : rli_session_begin_turn(engine, attempt->session, attempt->op, attempt->op->deadline_ms);
    if (status == RLOCK_OK)
        status = give_up_in_turn(attempt);
    rli_engine_unlock(engine);
    return status == RLI_WAITING ? status : rli_attempt_tell_status(attempt);
}
