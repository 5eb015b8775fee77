/* Raise: raises the token counter of a fenced lock that its owner holds, as a member of a red lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/raise.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/holds.h"
#include "engine/session.h"
#include "net/reply.h"

#include <inttypes.h>
#include <stdio.h>

static rlock_status not_held(const rli_names *names, rlock_status status)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(status, "lock \"%s\" is not held by this owner, so it has no token",
                    rli_show_name(names->name, shown));
}

static rlock_status judge(const rli_raising *raising)
{
    const rli_raise *asked = raising->asked;
    rli_session *session = raising->session;
    int64_t held;
    if (!rli_reply_integer(raising->call.reply, &held))
        return rli_reply_unexpected(raising->call.reply, asked->names->name);
    bool stands = session->phase == RLI_OPEN && session->count > 0;
    if (!held && stands)
        rli_session_declare_lost(asked->engine, session, RLOCK_LOST_GONE, true);
    if (!held || !stands)
        return not_held(asked->names, RLOCK_LOST);
    session->cold->token = asked->token;
    return RLOCK_OK;
}

/* Prepares the request. Mutex held. The caller has an attempt in the session, which keeps it alive, and the session's
 * turn. */
static void begin_request(rli_raising *raising)
{
    const rli_raise *asked = raising->asked;
    const rli_names *names = asked->names;
    rli_call *call = &raising->call;
    rli_owner_text(asked->engine->client_id, raising->session->number, raising->owner);
    snprintf(raising->token, sizeof raising->token, "%" PRIu64, asked->token);
    rli_call_script(call, &rli_script_fenced_raise, 2);
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->keys[0], names->key_lengths[0]);
    rli_call_add_text(call, raising->owner);
    rli_call_add_text(call, raising->token);
    raising->sent = true;
}

/* Sends the request, or goes on with it. Mutex held on entry and return, not meanwhile. */
static rlock_status go_on(rli_raising *raising)
{
    rli_engine *engine = raising->asked->engine;
    rli_session *session = raising->session;
    rli_engine_unlock(engine);
    rlock_status status = rli_call_run(&raising->call, engine->topology, raising->op, &session->entry->route);
    rli_engine_lock(engine);
    if (status == RLI_WAITING)
        return status;
    rli_session_end_turn(session);
    if (status == RLOCK_OK)
        status = judge(raising);
    rli_call_clear(&raising->call);
    rli_session_drop_attempt(engine, session);
    return status;
}

void rli_raise_begin(rli_raising *raising, const rli_raise *asked, rli_operation *op)
{
    raising->asked = asked;
    raising->op = op;
    raising->session = NULL;
    raising->sent = false;
    op->deadline_ms = rli_after_ms(asked->answer_ms);
}

rlock_status rli_raise_go_on(rli_raising *raising)
{
    const rli_raise *asked = raising->asked;
    rlock_status status = RLOCK_OK;
    rli_engine_lock(asked->engine);
    if (!raising->sent)
        status = rli_session_take_turn(asked->engine, asked->names, asked->kind, &asked->owner, raising->op,
                                       raising->op->deadline_ms, false, &raising->session);
    if (status == RLOCK_OK && !raising->session)
        status = not_held(asked->names, RLOCK_NOT_OWNER);
    if (status == RLOCK_OK && !raising->sent)
        begin_request(raising);
    if (raising->sent)
        status = go_on(raising);
    rli_engine_unlock(asked->engine);
    return status;
}
