/* Clean-up: what is in doubt is given back when nothing else is due. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/clean_up.h"

#include "base/clock.h"
#include "engine/session.h"
#include "redis/topology/topology.h"

#define PAUSE_FIRST_MS      500
#define PAUSE_UNANSWERED_MS 2000
#define PAUSE_CLOSING_MS    50

/* Bounds the wait for an answer. The lower bound holds even if a timer is due sooner; the upper one does not hold after
 * an unanswered request. */
#define ANSWER_MS       250
#define ANSWER_LEAST_MS 50

/* --- what waits --- */

bool rli_clean_up_is(const rli_watchdog *watchdog, const rli_timer *timer)
{
    return rli_watchdog_is_of_session(watchdog, timer) ? RLI_ITEM(rli_session, timer, timer)->phase == RLI_COMPENSATING
                                                       : timer == &watchdog->engine->permits_in_doubt.timer;
}

void rli_clean_up_wait(rli_watchdog *watchdog, rli_timer *timer)
{
    rli_clean_ups *waiting = &watchdog->clean_ups;
    rli_timer_heap_remove(&watchdog->engine->timers, timer);
    if (timer == &watchdog->engine->permits_in_doubt.timer) {
        waiting->permits = true;
        return;
    }
    rli_session *session = RLI_ITEM(rli_session, timer, timer);
    session->busy = true; /* keeps it alive */
    session->cold->next_clean_up = NULL;
    if (waiting->last)
        waiting->last->cold->next_clean_up = session;
    else
        waiting->first = session;
    waiting->last = session;
}

int64_t rli_clean_up_due_ms(const rli_watchdog *watchdog)
{
    const rli_clean_ups *waiting = &watchdog->clean_ups;
    if (!waiting->first && !waiting->permits)
        return RLI_NEVER;
    return watchdog->engine->closes_ms ? 0 : waiting->after_ms; /* close does not wait long enough for the pause */
}

static int64_t silent_since_ms(const rli_watchdog *watchdog, const rli_session *session)
{
    const rli_entry *entry = session->entry;
    rli_node *node = rli_topology_ref_server_for(watchdog->engine->topology, entry->name, entry->length);
    int64_t since_ms = node ? node->renewals.silent_ms : 0;
    rli_node_unref(node);
    return since_ms;
}

/* Puts the first session in front whose server was not silent; or else, was so longest ago. */
static void prefer_others(rli_watchdog *watchdog)
{
    rli_clean_ups *waiting = &watchdog->clean_ups;
    rli_session *before = NULL, *chosen = NULL, *before_chosen = NULL;
    int64_t least_ms = INT64_MAX;
    for (rli_session *at = waiting->first; at && least_ms > 0; before = at, at = at->cold->next_clean_up) {
        int64_t since_ms = silent_since_ms(watchdog, at);
        if (since_ms >= least_ms)
            continue;
        least_ms = since_ms;
        chosen = at;
        before_chosen = before;
    }
    if (!before_chosen)
        return;
    before_chosen->cold->next_clean_up = chosen->cold->next_clean_up;
    if (waiting->last == chosen)
        waiting->last = before_chosen;
    chosen->cold->next_clean_up = waiting->first;
    waiting->first = chosen;
}

rli_session *rli_clean_up_next(rli_watchdog *watchdog)
{
    rli_clean_ups *waiting = &watchdog->clean_ups;
    if (watchdog->engine->closes_ms)
        prefer_others(watchdog);
    rli_session *session = waiting->first;
    waiting->after_permits = waiting->permits && !(session && waiting->after_permits);
    if (waiting->after_permits) {
        waiting->permits = false;
        return NULL;
    }
    waiting->first = session->cold->next_clean_up;
    if (!waiting->first)
        waiting->last = NULL;
    session->busy = false;
    return session;
}

/* --- what is under way --- */

/* Returns the first instant before by_ms at which something other than a clean-up is due, in the part of the heap
 * below `place`; else by_ms. */
static int64_t cut(const rli_watchdog *watchdog, size_t place, int64_t by_ms)
{
    const rli_timer_heap *timers = &watchdog->engine->timers;
    if (place > timers->count || timers->items[place]->at_ms >= by_ms)
        return by_ms;
    if (!rli_clean_up_is(watchdog, timers->items[place]))
        return timers->items[place]->at_ms;
    return cut(watchdog, place * 2 + 1, cut(watchdog, place * 2, by_ms));
}

/* While others are not given back, half of the time that is left: they may be for servers that answer. Those that pause
 * between two requests are none of those that wait. */
static int64_t closing_answer_by(const rli_watchdog *watchdog)
{
    int64_t now_ms = rli_now_ms(), closes_ms = watchdog->engine->closes_ms;
    bool others = watchdog->clean_ups.first || watchdog->clean_ups.permits || watchdog->engine->not_given_back > 1;
    return others && now_ms < closes_ms ? now_ms + (closes_ms - now_ms) / 2 : closes_ms;
}

int64_t rli_clean_up_answer_by(const rli_watchdog *watchdog)
{
    if (watchdog->engine->closes_ms)
        return closing_answer_by(watchdog);
    int64_t sixth_ms = rli_watchdog_timeout_part(watchdog, 6) + 1;
    /* After an unanswered request, the next one may have to connect first, over a slow link. */
    int64_t most_ms = watchdog->clean_ups.late ? sixth_ms : rli_earlier(sixth_ms, ANSWER_MS);
    int64_t by_ms = rli_after_ms(most_ms), least_ms = rli_after_ms(ANSWER_LEAST_MS);
    /* Other clean-ups do not end this wait. If none had time for an answer over a new connection, none would ever be
     * done. */
    int64_t next_ms = cut(watchdog, 1, by_ms);
    return next_ms > least_ms || next_ms == by_ms ? next_ms : least_ms;
}

/* Only a long wait ends when the client begins to be closed: a short one is mostly for an answer that is on its way. */
static rlock_status begin(const rli_watchdog *watchdog, rli_operation *op)
{
    bool ends = watchdog->clean_ups.late && !rli_cancel_fired(watchdog->engine->hurry);
    return ends ? rli_watchdog_begin(watchdog, op) : rli_operation_begin(op, watchdog->engine->gate, NULL);
}

rlock_status rli_clean_up_send(const rli_watchdog *watchdog, rli_call *call, int64_t answer_by_ms)
{
    rli_operation op;
    call->background = true;
    call->attempts = 1;
    rlock_status status = begin(watchdog, &op);
    if (status != RLOCK_OK)
        return status;
    op.deadline_ms = answer_by_ms;
    status = rli_call_run(call, watchdog->engine->topology, &op, NULL);
    rli_operation_end(&op);
    bool closing = rli_cancel_fired(watchdog->engine->hurry);
    return closing && status == RLOCK_SERVER && rli_refusal_is_of_all(call->refusal) ? RLOCK_UNAVAILABLE : status;
}

void rli_clean_up_note(rli_watchdog *watchdog, const char *name, size_t length, bool answered, int64_t began_ms)
{
    rli_node *server = rli_topology_ref_server_for(watchdog->engine->topology, name, length);
    if (server)
        server->renewals.silent_ms = answered ? 0 : rli_now_ms();
    rli_node_unref(server);
    if (!answered || rli_now_ms() - began_ms <= ANSWER_MS)
        watchdog->clean_ups.late = !answered;
    watchdog->clean_ups.after_ms = answered ? 0 : rli_after_ms(PAUSE_FIRST_MS);
}

int64_t rli_clean_up_pause(const rli_watchdog *watchdog, int64_t pause_ms, bool answered)
{
    int64_t next_ms = pause_ms ? pause_ms * 2 : PAUSE_FIRST_MS;
    if (answered)
        return next_ms;
    return rli_earlier(next_ms, watchdog->engine->closes_ms ? PAUSE_CLOSING_MS : PAUSE_UNANSWERED_MS);
}
