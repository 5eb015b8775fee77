/* Async release: a last release whose answer no thread waits for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/async_release.h"

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/holds.h"
#include "engine/session.h"
#include "net/reply.h"

#include <stdlib.h>

/* --- the outcome --- */

void rli_session_forget_async_release(rli_engine *engine, rli_session *session)
{
    free(session->cold->async_release);
    session->cold->async_release = NULL;
    if (--engine->async_releases == 0)
        pthread_cond_broadcast(&engine->departed);
}

static void lose(rli_engine *engine, rli_session *session, rlock_lost_reason reason)
{
    rli_session_declare_lost(engine, session, reason, true);
    session->reported_count = 1; /* its owner has given back this last hold already */
}

/* Returns whether the release ran before the owner's next acquire. That acquire follows it on the same connection,
 * unless the name's requests have taken another way since. Then the acquire may have replaced the field before this
 * release ran, which is no loss. */
static bool came_first(const rli_async_release *async_release)
{
    const rli_entry *entry = async_release->session->entry;
    const rli_topology *topology = async_release->engine->topology;
    return !async_release->replaced ||
           (atomic_load_explicit(&entry->route.pipeline, memory_order_relaxed) == async_release->pipeline &&
            atomic_load(&async_release->pipeline->drops) == async_release->drops &&
            !rli_topology_has_replicas(topology, rli_topology_slot(topology, entry->name, entry->length)));
}

/* Applies what the script answered. Returns whether the hold had ended before and is reported as lost. */
static bool judge(rli_engine *engine, rli_session *session, rli_release_outcome released, bool lost_if_absent)
{
    rli_session_forget_async_release(engine, session);
    if (released == RLI_RELEASE_MALFORMED)
        lose(engine, session, RLOCK_LOST_NOT_RELEASED);
    else if (released == RLI_NOT_HELD && lost_if_absent)
        lose(engine, session, rli_now_ms() < session->deadline_ms ? RLOCK_LOST_GONE : RLOCK_LOST_EXPIRED);
    return session->phase == RLI_LOST;
}

/* Applies an error that the server answered instead of running the script. */
static void refused(rli_engine *engine, rli_session *session, const redisReply *reply)
{
    rli_session_release_in_doubt(engine, session);
    if (rli_reply_action_of(reply) != RLI_REFUSED)
        return; /* the watchdog repeats it, at the right server or once more */
    rli_session_forget_async_release(engine, session);
    lose(engine, session, RLOCK_LOST_NOT_RELEASED);
}

static void note_answer(rli_engine *engine, rli_async_release *async_release, const redisReply *reply)
{
    const char *unheard;
    rli_session *session = async_release->session;
    if (reply->type == REDIS_REPLY_ERROR) {
        refused(engine, session, reply);
        return;
    }
    rli_release_outcome released = async_release->kind->parse_release(reply, &unheard);
    rli_session_note_unheard_head(session, async_release->kind, unheard);
    judge(engine, session, released, came_first(async_release));
}

/* rli_pending.done: the request has its outcome. Called by any thread. */
static void told(rli_pending *pending)
{
    rli_async_release *async_release = (rli_async_release *)(void *)pending;
    redisReply *reply = pending->reply;
    rli_engine *engine = async_release->engine;
    rli_engine_lock(engine);
    rli_session *session = async_release->session;
    async_release->told = true;
    engine->posted--;
    if (session->phase == RLI_OPEN || session->phase == RLI_RELEASING_ASYNC)
        rli_session_become(session, RLI_DONE);
    if (pending->outcome == RLI_ANSWERED) {
        note_answer(engine, async_release, reply);
    } else {
        async_release->unanswered = pending->left;
        rli_session_release_in_doubt(engine, session);
    }
    rli_session_settle(engine, session);
    rli_engine_unlock(engine);
    freeReplyObject(reply);
}

/* --- sending --- */

bool rli_async_release_send(rli_engine *engine, rli_session *session, const rli_kind *kind, rli_call *call)
{
    rli_pipeline *pipeline = engine->settings->unlock_waits
                                 ? NULL
                                 : rli_call_pipeline_to_post(call, engine->topology, &session->entry->route);
    rli_async_release *async_release = pipeline ? calloc(1, sizeof *async_release) : NULL;
    if (!async_release)
        return false;
    async_release->pending.done = told;
    async_release->engine = engine;
    async_release->session = session;
    async_release->kind = kind;
    async_release->pipeline = pipeline;
    async_release->drops = atomic_load(&pipeline->drops);
    session->cold->async_release = async_release;
    engine->async_releases++;
    engine->posted++;
    rli_engine_collect_soon(engine);
    rli_engine_unlock(engine);
    bool posted = rli_call_post(call, engine->topology, pipeline, &async_release->pending, &async_release->run_id);
    rli_engine_lock(engine);
    if (!posted) {
        engine->posted--;
        rli_session_forget_async_release(engine, session);
    } else if (session->cold->async_release && !session->cold->async_release->told) {
        rli_session_become(session,
                           RLI_RELEASING_ASYNC); /* the pipeline uses `pending` until then, so the session must stay */
    }
    return posted;
}

/* --- repeated by the watchdog --- */

bool rli_async_release_apply_retry(rli_engine *engine, rli_session *session, rlock_status status,
                                   rli_release_outcome outcome, const rli_call *call)
{
    rli_async_release *async_release = session->cold->async_release;
    bool heard = async_release->unanswered;
    if (call->unanswered && !async_release->unanswered) {
        async_release->unanswered = true;
        async_release->run_id = call->run_id;
    }
    if (status != RLOCK_OK)
        return false;
    /* Nothing there: the unanswered attempt released it, if it cannot have ended otherwise. */
    bool released = heard && async_release->run_id && async_release->run_id == call->run_id &&
                    rli_now_ms() < session->deadline_ms;
    if (!judge(engine, session, outcome, !released && !async_release->replaced))
        return false;
    rli_session_settle(engine, session);
    return true;
}

void rli_async_release_stop_retrying(rli_engine *engine, rli_session *session)
{
    rli_session_forget_async_release(engine, session);
    lose(engine, session, RLOCK_LOST_NOT_RELEASED);
    rli_session_settle(engine, session);
}
