/* Look: reads holds that others may have changed, and judges what stands there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/look.h"

#include "base/clock.h"
#include "engine/holds.h"
#include "engine/session.h"
#include "net/reply.h"
#include "watchdog/renew.h"
#include "watchdog/tracking.h"

#include <stdlib.h>

/* How long the mutex may be held while the table of names is gone through: for so many buckets. */
#define BUCKETS 2048
/* When to go on if a server has enough to do at present. */
#define FULL_MS 20
/* When to go on if reports have caused as many looks as they may at present. */
#define CREDIT_MS (1000 / RLI_WATCH_LOOKS_A_SECOND)
/* The pause after holds could not be read, which doubles up to the longest. */
#define PAUSE_MS         500
#define LONGEST_PAUSE_MS 10000

/* What a look is for: a hold has become old enough; a name was reported as changed; or a round. */
typedef enum cause { AGE, ALARM, ROUND } cause;

/* --- batches --- */

static rli_node *server_of(const rli_watchdog *watchdog, const rli_session *session)
{
    return rli_topology_server_of(watchdog->engine->topology, rli_renewal_slot(watchdog, session));
}

/* Whether the session has a hold that can be looked at. */
static bool is_held(const rli_session *session)
{
    return session->kind->look && session->phase == RLI_OPEN && session->count > 0 && !session->forced;
}

/* Begins a batch for holds like that one. NULL: not now. */
static rli_renewal_batch *begin(rli_watchdog *watchdog, const rli_session *session, cause why)
{
    rli_engine *engine = watchdog->engine;
    rli_node *node = rli_topology_ref_server(engine->topology, rli_renewal_slot(watchdog, session));
    bool may = node && rli_now_ms() >= node->renewals.mute_until_ms && !rli_renewal_batch_is_full(node, false);
    rli_renewal_batch *batch = may ? rli_renewal_batch_make(watchdog, node) : NULL;
    if (!batch) {
        rli_node_unref(node);
        return NULL;
    }
    batch->looks = true;
    batch->alarm = why == ALARM;
    batch->judged = why == ALARM || (why == ROUND && engine->watch.round.reported);
    return batch;
}

/* Adds the session to *batch, which may be NULL. Returns false when it does not fit. */
static bool add(rli_watchdog *watchdog, rli_renewal_batch **batch, rli_session *session, cause why)
{
    rli_engine *engine = watchdog->engine;
    if (!*batch && !(*batch = begin(watchdog, session, why)))
        return false;
    rli_renewal_batch *own = *batch;
    const rli_session *first = own->sessions[0];
    if (own->count == engine->settings->batch_size ||
        (own->count > 0 && (first->alone || session->alone || first->kind->look != session->kind->look ||
                            rli_renewal_slot(watchdog, first) != rli_renewal_slot(watchdog, session))))
        return false;
    own->ends_ms = rli_earlier(own->ends_ms, session->deadline_ms);
    own->sessions[own->count++] = session;
    session->marked = false;
    session->looking = true;
    session->extended = false;
    return true;
}

/* Sends the batch, unless it is NULL. Mutex held on entry and return, not meanwhile. */
static void send(rli_watchdog *watchdog, rli_renewal_batch *batch)
{
    if (!batch)
        return;
    if (batch->judged)
        watchdog->engine->watch.credit -= batch->count;
    rli_renew_dispatch(batch);
}

/* --- answers --- */

/* The hold was not read: it is looked at once more. */
static void repeat(rli_engine *engine, const rli_renewal_batch *batch, rli_session *session)
{
    rli_round *round = &engine->watch.round;
    if (batch->alarm) {
        rli_watch_alarm(engine, session->entry);
        return;
    }
    if (batch->node && batch->node->tracking.reread == RLI_REREAD_NONE)
        batch->node->tracking.reread = RLI_REREAD_OLD;
    if (rli_now_ms() < round->after_ms)
        return;
    round->pause_ms = round->pause_ms ? rli_earlier(round->pause_ms * 2, LONGEST_PAUSE_MS) : PAUSE_MS;
    round->after_ms = rli_after_ms(round->pause_ms);
    rli_watch_expect(engine, round->after_ms);
}

/* The server keeps the hold for a shorter time than this process relies on. A hold under renewal is renewed at once. */
static void shorten(rli_engine *engine, rli_session *session, int64_t sent_ms, int64_t left_ms)
{
    rli_session_cut(session, sent_ms, left_ms);
    session->aging = false;
    rli_timer_heap_set(&engine->timers, &session->timer,
                       rli_session_needs_renewal(session) ? rli_now_ms() : session->deadline_ms);
}

void rli_look_judge(rli_engine *engine, const rli_renewal_batch *batch, rli_session *session, const redisReply *answer,
                    int64_t sent_ms)
{
    int64_t left_ms = 0;
    session->looking = false;
    if (!is_held(session))
        return; /* released, declared lost or being forced open while the look was under way */
    if (!answer || !rli_reply_integer(answer, &left_ms) || left_ms < RLI_LOOK_GONE) {
        repeat(engine, batch, session);
        return;
    }
    /* The server measured the time after the look was sent, and before now. */
    bool gone = left_ms == RLI_LOOK_GONE;
    bool is_short = left_ms >= 0 && left_ms < session->deadline_ms - rli_now_ms();
    if (is_short && session->extended) { /* perhaps by what ran after the look: this hold is looked at once more */
        rli_watch_alarm(engine, session->entry);
        return;
    }
    engine->watch.round.pause_ms = 0;
    if (gone)
        rli_session_declare_lost(engine, session, RLOCK_LOST_GONE, true);
    else if (is_short)
        shorten(engine, session, sent_ms, left_ms);
    if (batch->judged)
        rli_watch_judge(engine, gone || is_short);
    if (engine->watch.round.stage != RLI_ROUND_OVER || engine->watch.first)
        rli_watch_expect(engine, rli_now_ms()); /* the server has less to do now */
}

/* --- holds that have become old enough --- */

/* Returns the session that is first on the timer heap, if it has become old enough by now; else NULL. */
static rli_session *next_old(const rli_watchdog *watchdog)
{
    rli_timer *first = rli_timer_heap_first(&watchdog->engine->timers);
    if (!first || first->at_ms > rli_now_ms() || !rli_watchdog_is_of_session(watchdog, first))
        return NULL;
    rli_session *session = RLI_ITEM(rli_session, first, timer);
    return session->aging && is_held(session) && rli_now_ms() < session->deadline_ms ? session : NULL;
}

/* Notes that the session is old enough, and schedules what its timer is for otherwise. */
static void age(rli_engine *engine, rli_session *session)
{
    session->aging = false;
    session->old = true;
    rli_session_schedule(engine, session, session->timer.at_ms - RLI_WATCH_AGE_MS);
}

void rli_look_at_old(rli_watchdog *watchdog, rli_session *session)
{
    rli_engine *engine = watchdog->engine;
    rli_renewal_batch *batch = NULL;
    rli_watch_check_count(engine);
    for (; session; session = next_old(watchdog)) {
        rli_node *node = server_of(watchdog, session);
        bool looks = rli_tracking_want(engine, node) && !session->looking &&
                     rli_now_ms() >= node->renewals.mute_until_ms;
        if (looks && !add(watchdog, &batch, session, AGE))
            break; /* another batch */
        age(engine, session);
    }
    if (batch || !session) {
        send(watchdog, batch);
        return;
    }
    rli_engine_unlock(engine); /* the server has enough to do */
    rli_renewal_batch_await(watchdog, RLI_NEVER);
    rli_engine_lock(engine);
}

/* --- alarms --- */

static void mark(rli_entry *entry)
{
    for (rli_session *session = entry->sessions; session; session = session->next)
        session->marked = is_held(session) && session->old;
}

/* Sends one batch of looks at the name's holds. Returns false when all have been looked at. *later: not now. */
static bool look_at_some(rli_watchdog *watchdog, const rli_entry *entry, bool *later)
{
    rli_renewal_batch *batch = NULL;
    bool any = false;
    for (rli_session *session = entry->sessions; session; session = session->next) {
        if (!session->marked || !is_held(session))
            continue;
        any = true;
        /* A look that is under way may have been answered before the report. */
        if (!session->looking)
            add(watchdog, &batch, session, ALARM);
        if (batch && batch->count == watchdog->engine->settings->batch_size)
            break;
    }
    *later = any && !batch;
    send(watchdog, batch);
    return any;
}

static void look_at_name(rli_watchdog *watchdog, rli_alarm *alarm)
{
    bool later = false;
    if (!alarm->looking) {
        mark(alarm->entry);
        alarm->heard = false;
        alarm->looking = true;
    }
    if (look_at_some(watchdog, alarm->entry, &later))
        alarm->at_ms = later ? rli_after_ms(FULL_MS) : alarm->at_ms;
    else
        rli_watch_rest(alarm);
}

/* Returns an alarm that is due. Ends those whose rest is over without another report. NULL: there is none; *next_ms is
 * when there will be one. */
static rli_alarm *next_alarm(rli_engine *engine, int64_t *next_ms)
{
    int64_t now_ms = rli_now_ms();
    *next_ms = RLI_NEVER;
    for (rli_alarm *alarm = engine->watch.first, *next; alarm; alarm = next) {
        next = alarm->next;
        if (alarm->at_ms > now_ms)
            *next_ms = rli_earlier(*next_ms, alarm->at_ms);
        else if (alarm->heard || alarm->looking)
            return alarm;
        else
            rli_watch_end_alarm(engine, alarm);
    }
    return NULL;
}

static void look_at_alarms(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    int64_t next_ms = RLI_NEVER;
    rli_alarm *alarm;
    while ((alarm = next_alarm(engine, &next_ms)) && rli_watch_may_look(&engine->watch))
        look_at_name(watchdog, alarm);
    if (alarm) /* there is no credit */
        next_ms = rli_after_ms(CREDIT_MS);
    rli_watch_expect(engine, next_ms);
}

/* --- rounds --- */

/* Prepares a round if any server's holds are to be read again. */
static void begin_round(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_round *round = &engine->watch.round;
    bool any = false;
    for (rli_node *node = NULL; (node = rli_nodes_next_of_all(&engine->topology->nodes, node));)
        any |= node->tracking.reread != RLI_REREAD_NONE;
    if (any && rli_now_ms() < round->after_ms)
        rli_watch_expect(engine, round->after_ms);
    if (!any || rli_now_ms() < round->after_ms)
        return;
    for (rli_node *node = NULL; (node = rli_nodes_next_of_all(&engine->topology->nodes, node));) {
        node->tracking.rereading = node->tracking.reread;
        node->tracking.reread = RLI_REREAD_NONE;
    }
    round->reported = round->reports;
    round->reports = false;
    round->stage = RLI_ROUND_MARKS;
    round->bucket = 0;
    round->buckets = engine->entries.bucket_count;
    rli_watch_expect(engine, rli_now_ms());
}

static void end_round(rli_round *round)
{
    round->stage = RLI_ROUND_OVER;
    if (round->reported)
        round->after_ms = rli_after_ms(RLI_WATCH_REST_MS);
    round->reported = false;
}

/* Begins a stage anew after the table has changed its size: the places of all sessions in it are others. */
static void check_size(rli_engine *engine)
{
    rli_round *round = &engine->watch.round;
    if (round->buckets == engine->entries.bucket_count)
        return;
    round->bucket = 0;
    round->buckets = engine->entries.bucket_count;
}

static void mark_for_round(rli_watchdog *watchdog, rli_session *session)
{
    rli_node *node = is_held(session) ? server_of(watchdog, session) : NULL;
    if (!node || node->tracking.rereading == RLI_REREAD_NONE)
        return;
    if (watchdog->engine->watch.on && !session->aging)
        session->old = true;
    if (session->old || node->tracking.rereading == RLI_REREAD_ALL)
        session->marked = true;
    if (session->old)
        rli_tracking_want(watchdog->engine, node);
}

static void mark_all(rli_watchdog *watchdog, const rli_entry *entry)
{
    for (rli_session *session = entry->sessions; session; session = session->next)
        mark_for_round(watchdog, session);
}

/* Marks the holds in some buckets. */
static void mark_some(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_round *round = &engine->watch.round;
    for (size_t end = round->bucket + BUCKETS; round->bucket < round->buckets && round->bucket < end; round->bucket++) {
        for (rli_link *link = engine->entries.buckets[round->bucket]; link; link = link->next)
            mark_all(watchdog, RLI_ITEM(rli_entry, link, link));
    }
    if (round->bucket < round->buckets)
        return;
    round->stage = RLI_ROUND_LOOKS;
    round->bucket = 0;
}

/* If the server is silent, leaves its hold to the next round, so that those of other servers do not wait for it. */
static bool leave_if_mute(rli_watchdog *watchdog, rli_session *session)
{
    rli_node *node = server_of(watchdog, session);
    rli_round *round = &watchdog->engine->watch.round;
    if (!node || rli_now_ms() >= node->renewals.mute_until_ms)
        return false;
    if (node->tracking.rereading == RLI_REREAD_NONE)
        return true; /* not of this round: an alarm has marked it, and looks at it in time */
    session->marked = false;
    if (node->tracking.reread < node->tracking.rereading)
        node->tracking.reread = node->tracking.rereading;
    if (round->after_ms < rli_after_ms(PAUSE_MS))
        round->after_ms = rli_after_ms(PAUSE_MS);
    return true;
}

/* Adds the marked holds of a name to the batch. Returns false when one did not fit. */
static bool add_marked(rli_watchdog *watchdog, rli_renewal_batch **batch, const rli_entry *entry)
{
    for (rli_session *session = entry->sessions; session; session = session->next) {
        if (!session->marked)
            continue;
        if (!is_held(session))
            session->marked = false;
        else if ((session->looking || !add(watchdog, batch, session, ROUND)) && !leave_if_mute(watchdog, session))
            return false; /* a look that is under way may have read it before: read it again then */
    }
    return true;
}

/* The same for all names of a bucket. */
static bool add_bucket(rli_watchdog *watchdog, rli_renewal_batch **batch, rli_link *link)
{
    while (link && add_marked(watchdog, batch, RLI_ITEM(rli_entry, link, link)))
        link = link->next;
    return !link;
}

/* Looks at the marked holds in some buckets. */
static void look_at_marked(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_round *round = &engine->watch.round;
    rli_renewal_batch *batch = NULL;
    size_t end = round->bucket + BUCKETS;
    while (round->bucket < round->buckets && round->bucket < end &&
           add_bucket(watchdog, &batch, engine->entries.buckets[round->bucket]))
        round->bucket++;
    bool stuck = !batch && round->bucket < round->buckets && round->bucket < end;
    send(watchdog, batch);
    if (round->bucket == round->buckets && round->buckets == engine->entries.bucket_count)
        end_round(round);
    else
        rli_watch_expect(engine, stuck ? rli_after_ms(FULL_MS) : rli_now_ms());
}

static void go_round(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_round *round = &engine->watch.round;
    if (round->stage == RLI_ROUND_OVER)
        begin_round(watchdog);
    check_size(engine);
    if (round->stage == RLI_ROUND_MARKS) {
        mark_some(watchdog);
        rli_watch_expect(engine, rli_now_ms());
        rli_engine_unlock(engine); /* so that callers get it, too */
        rli_engine_lock(engine);
    } else if (round->stage == RLI_ROUND_LOOKS && round->reported && !rli_watch_may_look(&engine->watch)) {
        rli_watch_expect(engine, rli_after_ms(CREDIT_MS));
    } else if (round->stage == RLI_ROUND_LOOKS) {
        look_at_marked(watchdog);
        if (round->stage == RLI_ROUND_OVER)
            begin_round(watchdog);
    }
}

void rli_look_due(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_watch *watch = &engine->watch;
    watch->due_ms = RLI_NEVER;
    if (engine->closes_ms)
        return; /* close has no time for it */
    if (watch->on_again_ms != RLI_NEVER)
        rli_watch_check_count(engine);
    if (watch->changed || watch->overflowed || watch->rereads || rli_now_ms() >= watch->retry_ms)
        rli_tracking_tend(watchdog);
    look_at_alarms(watchdog);
    go_round(watchdog);
    rli_watch_expect(engine, watch->retry_ms);
    rli_watch_expect(engine, watch->on_again_ms);
}
