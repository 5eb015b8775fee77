/* Holds: who in this process holds or wants what. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/holds.h"

#include "clock.h"
#include "error.h"
#include "redis/topology/slot.h"
#include "redis/buffer.h"
#include "watchdog/watchdog.h"

#include <stdlib.h>
#include <string.h>

/* A program that lets leases run out instead of unlocking leaves a session behind each time; the
 * oldest are forgotten beyond this many. Their unlock then answers RLOCK_NOT_OWNER. */
#define OVER_KEPT 1024
/* Somewhat longer than the time after which the head of a queue is told again. */
#define UNHEARD_DOUBT_MS (RLI_UNHEARD_MS + 2000)
/* How long a place in a queue on the server may last beside the wait of its owner: others are ahead. */
#define PLACE_DOUBT_MS 300000

void rli_holds_init(rli_holds *holds, const rli_settings *settings, const char *client_id)
{
    *holds = (rli_holds){.settings = settings, .client_id = client_id};
    pthread_mutex_init(&holds->mutex, NULL);
    pthread_cond_init(&holds->reports, NULL);
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
        if (link->hash == hash && entry->length == names->length &&
            memcmp(entry->name, names->name, names->length) == 0)
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
        *entry = (rli_entry){.length = names->length, .prefix_length = names->prefix_length};
        if (holds->settings->mode == RLI_CLUSTER)
            entry->slot = rli_slot_of(names->name, names->length);
        memcpy(entry->name, names->name, names->length + 1);
        if (!rli_table_add(&holds->entries, &entry->link, rli_hash(names->name, names->length, 0))) {
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
    free(entry);
}

/* --- finding sessions --- */

static uint32_t session_hash(const rli_entry *entry, bool writes, const rli_owner *owner)
{
    return rli_hash(&owner->number, sizeof owner->number, entry->link.hash + owner->named + 2u * writes);
}

/* The owner's session of that phase with that many holds at least; the latest when there are several. */
static rli_session *find(const rli_holds *holds, const rli_entry *entry, bool writes, const rli_owner *owner,
                         rli_phase phase, int count)
{
    rli_session *found = NULL;
    uint32_t hash = session_hash(entry, writes, owner);
    for (rli_link *link = rli_table_chain(&holds->sessions, hash); link; link = link->next) {
        rli_session *session = RLI_ITEM(rli_session, link, link);
        if (session->entry == entry && session->kind->writes == writes && session->phase == phase &&
            session->count >= count && rli_owner_same(&session->owner, owner) &&
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

static uint64_t standing_field(const rli_holds *holds, const rli_entry *entry, bool writes, const rli_owner *owner)
{
    const rli_session *over = find(holds, entry, writes, owner, RLI_OVER, 0);
    const rli_session *undoing = find(holds, entry, writes, owner, RLI_UNDOING, 0);
    uint64_t number = over ? over->number : 0;
    return undoing && undoing->number > number ? undoing->number : number;
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

static rli_session *begin(rli_holds *holds, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    rli_session *session = calloc(1, sizeof *session);
    if (!session || !rli_agenda_reserve(&holds->agenda)) {
        free(session);
        return NULL;
    }
    session->replaces = standing_field(holds, entry, kind->writes, owner);
    session->entry = entry;
    session->kind = kind;
    session->owner = *owner;
    session->due.attend = rli_watchdog_attend_session;
    if (!rli_table_add(&holds->sessions, &session->link, session_hash(entry, kind->writes, owner))) {
        rli_agenda_unreserve(&holds->agenda);
        free(session);
        return NULL;
    }
    session->number = number_for(holds, entry, kind, owner);
    session->next_here = entry->sessions;
    if (session->next_here)
        session->next_here->previous_here = session;
    entry->sessions = session;
    rli_life_keep(owner->life);
    entry->references++;
    return session;
}

rli_session *rli_session_join(rli_holds *holds, rli_entry *entry, const rli_kind *kind, const rli_owner *owner)
{
    rli_session *session = rli_holds_open_session(holds, entry, kind, owner);
    if (!session)
        session = begin(holds, entry, kind, owner);
    if (session)
        session->attempts++;
    return session;
}

void rli_session_leave(rli_holds *holds, rli_session *session)
{
    session->attempts--;
    rli_session_settle(holds, session);
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

static void end(rli_holds *holds, rli_session *session)
{
    rli_agenda_remove(&holds->agenda, &session->due);
    rli_agenda_unreserve(&holds->agenda);
    rli_table_remove(&holds->sessions, &session->link);
    if (session->next_here)
        session->next_here->previous_here = session->previous_here;
    if (session->previous_here)
        session->previous_here->next_here = session->next_here;
    else
        session->entry->sessions = session->next_here;
    rli_life_release(session->owner.life);
    rli_holds_exit(holds, session->entry);
    free(session->level_ends_ms);
    free(session->unheard);
    free(session);
}

void rli_session_settle(rli_holds *holds, rli_session *session)
{
    if (session->attempts || session->count || session->busy || session->renewing || session->reporting)
        return;
    if (session->phase == RLI_OVER)
        forget_over(holds, session);
    if (session->queued && session->doubt_ms < session->place_ms + PLACE_DOUBT_MS)
        session->doubt_ms = session->place_ms + PLACE_DOUBT_MS;
    session->queued = false;
    if (session->phase != RLI_UNDOING && session->doubt_ms > 0) {
        session->phase = RLI_UNDOING;
        session->release_until_ms = rli_after_ms(session->doubt_ms);
        bool later = session->unheard && session->doubt_ms == UNHEARD_DOUBT_MS;
        rli_agenda_set(&holds->agenda, &session->due, later ? session->unheard_ms + RLI_UNHEARD_MS : rli_now_ms());
        return;
    }
    if (session->phase == RLI_UNDOING && rli_now_ms() < session->release_until_ms)
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
        rli_turn_join(&session->turns, &caller->turn);
        pthread_mutex_unlock(&holds->mutex);
        rli_caller_sleep(caller, until_ms);
        pthread_mutex_lock(&holds->mutex);
        rli_turn_leave(&session->turns, &caller->turn);
    }
    session->busy = true;
    return RLOCK_OK;
}

void rli_session_end_turn(rli_session *session)
{
    session->busy = false;
    rli_turn_wake_all(session->turns);
}

/* --- what a session holds --- */

int64_t rli_valid_until(int64_t sent_ms, int64_t lease_ms)
{
    /* Clock rates may differ by up to 1 %: what we rely on ends before what the server keeps. */
    return sent_ms + lease_ms - (lease_ms + 99) / 100;
}

static void confirm_levels(rli_session *session, int64_t until_ms)
{
    for (int i = 0; i < session->count; i++) {
        /* one that has ended stays so */
        if (session->level_ends_ms[i] > rli_now_ms() && until_ms > session->level_ends_ms[i])
            session->level_ends_ms[i] = until_ms;
    }
}

void rli_session_confirm(rli_session *session, int64_t sent_ms, int64_t lease_ms)
{
    int64_t until_ms = rli_valid_until(sent_ms, lease_ms);
    if (session->kind->levels)
        confirm_levels(session, until_ms);
    if (until_ms > session->deadline_ms)
        session->deadline_ms = until_ms;
}

bool rli_session_make_room(rli_session *session)
{
    if (!session->kind->levels || session->count < session->level_room)
        return true;
    int room = session->level_room ? session->level_room * 2 : 4;
    int64_t *ends_ms = realloc(session->level_ends_ms, (size_t)room * sizeof *ends_ms);
    if (!ends_ms)
        return false;
    session->level_ends_ms = ends_ms;
    session->level_room = room;
    return true;
}

bool rli_session_is_renewed(const rli_session *session)
{
    /* A hold with a time of its own may stand under a key whose PTTL another client's renewal cuts. */
    return session->count > 0 && (session->renewed > 0 || session->kind->levels);
}

void rli_session_plan(rli_holds *holds, rli_session *session, int64_t sent_ms)
{
    int64_t at_ms = session->deadline_ms;
    /* Every third of the timeout, counted from the last request that is known to have set the PTTL. */
    int64_t renew_ms = sent_ms + holds->settings->watchdog_timeout_ms / 3;
    if (session->renewed > 0 || (rli_session_is_renewed(session) && renew_ms < at_ms))
        at_ms = renew_ms;
    rli_agenda_set(&holds->agenda, &session->due, at_ms);
}

void rli_session_gain(rli_holds *holds, rli_session *session, int64_t sent_ms, int64_t lease_ms)
{
    bool renewed = lease_ms == RLOCK_WATCHDOG;
    session->renewed_levels = session->renewed_levels << 1 | renewed;
    session->renewed += renewed;
    if (renewed)
        lease_ms = holds->settings->watchdog_timeout_ms;
    else if (lease_ms > session->explicit_lease_ms)
        session->explicit_lease_ms = lease_ms;
    if (session->kind->levels) { /* its own end alone: it lengthens no other */
        session->level_ends_ms[session->count] = rli_valid_until(sent_ms, lease_ms);
        if (session->level_ends_ms[session->count] > session->deadline_ms)
            session->deadline_ms = session->level_ends_ms[session->count];
    } else {
        rli_session_confirm(session, sent_ms, lease_ms);
    }
    session->count++;
    /* A renewal that is planned stands. */
    if (!session->due.place || renewed || session->renewed == 0)
        rli_session_plan(holds, session, sent_ms);
}

void rli_session_doubt(rli_session *session, int64_t lease_ms)
{
    if (lease_ms > session->doubt_ms)
        session->doubt_ms = lease_ms;
}

void rli_session_note_unheard(rli_session *session, const char *unheard)
{
    free(session->unheard);
    session->unheard = unheard ? strdup(unheard) : NULL; /* out of memory: its time on the server will come */
    session->unheard_ms = rli_now_ms();
    if (session->unheard && session->doubt_ms < UNHEARD_DOUBT_MS)
        session->doubt_ms = UNHEARD_DOUBT_MS;
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
        if (session->level_ends_ms[i] > latest_ms)
            latest_ms = session->level_ends_ms[i];
    }
    return latest_ms;
}

void rli_session_drop(rli_holds *holds, rli_session *session)
{
    /* Beyond 64 levels the bits of the outer ones are gone; the counts still tell enough. */
    bool renewed = session->renewed_levels & 1;
    if (session->count == session->renewed)
        renewed = true;
    else if (session->renewed == 0)
        renewed = false;
    session->renewed_levels >>= 1;
    session->renewed -= renewed;
    session->count--;
    if (session->kind->levels && session->count > 0)
        session->deadline_ms = latest_end(session);
    if (session->count == 0 || session->phase != RLI_OPEN)
        rli_agenda_remove(&holds->agenda, &session->due);
    else if (session->renewed == 0 && (renewed || session->kind->levels))
        rli_session_plan(holds, session, rli_now_ms());
}

int64_t rli_session_lease(const rli_holds *holds, const rli_session *session)
{
    return session->renewed > 0 ? holds->settings->watchdog_timeout_ms : session->explicit_lease_ms;
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
    session->phase = RLI_OVER;
    session->reason = reason;
    session->reported_count = session->count;
    rli_agenda_remove(&holds->agenda, &session->due);
    /* A renewal that was never answered may still stand, or come. */
    int64_t watchdog_ms = holds->settings->watchdog_timeout_ms;
    if (reason == RLOCK_LOST_EXPIRED && session->renewed > 0 && session->doubt_ms < watchdog_ms)
        session->doubt_ms = watchdog_ms;
    /* The owner's other hold on a read-write lock may keep the key, and with it this one's field. */
    if ((session->kind->crowd || session->kind->writes) && session->doubt_ms == 0)
        session->doubt_ms = 1;
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
    for (size_t i = 0; i < holds->sessions.bucket_count; i++) {
        while (holds->sessions.buckets[i])
            end(holds, RLI_ITEM(rli_session, holds->sessions.buckets[i], link));
    }
    rli_table_free(&holds->sessions);
    rli_table_free(&holds->entries);
    rli_agenda_destroy(&holds->agenda);
    pthread_cond_destroy(&holds->reports);
    pthread_mutex_destroy(&holds->mutex);
}
