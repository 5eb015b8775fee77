/* Ask: one acquire request to the server, and what its answer means. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ask.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/back_off.h"
#include "engine/defer.h"
#include "engine/grant.h"
#include "engine/handoff.h"
#include "engine/holds.h"
#include "engine/local_handoff.h"
#include "engine/offer.h"
#include "engine/registry.h"
#include "engine/session.h"
#include "engine/synced.h"
#include "engine/unheard.h"
#include "net/reply.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pauses between two requests while the lock is free and another waiter is next. */
static const rlock_back_off until_taken = {sizeof until_taken, 5, 1000, 2, 0};

/* A waiter asks after this time without a signal: signals may be lost with the client that received them, and a lock
 * that expires, or is deleted, signals nobody. */
#define SIGNAL_LOST_MS 5000

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
 * also be in a session in which the wait was handed the lock meanwhile. RLI_WAITING: call it again. Mutex held. */
static rlock_status begin_turn(rli_attempt *attempt)
{
    for (;;) {
        rli_session *session = attempt->session;
        rlock_status status = rli_session_begin_turn(attempt->engine, session, attempt->op, attempt->wait.deadline_ms);
        if (status != RLOCK_OK || attempt->waiter.handed)
            return status;
        /* rli_session_find_open also checks the deadline. */
        if (rli_session_find_open(attempt->engine, attempt->entry, attempt->asked->kind, &attempt->asked->owner) ==
            session)
            return RLOCK_OK;
        rli_session_end_turn(session);
        status = rejoin(attempt);
        attempt->moved = rli_kind_queues_on_server(attempt->asked->kind) && attempt->wait.news.channel;
        if (status != RLOCK_OK || attempt->moved)
            return status;
    }
}

/* A server may answer with 0 or less, but no waiter asks again without a pause. */
static int64_t at_least_one(int64_t ms)
{
    return ms > 0 ? ms : 1;
}

/* Returns when to ask again after a denial if no message comes. */
static int64_t ask_again_ms(rli_attempt *attempt, const rli_acquire_result *verdict)
{
    bool polls = rli_kind_polls(attempt->asked->kind), soon = polls || verdict->free;
    int denied = attempt->denied;
    attempt->denied = soon && denied < INT_MAX ? denied + 1 : 0;
    if (polls) {
        bool told = attempt->asked->kind->queueing == RLI_BY_SIGNAL && rli_news_is_confirmed(&attempt->wait.news);
        int64_t pause_ms = told ? SIGNAL_LOST_MS : rli_back_off_ms(attempt->asked->back_off, denied);
        bool ends = attempt->asked->kind->queueing != RLI_BY_SPINNING && verdict->pttl_ms >= 0;
        return rli_after_ms(ends ? rli_earlier(pause_ms, at_least_one(verdict->pttl_ms)) : pause_ms);
    }
    /* The next waiter was notified just now. Once it holds the lock, the PTTL says how long to sleep. */
    if (verdict->free) {
        int64_t pause_ms = rli_back_off_ms(&until_taken, denied);
        return rli_after_ms(rli_earlier(pause_ms, at_least_one(verdict->pttl_ms)));
    }
    /* A lock without an end gets one with the next renewal, if its holder is of this library or of Redisson, and nobody
     * is told of that. */
    int64_t left_ms = verdict->pttl_ms < 0 ? attempt->engine->settings->watchdog_timeout_ms : verdict->pttl_ms;
    int64_t ends_ms = rli_after_ms(at_least_one(left_ms));
    return verdict->registered ? rli_earlier(ends_ms, rli_registry_ask_again_ms(verdict)) : ends_ms;
}

const char *rli_ask_denial_reason(const rli_kind *kind)
{
    if (rli_kind_queues_on_server(kind))
        return "held by another owner, or other waiters come first";
    return kind->sharing == RLI_WRITING ? "held by another owner, or by this one for reading" : "held by another owner";
}

static rlock_status say_denied(const rli_acquire *asked)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_TIMEOUT, "lock \"%s\" is %s", rli_show_name(asked->names->name, shown),
                    rli_ask_denial_reason(asked->kind));
}

/* The owner would wait for itself. */
static rlock_status overlaps(const rli_acquire *asked)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(
        RLOCK_ALREADY_HELD,
        "%s %lld holds some of these values of group \"%s\" already, together with others; lock all that it "
        "needs at once",
        asked->owner.named ? "owner" : "thread", (long long)asked->owner.number,
        rli_show_name(asked->names->name, shown));
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
        if (rli_kind_queues_on_server(attempt->asked->kind) && attempt->session->cold->registrations == 1)
            rli_contended_forget(&attempt->engine->contended, attempt->entry);
        return rli_grant_apply(attempt, &gain);
    case RLI_DENIED:
        if (verdict.has_rival && rli_entry_has_rival(attempt->engine, attempt->entry, &attempt->asked->owner))
            return overlaps(attempt->asked);
        rli_unheard_note(attempt, verdict.unheard);
        rli_registry_note_denied(attempt, &verdict, call);
        if (rli_kind_queues_on_server(attempt->asked->kind)) {
            rli_offer_note_denied(attempt, call);
            rli_contended_note(&attempt->engine->contended, attempt->entry);
        }
        *again_ms = ask_again_ms(attempt, &verdict);
        if (!is_prompted(attempt, call))
            rli_queue_let_doubtful_ask(attempt->engine, attempt->entry, attempt->session);
        return say_denied(attempt->asked);
    case RLI_OUTER_LOST:
        return rli_grant_outer_lost(attempt);
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
    if ((attempt->asked->kind->non_reentrant || attempt->asked->non_reentrant) && session->count > 0)
        return already_held(attempt->asked);
    int most = attempt->asked->kind->sharing == RLI_READING ? RLI_LEVELS_MAX : INT_MAX;
    if (session->count >= most)
        return rli_fail(RLOCK_INVALID,
                        "this owner already holds the lock %d times, which is the limit; unlock it "
                        "first",
                        most);
    if (!rli_session_make_room(session))
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a hold");
    return RLOCK_OK;
}

/* An offer takes its owner's place out of the server's queue and stands no longer than the lease: a shorter one may be
 * over before the waiter has heard of it. */
#define OFFER_LEAST_MS 1000

/* Adds what lets a release by others offer the lock to the attempt: a place in the registry of waiters, if the attempt
 * or its session has waited, or in the server's queue. */
static void add_waiting(rli_attempt *attempt, rli_request *request)
{
    if (attempt->own_channel || attempt->session->cold->registered_ms)
        rli_registry_request(attempt, request);
    if (!rli_kind_queues_on_server(attempt->asked->kind))
        return;
    request->expects_offer = request->wait_ms > 0 && request->lease_ms >= OFFER_LEAST_MS &&
                             rli_offer_is_possible(attempt->engine);
    if (request->expects_offer && request->lease_ms > attempt->session->cold->expected_ms)
        attempt->session->cold->expected_ms = request->lease_ms;
    rli_offer_note_request(attempt, request->wait_ms > 0);
}

rli_request rli_ask_request(rli_attempt *attempt, rli_ask_owners *texts, int64_t lease_ms)
{
    const rli_acquire *asked = attempt->asked;
    rli_session *session = attempt->session;
    rli_cold_fields *cold = session->cold;
    rli_session *writer = rli_session_find_writer(attempt->engine, attempt->entry, asked->kind, &asked->owner);
    *texts = (rli_ask_owners){.replaced = "", .writer = ""};
    attempt->writer = writer ? writer->number : 0;
    rli_owner_text(attempt->engine->client_id, session->number, texts->own);
    if (cold->replaces)
        rli_owner_text(attempt->engine->client_id, cold->replaces, texts->replaced);
    if (writer) {
        rli_owner_text(attempt->engine->client_id, writer->number, texts->writer);
        rli_session_in_doubt_if_held(attempt->engine, writer, lease_ms); /* the two holds share the lock's PTTL */
    }
    if (session->count + 1 > cold->highest)
        cold->highest = session->count + 1;
    if (rli_kind_queues_on_server(asked->kind) && !session->queued)
        cold->queue_number = ++attempt->engine->last_queue_number;
    int64_t wait_ms = asked->wait_ms == RLOCK_FOREVER ? attempt->engine->settings->fair_wait_timeout_ms
                                                      : rli_earlier(asked->wait_ms, RLOCK_LEASE_MAX_MS);
    rli_request request = {
        .names = asked->names,
        .owner = texts->own,
        .lease_ms = lease_ms,
        .count = session->count + 1,
        .highest = cold->highest,
        .replaced = texts->replaced,
        .writer = texts->writer,
        .wait_ms = wait_ms > 0 ? wait_ms : 0,
        .place_ms = session->queued ? cold->place_ms
                    : wait_ms > 0   ? wait_ms
                                    : 0,
        .unheard = attempt->unheard ? rli_unheard_again(attempt->unheard, attempt->unheard_ms) : "",
    };
    add_waiting(attempt, &request);
    return request;
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

/* A place in the server's queue does not expire by itself. So, also after a short lease and a short wait, a request in
 * doubt that may leave one is looked after for this time: networks deliver late. */
#define LATE_PLACE_MS 12000

/* The state of one request under way. */
typedef struct ask_frame {
    rli_ask_owners texts;
    rli_request request;
    question_of question;
    rli_grantable grantable;
    int64_t lease_ms;
    rli_synced synced;
    rli_call call;
} ask_frame;

/* The request may take until the wait ends, and at least the configured timeout, or less if the caller says so. */
static void limit_request(const rli_attempt *attempt)
{
    const rli_acquire *asked = attempt->asked;
    int64_t timeout_ms = rli_operation_timeout_ms(attempt->op, attempt->engine->settings->timeout_ms);
    int64_t answer_ms = rli_earlier(timeout_ms, asked->answer_ms);
    answer_ms += rli_synced_patience_ms(attempt->engine->topology, asked->names->name, asked->names->length);
    rli_operation_limit(attempt->op, asked->wait_ms > 0 ? attempt->wait.deadline_ms : 0, answer_ms);
    attempt->op->others_stand_in = asked->answer_ms < timeout_ms;
}

static const bool legal[RLI_ASKING_STAGES][RLI_ASKING_STAGES] = {
    [RLI_ASKS_NOTHING] = {[RLI_ASKS_FOR_TURN] = true, [RLI_ASKS_SERVER] = true},
    [RLI_ASKS_FOR_TURN] = {[RLI_ASKS_FOR_TURN] = true, [RLI_ASKS_NOTHING] = true},
    [RLI_ASKS_SERVER] = {[RLI_ASKS_NOTHING] = true},
};

static void become(rli_attempt *attempt, rli_asking_stage stage)
{
    rli_check(legal[attempt->asks][stage]);
    attempt->asks = stage;
}

/* Prepares the request. The session is busy with it from here on. */
static void begin_request(rli_attempt *attempt, ask_frame *asking)
{
    const rli_acquire *asked = attempt->asked;
    asking->lease_ms = rli_lease_on_server(attempt->engine, asked->lease_ms);
    asking->request = rli_ask_request(attempt, &asking->texts, asking->lease_ms);
    asking->question = (question_of){asked->kind, &asking->request};
    asking->grantable = (rli_grantable){
        .ask = put, .granted = is_grant, .take_back = take_back, .what = &asking->question};
    rli_synced_begin(&asking->synced);
    limit_request(attempt);
    become(attempt, RLI_ASKS_SERVER);
}

/* Takes the session's turn and prepares the request. Mutex held. RLI_WAITING: call it again. Otherwise there is a
 * request if attempt->asks is RLI_ASKS_SERVER, and else nothing to ask: *again_ms and the status are the result. */
static rlock_status prepare(rli_attempt *attempt, ask_frame *asking, int64_t *again_ms)
{
    become(attempt, RLI_ASKS_FOR_TURN);
    *again_ms = RLI_NEVER;
    rlock_status status = begin_turn(attempt);
    if (status == RLI_WAITING)
        return status;
    become(attempt, RLI_ASKS_NOTHING);
    if (status != RLOCK_OK || attempt->moved)
        return status;
    rli_session *session = attempt->session;
    if (attempt->engine->settings->local_hand_over && !attempt->waiter.handed)
        rli_local_handoff_take_in_turn(attempt);
    if (!attempt->waiter.handed)
        status = may_take(attempt);
    bool took = status == RLOCK_OK && !attempt->waiter.handed && attempt->wait.news.told.ms > 0 &&
                rli_offer_take(attempt, &status);
    if (took)
        *again_ms = rli_now_ms();
    if (status == RLOCK_OK && !took && !attempt->waiter.handed)
        begin_request(attempt, asking);
    else
        rli_session_end_turn(session);
    return status;
}

/* How long a late first acquire may keep the lock, or its waiter a place. */
static int64_t lasts_ms(const ask_frame *asking, bool queues)
{
    int64_t ms = asking->lease_ms + asking->request.wait_ms;
    if (!queues)
        return asking->lease_ms;
    return ms < LATE_PLACE_MS ? LATE_PLACE_MS : ms;
}

static void note_place(rli_attempt *attempt, const rli_request *request, bool answered)
{
    rli_session *session = attempt->session;
    session->queued = true; /* cleared when this answer turns out to be a grant */
    session->cold->queue_kind = attempt->asked->kind;
    /* A wait longer than that of the thread that queued the session lengthens the place; an answer proves it. */
    bool longer = answered && request->wait_ms > request->place_ms;
    session->cold->place_ms = longer ? request->wait_ms : request->place_ms;
}

/* The first hold of the session may be there for so long. */
static void note_first_in_doubt(rli_attempt *attempt, const ask_frame *asking, int64_t ms)
{
    rli_session *session = attempt->session;
    rli_session_in_doubt(attempt->engine, session, ms);
    /* The request that takes the grant back may run late. It would also take back the next grant of this session, so
     * the session ends here: other attempts that wait in it join a new one. */
    if (asking->synced.late > 0 && session->phase == RLI_OPEN && session->count == 0)
        rli_session_become(session, RLI_DONE);
    attempt->entry->in_doubt = true;
}

/* Notes what the request may have left behind on the server, whatever its outcome. */
static void note_doubt(rli_attempt *attempt, const ask_frame *asking, rlock_status status)
{
    const rli_call *call = &asking->call;
    const rli_request *request = &asking->request;
    rli_session *session = attempt->session;
    bool queues = rli_kind_queues_on_server(attempt->asked->kind);
    /* The request is in doubt if an attempt was never answered: it may run late and leave a hold that nobody wants.
     * So it is if the server ended the script midway: it may have left a part of a hold, perhaps without an expiry. */
    bool in_doubt = call->unanswered || (status != RLOCK_OK && call->broke_off);
    if (in_doubt && request->count == 1) {
        note_first_in_doubt(attempt, asking, lasts_ms(asking, queues));
    } else if (in_doubt || (asking->synced.done > 0 && request->count > 1)) { /* taken back, it has left its lease */
        rli_session_in_doubt_if_held(attempt->engine, session, asking->lease_ms);
    }
    if (queues && request->wait_ms > 0 && session->count == 0 && (in_doubt || status == RLOCK_OK))
        note_place(attempt, request, status == RLOCK_OK);
}

/* The request has ended. Mutex held. */
static rlock_status end_request(rli_attempt *attempt, ask_frame *asking, rlock_status status, int64_t *again_ms)
{
    become(attempt, RLI_ASKS_NOTHING);
    attempt->op->others_stand_in = false;
    rli_session_end_turn(attempt->session);
    note_doubt(attempt, asking, status);
    if (status == RLOCK_OK)
        rli_queue_note_answer(attempt->entry, asking->call.sent_ms);
    if (status == RLOCK_OK)
        return read_answer(attempt, &asking->call, asking->lease_ms, again_ms);
    if (status == RLOCK_UNAVAILABLE && rli_now_ms() < rli_operation_attempts_until(attempt->op))
        attempt->failed_ms = asking->call.failed_ms;
    return status;
}

/* Mutex held on entry and return, perhaps not meanwhile. *again_ms on entry: when the attempt was to ask without a
 * message. Returns whether it asks now; otherwise another attempt has the lock or will ask for it, and *again_ms is
 * when this one asks. */
static bool begin_asking(rli_attempt *attempt, int64_t *again_ms)
{
    attempt->failed_ms = RLI_NEVER;
    if (attempt->waiter.parker)
        rli_handoff_lead_if_asked(attempt);
    attempt->prompted_until_ms = attempt->waiter.prompted && !attempt->wait.heard ? *again_ms : 0;
    attempt->waiter.prompted = false;
    return !attempt->waiter.parker || attempt->wait.news.told.ms > 0 || !rli_defer(attempt, again_ms);
}

/* Goes on with the request, which is under way. */
static rlock_status go_on(rli_attempt *attempt, ask_frame *asking, int64_t *again_ms)
{
    rlock_status status = rli_synced_run(&asking->synced, &asking->grantable, &asking->call, attempt->engine->topology,
                                         attempt->op, &attempt->entry->route);
    if (status == RLI_WAITING)
        return status;
    rli_engine_lock(attempt->engine);
    status = end_request(attempt, asking, status, again_ms);
    rli_engine_unlock(attempt->engine);
    rli_call_clear(&asking->call);
    if (status != RLOCK_TIMEOUT || !attempt->own_channel)
        return status;
    rlock_status listens = rli_registry_join_common(attempt, again_ms);
    return listens == RLOCK_OK ? status : listens;
}

rlock_status rli_ask(rli_wait *wait, int64_t *again_ms)
{
    rli_attempt *attempt = (rli_attempt *)(void *)wait;
    rlock_status status = RLOCK_OK;
    bool begins;
    ask_frame own, *asking = rli_operation_frame(attempt->op, &own, sizeof own, &begins);
    if (!asking)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
    if (attempt->asks != RLI_ASKS_SERVER) {
        rli_engine_lock(attempt->engine);
        bool asks = attempt->asks == RLI_ASKS_FOR_TURN || begin_asking(attempt, again_ms);
        status = asks ? prepare(attempt, asking, again_ms) : say_denied(attempt->asked);
        rli_engine_unlock(attempt->engine);
        if (!asks)
            rli_defer_listen(attempt);
    }
    if (attempt->asks == RLI_ASKS_SERVER)
        status = go_on(attempt, asking, again_ms);
    if (status != RLI_WAITING)
        rli_operation_end_frame(attempt->op);
    return status;
}
