/* Release: gives back one hold of its owner, or all holds by force. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/release.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/async_release.h"
#include "engine/handoff.h"
#include "engine/local_handoff.h"
#include "engine/session.h"
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
        "attempt to unlock lock, not locked by current thread by node id: %s thread-id: %lld; "
        "lock \"%s\" is not held by this thread: unlock it in the thread that locked it, or lock it through "
        "rlock_for_owner(), for an owner that is no thread",
        engine->client_id, number, shown);
}

static rlock_status lost(const rli_names *names)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_LOST,
                    "lock \"%s\" was held by this owner, but it ran out or was forced open before this "
                    "unlock; what it protects may have been changed by another",
                    rli_show_name(names->name, shown));
}

/* There is no memory even for the release. The hold must end anyway, so at least its renewal stops. */
static rlock_status forgo(rli_engine *engine, const rli_kind *kind, const rli_names *names, const rli_owner *owner)
{
    char shown[RLI_NAME_SHOWN];
    rli_entry *entry = rli_entry_find(engine, names);
    rli_session *session = entry ? rli_session_find_open(engine, entry, kind, owner) : NULL;
    if (session && !session->cold)
        rli_session_abandon_hold(engine, session);
    return rli_fail(RLOCK_NO_MEMORY,
                    "out of memory for the release of lock \"%s\": it is no longer renewed, and is free when "
                    "its lease has ended",
                    rli_show_name(names->name, shown));
}

/* Answers an owner that holds nothing now. It may have held the lock before and lost it. */
static rlock_status release_nothing(rli_engine *engine, const rli_kind *kind, const rli_names *names,
                                    const rli_owner *owner)
{
    rli_entry *entry = rli_entry_find(engine, names);
    rli_session *over = entry ? rli_session_find_lost(engine, entry, kind, owner) : NULL;
    if (!over)
        return not_owner(engine, names, owner);
    over->count--;
    /* The waiters in the server's queue did not notice that the lock expired: the compensating release notifies their
     * head. */
    if (kind->queues)
        rli_session_in_doubt(engine, over, 1);
    rli_session_settle(engine, over);
    return lost(names);
}

/* Reads what the server answered to the last release. */
static rlock_status judge_last(rli_session *session, const rli_call *call, const rli_kind *kind, const rli_names *names)
{
    const char *unheard;
    rli_release_outcome released = kind->parse_release(call->reply, &unheard);
    rli_session_note_unheard_head(session, unheard);
    if (released == RLI_RELEASE_MALFORMED)
        return rli_reply_unexpected(call->reply, names->name);
    if (released == RLI_RELEASED)
        return RLOCK_OK;
    /* The server found nothing. If an earlier attempt went unanswered, that one released the hold: it cannot have
     * ended otherwise, since its deadline has not passed and the server has not restarted. */
    if (call->unanswered && call->same_run && rli_now_ms() < session->deadline_ms)
        return RLOCK_OK;
    return lost(names);
}

static rlock_status release_last(rli_engine *engine, rli_session *session, rlock_status status, const rli_call *call,
                                 const rli_kind *kind, const rli_names *names)
{
    if (session->phase == RLI_OPEN)
        rli_session_become(session, RLI_DONE);
    if (status == RLOCK_OK)
        return judge_last(session, call, kind, names);
    /* The outcome is unknown: the watchdog repeats the release in the background. */
    rli_session_release_in_doubt(engine, session);
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

static rlock_status release_one(rli_engine *engine, rli_session *session, rlock_status status, const rli_call *call,
                                const rli_kind *kind, const rli_names *names, int64_t lease_ms, int64_t stands_ms)
{
    const char *unheard;
    rli_release_outcome released = status == RLOCK_OK ? kind->parse_release(call->reply, &unheard)
                                                      : RLI_RELEASE_MALFORMED;
    if (status != RLOCK_OK)
        return status;
    if (released == RLI_RELEASE_MALFORMED)
        return rli_reply_unexpected(call->reply, names->name);
    bool is_open = session->phase == RLI_OPEN;
    if (is_open && released == RLI_NOT_HELD)
        rli_session_declare_lost(engine, session, RLOCK_LOST_GONE, true);
    /* The outer holds may have ended before this one did. Their own unlocks report that. */
    if (!is_open || released == RLI_NOT_HELD)
        return was_inner(call, released, stands_ms) ? RLOCK_OK : lost(names);
    if (!session->kind->levels)
        rli_session_extend_deadline(session, call->sent_ms, lease_ms);
    return RLOCK_OK;
}

static bool has_replicas(const rli_engine *engine, const rli_entry *entry)
{
    const rli_topology *topology = engine->topology;
    return rli_topology_has_replicas(topology, rli_topology_slot(topology, entry->name, entry->length));
}

/* Releases the innermost hold. Mutex held on entry and return, not meanwhile. The caller has an attempt in the
 * session, which keeps it alive, and the session's turn, which ends here. */
static rlock_status release(rli_engine *engine, rli_session *session, rli_operation *op, const rli_kind *kind,
                            const rli_names *names)
{
    char owner[RLI_OWNER_TEXT];
    rli_handoff over;
    rli_call call;
    rli_owner_text(engine, session->number, owner);
    int highest = session->cold->highest;
    int64_t stands_ms = session->kind->levels ? session->deadline_ms : 0;
    /* From here on nothing renews the hold. A renewal under way finds no field, which is no loss. */
    rli_session_remove_hold(engine, session);
    int count = session->count;
    session->releasing = count == 0;
    int64_t lease_ms = rli_session_lease(engine, session);
    rli_request request = {
        .names = names, .owner = owner, .lease_ms = lease_ms, .count = count, .highest = highest, .unheard = ""};
    /* Replicas would have to confirm the successor's grant, too. */
    bool hands_over = count == 0 && !has_replicas(engine, session->entry);
    hands_over = hands_over && rli_handoff_begin(&over, engine, session, kind, &request, &call);
    if (count == 0 && !hands_over && session->entry->queues) {
        rli_yield_drop_holder(&session->entry->queues->yield, session);
        rli_queue_wake_deferred(&session->entry->queues->of[RLI_BY_MESSAGE]);
    }
    kind->release(&call, &request);
    call.synced = true; /* the release counts even if no replica confirmed it */
    call.learns = !engine->settings->unlock_waits;
    call.witness = hands_over ? &over.witness : NULL;
    if (count == 0 && !hands_over && rli_async_release_send(engine, session, &call)) {
        rli_session_end_turn(session);
        rli_call_clear(&call);
        return RLOCK_OK;
    }
    pthread_mutex_unlock(&engine->mutex);

    rlock_status status = rli_call_run(&call, engine->topology, op, &session->entry->route);

    pthread_mutex_lock(&engine->mutex);
    if (hands_over)
        rli_handoff_end(&over, status);
    status = count == 0 ? release_last(engine, session, status, &call, kind, names)
                        : release_one(engine, session, status, &call, kind, names, lease_ms, stands_ms);
    rli_session_end_turn(session);
    rli_call_clear(&call);
    return status;
}

rlock_status rli_release_run(rli_engine *engine, const rli_kind *kind, const rli_names *names, const rli_owner *owner,
                             int64_t answer_ms)
{
    rli_operation op;
    rlock_status status = rli_operation_begin(&op, engine->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    op.deadline_ms = rli_after_ms(answer_ms);
    rli_session *session;
    pthread_mutex_lock(&engine->mutex);
    status = rli_session_take_turn(engine, names, kind, owner, &op, RLI_NEVER, true, &session);
    if (session) {
        status = rli_local_handoff_offer(engine, session) ? RLOCK_OK : release(engine, session, &op, kind, names);
        rli_session_drop_attempt(engine, session);
    } else if (status == RLOCK_OK) {
        status = release_nothing(engine, kind, names, owner);
    } else if (status == RLOCK_NO_MEMORY) {
        status = forgo(engine, kind, names, owner);
    }
    pthread_mutex_unlock(&engine->mutex);
    rli_operation_end(&op);
    return status;
}

/* --- an offered hold that nobody takes --- */

/* How long to wait for the answer. */
#define OFFERED_MS 250

static void release_offered(rli_engine *engine, rli_session *offered, const rli_names *names)
{
    rli_operation op;
    bool begun = rli_operation_begin(&op, engine->gate, NULL) == RLOCK_OK;
    pthread_mutex_lock(&engine->mutex);
    if (begun) {
        op.deadline_ms = rli_after_ms(OFFERED_MS);
        (void)release(engine, offered, &op, offered->kind, names); /* unanswered, the watchdog repeats it */
    } else {
        rli_session_remove_hold(engine, offered);
        rli_session_end_turn(offered);
    }
    rli_session_drop_attempt(engine, offered);
    pthread_mutex_unlock(&engine->mutex);
    if (begun)
        rli_operation_end(&op);
}

void rli_release_offered(rli_engine *engine, rli_session *offered, const rli_names *names)
{
    char message[512];
    snprintf(message, sizeof message, "%s", rlock_last_error());
    release_offered(engine, offered, names);
    rli_fail_text(RLOCK_OK, message);
}

/* --- by force --- */

/* Marks the holds that the force release is meant for. A hold that is granted while the request is under way is not
 * marked: it may have been granted after the force release ran. */
static void mark_held(rli_entry *entry)
{
    for (rli_session *session = entry->sessions; session; session = session->next)
        session->forced = session->phase == RLI_OPEN && session->count > 0 && !session->releasing;
}

static rli_session *next_marked(rli_entry *entry)
{
    for (rli_session *session = entry->sessions; session; session = session->next) {
        if (session->forced)
            return session;
    }
    return NULL;
}

/* Declares the marked holds lost if the lock on the server is gone, and unmarks them. unknown: the answer was lost. If
 * the lock was not forced open then, nobody would release its field before its lease ends, so these holds are in
 * doubt. */
static void lose_marked(rli_engine *engine, rli_entry *entry, bool gone, bool unknown)
{
    for (rli_session *session; (session = next_marked(entry));) {
        if (gone && session->phase == RLI_OPEN && session->count > 0) {
            if (unknown)
                rli_session_in_doubt(engine, session, rli_session_lease(engine, session));
            rli_session_declare_lost(engine, session, RLOCK_LOST_GONE, true);
        }
        session->forced = false;
    }
}

static rlock_status force(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_names *names,
                          rli_operation *op, int64_t *freed)
{
    rli_call call;
    const char *unheard = NULL;
    kind->force(&call, names);
    rlock_status status = rli_call_run(&call, engine->topology, op, &entry->route);
    if (status == RLOCK_OK && kind->parse_release(call.reply, &unheard) == RLI_RELEASED && unheard)
        *freed = 1;
    else if (status == RLOCK_OK && !rli_reply_integer(call.reply, freed))
        status = rli_reply_unexpected(call.reply, names->name);
    if (unheard) {
        pthread_mutex_lock(&engine->mutex);
        if (engine->attend(engine) == RLOCK_OK)
            rli_entry_note_unheard_head(engine, entry, kind, unheard);
        pthread_mutex_unlock(&engine->mutex);
    }
    rli_call_clear(&call);
    return status;
}

rlock_status rli_release_force(rli_engine *engine, const rli_kind *kind, const rli_names *names, bool *was_locked)
{
    rli_operation op;
    rlock_status status = rli_operation_begin(&op, engine->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    pthread_mutex_lock(&engine->mutex);
    rli_entry *entry = rli_entry_ref(engine, names);
    if (entry) {
        /* Otherwise a local waiter might take the hold while it is being forced open. */
        rli_local_handoff_withdraw_and_compensate(engine, entry);
        mark_held(entry);
    }
    pthread_mutex_unlock(&engine->mutex);
    if (entry) {
        int64_t freed = 0;
        status = force(engine, entry, kind, names, &op, &freed);
        /* If one side of a read-write lock was free, that says nothing about the other side. */
        bool gone = status == RLOCK_UNKNOWN || (status == RLOCK_OK && (freed || !(kind->shared || kind->writes)));
        pthread_mutex_lock(&engine->mutex);
        lose_marked(engine, entry, gone, status == RLOCK_UNKNOWN);
        rli_entry_unref(engine, entry);
        pthread_mutex_unlock(&engine->mutex);
        if (status == RLOCK_OK && was_locked)
            *was_locked = freed;
    } else {
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
    }
    rli_operation_end(&op);
    return status;
}
