/* Renewing: what is due, in batches, of which several are under way at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/renew.h"

#include "base/clock.h"
#include "engine/session.h"
#include "net/reply.h"
#include "watchdog/flight.h"

#include <stdlib.h>

/* Time to connect that is not counted against the answer: silence, not a connect, is what condemns
 * a connection. */
#define CONNECT_MS 20

static int64_t part_of_timeout(const rli_watchdog *watchdog, int parts)
{
    return watchdog->engine->settings->watchdog_timeout_ms / parts;
}

/* Again soon; at the deadline the watchdog declares it lost. */
static void put_off(rli_engine *engine, rli_session *session, int64_t until_ms)
{
    rli_agenda_set(&engine->agenda, &session->due, rli_earlier(until_ms, session->deadline_ms));
}

/* --- a batch --- */

static unsigned slot_of(const rli_watchdog *watchdog, const rli_session *session)
{
    return rli_topology_slot(watchdog->engine->topology, session->entry->name, session->entry->length);
}

static bool is_like(const rli_watchdog *watchdog, const rli_flight *flight, const rli_session *session)
{
    const rli_session *first = flight->sessions[0];
    return flight->count == 0 || (session->kind == first->kind && (rli_session_renewed(session) > 0) == flight->lengthens &&
                                  slot_of(watchdog, session) == slot_of(watchdog, first));
}

/* The first on the agenda, if it is for a renewal that may go with the others; NULL: for a batch of its own, or for
 * something else that the watchdog does next. */
static rli_session *next_like(const rli_watchdog *watchdog, const rli_flight *flight, int64_t due_ms)
{
    rli_due *first = rli_agenda_first(&watchdog->engine->agenda);
    if (!first || first->at_ms > due_ms || first == &watchdog->engine->doubts.due)
        return NULL;
    rli_session *session = RLI_ITEM(rli_session, first, due);
    bool fits = session->phase == RLI_OPEN && !session->renewing && rli_session_is_renewed(session) &&
                rli_now_ms() < session->deadline_ms && is_like(watchdog, flight, session);
    return fits ? session : NULL;
}

static void take_along(rli_engine *engine, rli_flight *flight, rli_session *session)
{
    flight->lengthens = rli_session_renewed(session) > 0;
    flight->ends_ms = rli_earlier(flight->ends_ms, session->deadline_ms);
    flight->sessions[flight->count++] = session;
    session->renewing = true;
    rli_agenda_set(&engine->agenda, &session->due, session->deadline_ms);
}

/* Takes what is due into the batch. Holds of ended threads are let go: they are renewed no more, and their owner will
 * never unlock them. */
static void fill(rli_watchdog *watchdog, rli_flight *flight)
{
    rli_engine *engine = watchdog->engine;
    /* What is due very soon comes along now, instead of waking the thread again for it. In a cluster, all of one slot
     * is due at once. */
    int64_t due_ms = rli_now_ms() + (engine->settings->mode == RLI_CLUSTER ? 0 : part_of_timeout(watchdog, 60));
    const rli_life *alive = NULL; /* most batches are of few threads: each is looked at once */
    rli_session *session;
    while (flight->count < engine->settings->batch_size && (session = next_like(watchdog, flight, due_ms))) {
        rli_life *life = rli_session_owner(session).life;
        if (life && life != alive && rli_life_has_ended(life)) {
            rli_session_lose(engine, session, RLOCK_LOST_OWNER_EXITED, true);
            continue;
        }
        alive = life;
        take_along(engine, flight, session);
    }
}

/* --- asking --- */

typedef char owner_text[RLI_OWNER_TEXT];

typedef struct wording {
    rli_call call;
    owner_text *owners;
    rli_names first; /* of the first lock, where its script looks at further keys of its slot */
} wording;

/* Its sessions keep their names and numbers while they are marked. False: out of memory. To be cleared in any case. */
static bool word(const rli_flight *flight, wording *to)
{
    rli_engine *engine = flight->watchdog->engine;
    const rli_kind *kind = flight->sessions[0]->kind;
    rli_call *call = &to->call;
    *to = (wording){.owners = malloc((size_t)flight->count * sizeof *to->owners)};
    rli_call_script(call, kind->renew, flight->count + kind->levels);
    for (int i = 0; i < flight->count; i++)
        rli_call_add(call, flight->sessions[i]->entry->name, flight->sessions[i]->entry->length);
    if (kind->levels && rli_names_make(&to->first, NULL, flight->sessions[0]->entry->name, &kind->naming) != RLOCK_OK)
        return false;
    if (kind->levels)
        rli_call_add(call, to->first.keys[0], to->first.key_lengths[0]);
    rli_call_add_number(call, flight->lengthens ? engine->settings->watchdog_timeout_ms : 0);
    for (int i = 0; to->owners && i < flight->count; i++)
        rli_call_add_text(call, rli_owner_text(engine, flight->sessions[i]->number, to->owners[i]));
    return to->owners && !call->no_memory;
}

static void clear(wording *self)
{
    rli_call_clear(&self->call);
    rli_names_free(&self->first);
    free(self->owners);
}

/* With its own short patience, not the callers' long retries: what fails is tried again soon. RLOCK_OK: the call has
 * the reply. */
static rlock_status ask(const rli_flight *flight, rli_call *call)
{
    rli_operation op;
    call->background = true;
    call->attempts = 1;
    call->timeout_ms = part_of_timeout(flight->watchdog, 6) + 1;
    rlock_status status = rli_operation_begin(&op, flight->watchdog->engine->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    /* Nor beyond the first deadline in the batch: that loss is to be told in time. */
    op.deadline_ms = rli_earlier(rli_after_ms(call->timeout_ms + CONNECT_MS), flight->ends_ms);
    status = rli_call_run(call, flight->watchdog->engine->topology, &op, NULL);
    rli_operation_end(&op);
    return status;
}

/* For a shorter time yet: nothing else is attended to meanwhile. */
static rlock_status connect_node(const rli_flight *flight)
{
    rli_operation op;
    rlock_status status = rli_operation_begin(&op, flight->watchdog->engine->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    op.deadline_ms = rli_earlier(rli_after_ms(part_of_timeout(flight->watchdog, 12) + CONNECT_MS), flight->ends_ms);
    status = rli_lane_connect(&flight->node->background, &op);
    rli_operation_end(&op);
    return status;
}

static bool launch(rli_flight *flight, rli_call *call)
{
    if (!flight->node)
        return false;
    return rli_flight_send(flight, call) || (connect_node(flight) == RLOCK_OK && rli_flight_send(flight, call));
}

/* --- what comes of it --- */

static void apply(rli_engine *engine, rli_session *session, bool lengthened, int64_t sent_ms, const redisReply *answer,
                  int64_t again_ms)
{
    int64_t watchdog_ms = engine->settings->watchdog_timeout_ms, held = 0;
    session->renewing = false;
    if (session->phase != RLI_OPEN || session->count == 0)
        return; /* released, or declared lost, while the renewal was under way */
    if (!answer) {
        put_off(engine, session, again_ms);
    } else if (rli_reply_integer(answer, &held) && held > 0) {
        /* Beneath the owner's write hold: that one's key was lengthened, too. */
        rli_owner owner = rli_session_owner(session);
        rli_session *writer = held == 2 ? rli_session_writer(engine, session->entry, &owner) : NULL;
        if (lengthened)
            rli_session_confirm(session, sent_ms, watchdog_ms);
        if (lengthened && writer)
            rli_session_confirm(writer, sent_ms, watchdog_ms);
        rli_session_plan(engine, session, sent_ms);
    } else {
        rli_session_lose(engine, session, RLOCK_LOST_GONE, true);
    }
}

static void discard(rli_flight *flight)
{
    rli_node_release(flight->node);
    free(flight);
}

/* `reply`: to a request of that instant; NULL: none of use came. Frees the flight. */
static void close_flight(rli_flight *flight, const redisReply *reply, int64_t sent_ms)
{
    rli_engine *engine = flight->watchdog->engine;
    bool whole = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == (size_t)flight->count;
    int64_t again_ms = rli_after_ms(part_of_timeout(flight->watchdog, 30) + 1);
    for (int i = 0; i < flight->count; i++) {
        rli_session *session = flight->sessions[i];
        apply(engine, session, flight->lengthens, sent_ms, whole ? reply->element[i] : NULL, again_ms);
        rli_session_settle(engine, session);
    }
    discard(flight);
}

/* Holds of a server that kept a batch waiting in vain do not wait for it one batch after the other: long enough that the
 * others' renewals get most of the time; short enough for a few more tries. */
static void note_silence(const rli_watchdog *watchdog, rli_node *node)
{
    node->renewals.mute_until_ms = rli_after_ms(part_of_timeout(watchdog, 12));
}

/* Waits for the answer: with redirects, and the script's text. Mutex held on entry and return, not meanwhile. */
static void close_by_asking(rli_flight *flight)
{
    rli_watchdog *watchdog = flight->watchdog;
    rli_engine *engine = watchdog->engine;
    wording own;
    pthread_mutex_unlock(&engine->mutex);
    int64_t since_ms = rli_now_ms();
    rlock_status status = word(flight, &own) ? ask(flight, &own.call) : RLOCK_NO_MEMORY;
    pthread_mutex_lock(&engine->mutex);
    if (status == RLOCK_UNAVAILABLE && flight->node && rli_now_ms() - since_ms > part_of_timeout(watchdog, 12))
        note_silence(watchdog, flight->node);
    close_flight(flight, status == RLOCK_OK ? own.call.reply : NULL, own.call.sent_ms);
    clear(&own);
}

/* Whether the same request, asked with patience, may do better. */
static bool is_worth_asking(const rli_flight *flight)
{
    if (flight->slot.outcome != RLI_ANSWERED)
        return false;
    rli_advice advice = rli_reply_advice(flight->slot.reply);
    return advice == RLI_LOAD || advice == RLI_MOVED || advice == RLI_ASK || advice == RLI_DEMOTED;
}

/* Mutex held on entry and return; free in between, so that a caller may have it. */
static void take_up(rli_flight *flight)
{
    rli_watchdog *watchdog = flight->watchdog;
    rli_engine *engine = watchdog->engine;
    redisReply *reply = flight->slot.outcome == RLI_ANSWERED ? flight->slot.reply : NULL;
    if (flight->slot.outcome == RLI_SILENT)
        note_silence(watchdog, flight->node);
    if (is_worth_asking(flight))
        close_by_asking(flight);
    else
        close_flight(flight, reply, flight->sent_ms);
    pthread_mutex_unlock(&engine->mutex);
    if (reply)
        freeReplyObject(reply);
    else
        rli_topology_suspect(watchdog->engine->topology);
    pthread_mutex_lock(&engine->mutex);
}

bool rli_renew_land(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_flight *flight;
    bool landed = false;
    for (; (flight = rli_flight_land(watchdog)); landed = true)
        take_up(flight);
    int64_t since_ms = rli_now_ms() - part_of_timeout(watchdog, 6) - 1;
    if (watchdog->flights.first && watchdog->flights.first->sent_ms <= since_ms) {
        pthread_mutex_unlock(&engine->mutex);
        rli_flight_give_up(watchdog, since_ms);
        pthread_mutex_lock(&engine->mutex);
    }
    return landed;
}

/* --- what is due --- */

/* False: the server has as much under way as it should, or does not answer. */
static bool may_send(rli_watchdog *watchdog, const rli_node *node, rli_session *due)
{
    rli_engine *engine = watchdog->engine;
    int64_t now_ms = rli_now_ms();
    if (node && now_ms < node->renewals.mute_until_ms) {
        put_off(engine, due, node->renewals.mute_until_ms);
        return false;
    }
    if (!node || !rli_flight_is_full(node, now_ms > due->due.at_ms + part_of_timeout(watchdog, 60)))
        return true;
    if (now_ms > node->renewals.heard_ms + part_of_timeout(watchdog, 60)) { /* others are not to wait for it */
        put_off(engine, due, now_ms + part_of_timeout(watchdog, 120) + 1);
        return false;
    }
    pthread_mutex_unlock(&engine->mutex);
    rli_flight_await(watchdog, RLI_NEVER);
    pthread_mutex_lock(&engine->mutex);
    return false;
}

/* It takes over the hold on the node. NULL: out of memory, and what is due is put off. */
static rli_flight *make(rli_watchdog *watchdog, rli_node *node, rli_session *due)
{
    size_t most = (size_t)watchdog->engine->settings->batch_size;
    rli_flight *flight = malloc(sizeof *flight + most * sizeof(rli_session *));
    if (flight)
        *flight = (rli_flight){.watchdog = watchdog, .node = node, .ends_ms = RLI_NEVER};
    else
        put_off(watchdog->engine, due, rli_after_ms(part_of_timeout(watchdog, 30) + 1));
    return flight;
}

void rli_renew_due(rli_watchdog *watchdog, rli_session *due)
{
    rli_engine *engine = watchdog->engine;
    rli_node *node = rli_topology_hold(watchdog->engine->topology, slot_of(watchdog, due));
    rli_flight *flight = may_send(watchdog, node, due) ? make(watchdog, node, due) : NULL;
    if (!flight) {
        rli_node_release(node);
        return;
    }
    fill(watchdog, flight);
    if (flight->count == 0) {
        discard(flight);
        return;
    }
    pthread_mutex_unlock(&engine->mutex);
    wording own;
    int64_t since_ms = rli_now_ms();
    bool sent = word(flight, &own) && launch(flight, &own.call);
    clear(&own);
    if (!sent)
        rli_topology_suspect(watchdog->engine->topology);
    pthread_mutex_lock(&engine->mutex);
    if (!sent && node && rli_now_ms() - since_ms > part_of_timeout(watchdog, 12))
        note_silence(watchdog, node);
    if (!sent)
        close_flight(flight, NULL, since_ms);
}
