/* Single lock: the handle for one name, of one client and one kind. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/single.h"

#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "config/call_options.h"
#include "engine/back_off.h"
#include "engine/holds.h"
#include "engine/session.h"
#include "engine/values.h"
#include "locks/handle.h"
#include "net/reply.h"

#include <stdlib.h>

static rlock_client *home(const rlock *lock)
{
    return rli_single_of(lock)->client;
}

/* --- members of red locks --- */

/* Calls `act`, with `what`, for the owner's open session if it holds the lock; false: there is none, or `act` returned
 * false. Takes the engine's mutex. */
static bool with_session(rlock *handle, const rli_owner *given, bool (*act)(rli_engine *, rli_session *, void *),
                         void *what)
{
    rli_single *lock = rli_single_of(handle);
    rli_owner owner;
    if (rli_client_check(lock->client) != RLOCK_OK || rli_single_owner(lock, given, &owner) != RLOCK_OK)
        return false;
    rli_engine *engine = &lock->client->engine;
    rli_engine_lock(engine);
    rli_entry *entry = rli_entry_find(engine, &lock->names);
    rli_session *session = entry ? rli_session_find_open(engine, entry, lock->kind, &owner) : NULL;
    bool done = session && session->count > 0 && act(engine, session, what);
    rli_engine_unlock(engine);
    return done;
}

static bool miss_one(rli_engine *engine, rli_session *session, void *what)
{
    (void)what;
    if (!rli_session_add_attempt(engine, session,
                                 false)) /* out of memory: the member is released together with that hold */
        return false;
    rli_session_add_skipped_hold(session);
    rli_session_drop_attempt(engine, session);
    return true;
}

static void miss(rlock *handle, const rli_owner *owner)
{
    with_session(handle, owner, miss_one, NULL);
}

static bool drop_missed_one(rli_engine *engine, rli_session *session, void *what)
{
    (void)what;
    bool missed = rli_session_remove_skipped_hold(session);
    rli_session_settle(engine, session);
    return missed;
}

static bool drop_missed(rlock *handle, const rli_owner *owner)
{
    return with_session(handle, owner, drop_missed_one, NULL);
}

static bool read_levels(rli_engine *engine, rli_session *session, void *out)
{
    (void)engine;
    *(rli_levels *)out = (rli_levels){.count = session->count,
                                      .renewed = rli_session_renewed_count(session),
                                      .renewed_bits = session->cold ? session->cold->renewed_levels : 1,
                                      .missed_bits = session->cold ? session->cold->missed_levels : 0};
    return true;
}

static bool levels(rlock *handle, const rli_owner *given, rli_levels *out)
{
    return with_session(handle, given, read_levels, out);
}

/* The holds of `like`, the innermost first, as bits: 1 where it is one that is renewed. Where there are more than 64,
 * only their number is known of the outer ones. */
static uint64_t renewed_of(const rli_levels *like, int *outer)
{
    uint64_t renewed = 0, bits = like->renewed_bits;
    int taken = 0;
    for (int i = 0; i < 64; i++) {
        bool missed = like->missed_bits >> i & 1;
        if (missed || taken == like->count)
            continue;
        renewed |= (bits & 1) << i;
        bits >>= 1;
        taken++;
    }
    *outer = like->renewed - __builtin_popcountll(renewed);
    return renewed;
}

static void add_levels(rli_session *session, const rli_levels *like)
{
    int outer, i = 63;
    uint64_t renewed = renewed_of(like, &outer);
    while (outer <= 0 && i >= 0 && !(renewed >> i & 1))
        i--; /* holds around the outermost one that is renewed */
    if (outer <= 0)
        i--; /* that one is there already */
    while (--outer > 0)
        rli_session_add_inner_hold(session);
    for (; i >= 0; i--) {
        if (renewed >> i & 1)
            rli_session_add_inner_hold(session);
        else
            rli_session_add_skipped_hold(session);
    }
}

static int at_most_63(int bits)
{
    return bits < 63 ? bits : 63;
}

/* The outermost hold is the keeper's. Those that the owner has taken by the member's name since stay the innermost. */
static void add_outer_levels(rli_session *session, const rli_levels *like)
{
    rli_cold_fields *cold = session->cold;
    uint64_t missed = cold->missed_levels;
    int by_name = at_most_63(session->count - 1), with_missed = at_most_63(by_name + __builtin_popcountll(missed));
    uint64_t renewed = cold->renewed_levels & ((UINT64_C(1) << by_name) - 1);
    cold->renewed_levels = 1;
    cold->missed_levels = 0;
    add_levels(session, like);
    cold->renewed_levels = cold->renewed_levels << by_name | renewed;
    cold->missed_levels = cold->missed_levels << with_missed | missed;
}

typedef struct deepening {
    uint64_t session;
    const rli_levels *like;
} deepening;

static bool deepen_one(rli_engine *engine, rli_session *session, void *what)
{
    const deepening *self = what;
    if (session->number != self->session || !rli_session_add_attempt(engine, session, false))
        return false;
    add_outer_levels(session, self->like);
    rli_session_drop_attempt(engine, session);
    return true;
}

static void deepen(rlock *handle, const rli_owner *given, uint64_t session, const rli_levels *like)
{
    with_session(handle, given, deepen_one, &(deepening){session, like});
}

static bool forgive(rlock *handle, const rli_owner *given, int most)
{
    rli_single *lock = rli_single_of(handle);
    rli_engine *engine = &lock->client->engine;
    rli_owner owner;
    if (rli_client_check(lock->client) != RLOCK_OK || rli_single_owner(lock, given, &owner) != RLOCK_OK)
        return false;
    rli_engine_lock(engine);
    rli_entry *entry = rli_entry_find(engine, &lock->names);
    bool own = !entry || rli_session_lost_holds(engine, entry, lock->kind, &owner) <= most;
    for (rli_session *lost; own && entry && (lost = rli_session_find_lost(engine, entry, lock->kind, &owner));
         entry = rli_entry_find(engine, &lock->names)) {
        lost->count = 0;
        rli_session_settle(engine, lost);
    }
    rli_engine_unlock(engine);
    return own;
}

/* --- asking --- */

/* Finds out what this process knows of the owner, and prepares the request. */
static void begin_asking(rli_single_asking *asking)
{
    rli_single *lock = asking->lock;
    rli_engine *engine = &lock->client->engine;
    rli_engine_lock(engine);
    rli_entry *entry = rli_entry_find(engine, &lock->names);
    rli_session *session = entry ? rli_session_find_open(engine, entry, lock->kind, &asking->owner) : NULL;
    if (entry)
        entry->references++;
    asking->entry = entry;
    asking->known = session ? session->count : 0;
    rli_owner_text(engine->client_id, session ? session->number : 0, asking->text); /* no session has the number 0 */
    rli_engine_unlock(engine);
    lock->kind->state(&asking->call, &lock->names, asking->text);
    asking->begun = true;
}

static void forget_entry(const rli_single_asking *asking)
{
    rli_engine *engine = &asking->lock->client->engine;
    if (!asking->entry)
        return;
    rli_engine_lock(engine);
    rli_entry_unref(engine, asking->entry);
    rli_engine_unlock(engine);
}

rlock_status rli_single_ask(rli_single_asking *asking, int64_t *pttl_ms, int *count)
{
    rli_single *lock = asking->lock;
    rli_call *call = &asking->call;
    int64_t held = 0;
    if (!asking->begun)
        begin_asking(asking);
    rlock_status status = rli_call_run(call, &lock->client->topology, asking->op,
                                       asking->entry ? &asking->entry->route : NULL);
    if (status == RLI_WAITING)
        return status;
    forget_entry(asking);
    if (status == RLOCK_OK &&
        (call->reply->type != REDIS_REPLY_ARRAY || call->reply->elements != 2 ||
         !rli_reply_integer(call->reply->element[0], pttl_ms) || !rli_reply_integer(call->reply->element[1], &held)))
        status = rli_reply_unexpected(call->reply, lock->names.name);
    /* The server says whether the owner holds the lock. The hold count is capped by the local one: a re-entry
     * whose answer was lost does not count. */
    *count = held > asking->known ? asking->known : held > 0 ? (int)held : 0;
    rli_call_clear(call);
    return status;
}

/* Reads for how long the owner may still rely on its hold, and the hold's token (0: none). number: only of a hold in
 * that session; 0: in any. Takes the engine's mutex. */
static rlock_status look(rli_single *lock, const rli_owner *given, uint64_t number, int64_t *left_ms, uint64_t *token)
{
    rli_owner owner;
    rlock_status status = rli_single_owner(lock, given, &owner);
    if (status != RLOCK_OK)
        return status;
    rli_engine *engine = &lock->client->engine;
    rli_engine_lock(engine);
    rli_entry *entry = rli_entry_find(engine, &lock->names);
    rli_session *session = entry ? rli_session_find_open(engine, entry, lock->kind, &owner) : NULL;
    if (session && number && session->number != number)
        session = NULL;
    *left_ms = session && session->count > 0 ? session->deadline_ms - rli_now_ms() : 0;
    *token = session && session->cold ? session->cold->token : 0;
    rli_engine_unlock(engine);
    return RLOCK_OK;
}

static int64_t valid_in(rlock *handle, const rli_owner *owner, uint64_t session)
{
    int64_t left_ms;
    uint64_t token;
    return look(rli_single_of(handle), owner, session, &left_ms, &token) == RLOCK_OK && left_ms > 0 ? left_ms : 0;
}

static int64_t valid_for(rlock *handle, const rli_owner *owner)
{
    return valid_in(handle, owner, 0);
}

static rlock_status get_token(rlock *handle, const rli_owner *given, uint64_t *out)
{
    rli_single *lock = rli_single_of(handle);
    int64_t left_ms;
    uint64_t token;
    rlock_status status = look(lock, given, 0, &left_ms, &token);
    if (status != RLOCK_OK)
        return status;
    char shown[RLI_NAME_SHOWN];
    /* A hold of another kind under the same name has no token. */
    if (left_ms <= 0 || token == 0)
        return rli_fail(RLOCK_NOT_OWNER, "lock \"%s\" is not held by this owner, so it has no token",
                        rli_show_name(lock->names.name, shown));
    *out = token;
    return RLOCK_OK;
}

/* --- handles --- */

static rlock_status set_call_options(rlock *handle, const rlock_call_options *options, bool sets)
{
    rli_single *lock = rli_single_of(handle);
    return rli_call_options_read(&lock->call_options, options, &lock->client->settings, sets);
}

int rli_single_attempts(const rli_single *lock)
{
    int64_t own = lock->call_options.retry_attempts;
    return (int)(own >= 0 ? own : lock->client->settings.retry_attempts) + 1;
}

static rlock *copy(rlock *handle)
{
    rli_single *lock = rli_single_of(handle);
    rlock *another = rli_single_make(lock->client, lock->names.name + lock->names.prefix_length, lock->kind,
                                     &lock->back_off);
    if (another) {
        rli_single_of(another)->names.values = rli_values_ref(lock->names.values);
        rli_single_of(another)->call_options = lock->call_options;
        rli_single_of(another)->named_owner = lock->named_owner;
        rli_single_of(another)->owner = lock->owner;
    }
    return another;
}

static rlock *for_owner(rlock *handle, int64_t owner)
{
    rlock *view = copy(handle);
    if (view) {
        rli_single_of(view)->named_owner = true;
        rli_single_of(view)->owner = owner;
    }
    return view;
}

static const char *name(const rlock *handle)
{
    const rli_single *lock = rli_single_of(handle);
    return lock->names.name + lock->names.prefix_length;
}

static rli_identity place(const rlock *handle)
{
    const rli_single *lock = rli_single_of(handle);
    return (rli_identity){.client = lock->client, .name = lock->names.name, .length = lock->names.length};
}

static void unref(rli_single *lock)
{
    if (atomic_fetch_sub(&lock->references, 1) > 1)
        return;
    rli_names_free(&lock->names);
    rli_gate_unref(&lock->client->gate);
    free(lock);
}

static void ref(rlock *handle)
{
    atomic_fetch_add(&rli_single_of(handle)->references, 1);
}

static void end(rlock *handle)
{
    unref(rli_single_of(handle));
}

#define METHODS                                                                                                        \
    .check = rli_single_check, .check_owner = rli_single_check_owner, .jobs = RLI_JOB_BIT(RLI_JOB_KINDS) - 1,          \
    .run = rli_single_run, .room = rli_single_room, .begin = rli_single_begin, .home = home, .miss = miss,             \
    .drop_missed = drop_missed, .forgive = forgive, .deepen = deepen, .levels = levels, .valid_for = valid_for,        \
    .valid_in = valid_in, .set_call_options = set_call_options, .copy = copy, .for_owner = for_owner, .place = place,  \
    .name = name, .ref = ref, .free = end
static const rli_methods plain = {METHODS};
static const rli_methods fenced = {METHODS, .get_token = get_token};

rlock *rli_single_make(rlock_client *client, const char *text, const rli_kind *kind, const rlock_back_off *back_off)
{
    if (rli_client_check(client) != RLOCK_OK)
        return NULL;
    rlock_back_off slept = RLOCK_BACK_OFF_INIT;
    if (kind->queueing == RLI_BY_BACK_OFF || kind->queueing == RLI_BY_SIGNAL)
        slept = (rlock_back_off)RLOCK_BACK_OFF_TOKEN_INIT;
    if (back_off && rli_back_off_read(&slept, back_off) != RLOCK_OK)
        return NULL;
    rli_single *lock = calloc(1, sizeof *lock);
    if (!lock) {
        rli_fail(RLOCK_NO_MEMORY, "out of memory for a lock's handle");
        return NULL;
    }
    if (rli_names_make(&lock->names, &client->settings, text, &kind->naming) != RLOCK_OK) {
        free(lock);
        return NULL;
    }
    lock->base.methods = kind->fenced ? &fenced : &plain;
    lock->client = client;
    atomic_init(&lock->references, 1);
    lock->kind = kind;
    lock->back_off = slept;
    lock->call_options = (rlock_call_options)RLOCK_CALL_OPTIONS_INIT;
    rli_gate_ref(&client->gate);
    return &lock->base;
}

rlock *rlock_get_lock(rlock_client *client, const char *text)
{
    return rli_single_make(client, text, &rli_kind_reentrant, NULL);
}

rlock *rlock_get_spin_lock(rlock_client *client, const char *text)
{
    return rli_single_make(client, text, &rli_kind_spin, NULL);
}

rlock *rlock_get_spin_lock_with(rlock_client *client, const char *text, const rlock_back_off *back_off)
{
    return rli_single_make(client, text, &rli_kind_spin, back_off);
}

rlock *rlock_get_token_lock(rlock_client *client, const char *text)
{
    return rli_single_make(client, text, &rli_kind_token, NULL);
}

rlock *rlock_get_token_lock_with(rlock_client *client, const char *text, const rlock_back_off *back_off)
{
    return rli_single_make(client, text, &rli_kind_token, back_off);
}

rlock *rlock_get_signal_lock(rlock_client *client, const char *text)
{
    return rli_single_make(client, text, &rli_kind_signal, NULL);
}

rlock *rlock_get_fenced_lock(rlock_client *client, const char *text)
{
    return rli_single_make(client, text, &rli_kind_fenced, NULL);
}

rlock *rlock_get_non_reentrant_lock(rlock_client *client, const char *text)
{
    return rli_single_make(client, text, &rli_kind_non_reentrant, NULL);
}

rlock *rlock_get_fair_lock(rlock_client *client, const char *name)
{
    return rli_single_make(client, name, &rli_kind_fair, NULL);
}

rlock *rlock_get_non_reentrant_fair_lock(rlock_client *client, const char *name)
{
    return rli_single_make(client, name, &rli_kind_non_reentrant_fair, NULL);
}
