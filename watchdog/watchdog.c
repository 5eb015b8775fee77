/* Watchdog: its thread, which does what is on the timer heap when it is due. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/watchdog.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "engine/holds.h"
#include "engine/session.h"
#include "watchdog/clean_up.h"
#include "watchdog/collect.h"
#include "watchdog/renewal_batch.h"
#include "watchdog/permits.h"
#include "watchdog/renew.h"
#include "watchdog/renew_permits.h"
#include "watchdog/compensate.h"
#include "watchdog/look.h"

rlock_status rli_watchdog_begin(const rli_watchdog *watchdog, rli_operation *op)
{
    return rli_operation_begin(op, watchdog->engine->gate, watchdog->engine->hurry);
}

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

/* Sleeps until that instant, or until an earlier timer is set; stopping also wakes it. */
static void sleep_until(rli_engine *engine, int64_t until_ms)
{
    rli_timer_heap *timers = &engine->timers;
    until_ms = rli_timer_heap_go_to_sleep(timers, until_ms);
    rli_engine_await(engine, &timers->earlier, until_ms);
    rli_timer_heap_wake_up(timers, until_ms);
}

/* Does what is due for the session. With `aging` set, its timer is not for a renewal. */
static void attend_session(rli_watchdog *watchdog, rli_session *session)
{
    rli_engine *engine = watchdog->engine;
    if (rli_now_ms() >= session->deadline_ms)
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

/* Waits until something is due or has changed; meanwhile reads the answers to renewals, if any are under way. */
static void rest(rli_watchdog *watchdog, const rli_timer *first)
{
    rli_engine *engine = watchdog->engine;
    int64_t until_ms = rli_earlier(engine->collect_at_ms, engine->watch.due_ms);
    until_ms = rli_earlier(until_ms, rli_clean_up_due_ms(watchdog));
    if (first)
        until_ms = rli_earlier(until_ms, first->at_ms);
    if (!watchdog->batches.first) {
        sleep_until(engine, until_ms);
        return;
    }
    rli_engine_unlock(engine);
    rli_renewal_batch_await(watchdog, until_ms);
    rli_engine_lock(engine);
}

static void clean_up(rli_watchdog *watchdog)
{
    /* Else nobody reads the answers to renewals of other servers, one clean-up after the other. */
    if (watchdog->batches.first) {
        rli_engine_unlock(watchdog->engine);
        rli_renewal_batch_await(watchdog, rli_now_ms());
        rli_engine_lock(watchdog->engine);
    }
    rli_session *session = rli_clean_up_next(watchdog);
    if (session)
        rli_compensate(watchdog, session);
    else
        rli_permits_give_back(watchdog);
}

/* Does what the timer is for, which is due. */
static void attend(rli_watchdog *watchdog, rli_timer *timer)
{
    if (rli_clean_up_is(watchdog, timer))
        rli_clean_up_wait(watchdog, timer);
    else if (timer == &watchdog->engine->renewed_permits.timer)
        rli_renew_permits_due(watchdog);
    else
        attend_session(watchdog, RLI_ITEM(rli_session, timer, timer));
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
        else if (first && first->at_ms <= now_ms)
            attend(watchdog, first);
        else if (rli_clean_up_due_ms(watchdog) <= now_ms)
            clean_up(watchdog);
        else
            rest(watchdog, first);
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
    if (!watchdog->engine->hurry)
        watchdog->engine->hurry = rlock_cancel_new(); /* out of memory: close waits longer */
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
