/* Release: gives back one hold of its owner. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/release.h"
#include "engine/not_found.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/async_release.h"
#include "engine/handoff.h"
#include "engine/holds.h"
#include "engine/local_handoff.h"
#include "engine/session.h"
#include "engine/synced.h"
#include "net/reply.h"

#include <stdio.h>
#include <stdlib.h>

/* The message begins with Redisson's words. */
static rlock_status not_owner(const rli_engine *engine, const rli_names *names, const rli_owner *owner)
{
    char shown[RLI_NAME_SHOWN];
    long long number = (long long)owner->number;
    rli_show_name(names->name, shown);
    if (owner->named)
        return rli_fail(RLOCK_NOT_OWNER,
                        "attempt to unlock lock, not locked by current owner by node id: %s owner-id: %lld; "
                        "lock \"%s\" is not held by owner %lld",
                        engine->client_id, number, shown, number);
    return rli_fail(
        RLOCK_NOT_OWNER,
        "attempt to unlock lock, not locked by current thread by node id: %s thread-id: %lld; lock \"%s\" is not "
        "held by this thread: it was unlocked already, or locked in another thread; a lock that one thread takes and another "
        "gives back needs an owner of its own, as of rlock_for_owner()",
        engine->client_id, number, shown);
}

static rlock_status lost(const rli_names *names)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_LOST,
                    "lock \"%s\" expired or was forced open before this unlock; another owner may have changed what "
                    "it protects",
                    rli_show_name(names->name, shown));
}

static rlock_status not_renewed(const rli_names *names, rli_refusal refused)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(
        RLOCK_LOST,
        "lock \"%s\" expired before this unlock, because the server refused to renew it: %s; another owner may have "
        "changed what it protects",
        rli_show_name(names->name, shown), rli_refusal_words(refused));
}

/* Returns the lost session to which the hold that is meant belongs; NULL: none. */
static rli_session *find_lost(const rli_release *asked)
{
    rli_entry *entry = rli_entry_find(asked->engine, asked->names);
    if (!entry)
        return NULL;
    rli_session *meant = NULL;
    if (asked->only)
        meant = rli_session_find_number(asked->engine, entry, asked->kind, &asked->owner, asked->only);
    if (meant)
        return meant->phase == RLI_LOST ? meant : NULL;
    /* An unlock of the owner's may have given that one back in place of one that it had lost: then this is over. */
    return rli_session_find_lost_of(asked->engine, entry, asked->kind, &asked->owner, asked->sharded);
}

/* Answers an owner that does not have the hold that is meant. It may have had it before and lost it. */
static rlock_status release_nothing(const rli_release *asked)
{
    rli_engine *engine = asked->engine;
    rli_session *gone = find_lost(asked);
    if (!gone)
        return not_owner(engine, asked->names, &asked->owner);
    if (asked->sharded)
        rli_session_remove_sharded(gone);
    gone->count--;
    rli_session_limit_sharded(gone);
    /* The waiters in the server's queue did not notice that the lock expired: the compensating release notifies their
     * head. */
    if (rli_kind_queues_on_server(asked->kind))
        rli_session_in_doubt(engine, gone, 1);
    rlock_lost_reason reason = gone->reason;
    rli_refusal refused = gone->refused;
    rli_session_settle(engine, gone);
    return reason == RLOCK_LOST_REFUSED ? not_renewed(asked->names, refused) : lost(asked->names);
}

/* Reads what the server answered to the last release. */
static rlock_status judge_last(rli_releasing *release)
{
    const char *unheard;
    rli_session *session = release->session;
    const rli_call *call = &release->call;
    rli_release_outcome released = release->kind->parse_release(call->reply, &unheard);
    rli_session_note_unheard_head(session, release->kind, unheard);
    if (released == RLI_RELEASE_MALFORMED)
        return rli_reply_unexpected(call->reply, release->names->name);
    if (released == RLI_RELEASED)
        return RLOCK_OK;
    /* The server found nothing. If an earlier attempt went unanswered, that one released the hold: it cannot have
     * ended otherwise, since its deadline has not passed and the server has not restarted. */
    if (call->unanswered && call->same_run && rli_now_ms() < session->deadline_ms)
        return RLOCK_OK;
    rli_queue_let_leaders_ask(release->engine, session->entry);
    rli_session_not_found(release->engine, session);
    return lost(release->names);
}

static rlock_status release_last(rli_releasing *release, rlock_status status)
{
    if (release->session->phase == RLI_OPEN)
        rli_session_become(release->session, RLI_DONE);
    if (status == RLOCK_OK)
        return judge_last(release);
    /* The outcome is unknown: the watchdog repeats the release in the background. */
    rli_session_release_in_doubt(release->engine, release->session);
    return status;
}

/* Returns whether the request gave back the inner one of several holds, although nothing is left of the outer ones.
 * stands_ms: until when that hold was valid; 0: all holds of this kind end together. If an earlier attempt went
 * unanswered, it may have done the release and left nothing for the next one to find. */
static bool was_inner(const rli_call *call, rli_release_outcome released, int64_t stands_ms)
{
    int64_t since_ms = released == RLI_RELEASED ? call->sent_ms : rli_now_ms();
    return since_ms < stands_ms && (released == RLI_RELEASED || (call->unanswered && call->same_run));
}

/* The request lengthens what the outer holds have on the server. They may be lost when it does. */
static void note_lengthened(const rli_releasing *release)
{
    if (release->session->kind->sharing != RLI_READING)
        rli_session_in_doubt_if_held(release->engine, release->session, release->request.lease_ms);
}

/* The request went unanswered at least once, so it may run late. */
static void note_late(const rli_releasing *release, rlock_status status)
{
    rli_session *session = release->session;
    note_lengthened(release);
    if (session->kind->sharing != RLI_READING)
        return;
    rli_session_note_late_release(session);
    /* The outer holds may be lost before this one ends on the server. */
    if (status != RLOCK_OK)
        rli_session_in_doubt_if_held(release->engine, session, release->ends_ms - rli_now_ms());
}

static rlock_status release_one(rli_releasing *release, rlock_status status)
{
    const char *unheard;
    rli_session *session = release->session;
    const rli_call *call = &release->call;
    if (status != RLOCK_OK || call->unanswered)
        note_late(release, status);
    if (status != RLOCK_OK)
        return status;
    rli_release_outcome released = release->kind->parse_release(call->reply, &unheard);
    if (released == RLI_RELEASE_MALFORMED)
        return rli_reply_unexpected(call->reply, release->names->name);
    bool is_open = session->phase == RLI_OPEN;
    if (is_open && released == RLI_NOT_HELD)
        rli_session_declare_lost(release->engine, session, RLOCK_LOST_GONE, true);
    if (!is_open && released != RLI_NOT_HELD)
        note_lengthened(release);
    /* The outer holds may have ended before this one did. Their own unlocks report that. */
    if (!is_open || released == RLI_NOT_HELD) {
        /* what they were told is out of date, if only because of this request */
        rli_queue_let_leaders_ask(release->engine, session->entry);
        return was_inner(call, released, release->stands_ms) ? RLOCK_OK : lost(release->names);
    }
    if (session->kind->sharing != RLI_READING)
        rli_session_extend_deadline(release->engine, session, call->sent_ms, release->request.lease_ms);
    return RLOCK_OK;
}

static bool has_replicas(const rli_engine *engine, const rli_entry *entry)
{
    const rli_topology *topology = engine->topology;
    return rli_topology_has_replicas(topology, rli_topology_slot(topology, entry->name, entry->length));
}

/* Removes the innermost hold and prepares the request that releases it on the server. Returns whether the operation has
 * to wait for the answer. Mutex held. The caller has an attempt in the session, which keeps it alive, and the session's
 * turn. */
static bool begin_request(rli_releasing *release)
{
    rli_engine *engine = release->engine;
    rli_session *session = release->session;
    const rli_kind *kind = release->kind;
    rli_call *call = &release->call;
    rli_owner_text(engine->client_id, session->number, release->owner);
    int highest = session->cold->highest;
    bool reads = session->kind->sharing == RLI_READING;
    release->stands_ms = reads ? session->deadline_ms : 0;
    release->ends_ms = reads ? rli_session_end_on_server(engine, session) : 0;
    if (release->sharded)
        rli_session_remove_sharded(session);
    /* From here on nothing renews the hold. A renewal under way finds no field, which is no loss. */
    rli_session_remove_hold(engine, session);
    int count = session->count;
    session->releasing = count == 0;
    release->request = (rli_request){.names = release->names,
                                     .owner = release->owner,
                                     .lease_ms = rli_session_lease(engine, session),
                                     .count = count,
                                     .highest = highest,
                                     .unheard = ""};
    /* Replicas would have to confirm the successor's grant, too. */
    release->hands_over = count == 0 && !has_replicas(engine, session->entry) &&
                          rli_handoff_begin(&release->handoff, engine, session, kind, &release->request, call);
    if (count == 0 && !release->hands_over && session->entry->queues) {
        rli_yield_drop_holder(&session->entry->queues->yield, session);
        rli_queue_wake_deferred(&session->entry->queues->of[RLI_BY_MESSAGE]);
        rli_queue_wake_deferred(&session->entry->queues->of[RLI_BY_SPINNING]);
    }
    kind->release(call, &release->request);
    call->synced = true; /* the release counts even if no replica confirmed it */
    call->learns = !engine->settings->unlock_waits;
    call->witness = release->hands_over ? &release->handoff.witness : NULL;
    return count > 0 || release->hands_over || !rli_async_release_send(engine, session, kind, call);
}

/* Judges the outcome of the request. Mutex held. */
static rlock_status judge(rli_releasing *release, rlock_status status)
{
    if (release->hands_over)
        rli_handoff_end(&release->handoff, status);
    return release->request.count == 0 ? release_last(release, status) : release_one(release, status);
}

/* The release has ended. Mutex held. */
static void end_turn(rli_releasing *release)
{
    rli_session_end_turn(release->session);
    rli_call_clear(&release->call);
    rli_session_drop_attempt(release->engine, release->session);
}

/* Sends the request, or goes on with it. Mutex held on entry and return, not meanwhile. */
static rlock_status go_on(rli_releasing *release)
{
    rli_engine_unlock(release->engine);
    rlock_status status = rli_call_run(&release->call, release->engine->topology, release->op,
                                       &release->session->entry->route);
    rli_engine_lock(release->engine);
    if (status == RLI_WAITING)
        return status;
    status = judge(release, status);
    end_turn(release);
    return status;
}

/* The session's turn has come. Mutex held. */
static rlock_status start(rli_releasing *release)
{
    if (begin_request(release)) {
        rli_check(release->stage == RLI_RELEASE_AWAITS_TURN);
        release->stage = RLI_RELEASE_UNDER_WAY;
        return go_on(release);
    }
    end_turn(release);
    return RLOCK_OK;
}

/* Whether the owner's session has a hold that is meant. Mutex held. */
static bool has_meant(const rli_release *asked, const rli_session *session)
{
    if (asked->only)
        return session->number == asked->only && (!asked->sharded || rli_session_sharded_count(session) > 0);
    int shards = rli_session_sharded_count(session);
    if (asked->sharded)
        return shards > 0;
    /* Where all that it has is a sharded lock's, an unlock by the name tells first of a lost hold by the name. */
    return shards < session->count ||
           !rli_session_find_lost_of(asked->engine, session->entry, asked->kind, &asked->owner, false);
}

/* There is no memory even for the release. The hold must end anyway, so at least its renewal stops; but only that of a
 * session that is meant. */
static rlock_status forgo(const rli_release *asked)
{
    char shown[RLI_NAME_SHOWN];
    rli_entry *entry = rli_entry_find(asked->engine, asked->names);
    rli_session *session = entry ? rli_session_find_open(asked->engine, entry, asked->kind, &asked->owner) : NULL;
    if (session && !has_meant(asked, session))
        return release_nothing(asked);
    if (session && !session->cold)
        rli_session_abandon_hold(asked->engine, session);
    return rli_fail(RLOCK_NO_MEMORY,
                    "out of memory for the release of lock \"%s\": it is no longer renewed, and becomes free when "
                    "its lease ends",
                    rli_show_name(asked->names->name, shown));
}

/* It has none. One that is meant may have been lost before. Mutex held. */
static rlock_status leave_turn(rli_releasing *release)
{
    const rli_release *asked = release->asked;
    rli_session_end_turn(release->session);
    rli_session_drop_attempt(release->engine, release->session);
    return release_nothing(asked);
}

/* Takes the turn of the owner's session, and begins there. Mutex held. */
static rlock_status take_turn(rli_releasing *release)
{
    const rli_release *asked = release->asked;
    rli_engine *engine = release->engine;
    rlock_status status = rli_session_take_turn(engine, asked->names, asked->kind, &asked->owner, release->op,
                                                RLI_NEVER, true, &release->session);
    if (status == RLI_WAITING)
        return status;
    if (release->session && !has_meant(asked, release->session))
        return leave_turn(release);
    if (release->session && rli_local_handoff_keep(engine, release->session)) {
        rli_session_drop_attempt(engine, release->session);
        return RLOCK_OK;
    }
    if (release->session)
        return start(release);
    if (status == RLOCK_OK)
        return release_nothing(asked);
    return status == RLOCK_NO_MEMORY ? forgo(asked) : status;
}

void rli_release_begin(rli_releasing *release, const rli_release *asked, rli_operation *op)
{
    release->asked = asked;
    release->engine = asked->engine;
    release->op = op;
    release->stage = RLI_RELEASE_AWAITS_TURN;
    release->session = NULL;
    release->kind = asked->kind;
    release->names = asked->names;
    release->sharded = asked->sharded;
    op->outlives_whole = true;
    op->deadline_ms = rli_after_ms(asked->answer_ms);
    /* The answer comes when the replicas have confirmed it, or have not in time. */
    if (asked->answer_ms != RLI_NEVER)
        op->deadline_ms += rli_synced_patience_ms(asked->engine->topology, asked->names->name, asked->names->length);
}

rlock_status rli_release_go_on(rli_releasing *release)
{
    rli_engine_lock(release->engine);
    rlock_status status = release->stage == RLI_RELEASE_AWAITS_TURN ? take_turn(release) : go_on(release);
    rli_engine_unlock(release->engine);
    return status;
}

/* --- a kept hold that nobody takes --- */

/* How long to wait for the answer. */
#define KEPT_MS 250

/* Nothing can be asked now: the watchdog releases it. Mutex held. */
static void leave_to_watchdog(rli_engine *engine, rli_session *kept)
{
    rli_session_remove_hold(engine, kept);
    rli_session_release_in_doubt(engine, kept);
    rli_session_end_turn(kept);
    rli_session_drop_attempt(engine, kept);
}

rlock_status rli_release_kept(rli_engine *engine, rli_session *kept, const rli_names *names, rli_operation *op)
{
    bool begins;
    rli_releasing own, *release = rli_operation_frame(op, &own, sizeof own, &begins);
    bool possible = release && (!begins || rli_gate_check(op->gate) == RLOCK_OK);
    rlock_status status = RLOCK_OK;
    rli_engine_lock(engine);
    if (!possible) {
        leave_to_watchdog(engine, kept);
    } else if (begins) {
        op->cancel = NULL;
        op->outlives_whole = true;
        op->attempts_until_ms = RLI_NEVER;
        op->deadline_ms = rli_after_ms(KEPT_MS);
        release->engine = engine;
        release->op = op;
        release->stage = RLI_RELEASE_AWAITS_TURN;
        release->session = kept;
        release->kind = kept->kind;
        release->names = names;
        release->sharded = false;
        status = start(release); /* unanswered, the watchdog repeats it */
    } else {
        status = go_on(release);
    }
    rli_engine_unlock(engine);
    if (status == RLI_WAITING)
        return status;
    rli_operation_end_frame(op);
    return RLOCK_OK;
}
