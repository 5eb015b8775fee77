/* Compensate: releases in the background what an unanswered request may have taken, or may still take. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/compensate.h"

#include "base/clock.h"
#include "engine/async_release.h"
#include "engine/departure.h"
#include "engine/holds.h"
#include "engine/session.h"
#include "watchdog/clean_up.h"

#include <string.h>

static bool is_answer(rlock_status status)
{
    return status == RLOCK_OK || status == RLOCK_SERVER;
}

/* One round of compensating requests for a session. Kinds of lock that share a field share the session, so it
 * leaves the server's queue through the kind with which it queued. */
typedef struct compensation {
    rli_watchdog *watchdog;
    const rli_entry *entry;
    const rli_kind *kind, *queue_kind; /* queue_kind NULL: it did not queue */
    rli_request request;
    int64_t answer_by_ms;
    /* Sends the scripts' text instead of only their hash. */
    bool by_text;
    bool release_first; /* releases before it leaves the queue */
    rli_call release;
    rlock_status released; /* the outcome of the release; RLOCK_UNAVAILABLE: not sent */
} compensation;

static rlock_status leave_queue(const compensation *self, const rli_kind *kind)
{
    rli_call call;
    rli_names names;
    rli_request request = self->request;
    rlock_status status = rli_entry_names(self->entry, &kind->naming, &names);
    if (status != RLOCK_OK)
        return status;
    request.names = &names;
    kind->give_up(&call, &request);
    call.by_text = self->by_text;
    status = rli_clean_up_send(self->watchdog, &call, self->answer_by_ms);
    rli_call_clear(&call);
    rli_names_free(&names);
    return status;
}

static rlock_status release_again(compensation *self)
{
    rli_names names;
    rlock_status status = rli_entry_names(self->entry, &self->kind->naming, &names);
    if (status != RLOCK_OK)
        return status;
    self->request.names = &names;
    self->kind->release(&self->release, &self->request);
    self->release.by_text = self->by_text;
    status = self->released = rli_clean_up_send(self->watchdog, &self->release, self->answer_by_ms);
    self->request.names = NULL;
    rli_names_free(&names);
    return status;
}

/* A request that ran late may have taken the lock or may have queued, so undoes both. Stops at the first request
 * that is not answered, and then returns false. */
static bool compensate_both(compensation *self)
{
    bool answered = true;
    if (self->request.registered_ms && !self->kind->registers)
        answered = is_answer(leave_queue(self, &rli_kind_reentrant));
    if (self->queue_kind && !self->release_first)
        answered = answered && is_answer(leave_queue(self, self->queue_kind));
    answered = answered && is_answer(release_again(self));
    if (self->queue_kind && self->release_first)
        answered = answered && is_answer(leave_queue(self, self->queue_kind));
    return answered;
}

/* Returns what the reply to the release says, or RLI_RELEASE_MALFORMED if there is no reply. *unheard: the unheard head
 * that it names, pointing into the reply; NULL: none. */
static rli_release_outcome outcome_of(const compensation *self, const char **unheard)
{
    *unheard = NULL;
    return self->release.reply ? self->kind->parse_release(self->release.reply, unheard) : RLI_RELEASE_MALFORMED;
}

/* Returns when to send the next round. While none is answered, the last one is sent just before the end: the server may
 * stand still for nearly that long. An unheard head is notified once more when its time has come. */
static int64_t next_time(const rli_watchdog *watchdog, rli_cold_fields *cold, bool answered, bool telling, bool again)
{
    cold->pause_ms = rli_clean_up_pause(watchdog, cold->pause_ms, answered);
    int64_t next_ms = rli_after_ms(cold->pause_ms), last_ms = cold->release_until_ms - 1;
    if (!answered && rli_now_ms() < last_ms)
        next_ms = rli_earlier(next_ms, last_ms);
    if (again)
        next_ms = rli_now_ms();
    if (!cold->unheard || (telling && !answered))
        return next_ms;
    int64_t tell_ms = cold->unheard_ms + RLI_UNHEARD_MS;
    if (cold->release_until_ms <= tell_ms)
        cold->release_until_ms = tell_ms + 1;
    return tell_ms < next_ms || next_ms >= cold->release_until_ms ? tell_ms : next_ms;
}

/* `telling`: the round was to notify an unheard head. `again`: departure has asked for another one meanwhile. */
static void go_on(rli_watchdog *watchdog, rli_session *session, bool answered, bool telling, bool again)
{
    rli_engine *engine = watchdog->engine;
    rli_cold_fields *cold = session->cold;
    int64_t next_ms = next_time(watchdog, cold, answered, telling, again);
    if (next_ms < cold->release_until_ms) {
        rli_timer_heap_set(&engine->timers, &session->timer, next_ms);
    } else if (cold->async_release) {
        rli_async_release_stop_retrying(engine, session);
    } else {
        cold->release_until_ms = 0; /* done: what may still come ends with its own lease */
        rli_session_settle(engine, session);
    }
}

/* Prepares a round. Mutex held. There may be time for one answer only, so after an unanswered round the other of
 * the two requests goes first. */
static compensation begin_round(rli_watchdog *watchdog, const rli_session *session, char *owner, bool telling)
{
    const rli_cold_fields *cold = session->cold;
    const rli_kind *own = rli_kind_queues_on_server(session->kind) ? session->kind : NULL;
    return (compensation){
        .watchdog = watchdog,
        .entry = session->entry,
        .kind = telling ? cold->unheard_kind : session->kind, /* either releases what the session may hold */
        .queue_kind = cold->queue_kind ? cold->queue_kind : own,
        .request =
            {
                .owner = rli_owner_text(watchdog->engine->client_id, session->number, owner),
                .lease_ms = 1,
                .highest = cold->highest,
                .place_ms = cold->place_ms,
                .returns_offer = cold->compensation_unanswered % 2 ==
                                 1, /* the release has gone before: what is left is an offer */
                .registered_ms = cold->registered_ms,
                .unheard = telling ? cold->unheard : "",
            },
        .answer_by_ms = rli_clean_up_answer_by(watchdog),
        .by_text = cold->compensation_unanswered > 0,
        .release_first = cold->compensation_unanswered % 2 == 1,
        .released = RLOCK_UNAVAILABLE,
    };
}

void rli_compensate(rli_watchdog *watchdog, rli_session *session)
{
    rli_engine *engine = watchdog->engine;
    rli_cold_fields *cold = session->cold;
    char owner[RLI_OWNER_TEXT];
    bool departing = engine->departing;
    int64_t began_ms = rli_now_ms();
    bool telling = cold->unheard && rli_now_ms() >= cold->unheard_ms + RLI_UNHEARD_MS;
    session->busy = true; /* keeps the session alive while the mutex is released */
    compensation round = begin_round(watchdog, session, owner, telling);
    rli_engine_unlock(engine);
    bool answered = compensate_both(&round);
    const char *unheard;
    rli_release_outcome outcome = outcome_of(&round, &unheard);
    /* Over a slow link the time for an answer may be too short to connect in, each time anew. */
    if (!answered)
        rli_topology_connect_background(engine->topology, session->entry->name, session->entry->length);
    rli_engine_lock(engine);
    rli_clean_up_note(watchdog, session->entry->name, session->entry->length, answered, began_ms);
    session->busy = false;
    cold->compensation_unanswered = answered ? 0 : cold->compensation_unanswered + 1;
    bool again = departing != engine->departing && !cold->only_tells;
    if (answered && !again)
        rli_departure_wait_no_more(engine, &cold->not_given_back);
    /* If the head is the same as before, it keeps the time at which it was first found. */
    bool same = unheard && cold->unheard && strcmp(unheard, cold->unheard) == 0;
    if (answered && (!same || telling))
        rli_session_note_unheard_head(session, round.kind, unheard);
    bool lost = cold->async_release &&
                rli_async_release_apply_retry(engine, session, round.released, outcome, &round.release);
    rli_call_clear(&round.release);
    if (!lost)
        go_on(watchdog, session, answered, telling, again);
}
