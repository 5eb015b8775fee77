/* Departure: what a client waits for before it is closed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/departure.h"

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/session.h"

/* How long to pause while another thread reads the answers to requests in doubt. */
#define PAUSE_MS 2

void rli_departure_wait_for(rli_engine *engine, bool *not_given_back)
{
    engine->not_given_back += !*not_given_back;
    *not_given_back = true;
}

void rli_departure_wait_no_more(rli_engine *engine, bool *not_given_back)
{
    if (*not_given_back && --engine->not_given_back == 0)
        pthread_cond_broadcast(&engine->departed);
    *not_given_back = false;
}

/* Without the watchdog nothing is given back. */
static bool has_departed(const rli_engine *engine)
{
    return engine->async_releases == 0 && (engine->not_given_back == 0 || !engine->attended);
}

#define LONG_AGO_MS (INT64_MIN / 2)

/* The latest first, for which least was done so far; but what may not be released yet keeps its time. The watchdog is
 * woken once. */
static void make_due(rli_engine *engine, rli_session *session)
{
    if (rli_now_ms() < session->cold->release_from_ms)
        return;
    rli_timer_heap_expect(&engine->timers, LONG_AGO_MS);
    rli_timer_heap_set(&engine->timers, &session->timer, LONG_AGO_MS / 2 - (int64_t)session->number);
}

/* Has all that is in doubt given back now, or as soon as that may be before until_ms. Returns whether there is any. */
static bool give_back(rli_engine *engine, int64_t until_ms)
{
    bool any = rli_permits_in_doubt_hasten(engine);
    for (size_t i = 0; i < engine->sessions.bucket_count; i++) {
        for (rli_link *link = engine->sessions.buckets[i]; link; link = link->next) {
            rli_session *session = RLI_ITEM(rli_session, link, link);
            if (session->phase != RLI_COMPENSATING || session->cold->only_tells)
                continue;
            if (session->cold->release_from_ms >= until_ms) {
                rli_departure_wait_no_more(engine, &session->cold->not_given_back);
                continue;
            }
            any = true;
            rli_departure_wait_for(engine, &session->cold->not_given_back);
            if (!session->busy)
                make_due(engine, session);
        }
    }
    return any;
}

static void rest(rli_engine *engine)
{
    rli_engine_lock(engine);
    rli_engine_await(engine, &engine->departed, rli_after_ms(PAUSE_MS));
    rli_engine_unlock(engine);
}

void rli_departure_await(rli_engine *engine, int64_t until_ms)
{
    int64_t now_ms = rli_now_ms();
    rli_engine_lock(engine);
    bool any = give_back(engine, until_ms) || !has_departed(engine);
    rlock_cancel *hurry = engine->hurry;
    engine->closes_ms = until_ms;
    rli_timer_heap_expect(&engine->timers, now_ms); /* what waits in line is due now, too */
    rli_engine_unlock(engine);
    if (!any)
        return;
    rlock_cancel_fire(hurry);
    int64_t half_ms = now_ms + (until_ms - now_ms) / 2;
    while (rli_topology_collect(engine->topology, half_ms) && rli_now_ms() < half_ms)
        rest(engine); /* another thread reads there */
    rli_engine_lock(engine);
    engine->departing = true;
    give_back(engine, until_ms);
    while (!has_departed(engine) && rli_engine_await(engine, &engine->departed, until_ms))
        continue;
    rli_engine_unlock(engine);
}
