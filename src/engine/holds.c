/* Holds: the sessions of all owners of a client: finds, begins and ends them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/holds.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/list.h"
#include "engine/async_release.h"
#include "engine/departure.h"
#include "engine/engine.h"
#include "engine/queue.h"
#include "engine/session.h"

#include <stdlib.h>
#include <string.h>

/* A program that lets leases expire instead of unlocking leaves a lost session behind each time. Beyond this many,
 * the oldest are forgotten; their unlocks then answer RLOCK_NOT_OWNER. */
#define LOST_MOST 1024
/* A place in the server's queue outlives its owner's wait by up to this: the waiters before it add to its timeout. */
#define PLACE_OUTLIVES_MS 300000
/* The registry of waiters stands so long after the last of them has registered (lua/lock/register.inc). */
#define REGISTRY_MS 90000

/* The kinds whose holds one script renews share an owner's session: their holds are in one field. */
static uint32_t owner_hash(const rli_entry *entry, const rli_script *renew, int64_t number, bool named)
{
    return rli_hash(&number, sizeof number, (uint32_t)(((uintptr_t)entry >> 4) + (uintptr_t)renew + named));
}

static uint32_t session_hash(const rli_link *link)
{
    const rli_session *session = RLI_ITEM(rli_session, link, link);
    rli_owner owner = rli_session_owner(session);
    return owner_hash(session->entry, session->kind->renew, owner.number, owner.named);
}

/* With a short name, a plain hold takes 160 bytes of heap, and 30 in the tables and on the timer heap. */
_Static_assert(sizeof(rli_entry) <= 136, "what is rare goes into rli_cold_fields, or rli_queues");

void rli_holds_init(rli_engine *engine)
{
    engine->entries.hash = rli_entry_hash;
    engine->sessions.hash = session_hash;
}

/* --- finding sessions --- */

static bool is_of(const rli_session *session, const rli_owner *owner)
{
    rli_owner own = rli_session_owner(session);
    return own.number == owner->number && own.named == owner->named;
}

/* Whether the session is one of the owner's, of that field. */
static bool belongs(const rli_session *session, const rli_entry *entry, const rli_script *renew, const rli_owner *owner)
{
    return session->entry == entry && session->kind->renew == renew && is_of(session, owner);
}

/* The owner's sessions of that field, one after the other; NULL: no more. */
static rli_session *own_from(rli_link *link, const rli_entry *entry, const rli_script *renew, const rli_owner *owner)
{
    while (link && !belongs(RLI_ITEM(rli_session, link, link), entry, renew, owner))
        link = link->next;
    return link ? RLI_ITEM(rli_session, link, link) : NULL;
}

static rli_session *first_own(const rli_engine *engine, const rli_entry *entry, const rli_script *renew,
                              const rli_owner *owner)
{
    if (!entry->sessions)
        return NULL;
    uint32_t hash = owner_hash(entry, renew, owner->number, owner->named);
    return own_from(rli_table_chain(&engine->sessions, hash), entry, renew, owner);
}

static rli_session *next_own(const rli_session *session, const rli_script *renew, const rli_owner *owner)
{
    return own_from(session->link.next, session->entry, renew, owner);
}

static rli_session *later(rli_session *one, rli_session *other)
{
    return !one || other->number > one->number ? other : one;
}

/* Returns the owner's latest session in that phase with at least `count` holds; NULL: none. */
static rli_session *find(const rli_engine *engine, const rli_entry *entry, const rli_script *renew,
                         const rli_owner *owner, rli_phase phase, int count)
{
    rli_session *found = NULL, *own = first_own(engine, entry, renew, owner);
    for (; own; own = next_own(own, renew, owner)) {
        if (own->phase == phase && own->count >= count)
            found = later(found, own);
    }
    return found;
}

static rli_session *open_session(rli_engine *engine, rli_entry *entry, const rli_script *renew, const rli_owner *owner)
{
    rli_session *session = find(engine, entry, renew, owner, RLI_OPEN, 0);
    if (session && session->count > 0 && !session->releasing && rli_now_ms() >= session->deadline_ms) {
        rli_session_declare_lost(engine, session, RLOCK_LOST_EXPIRED, true);
        return NULL;
    }
    return session;
}

rli_session *rli_session_find_open(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    return open_session(engine, entry, kind->renew, owner);
}

rli_session *rli_session_find_writer(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    if (kind->sharing != RLI_READING)
        return NULL;
    rli_session *session = open_session(engine, entry, rli_kind_write.renew, owner);
    return session && session->count > 0 ? session : NULL;
}

rli_session *rli_session_find_lost(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    return find(engine, entry, kind->renew, owner, RLI_LOST, 1);
}

rli_session *rli_session_find_lost_of(rli_engine *engine, const rli_entry *entry, const rli_kind *kind,
                                      const rli_owner *owner, bool sharded)
{
    rli_session *latest = NULL, *own = first_own(engine, entry, kind->renew, owner);
    for (; own; own = next_own(own, kind->renew, owner)) {
        int shards = rli_session_sharded_count(own), holds = sharded ? shards : own->count - shards;
        if (own->phase == RLI_LOST && holds > 0)
            latest = later(latest, own);
    }
    return latest;
}

rli_session *rli_session_find_number(rli_engine *engine, const rli_entry *entry, const rli_kind *kind,
                                     const rli_owner *owner, uint64_t number)
{
    rli_session *own = first_own(engine, entry, kind->renew, owner);
    while (own && (own->number != number || own->count == 0))
        own = next_own(own, kind->renew, owner);
    return own;
}

int rli_session_lost_holds(rli_engine *engine, const rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    int holds = 0;
    const rli_session *own = first_own(engine, entry, kind->renew, owner);
    for (; own; own = next_own(own, kind->renew, owner))
        holds += own->phase == RLI_LOST ? own->count : 0;
    return holds;
}

/* --- the life of a session --- */

/* Whether the session has ended, and its field may still be on the server. */
static bool may_stand(const rli_session *session)
{
    return session->phase == RLI_LOST || session->phase == RLI_RELEASING_ASYNC ||
           (session->phase == RLI_COMPENSATING && !session->cold->only_tells);
}

/* Returns the number of the owner's latest ended session whose field may still be on the server; 0: none. Marks its
 * async release, if any, as replaced: the caller's acquire replaces that field. */
static uint64_t standing_field(const rli_engine *engine, const rli_entry *entry, const rli_script *renew,
                               const rli_owner *owner)
{
    rli_session *latest = NULL, *own = first_own(engine, entry, renew, owner);
    for (; own; own = next_own(own, renew, owner)) {
        if (may_stand(own))
            latest = later(latest, own);
    }
    if (latest && latest->cold && latest->cold->async_release)
        latest->cold->async_release->replaced = true;
    return latest ? latest->number : 0;
}

/* A read hold under a write hold shares its number, as Redisson's shares its thread's id. It does so only once per
 * write session: a late request of this read hold must not touch the next one. */
static uint64_t number_for(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    rli_session *writer = rli_session_find_writer(engine, entry, kind, owner);
    if (!writer || writer->lent)
        return ++engine->last_number;
    writer->lent = true;
    return writer->number;
}

/* Frees a session, or marks entry->own as unused. */
static void discard(rli_session *session)
{
    if (session == &session->entry->own)
        session->entry = NULL;
    else
        free(session);
}

/* Puts the session in the table with its cold fields and room on the timer heap. Returns false when out of memory. */
static bool enlist(rli_engine *engine, rli_session *session)
{
    if (!rli_timer_heap_reserve(&engine->timers))
        return false;
    if (rli_cold_fields_ensure(&engine->cold_fields_pool, &session->cold, session->count, false) &&
        rli_table_add(&engine->sessions, &session->link))
        return true;
    rli_timer_heap_unreserve(&engine->timers);
    rli_cold_fields_return(&engine->cold_fields_pool, session->cold);
    return false;
}

/* Creates a session with cold fields but without a number. NULL: out of memory. */
static rli_session *make(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    rli_session *session = entry->own.entry ? malloc(sizeof *session) : &entry->own;
    if (!session)
        return NULL;
    *session = (rli_session){.entry = entry, .kind = kind, .named = owner->named, .has_life = owner->life};
    if (owner->life)
        session->life = owner->life;
    else
        session->owner_number = owner->number;
    if (!enlist(engine, session)) {
        discard(session);
        return NULL;
    }
    RLI_LIST_ADD(entry->sessions, session);
    rli_thread_life_ref(owner->life);
    entry->references++;
    return session;
}

static rli_session *begin(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    rli_session *session = make(engine, entry, kind, owner);
    if (!session)
        return NULL;
    session->cold->replaces = standing_field(engine, entry, kind->renew, owner);
    session->number = number_for(engine, entry, kind, owner);
    return session;
}

rli_session *rli_session_join(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    rli_session *session = rli_session_find_open(engine, entry, kind, owner);
    if (!session)
        session = begin(engine, entry, kind, owner);
    return session && rli_session_add_attempt(engine, session, false) ? session : NULL;
}

bool rli_session_add_attempt(rli_engine *engine, rli_session *session, bool gives_back)
{
    if (!rli_cold_fields_ensure(&engine->cold_fields_pool, &session->cold, session->count, gives_back))
        return false;
    session->cold->attempts++;
    return true;
}

void rli_session_drop_attempt(rli_engine *engine, rli_session *session)
{
    session->cold->attempts--;
    rli_session_settle(engine, session);
}

static void forget_lost(rli_engine *engine, rli_session *session)
{
    rli_session *before = NULL;
    for (rli_session *lost = engine->first_lost; lost != session; lost = lost->next_lost)
        before = lost;
    if (before)
        before->next_lost = session->next_lost;
    else
        engine->first_lost = session->next_lost;
    if (engine->last_lost == session)
        engine->last_lost = before;
    engine->lost_count--;
}

static void end(rli_engine *engine, rli_session *session)
{
    rli_entry *entry = session->entry;
    if (session->cold)
        rli_departure_wait_no_more(engine, &session->cold->not_given_back);
    if (entry->queues)
        rli_yield_drop_holder(&entry->queues->yield, session);
    if (session->cold && session->cold->async_release)
        rli_session_forget_async_release(engine, session);
    if (session->phase != RLI_LOST)
        rli_timer_heap_remove(&engine->timers, &session->timer);
    rli_timer_heap_unreserve(&engine->timers);
    rli_table_remove(&engine->sessions, &session->link);
    RLI_LIST_REMOVE(entry->sessions, session);
    if (session->has_life)
        rli_thread_life_unref(session->life);
    rli_cold_fields_return(&engine->cold_fields_pool, session->cold);
    discard(session);
    rli_entry_unref(engine, entry);
}

/* A plain hold with no operation under way needs no cold fields. */
static void slim(rli_engine *engine, rli_session *session)
{
    if (session->cold && session->phase == RLI_OPEN && session->count == 1 && !session->busy && !session->queued &&
        !session->registered && rli_cold_fields_are_plain(session->cold)) {
        rli_cold_fields_return(&engine->cold_fields_pool, session->cold);
        session->cold = NULL;
    }
}

/* Adds the session's place in the server's queue, or in the registry of waiters, if it may have one, to what is in
 * doubt: the compensating release leaves both, too. */
static void place_in_doubt(rli_engine *engine, rli_session *session)
{
    if (session->queued)
        rli_session_in_doubt(engine, session, session->cold->place_ms + PLACE_OUTLIVES_MS);
    if (session->registered)
        rli_session_in_doubt(engine, session, REGISTRY_MS);
    session->queued = session->registered = false;
}

/* A lost session stays until its owner has unlocked. But what the server may still keep for it is released at once,
 * by another session of the same owner and number. If memory is short, that waits until the owner has unlocked. */
static void release_lost(rli_engine *engine, rli_session *lost)
{
    rli_cold_fields *cold = lost->cold;
    if (!cold || lost->busy || lost->renewing)
        /* Not while a request of it is under way: the end of that request comes here again. */
        return;
    place_in_doubt(engine, lost);
    if (cold->in_doubt_ms == 0)
        return;
    rli_owner owner = rli_session_owner(lost);
    rli_session *session = make(engine, lost->entry, lost->kind, &owner);
    if (!session)
        return;
    session->number = lost->number;
    rli_session_become(session, RLI_DONE);
    session->cold->highest = cold->highest;
    session->cold->queue_kind = cold->queue_kind;
    session->cold->place_ms = cold->place_ms;
    session->cold->registered_ms = cold->registered_ms;
    session->cold->in_doubt_ms = cold->in_doubt_ms;
    session->cold->release_from_ms = cold->release_from_ms;
    session->cold->only_tells = cold->only_tells;
    session->cold->unheard = cold->unheard;
    session->cold->unheard_kind = cold->unheard_kind;
    session->cold->unheard_ms = cold->unheard_ms;
    cold->unheard = NULL;
    cold->in_doubt_ms = 0;
    rli_session_settle(engine, session);
}

/* Returns whether something of the session is in doubt, which will be released in the background from now on. */
static bool begin_compensating(rli_engine *engine, rli_session *session)
{
    rli_cold_fields *cold = session->cold;
    if (session->phase == RLI_COMPENSATING || !cold || cold->in_doubt_ms <= 0)
        return false;
    int64_t from_ms = rli_now_ms() < cold->release_from_ms ? cold->release_from_ms : rli_now_ms();
    rli_session_become(session, RLI_COMPENSATING);
    cold->release_until_ms = from_ms + cold->in_doubt_ms;
    cold->in_doubt_ms = 0;
    if (!cold->only_tells)
        rli_departure_wait_for(engine, &cold->not_given_back);
    rli_timer_heap_set(&engine->timers, &session->timer,
                       cold->only_tells ? cold->unheard_ms + RLI_UNHEARD_MS : from_ms);
    return true;
}

void rli_session_settle(rli_engine *engine, rli_session *session)
{
    if (session->phase == RLI_LOST)
        release_lost(engine, session);
    if (rli_session_attempts(session) || session->count || session->busy || session->renewing || session->looking ||
        session->reporting || session->phase == RLI_RELEASING_ASYNC) {
        slim(engine, session);
        return;
    }
    if (session->phase == RLI_LOST) {
        forget_lost(engine, session);
        rli_session_become(session, RLI_DONE);
        session->deadline_ms = 0;
        session->timer = (rli_timer){0};
    }
    place_in_doubt(engine, session);
    if (begin_compensating(engine, session))
        return;
    if (session->phase == RLI_COMPENSATING && rli_now_ms() < session->cold->release_until_ms)
        return;
    end(engine, session);
}

void rli_session_abandon_hold(rli_engine *engine, rli_session *session)
{
    rli_timer_heap_remove(&engine->timers, &session->timer);
    session->count = 0;
    rli_session_become(session, RLI_DONE);
    rli_session_settle(engine, session);
}

void rli_entry_note_unheard_head(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const char *unheard)
{
    rli_owner nobody = {.number = 0}; /* no thread has this number */
    rli_session *session = begin(engine, entry, kind, &nobody);
    if (!session)
        return; /* out of memory: the head's timeout on the server removes it */
    rli_session_become(session, RLI_DONE);
    rli_session_note_unheard_head(session, kind, unheard);
    rli_session_settle(engine, session);
}

static void queue_report(rli_engine *engine, rli_session *session)
{
    session->reporting = true;
    session->next_report = NULL;
    if (engine->last_report)
        engine->last_report->next_report = session;
    else
        engine->first_report = session;
    engine->last_report = session;
    pthread_cond_broadcast(&engine->reports);
}

/* Returns whether the lock stays until its lease ends on the server, and must not be released before. */
static bool ends_itself(rlock_lost_reason reason)
{
    return reason == RLOCK_LOST_EXPIRED || reason == RLOCK_LOST_OWNER_EXITED;
}

void rli_session_declare_lost(rli_engine *engine, rli_session *session, rlock_lost_reason reason, bool report)
{
    /* A renewal that was never answered may have run, or may still run. */
    if (ends_itself(reason) && rli_session_renewed_count(session) > 0)
        rli_session_in_doubt(engine, session, engine->settings->watchdog_timeout_ms);
    /* The owner's other hold on the read-write lock may keep the key, and this hold's field with it. A force
     * release leaves nothing behind. */
    if (session->kind->sharing != RLI_EXCLUSIVE && !session->forced)
        rli_session_in_doubt(engine, session, 1);
    if (session->cold) {
        rli_session_in_doubt(engine, session, session->cold->in_doubt_more_ms);
        session->cold->release_from_ms = ends_itself(reason) ? rli_session_end_on_server(engine, session) : 0;
    }
    rli_timer_heap_remove(&engine->timers, &session->timer);
    rli_session_become(session, RLI_LOST);
    session->reason = reason == RLOCK_LOST_EXPIRED && session->refused ? RLOCK_LOST_REFUSED : reason;
    if (session->entry->queues)
        rli_yield_drop_holder(&session->entry->queues->yield, session);
    if (reason == RLOCK_LOST_GONE)
        rli_queue_let_leaders_ask(engine, session->entry);
    session->reported_count = session->count;
    session->next_lost = NULL;
    if (engine->last_lost)
        engine->last_lost->next_lost = session;
    else
        engine->first_lost = session;
    engine->last_lost = session;
    engine->lost_count++;
    if (report && engine->reports_wanted)
        queue_report(engine, session);
    release_lost(engine, session);
    if (engine->lost_count > LOST_MOST) {
        rli_session *oldest = engine->first_lost;
        oldest->count = 0;
        rli_session_settle(engine, oldest);
    }
}

void rli_session_declare_gone(rli_engine *engine, rli_session *session)
{
    if (session->entry->grouped) {
        rli_session_in_doubt(engine, session, engine->settings->watchdog_timeout_ms);
        rli_session_left_in_doubt(engine, session);
    }
    rli_session_declare_lost(engine, session, RLOCK_LOST_GONE, true);
}

void rli_holds_free(rli_engine *engine)
{
    engine->timers.count = 0;
    for (size_t i = 0; i < engine->sessions.bucket_count; i++) {
        for (rli_link *first; (first = engine->sessions.buckets[i]);) {
            rli_session *session = RLI_ITEM(rli_session, first, link);
            session->timer.place = 0; /* not on the heap any more: its count was set to 0 above */
            end(engine, session);
        }
    }
    rli_cold_fields_pool_free(&engine->cold_fields_pool);
    rli_table_free(&engine->sessions);
    rli_table_free(&engine->entries);
}
