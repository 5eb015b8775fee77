/* Watchdog: its thread, which does what is on the timer heap when it is due. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/watchdog.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "engine/holds.h"
#include "engine/session.h"
#include "watchdog/collect.h"
#include "watchdog/renewal_batch.h"
#include "watchdog/permits.h"
#include "watchdog/renew.h"
#include "watchdog/renew_permits.h"
#include "watchdog/compensate.h"
#include "watchdog/look.h"

void rli_watchdog_init(rli_watchdog *watchdog, rli_engine *engine)
{
    *watchdog = (rli_watchdog){.engine = engine};
}

void rli_watchdog_destroy(rli_watchdog *watchdog)
{
    rli_renewal_batches_destroy(&watchdog->batches);
}

bool rli_watchdog_is_of_session(const rli_watchdog *watchdog, const rli_timer *timer)
{
    const rli_engine *engine = watchdog->engine;
    return timer != &engine->permits_in_doubt.timer && timer != &engine->renewed_permits.timer;
}

/* Sleeps until the first timer is due or an earlier one is set; stopping also wakes it. */
static void sleep_on(rli_engine *engine, const rli_timer *first)
{
    rli_timer_heap *timers = &engine->timers;
    int64_t until_ms = rli_earlier(first ? first->at_ms : RLI_NEVER,
                                   rli_earlier(engine->collect_at_ms, engine->watch.due_ms));
    until_ms = rli_timer_heap_go_to_sleep(timers, until_ms);
    rli_engine_await(engine, &timers->earlier, until_ms);
    rli_timer_heap_wake_up(timers, until_ms);
}

void rli_watchdog_note_compensation(rli_watchdog *watchdog, bool answered)
{
    watchdog->compensation_unanswered = !answered;
    if (answered)
        return;
    watchdog->compensate_after_ms = rli_after_ms(RLI_COMPENSATE_FIRST_MS);
    watchdog->put_off = 0;
}

int64_t rli_watchdog_put_off(rli_watchdog *watchdog)
{
    return rli_now_ms() < watchdog->compensate_after_ms ? watchdog->compensate_after_ms + watchdog->put_off++ : 0;
}

/* Does what is due for the session. With `aging` set, its timer is not for a renewal. */
static void attend_session(rli_watchdog *watchdog, rli_session *session)
{
    rli_engine *engine = watchdog->engine;
    int64_t put_off_ms = session->phase == RLI_COMPENSATING ? rli_watchdog_put_off(watchdog) : 0;
    if (put_off_ms)
        rli_timer_heap_set(&engine->timers, &session->timer, put_off_ms);
    else if (session->phase == RLI_COMPENSATING)
        rli_compensate(watchdog, session);
    else if (rli_now_ms() >= session->deadline_ms)
        rli_session_declare_lost(engine, session, RLOCK_LOST_EXPIRED, true);
    else if (session->aging && session->phase == RLI_OPEN && session->count > 0)
        rli_look_at_old(watchdog, session);
    else if (rli_session_needs_renewal(session) && !session->renewing)
        rli_renew_due(watchdog, session);
    else if (session->renewing)
        rli_timer_heap_set(&engine->timers, &session->timer, session->deadline_ms);
    else /* its lease was extended: it may become old enough to be tracked */
        rli_session_schedule(engine, session, rli_now_ms());
}

/* Bounds the wait for the answer to a clean-up request. The lower bound holds even if a timer is due sooner; the upper
 * one does not hold after an unanswered request. */
#define COMPENSATE_MS       250
#define COMPENSATE_LEAST_MS 50

int64_t rli_watchdog_compensation_pause(int64_t pause_ms, bool answered)
{
    int64_t next_ms = pause_ms ? pause_ms * 2 : RLI_COMPENSATE_FIRST_MS;
    return answered ? next_ms : rli_earlier(next_ms, RLI_COMPENSATE_UNANSWERED_MS);
}

static bool tidies(const rli_watchdog *watchdog, const rli_timer *timer)
{
    return rli_watchdog_is_of_session(watchdog, timer) ? RLI_ITEM(rli_session, timer, timer)->phase == RLI_COMPENSATING
                                                       : timer == &watchdog->engine->permits_in_doubt.timer;
}

/* Returns the first instant before by_ms at which something other than a compensation is due, in the part of the heap
 * below `place`; else by_ms. */
static int64_t cut(const rli_watchdog *watchdog, size_t place, int64_t by_ms)
{
    const rli_timer_heap *timers = &watchdog->engine->timers;
    if (place > timers->count || timers->items[place]->at_ms >= by_ms)
        return by_ms;
    if (!tidies(watchdog, timers->items[place]))
        return timers->items[place]->at_ms;
    return cut(watchdog, place * 2 + 1, cut(watchdog, place * 2, by_ms));
}

int64_t rli_watchdog_compensation_answer_by(const rli_watchdog *watchdog)
{
    if (watchdog->engine->closes_ms)
        return watchdog->engine->closes_ms;
    int64_t sixth_ms = rli_watchdog_timeout_part(watchdog, 6) + 1;
    /* After an unanswered request, the next one may have to connect first, over a slow link. */
    int64_t most_ms = watchdog->compensation_unanswered ? sixth_ms : rli_earlier(sixth_ms, COMPENSATE_MS);
    int64_t by_ms = rli_after_ms(most_ms), least_ms = rli_after_ms(COMPENSATE_LEAST_MS);
    /* Other compensations do not end this wait. If none had time for an answer over a new connection, none would ever
     * be done. */
    int64_t next_ms = cut(watchdog, 1, by_ms);
    return next_ms > least_ms || next_ms == by_ms ? next_ms : least_ms;
}

/* Waits until something is due or has changed; meanwhile reads the answers to renewals, if any are under way. */
static void rest(rli_watchdog *watchdog, const rli_timer *first)
{
    rli_engine *engine = watchdog->engine;
    if (!watchdog->batches.first) {
        sleep_on(engine, first);
        return;
    }
    int64_t until_ms = rli_earlier(engine->collect_at_ms, engine->watch.due_ms);
    if (first)
        until_ms = rli_earlier(until_ms, first->at_ms);
    rli_engine_unlock(engine);
    rli_renewal_batch_await(watchdog, until_ms);
    rli_engine_lock(engine);
}

static void *run(void *argument)
{
    rli_watchdog *watchdog = argument;
    rli_engine *engine = watchdog->engine;
    rli_engine_lock(engine);
    while (!watchdog->stopping) {
        if (rli_renew_finish_answered(watchdog))
            continue;
        rli_timer *first = rli_timer_heap_first(&engine->timers);
        int64_t now_ms = rli_now_ms();
        if (engine->collect_at_ms <= now_ms)
            rli_collect(watchdog);
        else if (engine->watch.due_ms <= now_ms)
            rli_look_due(watchdog);
        else if (!first || first->at_ms > now_ms)
            rest(watchdog, first);
        else if (first == &engine->permits_in_doubt.timer)
            rli_permits_give_back(watchdog);
        else if (first == &engine->renewed_permits.timer)
            rli_renew_permits_due(watchdog);
        else
            attend_session(watchdog, RLI_ITEM(rli_session, first, timer));
    }
    rli_engine_unlock(engine);
    return NULL;
}

rlock_status rli_watchdog_start(rli_watchdog *watchdog)
{
    if (watchdog->running)
        return RLOCK_OK;
    if (watchdog->stopping)
        return rli_fail(RLOCK_CLOSED, "the client was closed");
    rlock_status status = rli_thread_start(&watchdog->thread, "rlock-watchdog", run, watchdog);
    watchdog->running = watchdog->engine->attended = status == RLOCK_OK;
    return status;
}

void rli_watchdog_stop(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_engine_lock(engine);
    bool running = watchdog->running;
    watchdog->stopping = true;
    watchdog->running = engine->attended = false;
    pthread_cond_signal(&engine->timers.earlier);
    rli_engine_unlock(engine);
    if (running)
        pthread_join(watchdog->thread, NULL);
}
