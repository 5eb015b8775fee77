/* Watch: which holds are to be looked at, because servers report that others changed their keys. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/watch.h"

#include "base/clock.h"
#include "base/list.h"
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t hash_of_entry(const rli_entry *entry)
{
    return rli_hash(&entry, sizeof(const rli_entry *), 0);
}

static uint32_t alarm_hash(const rli_link *link)
{
    return hash_of_entry(RLI_ITEM(rli_alarm, link, link)->entry);
}

void rli_watch_expect(rli_engine *engine, int64_t at_ms)
{
    rli_watch *watch = &engine->watch;
    if (at_ms >= watch->due_ms)
        return;
    watch->due_ms = at_ms;
    rli_timer_heap_expect(&engine->timers, at_ms);
}

/* --- alarms --- */

static rli_alarm *find(const rli_watch *watch, const rli_entry *entry)
{
    for (rli_link *link = rli_table_chain(&watch->alarms, hash_of_entry(entry)); link; link = link->next) {
        rli_alarm *alarm = RLI_ITEM(rli_alarm, link, link);
        if (alarm->entry == entry)
            return alarm;
    }
    return NULL;
}

/* NULL: out of memory. The renewals then find the loss, if it is one. */
static rli_alarm *make(rli_watch *watch, rli_entry *entry)
{
    rli_alarm *alarm = malloc(sizeof *alarm);
    if (!alarm)
        return NULL;
    *alarm = (rli_alarm){.entry = entry};
    if (!rli_table_add(&watch->alarms, &alarm->link)) {
        free(alarm);
        return NULL;
    }
    entry->references++;
    RLI_LIST_ADD(watch->first, alarm);
    return alarm;
}

void rli_watch_alarm(rli_engine *engine, rli_entry *entry)
{
    rli_watch *watch = &engine->watch;
    rli_alarm *alarm = find(watch, entry);
    if (!alarm && watch->alarms.count >= RLI_WATCH_ALARMS) {
        watch->overflowed = true;
        rli_watch_expect(engine, rli_now_ms());
        return;
    }
    if (!alarm)
        alarm = make(watch, entry);
    if (!alarm)
        return;
    alarm->heard = true;
    rli_watch_expect(engine, alarm->at_ms);
}

void rli_watch_end_alarm(rli_engine *engine, rli_alarm *alarm)
{
    rli_watch *watch = &engine->watch;
    rli_entry *entry = alarm->entry;
    rli_table_remove(&watch->alarms, &alarm->link);
    RLI_LIST_REMOVE(watch->first, alarm);
    free(alarm);
    rli_entry_unref(engine, entry);
}

void rli_watch_rest(rli_alarm *alarm)
{
    alarm->rest_ms = alarm->rest_ms ? rli_earlier(alarm->rest_ms * 2, RLI_WATCH_LONGEST_REST_MS) : RLI_WATCH_REST_MS;
    alarm->at_ms = rli_after_ms(alarm->rest_ms);
    alarm->looking = false;
}

/* --- what servers report --- */

/* Returns whether the owner of any tracked hold of the name may have lost it. */
static bool is_held(const rli_entry *entry)
{
    const rli_session *session = entry->sessions;
    while (session && !(session->old && session->phase == RLI_OPEN && session->count > 0))
        session = session->next;
    return session;
}

static void key_changed(rli_ear *ear, const char *key, size_t length)
{
    rli_engine *engine = RLI_ITEM(rli_engine, ear, watch.ear);
    rli_engine_lock(engine);
    rli_entry *entry = engine->watch.on ? rli_entry_find_name(engine, key, length) : NULL;
    if (entry && is_held(entry))
        rli_watch_alarm(engine, entry);
    rli_engine_unlock(engine);
}

static void servers_changed(rli_ear *ear)
{
    rli_engine *engine = RLI_ITEM(rli_engine, ear, watch.ear);
    rli_engine_lock(engine);
    engine->watch.changed = true;
    rli_watch_expect(engine, rli_now_ms());
    rli_engine_unlock(engine);
}

/* --- bounds --- */

bool rli_watch_may_look(rli_watch *watch)
{
    int64_t now_ms = rli_now_ms();
    watch->credit += (now_ms - watch->credit_ms) * RLI_WATCH_LOOKS_A_SECOND / 1000;
    watch->credit = rli_earlier(watch->credit, RLI_WATCH_LOOKS_A_SECOND);
    watch->credit_ms = now_ms;
    return watch->credit > 0;
}

void rli_watch_judge(rli_engine *engine, bool found)
{
    rli_watch *watch = &engine->watch;
    int64_t now_ms = rli_now_ms();
    if (now_ms - watch->window_ms >= RLI_WATCH_WINDOW_MS) {
        watch->window_ms = now_ms;
        watch->looks = watch->found = 0;
    }
    watch->looks++;
    watch->found += found;
    watch->credit += found; /* what finds something is not bounded */
    if (watch->on && watch->looks >= RLI_WATCH_FALSE_ALARMS && watch->found * 2 < watch->looks)
        rli_watch_switch_off(engine, RLOCK_TRACKING_FALSE_ALARMS, now_ms + RLI_WATCH_OFF_MS);
}

void rli_watch_switch_off(rli_engine *engine, rlock_tracking state, int64_t again_ms)
{
    rli_watch *watch = &engine->watch;
    watch->on = false;
    watch->state = state;
    watch->on_again_ms = again_ms;
    watch->changed = true;
    while (watch->first)
        rli_watch_end_alarm(engine, watch->first);
    if (state == RLOCK_TRACKING_FALSE_ALARMS)
        snprintf(watch->why, sizeof watch->why,
                 "%lld of %lld looks found the hold unchanged; tracking rests for %d seconds",
                 (long long)(watch->looks - watch->found), (long long)watch->looks, RLI_WATCH_OFF_MS / 1000);
    else
        snprintf(watch->why, sizeof watch->why, "the client has more than %d holds (lossTrackingMaxHolds)",
                 engine->settings->loss_tracking_max_holds);
    rli_watch_expect(engine, rli_now_ms());
}

void rli_watch_check_count(rli_engine *engine)
{
    rli_watch *watch = &engine->watch;
    bool too_many = engine->sessions.count > (size_t)engine->settings->loss_tracking_max_holds;
    int64_t now_ms = rli_now_ms();
    if (too_many && (watch->on || now_ms >= watch->on_again_ms)) {
        rli_watch_switch_off(engine, RLOCK_TRACKING_TOO_MANY_HOLDS, now_ms + RLI_WATCH_TOO_MANY_MS);
    } else if (!watch->on && now_ms >= watch->on_again_ms) {
        watch->on = true;
        watch->state = RLOCK_TRACKING_IDLE;
        watch->on_again_ms = RLI_NEVER;
        watch->looks = watch->found = 0;
        watch->rereads = true;
    }
}

/* --- beginning and end --- */

void rli_watch_init(rli_engine *engine)
{
    bool on = engine->settings->loss_tracking;
    engine->watch = (rli_watch){
        .ear = {.key_changed = key_changed, .servers_changed = servers_changed},
        .on = on,
        .state = on ? RLOCK_TRACKING_IDLE : RLOCK_TRACKING_DISABLED,
        .why = "lossTracking is false",
        .due_ms = RLI_NEVER,
        .on_again_ms = RLI_NEVER,
        .retry_ms = RLI_NEVER,
        .alarms = {.hash = alarm_hash},
    };
}

void rli_watch_destroy(rli_engine *engine)
{
    while (engine->watch.first)
        rli_watch_end_alarm(engine, engine->watch.first);
    rli_table_free(&engine->watch.alarms);
}
