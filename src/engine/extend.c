/* Extend: lengthens what an owner holds already. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/extend.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/session.h"
#include "net/reply.h"

static rlock_status not_held(const rli_names *names)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_NOT_OWNER, "lock \"%s\" is not held by this owner, so it can't be extended",
                    rli_show_name(names->name, shown));
}

static rlock_status lost(rli_engine *engine, rli_session *session, rlock_lost_reason reason, const rli_names *names)
{
    char shown[RLI_NAME_SHOWN];
    if (session->phase == RLI_OPEN && session->count > 0)
        rli_session_declare_lost(engine, session, reason, true);
    return rli_fail(RLOCK_LOST, "lock \"%s\" ran out or was forced open before it could be extended",
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
    if (held == RLI_NOT_HERE)
        return rli_fail(RLOCK_UNAVAILABLE, "lock \"%s\" could not be extended: the cluster moves its slot",
                        rli_show_name(names->name, shown));
    if (held < 1)
        return lost(engine, session, RLOCK_LOST_GONE, names);
    /* After the deadline, the hold may have ended on the server before the extension ran. */
    if (session->phase != RLI_OPEN || rli_now_ms() >= session->deadline_ms) {
        rli_session_in_doubt_if_held(engine, session, lease_ms);
        return lost(engine, session, RLOCK_LOST_EXPIRED, names);
    }
    rli_session_extend_deadline(session, call->sent_ms, lease_ms);
    return RLOCK_OK;
}

/* Sends the extension. Mutex held on entry and return, not meanwhile. The caller has an attempt in the session,
 * which keeps it alive, and the session's turn, which ends here. */
static rlock_status extend(rli_engine *engine, rli_session *session, rli_operation *op, const rli_names *names,
                           int64_t lease_ms)
{
    char owner[RLI_OWNER_TEXT];
    rli_owner_text(engine, session->number, owner);
    const rli_kind *kind = session->kind;
    pthread_mutex_unlock(&engine->mutex);

    rli_call call;
    rli_call_script(&call, kind->renew, 1);
    rli_call_add(&call, names->name, names->length);
    rli_call_add_number(&call, lease_ms);
    rli_call_add_text(&call, owner);
    rlock_status status = rli_call_run(&call, engine->topology, op, &session->entry->route);

    pthread_mutex_lock(&engine->mutex);
    rli_session_end_turn(session);
    if (call.unanswered)
        rli_session_in_doubt_if_held(engine, session, lease_ms);
    if (status == RLOCK_OK)
        status = judge(engine, session, &call, names, lease_ms);
    rli_call_clear(&call);
    return status;
}

rlock_status rli_extend_run(rli_engine *engine, const rli_kind *kind, const rli_names *names, const rli_owner *owner,
                            int64_t lease_ms, int64_t answer_ms)
{
    rli_operation op;
    rlock_status status = rli_operation_begin(&op, engine->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    op.deadline_ms = rli_after_ms(answer_ms);
    rli_session *session;
    pthread_mutex_lock(&engine->mutex);
    status = rli_session_take_turn(engine, names, kind, owner, &op, op.deadline_ms, false, &session);
    if (session) {
        status = extend(engine, session, &op, names, lease_ms);
        rli_session_drop_attempt(engine, session);
    } else if (status == RLOCK_OK) {
        status = not_held(names);
    }
    pthread_mutex_unlock(&engine->mutex);
    rli_operation_end(&op);
    return status;
}
