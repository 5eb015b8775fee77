/* Extend: lengthens what an owner holds already. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/extend.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/holds.h"
#include "engine/session.h"
#include "net/reply.h"

rlock_status rli_extend_was_lost(const rli_names *names)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_LOST,
                    "lock \"%s\" was lost by this owner, so it can't be extended; unlock it as often as it was "
                    "locked",
                    rli_show_name(names->name, shown));
}

/* Mutex held. */
static rlock_status not_held(const rli_extend *asked)
{
    char shown[RLI_NAME_SHOWN];
    rli_entry *entry = rli_entry_find(asked->engine, asked->names);
    if (entry && rli_session_find_lost_of(asked->engine, entry, asked->kind, &asked->owner, asked->sharded))
        return rli_extend_was_lost(asked->names);
    return rli_fail(RLOCK_NOT_OWNER, "lock \"%s\" is not held by this owner, so it can't be extended",
                    rli_show_name(asked->names->name, shown));
}

static rlock_status lost(rli_engine *engine, rli_session *session, rlock_lost_reason reason, const rli_names *names)
{
    char shown[RLI_NAME_SHOWN];
    bool held = session->phase == RLI_OPEN && session->count > 0;
    if (held && reason == RLOCK_LOST_GONE)
        rli_session_declare_gone(engine, session);
    else if (held)
        rli_session_declare_lost(engine, session, reason, true);
    return rli_fail(RLOCK_LOST, "lock \"%s\" expired or was forced open before it could be extended",
                    rli_show_name(names->name, shown));
}

static rlock_status judge(rli_engine *engine, rli_session *session, const rli_call *call, const rli_names *names,
                          int64_t lease_ms)
{
    int64_t held;
    char shown[RLI_NAME_SHOWN];
    if (call->reply->type != REDIS_REPLY_ARRAY || call->reply->elements != 1 ||
        !rli_reply_integer(call->reply->element[0], &held))
        return rli_reply_unexpected(call->reply, names->name);
    bool ended = session->phase != RLI_OPEN || rli_now_ms() >= session->deadline_ms;
    if (held == RLI_NOT_HERE && !ended && engine->settings->mode == RLI_CLUSTER)
        return rli_fail(RLOCK_UNAVAILABLE, "lock \"%s\" could not be extended: the cluster moves its slot",
                        rli_show_name(names->name, shown));
    if (held < 1)
        return lost(engine, session, held == RLI_NOT_HERE && ended ? RLOCK_LOST_EXPIRED : RLOCK_LOST_GONE, names);
    /* After the deadline, the hold may have ended on the server before the extension ran. */
    if (ended) {
        rli_session_in_doubt_if_held(engine, session, lease_ms);
        return lost(engine, session, RLOCK_LOST_EXPIRED, names);
    }
    rli_session_extend_deadline(engine, session, call->sent_ms, lease_ms);
    /* A release in doubt is repeated until the longest lease would have ended. */
    if (lease_ms > rli_session_lease(engine, session))
        session->cold->explicit_lease_ms = lease_ms;
    return RLOCK_OK;
}

/* Prepares the request. Mutex held. The caller has an attempt in the session, which keeps it alive, and the session's
 * turn. */
static void begin_request(rli_extending *extending)
{
    const rli_extend *asked = extending->asked;
    rli_call *call = &extending->call;
    rli_session *writer = rli_session_find_writer(asked->engine, extending->session->entry, asked->kind, &asked->owner);
    if (writer) /* the two holds share the lock's PTTL */
        rli_session_in_doubt_if_held(asked->engine, writer, asked->lease_ms);
    rli_owner_text(asked->engine->client_id, extending->session->number, extending->owner);
    rli_call_script(call, extending->session->kind->renew, 1);
    rli_call_add(call, asked->names->name, asked->names->length);
    rli_call_add_number(call, asked->lease_ms);
    rli_call_add_text(call, extending->owner);
    if (asked->names->values)
        rli_group_add_values(call, asked->names->values);
    extending->sent = true;
}

/* Sends the request, or goes on with it. Mutex held on entry and return, not meanwhile. */
static rlock_status go_on(rli_extending *extending)
{
    const rli_extend *asked = extending->asked;
    rli_engine *engine = asked->engine;
    rli_session *session = extending->session;
    rli_call *call = &extending->call;
    rli_engine_unlock(engine);
    rlock_status status = rli_call_run(call, engine->topology, extending->op, &session->entry->route);
    rli_engine_lock(engine);
    if (status == RLI_WAITING)
        return status;
    rli_session_end_turn(session);
    if (call->unanswered)
        rli_session_in_doubt_if_held(engine, session, asked->lease_ms);
    if (status == RLOCK_OK)
        status = judge(engine, session, call, asked->names, asked->lease_ms);
    rli_call_clear(call);
    rli_session_drop_attempt(engine, session);
    return status;
}

void rli_extend_begin(rli_extending *extending, const rli_extend *asked, rli_operation *op)
{
    extending->asked = asked;
    extending->op = op;
    extending->session = NULL;
    extending->sent = false;
    op->deadline_ms = rli_after_ms(asked->answer_ms);
}

rlock_status rli_extend_go_on(rli_extending *extending)
{
    const rli_extend *asked = extending->asked;
    rlock_status status = RLOCK_OK;
    rli_engine_lock(asked->engine);
    if (!extending->sent)
        status = rli_session_take_turn(asked->engine, asked->names, asked->kind, &asked->owner, extending->op,
                                       extending->op->deadline_ms, false, &extending->session);
    if (status == RLOCK_OK && !extending->session)
        status = not_held(asked);
    if (status == RLOCK_OK && !extending->sent)
        begin_request(extending);
    if (extending->sent)
        status = go_on(extending);
    rli_engine_unlock(asked->engine);
    return status;
}
