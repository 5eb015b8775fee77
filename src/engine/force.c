/* Force: releases a lock whoever holds it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/force.h"

#include "base/error.h"
#include "engine/holds.h"
#include "engine/local_handoff.h"
#include "engine/session.h"
#include "net/reply.h"

#include <stdlib.h>

static bool is_held(const rli_session *session)
{
    return session->phase == RLI_OPEN && session->count > 0 && !session->releasing;
}

static void count_held(void *argument, rli_entry *entry)
{
    size_t *count = argument;
    for (const rli_session *session = entry->sessions; session; session = session->next)
        *count += is_held(session);
}

static void note_held_of(void *argument, rli_entry *entry)
{
    rli_forcing *forcing = argument;
    for (rli_session *session = entry->sessions; session; session = session->next) {
        if (!is_held(session))
            continue;
        forcing->held[forcing->held_count++] = (rli_forced_hold){entry, session->number, session->kind};
        entry->references++;
        if (session->forced < RLI_FORCED_MOST)
            session->forced++;
    }
}

/* Notes the holds that the force release is meant for. A hold that is granted while the request is under way is not
 * noted: it may have been granted after the force release ran. Another force release of the same lock may be under way,
 * for other holds. RLOCK_OK, RLOCK_NO_MEMORY. */
static rlock_status note_held(rli_forcing *forcing)
{
    size_t count = 0;
    rli_entry_each_meeting(forcing->engine, forcing->entry, count_held, &count);
    if (count == 0)
        return RLOCK_OK;
    forcing->held = malloc(count * sizeof *forcing->held);
    if (!forcing->held)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
    rli_entry_each_meeting(forcing->engine, forcing->entry, note_held_of, forcing);
    return RLOCK_OK;
}

/* A read session may have the number of a write session, and a session that has handed its hold on within this process
 * keeps its number. */
static rli_session *find(rli_forced_hold hold)
{
    rli_session *session = hold.entry->sessions;
    while (session && (session->number != hold.number || session->kind != hold.kind ||
                       (session->forced == 0 && session->count == 0)))
        session = session->next;
    return session;
}

/* Declares the noted holds lost if the lock on the server is gone. unknown: the answer was lost. If the lock was not
 * forced open then, nobody would release its field before its lease ends, so these holds are in doubt. */
static void lose_noted(rli_forcing *forcing, bool gone, bool unknown)
{
    rli_engine *engine = forcing->engine;
    for (size_t i = 0; i < forcing->held_count; i++) {
        rli_forced_hold hold = forcing->held[i];
        rli_session *session = find(hold);
        /* Of a group lock, values that the force release did not name may still stand. */
        bool in_doubt = unknown || hold.entry != forcing->entry;
        if (session && gone && session->phase == RLI_OPEN && session->count > 0) {
            if (in_doubt)
                rli_session_left_in_doubt(engine, session);
            rli_session_declare_lost(engine, session, RLOCK_LOST_GONE, true);
        }
        session = find(hold); /* the oldest of many lost sessions is dropped */
        if (session && session->forced > 0)
            session->forced--;
        rli_entry_unref(engine, hold.entry);
    }
    free(forcing->held);
}

rlock_status rli_force_begin(rli_forcing *forcing, rli_engine *engine, const rli_kind *kind, const rli_names *names,
                             rli_operation *op)
{
    forcing->engine = engine;
    forcing->kind = kind;
    forcing->names = names;
    forcing->op = op;
    forcing->was_locked = false;
    forcing->held = NULL;
    forcing->held_count = 0;
    rlock_status status = RLOCK_OK;
    rli_engine_lock(engine);
    forcing->entry = rli_entry_ref(engine, names);
    if (forcing->entry) {
        /* Otherwise a local waiter might take the hold while it is being forced open. */
        rli_local_handoff_withdraw_and_compensate(engine, forcing->entry);
        status = note_held(forcing);
    }
    if (forcing->entry && status != RLOCK_OK)
        rli_entry_unref(engine, forcing->entry);
    rli_engine_unlock(engine);
    if (!forcing->entry)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
    if (status == RLOCK_OK)
        kind->force(&forcing->call, names);
    return status;
}

/* Reads the answer. Mutex held. */
static rlock_status judge(rli_forcing *forcing, int64_t *freed)
{
    rli_engine *engine = forcing->engine;
    const redisReply *reply = forcing->call.reply;
    const char *unheard = NULL;
    rlock_status status = RLOCK_OK;
    if (forcing->kind->parse_release(reply, &unheard) == RLI_RELEASED && unheard)
        *freed = 1;
    else if (!rli_reply_integer(reply, freed))
        status = rli_reply_unexpected(reply, forcing->names->name);
    if (unheard && engine->attend(engine) == RLOCK_OK)
        rli_entry_note_unheard_head(engine, forcing->entry, forcing->kind, unheard);
    return status;
}

rlock_status rli_force_go_on(rli_forcing *forcing)
{
    rli_engine *engine = forcing->engine;
    const rli_kind *kind = forcing->kind;
    rlock_status status = rli_call_run(&forcing->call, engine->topology, forcing->op, &forcing->entry->route);
    if (status == RLI_WAITING)
        return status;
    int64_t freed = 0;
    rli_engine_lock(engine);
    if (status == RLOCK_OK)
        status = judge(forcing, &freed);
    /* If one side of a read-write lock was free, that says nothing about the other side. */
    bool gone = status == RLOCK_UNKNOWN || (status == RLOCK_OK && (freed || kind->sharing == RLI_EXCLUSIVE));
    lose_noted(forcing, gone, status == RLOCK_UNKNOWN);
    rli_entry_unref(engine, forcing->entry);
    rli_engine_unlock(engine);
    rli_call_clear(&forcing->call);
    forcing->was_locked = freed;
    return status;
}
