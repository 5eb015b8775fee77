/* Ask: one acquire request to the server, and what its answer means. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ask.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/back_off.h"
#include "engine/handoff.h"
#include "engine/local_handoff.h"
#include "engine/session.h"
#include "engine/synced.h"
#include "net/reply.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pauses between two requests while the lock is free and another waiter is next. */
static const rlock_back_off until_taken = {sizeof until_taken, 5, 1000, 2};

/* How long a waiter that gives up waits for the server to answer. The rest is done in the background. */
#define GIVE_UP_MS 250

/* Continues the wait in another session, because the attempt's session has ended. */
static rlock_status rejoin(rli_attempt *attempt)
{
    rli_session *session = rli_session_join(attempt->engine, attempt->entry, attempt->asked->kind,
                                            &attempt->asked->owner);
    if (!session)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a hold");
    rli_session_drop_attempt(attempt->engine, attempt->session);
    attempt->session = session;
    attempt->waiter.session = session;
    return RLOCK_OK;
}

/* Takes the turn of a session that is open at that moment, joining another session if need be. On RLOCK_OK the
 * caller has the turn, unless attempt->moved is set: then the new session listens on another channel. The turn may
 * also be in a session in which the wait was handed the lock meanwhile. Mutex held. */
static rlock_status begin_turn(rli_attempt *attempt)
{
    for (;;) {
        rli_session *session = attempt->session;
        rlock_status status = rli_session_begin_turn(attempt->engine, session, &attempt->op, attempt->wait.deadline_ms);
        if (status != RLOCK_OK || attempt->waiter.handed)
            return status;
        /* rli_session_find_open also checks the deadline. */
        if (rli_session_find_open(attempt->engine, attempt->entry, attempt->asked->kind, &attempt->asked->owner) ==
            session)
            return RLOCK_OK;
        rli_session_end_turn(session);
        status = rejoin(attempt);
        attempt->moved = attempt->asked->kind->queues && attempt->wait.channel;
        if (status != RLOCK_OK || attempt->moved)
            return status;
    }
}

static rlock_status outer_lost(rli_attempt *attempt)
{
    char shown[RLI_NAME_SHOWN];
    rli_session *session = attempt->session;
    if (session->phase == RLI_OPEN && session->count > 0)
        rli_session_declare_lost(attempt->engine, session, RLOCK_LOST_GONE, true);
    return rli_fail(RLOCK_LOST,
                    "lock \"%s\" was held by this owner, but the hold has run out or was forced open; "
                    "unlock it as often as it was locked, then lock anew",
                    rli_show_name(attempt->asked->names->name, shown));
}

/* Returns whether the lease has ended before its answer was read. The lease counts from before the first attempt. */
static bool granted_in_vain(const rli_attempt *attempt, const rli_grant_info *gain)
{
    /* A lease shorter than any round trip would end too early each time. Such a lease is granted as requested,
     * though it is over at once. */
    bool worth_another = gain->repeated || gain->lease_ms > attempt->engine->settings->timeout_ms;
    return worth_another && rli_now_ms() >= rli_valid_until(gain->sent_ms, gain->lease_ms);
}

/* A read hold was granted. Under the owner's write hold, it also extended that hold's key. Beside other readers,
 * the write hold that we know of must be gone. */
static void note_writer(rli_attempt *attempt, const rli_grant_info *gain)
{
    const rli_acquire *asked = attempt->asked;
    rli_session *writer = asked->kind->shared ? rli_session_find_writer(attempt->engine, attempt->entry, &asked->owner)
                                              : NULL;
    if (writer && gain->verdict->beneath)
        rli_session_extend_deadline(writer, gain->sent_ms, rli_lease_on_server(attempt->engine, asked->lease_ms));
    else if (writer && !writer->busy)
        rli_session_declare_lost(attempt->engine, writer, RLOCK_LOST_GONE, true);
}

rlock_status rli_attempt_granted(rli_attempt *attempt, const rli_grant_info *gain)
{
    const rli_acquire_result *verdict = gain->verdict;
    rli_session *session = attempt->session;
    if (session->phase != RLI_OPEN) { /* declared lost while the request was under way */
        rli_session_in_doubt_if_held(attempt->engine, session, gain->lease_ms);
        return outer_lost(attempt);
    }
    if (session->count == 0 && granted_in_vain(attempt, gain)) {
        rli_session_in_doubt(attempt->engine, session, gain->lease_ms);
        return rli_fail(RLOCK_TIMEOUT, "the lease of %lld ms had ended before the server's answer came",
                        (long long)gain->lease_ms);
    }
    /* The outer holds have ended meanwhile, so the new one is worth nothing either. */
    if (session->count > 0 && rli_now_ms() >= session->deadline_ms) {
        rli_session_in_doubt_if_held(attempt->engine, session, gain->lease_ms);
        rli_session_declare_lost(attempt->engine, session, RLOCK_LOST_EXPIRED, true);
        return outer_lost(attempt);
    }
    rli_session_add_hold(attempt->engine, session, gain->sent_ms, attempt->asked->lease_ms);
    /* A grant of another kind leaves the owner's place where it is, and so does a re-entry under one. */
    if (attempt->asked->kind->queues && session->count == 1)
        session->queued = false;
    /* An offered hold must have ended on the server, or there would have been no grant. */
    rli_local_handoff_withdraw(attempt->engine, attempt->entry);
    if (verdict->pttl_ms > 0)
        rli_session_extend_deadline(session, gain->sent_ms, verdict->pttl_ms);
    note_writer(attempt, gain);
    session->cold->replaces = 0;
    /* Other kinds share the field, but have no token. */
    if (attempt->asked->kind->fenced)
        session->cold->token = verdict->token;
    if (attempt->asked->token)
        *attempt->asked->token = verdict->token;
    if (attempt->entry->queues && attempt->asked->kind->parse_handoff && !attempt->asked->kind->queues &&
        session->count == 1)
        rli_yield_note_holder(&attempt->entry->queues->yield, session, gain->handed);
    /* Otherwise no other waiter shares the session, and the queue may be long. */
    if (session->cold->attempts > 1)
        rli_queue_owner_granted(attempt->entry, session);
    return RLOCK_OK;
}

/* Notes the unheard head of the server's queue, which may be dead; NULL: the head is not unheard. The same head keeps
 * the time at which it was first noted, until it is notified again RLI_UNHEARD_MS later. */
static void suspect(rli_attempt *attempt, const char *unheard)
{
    bool same = unheard && attempt->unheard && strcmp(unheard, attempt->unheard) == 0;
    if (same && rli_now_ms() < attempt->unheard_ms + RLI_UNHEARD_MS)
        return;
    free(attempt->unheard);
    attempt->unheard = unheard ? strdup(unheard) : NULL; /* out of memory: a later answer finds it again */
    attempt->unheard_ms = rli_now_ms();
}

/* Returns when to ask again after a denial if no message comes. */
static int64_t ask_again_ms(rli_attempt *attempt, const rli_acquire_result *verdict)
{
    bool soon = attempt->asked->kind->spins || verdict->free;
    int denied = attempt->denied;
    attempt->denied = soon && denied < INT_MAX ? denied + 1 : 0;
    if (attempt->asked->kind->spins)
        return rli_after_ms(rli_back_off_ms(attempt->asked->back_off, denied));
    /* The next waiter was notified just now. Once it holds the lock, the PTTL says how long to sleep. */
    if (verdict->free) {
        int64_t pause_ms = rli_back_off_ms(&until_taken, denied);
        return rli_after_ms(pause_ms < verdict->pttl_ms ? pause_ms : verdict->pttl_ms);
    }
    return verdict->pttl_ms < 0 ? RLI_NEVER : rli_after_ms(verdict->pttl_ms > 0 ? verdict->pttl_ms : 1);
}

const char *rli_denial_reason(const rli_kind *kind)
{
    if (kind->queues)
        return "held by another owner, or others wait for it before this one";
    return kind->writes ? "held by another owner, or by this one for reading" : "held by another owner";
}

static rlock_status denied(const rli_acquire *asked)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_TIMEOUT, "lock \"%s\" is %s", rli_show_name(asked->names->name, shown),
                    rli_denial_reason(asked->kind));
}

/* Returns whether the request was sent only because another waiter was refused. That is not certain if the answer
 * came when the attempt would have asked anyway, or if the request was repeated: then it may have run after a
 * request of the other waiter. */
static bool is_prompted(const rli_attempt *attempt, const rli_call *call)
{
    return call->unanswered == 0 && rli_now_ms() < attempt->prompted_until_ms;
}

static rlock_status read_answer(rli_attempt *attempt, const rli_call *call, int64_t lease_ms, int64_t *again_ms)
{
    rli_acquire_result verdict = attempt->asked->kind->parse_acquire(call->reply);
    const rli_grant_info gain = {
        .verdict = &verdict, .lease_ms = lease_ms, .sent_ms = call->sent_ms, .repeated = call->unanswered > 0};
    switch (verdict.grant) {
    case RLI_GRANTED:
        *again_ms = rli_now_ms();
        return rli_attempt_granted(attempt, &gain);
    case RLI_DENIED:
        suspect(attempt, verdict.unheard);
        *again_ms = ask_again_ms(attempt, &verdict);
        if (attempt->entry->in_doubt && !is_prompted(attempt, call))
            rli_queue_let_doubtful_ask(attempt->entry, attempt->session);
        return denied(attempt->asked);
    case RLI_OUTER_LOST:
        return outer_lost(attempt);
    case RLI_GRANT_MALFORMED:
        break;
    }
    return rli_reply_unexpected(call->reply, attempt->asked->names->name);
}

static rlock_status already_held(const rli_acquire *asked)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_ALREADY_HELD, "lock \"%s\" is non-reentrant and is already held by %s %lld",
                    rli_show_name(asked->names->name, shown), asked->owner.named ? "owner" : "thread",
                    (long long)asked->owner.number);
}

/* Returns why the owner may not ask for one more hold, or RLOCK_OK. Mutex held, in the session's turn. */
static rlock_status may_take(const rli_attempt *attempt)
{
    rli_session *session = attempt->session;
    if (attempt->asked->kind->once && session->count > 0)
        return already_held(attempt->asked);
    int most = attempt->asked->kind->levels ? RLI_LEVELS_MAX : INT_MAX;
    if (session->count >= most)
        return rli_fail(RLOCK_INVALID, "the lock is held %d times already by this owner, and cannot be held more often",
                        most);
    if (!rli_session_make_room(session))
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a hold");
    return RLOCK_OK;
}

void rli_attempt_note_listening(rli_attempt *attempt)
{
    const rli_wait *wait = &attempt->wait;
    if (wait->channel)
        attempt->entry->queues->yield.listening = rli_channel_is_asked_for(wait->subscriber, wait->channel);
}

/* Returns whether asking now would be in vain or out of turn; then sets *again_ms. Mutex held. */
static bool is_deferred(rli_attempt *attempt, int64_t *again_ms)
{
    const rli_kind *kind = attempt->asked->kind;
    const rli_session *session = attempt->session;
    if (kind->shared || kind->queues || kind->spins || !attempt->waiter.parker || attempt->waiter.handed)
        return false;
    rli_attempt_note_listening(attempt);
    /* Do not defer if the attempt may have the lock already (a late request of its own, or another thread of its
     * owner), if a hold is offered, or if its session has ended: then nobody can hand it the lock until it asks in
     * another session. */
    if (session->phase != RLI_OPEN || session->count > 0 || session->cold->in_doubt_ms > 0 ||
        attempt->entry->queues->offered)
        return false;
    return rli_yield_must_wait(&attempt->entry->queues->yield, &attempt->chance, attempt->wait.heard, again_ms);
}

/* Storage for the wire owners that a request names. */
typedef struct owners {
    char own[RLI_OWNER_TEXT], over[RLI_OWNER_TEXT], writer[RLI_OWNER_TEXT];
} owners;

static rli_request request_for(rli_attempt *attempt, owners *texts, int64_t lease_ms)
{
    const rli_acquire *asked = attempt->asked;
    rli_session *session = attempt->session;
    rli_cold_fields *cold = session->cold;
    rli_session *writer = asked->kind->shared ? rli_session_find_writer(attempt->engine, attempt->entry, &asked->owner)
                                              : NULL;
    *texts = (owners){.over = "", .writer = ""};
    rli_owner_text(attempt->engine, session->number, texts->own);
    if (cold->replaces)
        rli_owner_text(attempt->engine, cold->replaces, texts->over);
    if (writer)
        rli_owner_text(attempt->engine, writer->number, texts->writer);
    if (session->count + 1 > cold->highest)
        cold->highest = session->count + 1;
    if (asked->kind->queues && !session->queued)
        cold->place = ++attempt->engine->last_place;
    bool forgotten = attempt->unheard && rli_now_ms() >= attempt->unheard_ms + RLI_UNHEARD_MS;
    int64_t wait_ms = asked->wait_ms == RLOCK_FOREVER ? attempt->engine->settings->fair_wait_timeout_ms
                                                      : rli_earlier(asked->wait_ms, RLOCK_LEASE_MAX_MS);
    return (rli_request){
        .names = asked->names,
        .owner = texts->own,
        .lease_ms = lease_ms,
        .count = session->count + 1,
        .highest = cold->highest,
        .over = texts->over,
        .writer = texts->writer,
        .wait_ms = wait_ms > 0 ? wait_ms : 0,
        .place_ms = session->queued ? cold->place_ms
                    : wait_ms > 0   ? wait_ms
                                    : 0,
        .unheard = forgotten ? attempt->unheard : "",
    };
}

/* --- one request --- */

typedef struct question_of {
    const rli_kind *kind;
    const rli_request *request;
} question_of;

static void put(rli_call *call, const void *what)
{
    const question_of *asked = what;
    asked->kind->acquire(call, asked->request);
}

static bool is_grant(const redisReply *reply, const void *what)
{
    const question_of *asked = what;
    return asked->kind->parse_acquire(reply).grant == RLI_GRANTED;
}

static void take_back(rli_call *call, const void *what)
{
    const question_of *asked = what;
    rli_request request = *asked->request;
    request.count--;
    request.unheard = "";
    asked->kind->release(call, &request);
}

rlock_status rli_ask(rli_wait *wait, int64_t *again_ms)
{
    rli_attempt *attempt = (rli_attempt *)(void *)wait;
    const rli_acquire *asked = attempt->asked;
    rli_engine *engine = attempt->engine;
    owners texts;
    rli_request request;
    int64_t lease_ms = rli_lease_on_server(engine, asked->lease_ms);

    attempt->failed_ms = RLI_NEVER;
    pthread_mutex_lock(&engine->mutex);
    rli_handoff_lead_if_asked(attempt);
    attempt->prompted_until_ms = attempt->waiter.prompted && !wait->heard ? *again_ms : 0;
    attempt->waiter.prompted = false;
    if (is_deferred(attempt, again_ms)) {
        pthread_mutex_unlock(&engine->mutex);
        return denied(asked);
    }
    *again_ms = RLI_NEVER;
    rlock_status status = begin_turn(attempt);
    rli_session *session = attempt->session;
    bool turn = status == RLOCK_OK && !attempt->moved;
    if (turn && !attempt->waiter.handed)
        rli_local_handoff_take_in_turn(attempt);
    bool asks = turn && !attempt->waiter.handed;
    if (asks)
        status = may_take(attempt);
    asks = asks && status == RLOCK_OK;
    if (asks)
        request = request_for(attempt, &texts, lease_ms);
    else if (turn)
        rli_session_end_turn(session);
    pthread_mutex_unlock(&engine->mutex);
    if (!asks)
        return status;

    rli_call call;
    const question_of question = {asked->kind, &request};
    const rli_grantable grantable = {put, is_grant, take_back, &question};
    rli_wait_limit_request(wait, asked->wait_ms, asked->answer_ms,
                           rli_synced_patience_ms(attempt->engine->topology, asked->names->name, asked->names->length));
    status = rli_synced_run(&grantable, &call, attempt->engine->topology, &attempt->op, &attempt->entry->route);

    pthread_mutex_lock(&engine->mutex);
    rli_session_end_turn(session);
    /* The request is in doubt if an attempt was never answered: it may run late and leave a hold that nobody wants.
     * So it is if the server ended the script midway: it may have left a part of a hold, perhaps without an expiry. */
    bool in_doubt = call.unanswered || (status != RLOCK_OK && call.broke_off);
    if (in_doubt && request.count == 1) {
        rli_session_in_doubt(attempt->engine, session, asked->kind->queues ? lease_ms + request.wait_ms : lease_ms);
        attempt->entry->in_doubt = true;
    } else if (in_doubt) {
        rli_session_in_doubt_if_held(attempt->engine, session, lease_ms);
    }
    if (asked->kind->queues && request.wait_ms > 0 && session->count == 0 && (in_doubt || status == RLOCK_OK)) {
        session->queued = true; /* cleared when this answer turns out to be a grant */
        session->cold->queue_kind = asked->kind;
        session->cold->place_ms = request.place_ms;
    }
    if (status == RLOCK_OK && attempt->entry->queues)
        attempt->entry->queues->answered_ms = rli_now_ms();
    if (status == RLOCK_OK)
        status = read_answer(attempt, &call, lease_ms, again_ms);
    else if (status == RLOCK_UNAVAILABLE && rli_now_ms() < rli_operation_attempts_until(&attempt->op))
        attempt->failed_ms = call.failed_ms;
    pthread_mutex_unlock(&engine->mutex);
    rli_call_clear(&call);
    return status;
}

/* Sends the request to leave the server's queue. Mutex held on entry and return, not meanwhile. Returns false when
 * the request was not answered and may run late, or was refused, perhaps only for now: the place is still there. */
static bool leave_queue(rli_attempt *attempt, rli_operation *op)
{
    rli_engine *engine = attempt->engine;
    rli_session *session = attempt->session;
    owners texts;
    rli_request request = request_for(attempt, &texts, 0);
    rli_call call;
    pthread_mutex_unlock(&engine->mutex);
    attempt->asked->kind->give_up(&call, &request);
    call.attempts = 1;
    rlock_status status = rli_call_run(&call, attempt->engine->topology, op, &attempt->entry->route);
    pthread_mutex_lock(&engine->mutex);
    const char *unheard = NULL;
    if (status == RLOCK_OK)
        attempt->asked->kind->parse_release(call.reply, &unheard);
    if (unheard)
        rli_session_note_unheard_head(session, unheard);
    rli_call_clear(&call);
    return status == RLOCK_OK;
}

rlock_status rli_attempt_give_up(rli_attempt *attempt, rlock_status why)
{
    rli_engine *engine = attempt->engine;
    rli_session *session = attempt->session;
    rli_operation op;
    char message[512];
    snprintf(message, sizeof message, "%s", rlock_last_error());
    if (rli_operation_begin(&op, attempt->engine->gate, NULL) != RLOCK_OK)
        return rli_fail_text(why, message);
    op.deadline_ms = rli_after_ms(GIVE_UP_MS);
    pthread_mutex_lock(&engine->mutex);
    /* If this kind has no queue on the server, the place belongs to another kind: the compensating release leaves
     * that queue. */
    bool last = session->cold->attempts == 1 && attempt->asked->kind->give_up;
    /* Leave in the session's turn, so that another thread of the owner that comes now queues after this request,
     * not before it. If the request may run late, that thread must not wait in this session, because the request
     * would take its place away. */
    if ((session->queued ? last : session->cold->taker == &attempt->waiter) &&
        rli_session_begin_turn(engine, session, &op, op.deadline_ms) == RLOCK_OK) {
        if (attempt->waiter.handed)
            why = RLOCK_OK;
        else if (!session->queued || leave_queue(attempt, &op))
            session->queued = false;
        else if (session->phase == RLI_OPEN)
            rli_session_become(session, RLI_DONE);
        rli_session_end_turn(session);
    }
    pthread_mutex_unlock(&engine->mutex);
    rli_operation_end(&op);
    return why == RLOCK_OK ? RLOCK_OK : rli_fail_text(why, message);
}
