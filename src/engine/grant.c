/* Grant: what becomes of an attempt when the lock is granted to it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/grant.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/holds.h"
#include "engine/local_handoff.h"
#include "engine/session.h"

rlock_status rli_grant_outer_lost(rli_attempt *attempt)
{
    char shown[RLI_NAME_SHOWN];
    rli_session *session = attempt->session;
    if (session->phase == RLI_OPEN && session->count > 0)
        rli_session_declare_gone(attempt->engine, session);
    return rli_fail(RLOCK_LOST,
                    "lock \"%s\" expired or was forced open while this owner held it; unlock it as often as it was "
                    "locked, then lock it again",
                    rli_show_name(attempt->asked->names->name, shown));
}

/* Returns whether the lease has ended before its answer was read. The lease counts from before the first attempt. */
static bool granted_in_vain(const rli_attempt *attempt, const rli_grant_info *gain)
{
    /* A lease shorter than any round trip would end too early each time. Such a lease is granted as requested,
     * though it is over at once. */
    bool worth_another = gain->repeated || gain->lease_ms > attempt->engine->settings->timeout_ms;
    return worth_another && rli_now_ms() >= rli_valid_until(gain->sent_ms, gain->lease_ms);
}

/* A read hold was granted. Under the owner's write hold, it also extended that hold's key. Beside other readers,
 * the write hold that the request named must be gone; one that was granted later need not be. */
static void note_writer(rli_attempt *attempt, const rli_grant_info *gain)
{
    const rli_acquire *asked = attempt->asked;
    rli_engine *engine = attempt->engine;
    rli_session *writer = rli_session_find_writer(engine, attempt->entry, asked->kind, &asked->owner);
    if (writer && gain->verdict->beneath)
        rli_session_extend_deadline(engine, writer, gain->sent_ms, rli_lease_on_server(engine, asked->lease_ms));
    else if (writer && writer->number == attempt->writer && !writer->busy)
        rli_session_declare_lost(engine, writer, RLOCK_LOST_GONE, true);
}

/* Returns why the grant is worth nothing, and has what it took given back; RLOCK_OK: it counts. */
static rlock_status refuse_worthless(rli_attempt *attempt, const rli_grant_info *gain)
{
    rli_session *session = attempt->session;
    if (session->phase != RLI_OPEN) { /* declared lost while the request was under way */
        rli_session_in_doubt_if_held(attempt->engine, session, gain->lease_ms);
        return rli_grant_outer_lost(attempt);
    }
    if (session->count == 0 && granted_in_vain(attempt, gain)) {
        rli_session_in_doubt(attempt->engine, session, gain->lease_ms);
        return rli_fail(RLOCK_TIMEOUT,
                        "the lease of %lld ms ended before the server's reply arrived; use a longer "
                        "lease",
                        (long long)gain->lease_ms);
    }
    /* The outer holds have ended meanwhile, so the new one is worth nothing either. */
    if (session->count > 0 && rli_now_ms() >= session->deadline_ms) {
        rli_session_in_doubt_if_held(attempt->engine, session, gain->lease_ms);
        rli_session_declare_lost(attempt->engine, session, RLOCK_LOST_EXPIRED, true);
        return rli_grant_outer_lost(attempt);
    }
    return RLOCK_OK;
}

/* The lock may have been offered for the lease with which another waiter of the owner registered the session, or queued
 * it, and no request shortens that. */
static void note_offered_lease(rli_attempt *attempt)
{
    rli_session *session = attempt->session;
    int64_t offered_ms = session->registered ? session->cold->registered_ms : 0;
    if (session->cold->expected_ms > offered_ms)
        offered_ms = session->cold->expected_ms;
    session->cold->expected_ms = 0;
    if (offered_ms > rli_lease_on_server(attempt->engine, attempt->asked->lease_ms))
        rli_session_in_doubt_if_held(attempt->engine, session, offered_ms);
}

rlock_status rli_grant_apply(rli_attempt *attempt, const rli_grant_info *gain)
{
    const rli_acquire_result *verdict = gain->verdict;
    rli_session *session = attempt->session;
    rlock_status status = refuse_worthless(attempt, gain);
    if (status != RLOCK_OK)
        return status;
    rli_session_add_hold(attempt->engine, session, gain->sent_ms, attempt->asked->lease_ms);
    if (gain->offered)
        rli_session_shorten(attempt->engine, session, gain->sent_ms, gain->lease_ms);
    /* A grant of another kind leaves the owner's place where it is, and so does a re-entry under one. */
    if (rli_kind_queues_on_server(attempt->asked->kind) && session->count == 1)
        session->queued = false;
    /* A kept hold must have ended on the server, or there would have been no grant. */
    if (attempt->engine->settings->local_hand_over)
        rli_local_handoff_withdraw(attempt->engine, attempt->entry);
    if (verdict->pttl_ms > 0)
        rli_session_extend_deadline(attempt->engine, session, gain->sent_ms, verdict->pttl_ms);
    note_writer(attempt, gain);
    session->cold->replaces = 0;
    note_offered_lease(attempt);
    if (attempt->asked->kind->registers)
        session->registered = false;
    /* Other kinds share the field, but have no token. */
    if (attempt->asked->kind->fenced)
        session->cold->token = verdict->token;
    if (attempt->asked->token)
        *attempt->asked->token = verdict->token;
    if (attempt->asked->took)
        *attempt->asked->took = rli_session_remember(session);
    if (attempt->entry->queues && rli_kind_hands_over_here(attempt->asked->kind) && session->count == 1)
        rli_yield_note_holder(&attempt->entry->queues->yield, session, gain->handed);
    /* Otherwise no other waiter shares the session, and the queue may be long. */
    if (session->cold->attempts > 1)
        rli_queue_owner_granted(attempt->entry, session);
    return RLOCK_OK;
}
