/* Local handoff: a last release that sends nothing to the server and keeps the hold for a waiter of this process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/local_handoff.h"

#include "base/clock.h"
#include "engine/holds.h"
#include "engine/session.h"

/* How many times in a row, and for how long, a hold may go from thread to thread before it goes back to the server. */
#define LOCAL_MAX 10000
#define LOCAL_MS  10

static rli_waiter *first_waiter(const rli_entry *entry)
{
    return entry->queues ? entry->queues->of[RLI_BY_MESSAGE].first : NULL;
}

/* Returns the session whose hold is kept; NULL: none. */
static rli_session *kept_of(const rli_entry *entry)
{
    return entry->queues ? entry->queues->kept : NULL;
}

/* Returns whether the attempt may take a kept hold of that kind. A hold with its own lease would end on
 * the server at another time than the kept one. And the session takes over another number, so nothing may be
 * left to clean up under its present one. */
static bool can_take(const rli_attempt *attempt, const rli_kind *kind)
{
    const rli_session *session = attempt->session;
    return attempt->asked->kind == kind && attempt->asked->lease_ms == RLOCK_WATCHDOG && session->count == 0 &&
           session->cold->in_doubt_ms == 0 && !session->queued && session->phase == RLI_OPEN;
}

/* Wakes the waiter because a hold is kept for it. */
static void notify(rli_waiter *waiter)
{
    if (waiter->notified)
        return;
    waiter->notified = true;
    /* A waiter that is not queue leader sleeps until its turn comes, and would not see the hold. */
    waiter->asks_now |= !waiter->queue_leader;
    rli_unpark(waiter->parker);
}

/* --- keeping --- */

/* Returns whether such holds may be kept: one owner has it at a time, its waiters sleep here, all of them want the same
 * field, and a grant carries nothing that the server must give. */
static bool may_keep(const rli_session *session)
{
    const rli_kind *kind = session->kind;
    return kind->queueing == RLI_BY_MESSAGE && kind->sharing == RLI_EXCLUSIVE && !kind->fenced &&
           !session->entry->grouped;
}

/* Returns when the server last set the PTTL, computed from the deadline of a renewed hold. */
static int64_t confirmed_ms(const rli_engine *engine, const rli_session *session)
{
    int64_t lease_ms = engine->settings->watchdog_timeout_ms;
    return session->deadline_ms - rli_valid_until(0, lease_ms);
}

/* Returns whether the session is one plain hold that was confirmed recently, with no request under way or in doubt, and
 * whose number nobody remembers. */
static bool is_plain(const rli_engine *engine, const rli_session *session)
{
    const rli_cold_fields *cold = session->cold;
    return session->phase == RLI_OPEN && session->count == 1 && cold->renewed == 1 && cold->explicit_lease_ms == 0 &&
           cold->in_doubt_ms == 0 && cold->in_doubt_more_ms == 0 && !session->renewing && !session->forced &&
           !session->remembered && !session->queued &&
           rli_now_ms() < confirmed_ms(engine, session) + rli_renewal_period_ms(engine->settings);
}

static bool may_pass_on(rli_cold_fields *cold)
{
    if (cold->passes == 0)
        cold->passes_from_ms = rli_now_ms();
    return cold->passes < LOCAL_MAX && rli_now_ms() < cold->passes_from_ms + LOCAL_MS;
}

bool rli_local_handoff_keep(rli_engine *engine, rli_session *session)
{
    rli_entry *entry = session->entry;
    rli_waiter *waiter = engine->settings->local_hand_over && may_keep(session) ? first_waiter(entry) : NULL;
    /* A waiter with a request under way may wait for its answer for long, so no hold is kept for it. Nor is a second
     * hold beside the first: others have deleted the key, and one of the two is not yet known to be lost. */
    if (!waiter || kept_of(entry) || waiter->session->busy || !can_take(rli_attempt_of(waiter), session->kind) ||
        !is_plain(engine, session) || !may_pass_on(session->cold))
        return false;
    session->cold->passes++;
    rli_session_remove_hold(engine, session);
    rli_session_become(session, RLI_KEPT);
    session->cold->attempts++; /* keeps the session alive while its hold is kept */
    rli_session_end_turn(session);
    entry->queues->kept = session;
    notify(waiter);
    return true;
}

/* --- taking --- */

static rli_session *stop_keeping(rli_entry *entry)
{
    rli_session *kept = kept_of(entry);
    if (kept) {
        entry->queues->kept = NULL;
        rli_session_become(kept, RLI_DONE);
    }
    return kept;
}

void rli_local_handoff_withdraw(rli_engine *engine, rli_entry *entry)
{
    rli_session *kept = stop_keeping(entry);
    if (kept)
        rli_session_drop_attempt(engine, kept);
}

bool rli_local_handoff_take(rli_attempt *attempt)
{
    rli_entry *entry = attempt->entry;
    rli_session *kept = kept_of(entry), *session = attempt->session;
    rli_waiter *first = first_waiter(entry);
    if (!kept || !can_take(attempt, kept->kind) || (first && first->missed && first != &attempt->waiter))
        return false;
    /* Nobody took it in time. The attempt's acquire replaces the field that may be left on the server. */
    if (rli_now_ms() >= kept->deadline_ms) {
        session->cold->replaces = kept->number;
        rli_local_handoff_withdraw(attempt->engine, entry);
        return false;
    }
    session->number = kept->number; /* the field on the server is this session's from now on */
    session->cold->replaces = 0;
    session->cold->highest = 1;
    session->cold->passes = kept->cold->passes;
    session->cold->passes_from_ms = kept->cold->passes_from_ms;
    rli_session_add_hold(attempt->engine, session, confirmed_ms(attempt->engine, kept), RLOCK_WATCHDOG);
    if (attempt->asked->took)
        *attempt->asked->took = rli_session_remember(session);
    rli_yield_note_holder(&entry->queues->yield, session, true);
    rli_local_handoff_withdraw(attempt->engine, entry);
    rli_queue_owner_granted(entry, session);
    return true;
}

/* Notifies another waiter than the one that cannot take the kept hold. Returns false when there is none. */
static bool notify_another(const rli_entry *entry, const rli_waiter *other_than)
{
    rli_waiter *next = first_waiter(entry);
    if (next && next == other_than)
        next = next->next;
    /* Not one with a request under way either: if its answer is lost, it may not take the hold any more. */
    if (!next || next->session->busy || !can_take(rli_attempt_of(next), kept_of(entry)->kind))
        return false;
    notify(next);
    return true;
}

void rli_local_handoff_withdraw_and_compensate(rli_engine *engine, rli_entry *entry)
{
    rli_session *kept = kept_of(entry);
    if (kept)
        rli_session_in_doubt(engine, kept, engine->settings->watchdog_timeout_ms);
    rli_local_handoff_withdraw(engine, entry);
}

void rli_local_handoff_take_in_turn(rli_attempt *attempt)
{
    rli_waiter *waiter = &attempt->waiter;
    waiter->handed = waiter->handed || rli_local_handoff_take(attempt); /* a release may have handed it over already */
    bool missed = waiter->notified && !waiter->handed, kept = kept_of(attempt->entry);
    waiter->missed |= missed && !kept;
    if (missed && kept && !notify_another(attempt->entry, waiter))
        rli_local_handoff_withdraw_and_compensate(attempt->engine, attempt->entry);
    waiter->notified = false;
}

bool rli_local_handoff_take_if_notified(rli_attempt *attempt)
{
    rli_waiter *waiter = &attempt->waiter;
    if (!waiter->notified)
        return false;
    if (attempt->session->busy) /* another thread of the owner has the turn: this one asks after it */
        return true;
    rli_local_handoff_take_in_turn(attempt);
    return waiter->handed;
}

/* --- withdrawing --- */

/* Nobody takes the kept hold. Returns its session, which the caller must release on the server. */
static rli_session *take_out(rli_entry *entry)
{
    rli_session *kept = stop_keeping(entry);
    if (kept) { /* restore the hold, so that it can be released as usual */
        kept->count = kept->cold->renewed = 1;
        kept->busy = true;
    }
    return kept;
}

rli_session *rli_local_handoff_pass_on(rli_attempt *attempt)
{
    rli_entry *entry = attempt->entry;
    if (!attempt->waiter.notified || !kept_of(entry))
        return NULL;
    return notify_another(entry, NULL) ? NULL : take_out(entry);
}
