/* Holds: who in this process holds or wants what. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/holds.h"

#include "clock.h"
#include "error.h"
#include "list.h"
#include "locks/departure.h"
#include "redis/buffer.h"
#include "redis/topology/slot.h"
#include "thread.h"

#include <stdlib.h>
#include <string.h>

/* A program that lets leases run out instead of unlocking leaves a session behind each time; the
 * oldest are forgotten beyond this many. Their unlock then answers RLOCK_NOT_OWNER. */
#define OVER_KEPT 1024
/* Somewhat longer than the time after which the head of a queue is told again. */
#define UNHEARD_DOUBT_MS (RLI_UNHEARD_MS + 2000)
/* How long a place in a queue on the server may last beside the wait of its owner: others are ahead. */
#define PLACE_DOUBT_MS 300000

static uint32_t entry_hash(const rli_link *link)
{
    const rli_entry *entry = RLI_ITEM(rli_entry, link, link);
    return rli_hash(entry->name, entry->length, 0);
}

static uint32_t owner_hash(const rli_entry *entry, bool writes, int64_t number, bool named)
{
    return rli_hash(&number, sizeof number, (uint32_t)((uintptr_t)entry >> 4) + named + 2u * writes);
}

static uint32_t session_hash(const rli_link *link)
{
    const rli_session *session = RLI_ITEM(rli_session, link, link);
    rli_owner owner = rli_session_owner(session);
    return owner_hash(session->entry, session->kind->writes, owner.number, owner.named);
}

/* With a short name a plain hold is 160 bytes of the allocator's, and 30 in tables and on the agenda. */
_Static_assert(sizeof(rli_entry) <= 136, "what is rare goes into rli_extra, or rli_queues");

void rli_holds_init(rli_holds *holds, const rli_settings *settings, const char *client_id)
{
    *holds = (rli_holds){.settings = settings, .client_id = client_id};
    holds->entries.hash = entry_hash;
    holds->sessions.hash = session_hash;
    rli_mutex_init_brief(&holds->mutex);
    pthread_cond_init(&holds->reports, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&holds->departed, &attributes);
    pthread_condattr_destroy(&attributes);
    rli_agenda_init(&holds->agenda);
}

const char *rli_owner_text(const rli_holds *holds, uint64_t number, char text[RLI_OWNER_TEXT])
{
    size_t length = strlen(holds->client_id);
    memcpy(text, holds->client_id, length);
    text[length] = ':';
    rli_decimal((int64_t)number, text + length + 1);
    return text;
}

/* --- entries --- */

rli_entry *rli_holds_entry(const rli_holds *holds, const rli_names *names)
{
    uint32_t hash = rli_hash(names->name, names->length, 0);
    for (rli_link *link = rli_table_chain(&holds->entries, hash); link; link = link->next) {
        rli_entry *entry = RLI_ITEM(rli_entry, link, link);
        if (entry->length == names->length && memcmp(entry->name, names->name, names->length) == 0)
            return entry;
    }
    return NULL;
}

rli_entry *rli_holds_enter(rli_holds *holds, const rli_names *names)
{
    rli_entry *entry = rli_holds_entry(holds, names);
    if (!entry) {
        entry = malloc(sizeof *entry + names->length + 1);
        if (!entry)
            return NULL;
        *entry = (rli_entry){.length = (uint32_t)names->length};
        memcpy(entry->name, names->name, names->length + 1);
        if (!rli_table_add(&holds->entries, &entry->link)) {
            free(entry);
            return NULL;
        }
    }
    entry->references++;
    return entry;
}

void rli_holds_exit(rli_holds *holds, rli_entry *entry)
{
    if (--entry->references > 0)
        return;
    rli_table_remove(&holds->entries, &entry->link);
    free(entry->queues);
    free(entry);
}

bool rli_holds_open_queues(rli_entry *entry)
{
    if (!entry->queues)
        entry->queues = calloc(1, sizeof *entry->queues);
    return entry->queues;
}

/* --- finding sessions --- */

rli_owner rli_session_owner(const rli_session *session)
{
    if (session->has_life)
        return (rli_owner){session->life->number, false, session->life};
    return (rli_owner){session->owner_number, session->named, NULL};
}

static bool is_of(const rli_session *session, const rli_owner *owner)
{
    rli_owner own = rli_session_owner(session);
    return rli_owner_same(&own, owner);
}

/* The owner's session of that phase with that many holds at least; the latest when there are several. */
static rli_session *find(const rli_holds *holds, const rli_entry *entry, bool writes, const rli_owner *owner,
                         rli_phase phase, int count)
{
    if (!entry->sessions)
        return NULL;
    rli_session *found = NULL;
    uint32_t hash = owner_hash(entry, writes, owner->number, owner->named);
    for (rli_link *link = rli_table_chain(&holds->sessions, hash); link; link = link->next) {
        rli_session *session = RLI_ITEM(rli_session, link, link);
        if (session->entry == entry && session->kind->writes == writes && session->phase == phase &&
            session->count >= count && is_of(session, owner) &&
            (!found || session->number > found->number))
            found = session;
    }
    return found;
}

static rli_session *open_session(rli_holds *holds, rli_entry *entry, bool writes, const rli_owner *owner)
{
    rli_session *session = find(holds, entry, writes, owner, RLI_OPEN, 0);
    if (session && session->count > 0 && !session->releasing && rli_now_ms() >= session->deadline_ms) {
        rli_session_lose(holds, session, RLOCK_LOST_EXPIRED, true);
        return NULL;
    }
    return session;
}

rli_session *rli_holds_open_session(rli_holds *holds, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    return open_session(holds, entry, kind->writes, owner);
}

rli_session *rli_holds_writer(rli_holds *holds, rli_entry *entry, const rli_owner *owner)
{
    rli_session *session = open_session(holds, entry, true, owner);
    return session && session->count > 0 ? session : NULL;
}

rli_session *rli_holds_over_session(rli_holds *holds, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    return find(holds, entry, kind->writes, owner, RLI_OVER, 1);
}

/* --- the life of a session --- */

/* Of the owner's sessions that have ended here, the latest whose field may stand on the server yet; 0: none. */
static uint64_t standing_field(const rli_holds *holds, const rli_entry *entry, bool writes, const rli_owner *owner)
{
    static const rli_phase phases[] = {RLI_OVER, RLI_LEAVING, RLI_UNDOING};
    rli_session *latest = NULL;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        rli_session *ended = find(holds, entry, writes, owner, phases[i], 0);
        if (ended && (!latest || ended->number > latest->number))
            latest = ended;
    }
    if (latest && latest->extra && latest->extra->departure)
        latest->extra->departure->replaced = true;
    return latest ? latest->number : 0;
}

/* A read hold under a write hold has its number, as Redisson's have their thread's: once, since the
 * next read hold must not be touched by a late request of this one. */
static uint64_t number_for(rli_holds *holds, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    rli_session *writer = kind->crowd ? rli_holds_writer(holds, entry, owner) : NULL;
    if (!writer || writer->lent)
        return ++holds->last_number;
    writer->lent = true;
    return writer->number;
}

static bool ensure_extra(rli_holds *holds, rli_session *session)
{
    if (!session->extra)
        session->extra = rli_extras_take(&holds->extras, session->count);
    return session->extra;
}

/* The entry's own memory for a session, or another's. */
static void discard(rli_session *session)
{
    if (session == &session->entry->own)
        session->entry = NULL;
    else
        free(session);
}

static bool enlist(rli_holds *holds, rli_session *session)
{
    if (!rli_agenda_reserve(&holds->agenda))
        return false;
    if (ensure_extra(holds, session) && rli_table_add(&holds->sessions, &session->link))
        return true;
    rli_agenda_unreserve(&holds->agenda);
    rli_extras_give(&holds->extras, session->extra);
    return false;
}

/* With its extra part. */
static rli_session *begin(rli_holds *holds, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    rli_session *session = entry->own.entry ? malloc(sizeof *session) : &entry->own;
    if (!session)
        return NULL;
    *session = (rli_session){.entry = entry, .kind = kind, .named = owner->named, .has_life = owner->life};
    if (owner->life)
        session->life = owner->life;
    else
        session->owner_number = owner->number;
    if (!enlist(holds, session)) {
        discard(session);
        return NULL;
    }
    session->extra->replaces = standing_field(holds, entry, kind->writes, owner);
    session->number = number_for(holds, entry, kind, owner);
    RLI_LIST_ADD(entry->sessions, session);
    rli_life_keep(owner->life);
    entry->references++;
    return session;
}

rli_session *rli_session_join(rli_holds *holds, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    rli_session *session = rli_holds_open_session(holds, entry, kind, owner);
    if (!session)
        session = begin(holds, entry, kind, owner);
    return session && rli_session_enter(holds, session) ? session : NULL;
}

bool rli_session_enter(rli_holds *holds, rli_session *session)
{
    if (!ensure_extra(holds, session))
        return false;
    session->extra->attempts++;
    return true;
}

void rli_session_leave(rli_holds *holds, rli_session *session)
{
    session->extra->attempts--;
    rli_session_settle(holds, session);
}

int rli_session_attempts(const rli_session *session)
{
    return session->extra ? session->extra->attempts : 0;
}

int rli_session_renewed(const rli_session *session)
{
    return session->extra ? session->extra->renewed : session->count;
}

static void forget_over(rli_holds *holds, rli_session *session)
{
    rli_session *before = NULL;
    for (rli_session *over = holds->first_over; over != session; over = over->next_over)
        before = over;
    if (before)
        before->next_over = session->next_over;
    else
        holds->first_over = session->next_over;
    if (holds->last_over == session)
        holds->last_over = before;
    holds->over_count--;
}

void rli_session_forget_departure(rli_holds *holds, rli_session *session)
{
    free(session->extra->departure);
    session->extra->departure = NULL;
    if (--holds->departures == 0)
        pthread_cond_broadcast(&holds->departed);
}

static void end(rli_holds *holds, rli_session *session)
{
    rli_entry *entry = session->entry;
    if (entry->queues)
        rli_chances_drop(&entry->queues->chances, session);
    if (session->extra && session->extra->departure)
        rli_session_forget_departure(holds, session);
    if (session->phase != RLI_OVER)
        rli_agenda_remove(&holds->agenda, &session->due);
    rli_agenda_unreserve(&holds->agenda);
    rli_table_remove(&holds->sessions, &session->link);
    RLI_LIST_REMOVE(entry->sessions, session);
    if (session->has_life)
        rli_life_release(session->life);
    rli_extras_give(&holds->extras, session->extra);
    discard(session);
    rli_holds_exit(holds, entry);
}

/* A plain hold, of which no call is under way, has nothing to remember. */
static void slim(rli_holds *holds, rli_session *session)
{
    if (session->extra && session->phase == RLI_OPEN && session->count == 1 && !session->busy && !session->queued &&
        rli_extra_is_plain(session->extra)) {
        rli_extras_give(&holds->extras, session->extra);
        session->extra = NULL;
    }
}

void rli_session_settle(rli_holds *holds, rli_session *session)
{
    if (rli_session_attempts(session) || session->count || session->busy || session->renewing || session->reporting ||
        session->phase == RLI_LEAVING) {
        slim(holds, session);
        return;
    }
    if (session->phase == RLI_OVER) {
        forget_over(holds, session);
        session->phase = RLI_DONE;
        session->deadline_ms = 0;
        session->due = (rli_due){0};
    }
    rli_extra *extra = session->extra;
    if (session->queued)
        rli_session_doubt(holds, session, extra->place_ms + PLACE_DOUBT_MS);
    session->queued = false;
    if (session->phase != RLI_UNDOING && extra && extra->doubt_ms > 0) {
        session->phase = RLI_UNDOING;
        extra->release_until_ms = rli_after_ms(extra->doubt_ms);
        bool later = extra->unheard && extra->doubt_ms == UNHEARD_DOUBT_MS;
        rli_agenda_set(&holds->agenda, &session->due, later ? extra->unheard_ms + RLI_UNHEARD_MS : rli_now_ms());
        return;
    }
    if (session->phase == RLI_UNDOING && rli_now_ms() < extra->release_until_ms)
        return;
    end(holds, session);
}

/* --- turns --- */

rlock_status rli_session_begin_turn(rli_holds *holds, rli_session *session, rli_caller *caller, int64_t until_ms)
{
    while (session->busy) {
        rlock_status status = rli_caller_check(caller);
        if (status != RLOCK_OK)
            return status;
        if (rli_now_ms() >= until_ms)
            return rli_fail(RLOCK_TIMEOUT, "another call of the same owner was under way all the time given");
        rli_turn_join(&session->extra->turns, &caller->turn);
        pthread_mutex_unlock(&holds->mutex);
        rli_caller_sleep(caller, until_ms);
        pthread_mutex_lock(&holds->mutex);
        rli_turn_leave(&session->extra->turns, &caller->turn);
    }
    session->busy = true;
    return RLOCK_OK;
}

void rli_session_end_turn(rli_session *session)
{
    session->busy = false;
    if (session->extra)
        rli_turn_wake_all(session->extra->turns);
}

/* --- what a session holds --- */

int64_t rli_valid_until(int64_t sent_ms, int64_t lease_ms)
{
    /* Clock rates may differ by up to 1 %: what we rely on ends before what the server keeps. */
    return sent_ms + lease_ms - (lease_ms + 99) / 100;
}

static void confirm_levels(rli_session *session, int64_t until_ms)
{
    int64_t *ends_ms = session->extra->level_ends_ms;
    for (int i = 0; i < session->count; i++) {
        /* one that has ended stays so */
        if (ends_ms[i] > rli_now_ms() && until_ms > ends_ms[i])
            ends_ms[i] = until_ms;
    }
}

void rli_session_confirm(rli_session *session, int64_t sent_ms, int64_t lease_ms)
{
    int64_t until_ms = rli_valid_until(sent_ms, lease_ms);
    if (session->kind->levels && session->count > 0)
        confirm_levels(session, until_ms);
    if (until_ms > session->deadline_ms)
        session->deadline_ms = until_ms;
}

bool rli_session_make_room(rli_session *session)
{
    rli_extra *extra = session->extra;
    if (!session->kind->levels || session->count < extra->level_room)
        return true;
    int room = extra->level_room ? extra->level_room * 2 : 4;
    int64_t *ends_ms = realloc(extra->level_ends_ms, (size_t)room * sizeof *ends_ms);
    if (!ends_ms)
        return false;
    extra->level_ends_ms = ends_ms;
    extra->level_room = room;
    return true;
}

bool rli_session_is_renewed(const rli_session *session)
{
    /* A hold with a time of its own may stand under a key whose PTTL another client's renewal cuts. */
    return session->count > 0 && (rli_session_renewed(session) > 0 || session->kind->levels);
}

/* Every third of the timeout, with some time for the answer; counted from the last request that is known to have set
 * the PTTL. */
static int64_t renewal_span_ms(const rli_holds *holds)
{
    return holds->settings->watchdog_timeout_ms / 3 - holds->settings->watchdog_timeout_ms / 60;
}

/* In a cluster, where a request is for one slot, the holds of a slot are due together, and the slots one after the other:
 * the first time earlier than needed. */
static int64_t with_its_slot(const rli_holds *holds, const rli_entry *entry, int64_t renew_ms)
{
    int64_t span_ms = renewal_span_ms(holds);
    if (holds->settings->mode != RLI_CLUSTER || span_ms == 0)
        return renew_ms;
    int64_t phase_ms = rli_slot_of(entry->name, entry->length) * span_ms / RLI_SLOTS;
    return renew_ms - (renew_ms - phase_ms) % span_ms;
}

void rli_session_plan(rli_holds *holds, rli_session *session, int64_t sent_ms)
{
    int64_t at_ms = session->deadline_ms;
    int64_t renew_ms = with_its_slot(holds, session->entry, sent_ms + renewal_span_ms(holds));
    if (rli_session_renewed(session) > 0 || (rli_session_is_renewed(session) && renew_ms < at_ms))
        at_ms = renew_ms;
    rli_agenda_set(&holds->agenda, &session->due, at_ms);
}

void rli_session_gain(rli_holds *holds, rli_session *session, int64_t sent_ms, int64_t lease_ms)
{
    rli_extra *extra = session->extra;
    bool renewed = lease_ms == RLOCK_WATCHDOG;
    extra->renewed_levels = extra->renewed_levels << 1 | renewed;
    extra->renewed += renewed;
    if (renewed)
        lease_ms = holds->settings->watchdog_timeout_ms;
    else if (lease_ms > extra->explicit_lease_ms)
        extra->explicit_lease_ms = lease_ms;
    if (session->kind->levels) { /* its own end alone: it lengthens no other */
        extra->level_ends_ms[session->count] = rli_valid_until(sent_ms, lease_ms);
        if (extra->level_ends_ms[session->count] > session->deadline_ms)
            session->deadline_ms = extra->level_ends_ms[session->count];
    } else {
        rli_session_confirm(session, sent_ms, lease_ms);
    }
    session->count++;
    /* A renewal that is planned stands. */
    if (!session->due.place || renewed || extra->renewed == 0)
        rli_session_plan(holds, session, sent_ms);
}

void rli_session_doubt(rli_holds *holds, rli_session *session, int64_t lease_ms)
{
    if (ensure_extra(holds, session) && lease_ms > session->extra->doubt_ms)
        session->extra->doubt_ms = lease_ms;
}

void rli_session_doubt_release(rli_holds *holds, rli_session *session)
{
    int64_t longest_ms = holds->settings->watchdog_timeout_ms;
    if (session->extra->explicit_lease_ms > longest_ms)
        longest_ms = session->extra->explicit_lease_ms;
    if (session->deadline_ms - rli_now_ms() > longest_ms) /* leases of write holds add up */
        longest_ms = session->deadline_ms - rli_now_ms();
    rli_session_doubt(holds, session, longest_ms);
}

void rli_session_note_unheard(rli_session *session, const char *unheard)
{
    rli_extra *extra = session->extra;
    free(extra->unheard);
    extra->unheard = unheard ? strdup(unheard) : NULL; /* out of memory: its time on the server will come */
    extra->unheard_ms = rli_now_ms();
    if (extra->unheard && extra->doubt_ms < UNHEARD_DOUBT_MS)
        extra->doubt_ms = UNHEARD_DOUBT_MS;
}

void rli_holds_note_unheard(rli_holds *holds, rli_entry *entry, const rli_kind *kind, const char *unheard)
{
    rli_owner nobody = {.number = 0}; /* no thread has it */
    rli_session *session = begin(holds, entry, kind, &nobody);
    if (!session)
        return; /* out of memory: its time on the server will come */
    session->phase = RLI_DONE;
    rli_session_note_unheard(session, unheard);
    rli_session_settle(holds, session);
}

static int64_t latest_end(const rli_session *session)
{
    int64_t latest_ms = 0;
    for (int i = 0; i < session->count; i++) {
        if (session->extra->level_ends_ms[i] > latest_ms)
            latest_ms = session->extra->level_ends_ms[i];
    }
    return latest_ms;
}

void rli_session_drop(rli_holds *holds, rli_session *session)
{
    rli_extra *extra = session->extra;
    /* Beyond 64 levels the bits of the outer ones are gone; the counts still tell enough. */
    bool renewed = extra->renewed_levels & 1;
    if (session->count == extra->renewed)
        renewed = true;
    else if (extra->renewed == 0)
        renewed = false;
    extra->renewed_levels >>= 1;
    extra->renewed -= renewed;
    session->count--;
    if (session->kind->levels && session->count > 0)
        session->deadline_ms = latest_end(session);
    if (session->count == 0)
        rli_agenda_remove(&holds->agenda, &session->due);
    else if (extra->renewed == 0 && (renewed || session->kind->levels))
        rli_session_plan(holds, session, rli_now_ms());
}

int64_t rli_session_lease(const rli_holds *holds, const rli_session *session)
{
    return rli_session_renewed(session) > 0 ? holds->settings->watchdog_timeout_ms : session->extra->explicit_lease_ms;
}

static void queue_report(rli_holds *holds, rli_session *session)
{
    session->reporting = true;
    session->next_report = NULL;
    if (holds->last_report)
        holds->last_report->next_report = session;
    else
        holds->first_report = session;
    holds->last_report = session;
    pthread_cond_broadcast(&holds->reports);
}

void rli_session_lose(rli_holds *holds, rli_session *session, rlock_lost_reason reason, bool report)
{
    /* A renewal that was never answered may still stand, or come. */
    if (reason == RLOCK_LOST_EXPIRED && rli_session_renewed(session) > 0)
        rli_session_doubt(holds, session, holds->settings->watchdog_timeout_ms);
    /* The owner's other hold on a read-write lock may keep the key, and with it this one's field. */
    if (session->kind->crowd || session->kind->writes)
        rli_session_doubt(holds, session, 1);
    rli_agenda_remove(&holds->agenda, &session->due);
    session->phase = RLI_OVER;
    session->reason = reason;
    if (session->entry->queues)
        rli_chances_drop(&session->entry->queues->chances, session);
    session->reported_count = session->count;
    session->next_over = NULL;
    if (holds->last_over)
        holds->last_over->next_over = session;
    else
        holds->first_over = session;
    holds->last_over = session;
    holds->over_count++;
    if (report && holds->reports_wanted)
        queue_report(holds, session);
    if (holds->over_count > OVER_KEPT) {
        rli_session *oldest = holds->first_over;
        oldest->count = 0;
        rli_session_settle(holds, oldest);
    }
}

void rli_holds_destroy(rli_holds *holds)
{
    holds->agenda.count = 0;
    for (size_t i = 0; i < holds->sessions.bucket_count; i++) {
        for (rli_link *first; (first = holds->sessions.buckets[i]);) {
            rli_session *session = RLI_ITEM(rli_session, first, link);
            session->due.place = 0; /* of no more use, whether it was on the agenda or not */
            end(holds, session);
        }
    }
    rli_extras_free(&holds->extras);
    rli_table_free(&holds->sessions);
    rli_table_free(&holds->entries);
    rli_agenda_destroy(&holds->agenda);
    pthread_cond_destroy(&holds->reports);
    pthread_cond_destroy(&holds->departed);
    pthread_mutex_destroy(&holds->mutex);
}
