/* Departures: last releases that nobody waits for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/departure.h"

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/session.h"
#include "net/reply.h"

#include <stdlib.h>

/* --- what became of it --- */

static void lose(rli_engine *engine, rli_session *session, rlock_lost_reason reason)
{
    rli_session_lose(engine, session, reason, true);
    session->reported_count = 1; /* its owner has given it back already */
}

/* Its owner's next acquire goes behind it on the same connection, unless the name's requests have gone another way
 * since: then that one may have replaced the field before this release ran, which is no loss. */
static bool came_first(const rli_departure *departure)
{
    const rli_entry *entry = departure->session->entry;
    const rli_topology *topology = departure->engine->topology;
    return !departure->replaced ||
           (atomic_load_explicit(&entry->route.lane, memory_order_relaxed) == departure->lane &&
            atomic_load(&departure->lane->drops) == departure->drops &&
            !rli_topology_has_replicas(topology, rli_topology_slot(topology, entry->name, entry->length)));
}

/* It has run. True: the hold had ended before, and is reported as lost. */
static bool judge(rli_engine *engine, rli_session *session, const redisReply *reply, bool lost_if_absent)
{
    const char *unheard;
    rli_released released = session->kind->released(reply, &unheard);
    rli_session_forget_departure(engine, session);
    if (released == RLI_ODD_RELEASE)
        lose(engine, session, RLOCK_LOST_NOT_RELEASED);
    else if (released == RLI_NOT_HELD && lost_if_absent)
        lose(engine, session, rli_now_ms() < session->deadline_ms ? RLOCK_LOST_GONE : RLOCK_LOST_EXPIRED);
    return session->phase == RLI_OVER;
}

/* The server answered, and has not run it. */
static void refused(rli_engine *engine, rli_session *session, const redisReply *reply)
{
    rli_session_doubt_release(engine, session);
    if (rli_reply_advice(reply) != RLI_REFUSED)
        return; /* the background asks whom it should, or once more */
    rli_session_forget_departure(engine, session);
    lose(engine, session, RLOCK_LOST_NOT_RELEASED);
}

static void note_answer(rli_engine *engine, rli_departure *departure, const redisReply *reply)
{
    const char *unheard;
    rli_session *session = departure->session;
    if (reply->type == REDIS_REPLY_ERROR) {
        refused(engine, session, reply);
        return;
    }
    session->kind->released(reply, &unheard);
    rli_session_note_unheard(session, unheard);
    judge(engine, session, reply, came_first(departure));
}

static void told(rli_slot *slot)
{
    rli_departure *departure = (rli_departure *)(void *)slot;
    redisReply *reply = slot->reply;
    rli_engine *engine = departure->engine;
    pthread_mutex_lock(&engine->mutex);
    rli_session *session = departure->session;
    departure->told = true;
    engine->posted--;
    if (session->phase == RLI_OPEN || session->phase == RLI_LEAVING)
        session->phase = RLI_DONE;
    if (slot->outcome == RLI_ANSWERED) {
        note_answer(engine, departure, reply);
    } else {
        departure->unanswered = slot->left;
        rli_session_doubt_release(engine, session);
    }
    rli_session_settle(engine, session);
    pthread_mutex_unlock(&engine->mutex);
    freeReplyObject(reply);
}

/* --- sending --- */

bool rli_departure_send(rli_engine *engine, rli_session *session, rli_call *call)
{
    rli_lane *lane = engine->settings->unlock_waits
                         ? NULL
                         : rli_call_lane_to_post(call, engine->topology, &session->entry->route);
    rli_departure *departure = lane ? calloc(1, sizeof *departure) : NULL;
    if (!departure)
        return false;
    departure->slot.done = told;
    departure->engine = engine;
    departure->session = session;
    departure->lane = lane;
    departure->drops = atomic_load(&lane->drops);
    session->extra->departure = departure;
    engine->departures++;
    engine->posted++;
    rli_engine_collect_soon(engine);
    pthread_mutex_unlock(&engine->mutex);
    bool posted = rli_call_post(call, engine->topology, lane, &departure->slot, &departure->run);
    pthread_mutex_lock(&engine->mutex);
    if (!posted) {
        engine->posted--;
        rli_session_forget_departure(engine, session);
    } else if (session->extra->departure && !session->extra->departure->told) {
        session->phase = RLI_LEAVING; /* the lane has its slot until then: the session stays */
    }
    return posted;
}

/* --- in the background --- */

bool rli_departure_repeated(rli_engine *engine, rli_session *session, rlock_status status, const rli_call *call)
{
    rli_departure *departure = session->extra->departure;
    bool heard = departure->unanswered;
    if (call->unanswered && !departure->unanswered) {
        departure->unanswered = true;
        departure->run = call->run;
    }
    if (status != RLOCK_OK)
        return false;
    /* Absent, it was released by the attempt that had no answer, if it can't have ended otherwise. */
    bool released = heard && departure->run && departure->run == call->run && rli_now_ms() < session->deadline_ms;
    if (!judge(engine, session, call->reply, !released && !departure->replaced))
        return false;
    rli_session_settle(engine, session);
    return true;
}

void rli_departure_end(rli_engine *engine, rli_session *session)
{
    rli_session_forget_departure(engine, session);
    lose(engine, session, RLOCK_LOST_NOT_RELEASED);
    rli_session_settle(engine, session);
}

/* --- the client's end --- */

void rli_departures_await(rli_engine *engine, int64_t until_ms)
{
    pthread_mutex_lock(&engine->mutex);
    bool any = engine->departures > 0;
    engine->closes_ms = until_ms;
    pthread_mutex_unlock(&engine->mutex);
    if (!any)
        return;
    rli_topology_collect(engine->topology, until_ms);
    struct timespec at = rli_monotonic_at(until_ms);
    pthread_mutex_lock(&engine->mutex);
    while (engine->departures > 0 && pthread_cond_timedwait(&engine->departed, &engine->mutex, &at) == 0)
        continue;
    pthread_mutex_unlock(&engine->mutex);
}
