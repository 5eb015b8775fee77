/* Session: what one owner holds on one name, and until when it may rely on it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/holds.h"
#include "redis/topology/slot.h"

#include <stdlib.h>
#include <string.h>

void rli_session_become(rli_session *session, rli_phase phase)
{
    rli_check(rli_phase_may_become(session->phase, phase));
    session->phase = phase;
}

rli_owner rli_session_owner(const rli_session *session)
{
    if (session->has_life)
        return (rli_owner){session->life->number, false, session->life};
    return (rli_owner){session->owner_number, session->named, NULL};
}

uint64_t rli_session_remember(rli_session *session)
{
    session->remembered = true;
    return session->number;
}

int rli_session_attempts(const rli_session *session)
{
    return session->cold ? session->cold->attempts : 0;
}

/* --- turns --- */

/* For so long, threads that come later let an operation without a thread go first that was carried out in vain. The
 * watchdog goes on with it every 100 ms; should nobody do so, no thread waits for it. */
#define LET_FIRST_MS 250

/* Until when others come first that have waited longer for the turn; RLI_NEVER: as long as they wait; 0: none do.
 * Otherwise some that come again and again could keep one from it for ever. */
static int64_t others_first_until(const rli_session *session, const rli_operation *op)
{
    int64_t until_ms = 0;
    for (rli_turn *other = op->turn.joined ? op->turn.next : session->cold->turns; other; other = other->next) {
        if (!other->parker->ready || rli_operation_is_async(op))
            return RLI_NEVER;
        if (other->first_until_ms > until_ms)
            until_ms = other->first_until_ms;
    }
    return until_ms > 0 && until_ms > rli_now_ms() ? until_ms : 0;
}

/* Joins those that wait for the turn. */
static void join_turns(rli_session *session, rli_operation *op)
{
    op->turn.first_until_ms = op->turn.joined && rli_operation_is_async(op) ? rli_after_ms(LET_FIRST_MS) : 0;
    rli_turn_join(&session->cold->turns, &op->turn);
}

/* Waits until the session is not busy, and nobody comes first. */
static rlock_status await_turn(rli_engine *engine, rli_session *session, rli_operation *op, int64_t until_ms)
{
    int64_t first_ms;
    while ((first_ms = others_first_until(session, op)) || session->busy) {
        rlock_status status = rli_operation_check(op);
        if (status != RLOCK_OK)
            return status;
        if (rli_now_ms() >= until_ms)
            return rli_fail(RLOCK_TIMEOUT, "another call of the same owner used the lock during the whole wait");
        join_turns(session, op);
        int64_t sleep_ms = session->busy ? until_ms : rli_earlier(until_ms, first_ms);
        rli_engine_unlock(engine);
        bool slept = rli_operation_sleep(op, sleep_ms);
        rli_engine_lock(engine);
        if (!slept)
            return RLI_WAITING;
    }
    return RLOCK_OK;
}

rlock_status rli_session_begin_turn(rli_engine *engine, rli_session *session, rli_operation *op, int64_t until_ms)
{
    rlock_status status = await_turn(engine, session, op, until_ms);
    if (status == RLI_WAITING)
        return status;
    rli_turn_leave(&session->cold->turns, &op->turn);
    if (status == RLOCK_OK)
        session->busy = true;
    else if (!session->busy)
        rli_turn_wake_all(session->cold->turns); /* perhaps they waited only because this one was before them */
    return status;
}

void rli_session_end_turn(rli_session *session)
{
    session->busy = false;
    if (session->cold)
        rli_turn_wake_all(session->cold->turns);
}

rlock_status rli_session_take_turn(rli_engine *engine, const rli_names *names, const rli_kind *kind,
                                   const rli_owner *owner, rli_operation *op, int64_t until_ms, bool gives_back,
                                   rli_session **held)
{
    rli_session *session = *held;
    if (!session) {
        rli_entry *entry = rli_entry_find(engine, names);
        session = entry ? rli_session_find_open(engine, entry, kind, owner) : NULL;
        if (!session)
            return RLOCK_OK;
        if (!rli_session_add_attempt(engine, session, gives_back))
            return rli_fail(RLOCK_NO_MEMORY, "out of memory for a request; the lock is still held");
    }
    rlock_status status = rli_session_begin_turn(engine, session, op, until_ms);
    *held = session;
    if (status == RLI_WAITING)
        return status;
    /* Another thread of the same named owner may have had the turn before us and released the hold. */
    if (status == RLOCK_OK && rli_session_find_open(engine, session->entry, kind, owner) == session &&
        session->count > 0)
        return RLOCK_OK;
    if (status == RLOCK_OK)
        rli_session_end_turn(session);
    rli_session_drop_attempt(engine, session);
    *held = NULL;
    return status;
}

/* --- the deadline --- */

int64_t rli_lease_on_server(const rli_engine *engine, int64_t lease_ms)
{
    return lease_ms == RLOCK_WATCHDOG ? engine->settings->watchdog_timeout_ms : lease_ms;
}

/* Bounds the PTTL that a server reports, which may be anything: the leases of a write hold add up. */
#define LONGEST_MS (100 * RLOCK_LEASE_MAX_MS)

/* Clock rates may differ by up to 1 %, so our deadline ends before the server's lease does. */
static int64_t margin_ms(int64_t lease_ms)
{
    return (lease_ms + 99) / 100;
}

int64_t rli_valid_until(int64_t sent_ms, int64_t lease_ms)
{
    lease_ms = rli_earlier(lease_ms, LONGEST_MS);
    return sent_ms + lease_ms - margin_ms(lease_ms);
}

/* Returns the latest end among the `count` outermost holds. */
static int64_t latest_end(const rli_session *session, int count)
{
    int64_t latest_ms = 0;
    for (int i = 0; i < count; i++) {
        if (session->cold->levels[i].end_ms > latest_ms)
            latest_ms = session->cold->levels[i].end_ms;
    }
    return latest_ms;
}

static rli_read_level level_until(int64_t until_ms, int64_t lease_ms)
{
    return (rli_read_level){.end_ms = until_ms, .stands_ms = until_ms + margin_ms(lease_ms)};
}

static void confirm_levels(rli_session *session, int64_t until_ms, int64_t lease_ms)
{
    rli_read_level *levels = session->cold->levels;
    for (int i = 0; i < session->count; i++) {
        /* A level that has expired stays expired. */
        if (levels[i].end_ms > rli_now_ms() && until_ms > levels[i].end_ms)
            levels[i] = level_until(until_ms, lease_ms);
    }
}

static int64_t latest_read_hold_ms(const rli_session *session)
{
    int64_t latest_ms = session->deadline_ms;
    for (int i = 0; i < session->count; i++) {
        if (session->cold->levels[i].stands_ms > latest_ms)
            latest_ms = session->cold->levels[i].stands_ms;
    }
    return latest_ms;
}

int64_t rli_session_end_on_server(const rli_engine *engine, const rli_session *session)
{
    const rli_cold_fields *cold = session->cold;
    /* A lease of a hold that was given back says nothing of those that remain. */
    if (session->kind->sharing == RLI_READING)
        return latest_read_hold_ms(session);
    if (cold->cut_ms > 0)
        return session->deadline_ms + margin_ms(cold->cut_ms);
    int64_t lease_ms = cold->renewed > 0 && cold->explicit_lease_ms < engine->settings->watchdog_timeout_ms
                           ? engine->settings->watchdog_timeout_ms
                           : cold->explicit_lease_ms;
    /* The leases of a write hold add up, and so do their margins. */
    int highest = session->kind->sharing == RLI_WRITING ? cold->highest : 1;
    return session->deadline_ms + highest * margin_ms(lease_ms);
}

void rli_session_extend_deadline(rli_engine *engine, rli_session *session, int64_t sent_ms, int64_t lease_ms)
{
    int64_t until_ms = rli_valid_until(sent_ms, lease_ms);
    if (session->kind->sharing == RLI_READING && session->count > 0) {
        confirm_levels(session, until_ms, lease_ms);
        /* The confirmed level may have been an inner one that is released by now. */
        until_ms = latest_end(session, session->count);
    }
    if (until_ms <= session->deadline_ms)
        return;
    rli_cold_fields *cold = session->cold;
    session->deadline_ms = until_ms;
    session->extended = true;
    if (!cold || cold->cut_ms == 0)
        return;
    /* It ends by one of these, however long the lease was that others have shortened. */
    if (lease_ms > cold->cut_ms)
        cold->cut_ms = lease_ms;
    /* The request may have run before others did that, which the look has shown already. */
    if (sent_ms <= cold->cut_sent_ms)
        rli_watch_alarm(engine, session->entry);
}

void rli_session_cut(rli_session *session, int64_t sent_ms, int64_t left_ms)
{
    int64_t until_ms = rli_valid_until(sent_ms, left_ms);
    if (session->kind->sharing == RLI_READING || until_ms >= session->deadline_ms)
        return;
    session->deadline_ms = until_ms;
    if (!session->cold)
        return;
    session->cold->cut_ms = left_ms > 0 ? left_ms : 1;
    session->cold->cut_sent_ms = sent_ms;
}

/* --- what the watchdog does for the session --- */

int rli_session_renewed_count(const rli_session *session)
{
    return session->cold ? session->cold->renewed : session->count;
}

bool rli_session_needs_renewal(const rli_session *session)
{
    /* A hold with its own lease needs care, too: another client's renewal may cut the PTTL of the key below
     * it. */
    return session->count > 0 && (rli_session_renewed_count(session) > 0 || session->kind->sharing == RLI_READING);
}

/* Renewals are due once in each period, less some time for the answer (a sixtieth of the watchdog timeout), counted
 * from the last request that is known to have set the PTTL. */
static int64_t renewal_span_ms(const rli_engine *engine)
{
    return rli_renewal_period_ms(engine->settings) - engine->settings->watchdog_timeout_ms / 60;
}

/* In a cluster a request serves one slot only. So all holds of a slot are due together, and the slots are spread
 * over the renewal interval. The first renewal therefore comes earlier than needed. */
static int64_t with_its_slot(const rli_engine *engine, const rli_entry *entry, int64_t renew_ms)
{
    int64_t span_ms = renewal_span_ms(engine);
    if (engine->settings->mode != RLI_CLUSTER || span_ms == 0)
        return renew_ms;
    int64_t phase_ms = rli_slot_of(entry->name, entry->length) * span_ms / RLI_SLOTS;
    return renew_ms - (renew_ms - phase_ms) % span_ms;
}

/* Returns when the session is old enough to be tracked, if that is to be noticed before at_ms; else at_ms. */
static int64_t until_old(const rli_engine *engine, rli_session *session, int64_t sent_ms, int64_t at_ms)
{
    int64_t old_ms = sent_ms + RLI_WATCH_AGE_MS;
    if (session->aging && session->timer.place) /* a later request of the same owner does not make it younger */
        old_ms = rli_earlier(old_ms, session->timer.at_ms);
    session->aging = engine->watch.on && session->kind->look && !session->old && session->count > 0 && old_ms < at_ms;
    return session->aging ? old_ms : at_ms;
}

void rli_session_schedule(rli_engine *engine, rli_session *session, int64_t sent_ms)
{
    int64_t at_ms = session->deadline_ms;
    int64_t renew_ms = with_its_slot(engine, session->entry, sent_ms + renewal_span_ms(engine));
    if (rli_session_renewed_count(session) > 0 || (rli_session_needs_renewal(session) && renew_ms < at_ms))
        at_ms = renew_ms;
    rli_timer_heap_set(&engine->timers, &session->timer, until_old(engine, session, sent_ms, at_ms));
}

/* --- holds --- */

bool rli_session_make_room(rli_session *session)
{
    rli_cold_fields *cold = session->cold;
    if (session->kind->sharing != RLI_READING || session->count < cold->level_room)
        return true;
    int room = cold->level_room ? cold->level_room * 2 : 4;
    rli_read_level *levels = realloc(cold->levels, (size_t)room * sizeof *levels);
    if (!levels)
        return false;
    cold->levels = levels;
    cold->level_room = room;
    return true;
}

void rli_session_add_hold(rli_engine *engine, rli_session *session, int64_t sent_ms, int64_t lease_ms)
{
    rli_cold_fields *cold = session->cold;
    bool renewed = lease_ms == RLOCK_WATCHDOG;
    cold->renewed_levels = cold->renewed_levels << 1 | renewed;
    cold->renewed += renewed;
    cold->missed_levels <<= 1;
    if (!renewed && lease_ms > cold->explicit_lease_ms)
        cold->explicit_lease_ms = lease_ms;
    lease_ms = rli_lease_on_server(engine, lease_ms);
    /* Each level has its own end: this one extends no other. */
    if (session->kind->sharing == RLI_READING) {
        rli_read_level level = level_until(rli_valid_until(sent_ms, lease_ms), lease_ms);
        if (cold->sure_levels > 0 && session->count >= cold->sure_levels)
            level.end_ms = rli_earlier(level.end_ms, latest_end(session, cold->sure_levels));
        cold->levels[session->count] = level;
        if (level.end_ms > session->deadline_ms)
            session->deadline_ms = level.end_ms;
    } else {
        rli_session_extend_deadline(engine, session, sent_ms, lease_ms);
    }
    session->count++;
    /* Keep a renewal that is already scheduled, unless this request did what it is for. */
    bool renews = renewed && (session->kind->sharing != RLI_READING || cold->renewed == 1);
    if (!session->timer.place || renews || cold->renewed == 0)
        rli_session_schedule(engine, session, sent_ms);
}

/* An offer that was taken without a request is extended after this time. In a contest few holds last longer, and a
 * thread that is stopped loses the offer sooner than a lease. */
#define OFFER_MS 50

void rli_session_shorten(rli_engine *engine, rli_session *session, int64_t sent_ms, int64_t lease_ms)
{
    session->deadline_ms = rli_valid_until(sent_ms, lease_ms);
    if (rli_session_renewed_count(session) == 0)
        return;
    session->aging = false;
    rli_timer_heap_set(&engine->timers, &session->timer, rli_earlier(rli_after_ms(OFFER_MS), session->deadline_ms));
}

void rli_session_note_late_release(rli_session *session)
{
    rli_cold_fields *cold = session->cold;
    if (cold->sure_levels == 0 || session->count < cold->sure_levels)
        cold->sure_levels = session->count;
}

void rli_session_add_inner_hold(rli_session *session)
{
    rli_cold_fields *cold = session->cold;
    cold->renewed_levels = cold->renewed_levels << 1 | 1;
    cold->missed_levels <<= 1;
    cold->renewed++;
    session->count++;
    if (session->count > cold->highest)
        cold->highest = session->count;
}

void rli_session_add_skipped_hold(rli_session *session)
{
    session->cold->missed_levels = session->cold->missed_levels << 1 | 1;
}

bool rli_session_remove_skipped_hold(rli_session *session)
{
    bool missed = session->cold && session->cold->missed_levels & 1;
    if (missed)
        session->cold->missed_levels >>= 1;
    return missed;
}

int rli_session_sharded_count(const rli_session *session)
{
    return session->sharded ? 1 + (session->cold ? session->cold->sharded_more : 0) : 0;
}

void rli_session_add_sharded(rli_session *session)
{
    /* A session with several holds has cold fields. */
    if (session->sharded && session->cold)
        session->cold->sharded_more++;
    session->sharded = true;
    rli_session_limit_sharded(session);
}

void rli_session_remove_sharded(rli_session *session)
{
    if (session->cold && session->cold->sharded_more > 0)
        session->cold->sharded_more--;
    else
        session->sharded = false;
}

void rli_session_limit_sharded(rli_session *session)
{
    if (rli_session_sharded_count(session) > session->count)
        rli_session_remove_sharded(session);
}

void rli_session_remove_hold(rli_engine *engine, rli_session *session)
{
    rli_cold_fields *cold = session->cold;
    /* Beyond 64 levels the bits of the outer ones are lost; the two counts decide where they can. */
    bool renewed = cold->renewed_levels & 1;
    if (session->count == cold->renewed)
        renewed = true;
    else if (cold->renewed == 0)
        renewed = false;
    cold->renewed_levels >>= 1;
    cold->missed_levels >>= 1;
    cold->renewed -= renewed;
    session->count--;
    rli_session_limit_sharded(session);
    if (session->kind->sharing == RLI_READING && session->count > 0)
        session->deadline_ms = latest_end(session, session->count);
    if (session->count == 0)
        rli_timer_heap_remove(&engine->timers, &session->timer);
    else if (cold->renewed == 0 && (renewed || session->kind->sharing == RLI_READING))
        rli_session_schedule(engine, session, rli_now_ms());
}

int64_t rli_session_lease(const rli_engine *engine, const rli_session *session)
{
    return rli_session_renewed_count(session) > 0 ? engine->settings->watchdog_timeout_ms
                                                  : session->cold->explicit_lease_ms;
}

/* --- in doubt --- */

void rli_session_in_doubt(rli_engine *engine, rli_session *session, int64_t lease_ms)
{
    if (!rli_cold_fields_ensure(&engine->cold_fields_pool, &session->cold, session->count, false) || lease_ms <= 0)
        return;
    session->cold->only_tells = false;
    if (lease_ms > session->cold->in_doubt_ms)
        session->cold->in_doubt_ms = lease_ms;
}

void rli_session_in_doubt_if_held(rli_engine *engine, rli_session *session, int64_t lease_ms)
{
    if (session->phase == RLI_LOST)
        rli_session_in_doubt(engine, session, lease_ms);
    else if (rli_cold_fields_ensure(&engine->cold_fields_pool, &session->cold, session->count, false) &&
             lease_ms > session->cold->in_doubt_more_ms)
        session->cold->in_doubt_more_ms = lease_ms;
}

void rli_session_release_in_doubt(rli_engine *engine, rli_session *session)
{
    rli_session_in_doubt(engine, session, engine->settings->watchdog_timeout_ms);
    rli_session_in_doubt(engine, session, session->cold->explicit_lease_ms);
    rli_session_in_doubt(engine, session, session->cold->in_doubt_more_ms);
    /* The leases of a write hold add up, so the deadline may be later than any single lease. */
    rli_session_in_doubt(engine, session, session->deadline_ms - rli_now_ms());
}

void rli_session_left_in_doubt(rli_engine *engine, rli_session *session)
{
    rli_session_in_doubt(engine, session, rli_session_lease(engine, session));
    /* Later than the lease, if a hold that is given back already had a longer one, or another side of the lock. */
    rli_session_in_doubt(engine, session, session->deadline_ms - rli_now_ms());
}

void rli_session_note_unheard_head(rli_session *session, const rli_kind *kind, const char *unheard)
{
    rli_cold_fields *cold = session->cold;
    free(cold->unheard);
    /* Out of memory: the head's timeout on the server removes it. */
    cold->unheard = unheard ? strdup(unheard) : NULL;
    cold->unheard_kind = kind;
    cold->unheard_ms = rli_now_ms();
    cold->only_tells = cold->unheard && (cold->only_tells || cold->in_doubt_ms == 0);
    if (cold->unheard && cold->in_doubt_ms < RLI_UNHEARD_DOUBT_MS)
        cold->in_doubt_ms = RLI_UNHEARD_DOUBT_MS;
}
