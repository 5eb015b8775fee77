/* The RLock interface: checks what the program gave and hands it to the shared parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/lock.h>

#include "client.h"
#include "clock.h"
#include "error.h"
#include "locks/acquire.h"
#include "locks/kind.h"
#include "locks/release.h"
#include "redis/reply.h"

#include <stdlib.h>

struct rlock {
    rlock_client *client; /* kept */
    const rli_kind *kind;
    rli_names names;
    bool named_owner;
    int64_t owner;
};

/* --- handles --- */

static rlock *make_handle(rlock_client *client, const char *name, const rli_kind *kind)
{
    if (rli_client_check(client) != RLOCK_OK)
        return NULL;
    rlock *lock = calloc(1, sizeof *lock);
    if (!lock) {
        rli_fail(RLOCK_NO_MEMORY, "out of memory for a lock's handle");
        return NULL;
    }
    if (rli_names_make(&lock->names, client->settings.name_prefix, name, kind->channel_prefix) != RLOCK_OK) {
        free(lock);
        return NULL;
    }
    lock->client = client;
    lock->kind = kind;
    rli_client_keep(client);
    return lock;
}

rlock *rlock_get_lock(rlock_client *client, const char *name)
{
    return make_handle(client, name, &rli_kind_reentrant);
}

rlock *rlock_for_owner(rlock *lock, int64_t owner)
{
    if (!lock) {
        rli_fail(RLOCK_INVALID, "lock is NULL");
        return NULL;
    }
    rlock *view = make_handle(lock->client, rlock_name(lock), lock->kind);
    if (view) {
        view->named_owner = true;
        view->owner = owner;
    }
    return view;
}

void rlock_free(rlock *lock)
{
    if (!lock)
        return;
    rli_names_free(&lock->names);
    rli_client_release(lock->client);
    free(lock);
}

const char *rlock_name(const rlock *lock)
{
    return lock ? lock->names.name + lock->names.prefix_length : NULL;
}

/* --- what every operation begins with --- */

static rlock_status check(const rlock *lock)
{
    if (!lock)
        return rli_fail(RLOCK_INVALID, "lock is NULL; did rlock_get_lock fail?");
    return rli_client_check(lock->client);
}

static rlock_status owner_of(const rlock *lock, rli_owner *owner)
{
    rlock_status status = check(lock);
    if (status != RLOCK_OK)
        return status;
    if (!lock->named_owner)
        return rli_owner_thread(owner);
    *owner = rli_owner_named(lock->owner);
    return RLOCK_OK;
}

/* --- acquiring and releasing --- */

rlock_status rlock_lock_with(rlock *lock, const rlock_lock_options *options)
{
    rli_owner owner;
    rlock_status status = owner_of(lock, &owner);
    if (status != RLOCK_OK)
        return status;
    if (!options)
        return rli_fail(RLOCK_INVALID, "options is NULL; start from RLOCK_LOCK_OPTIONS_INIT");
    if (options->size != sizeof *options)
        return rli_fail(RLOCK_INVALID, "options->size is %zu, not %zu; start from RLOCK_LOCK_OPTIONS_INIT",
                        options->size, sizeof *options);
    int64_t lease_ms = options->lease_ms;
    if (lease_ms != RLOCK_WATCHDOG && (lease_ms < 1 || lease_ms > RLOCK_LEASE_MAX_MS))
        return rli_fail(RLOCK_INVALID, "a lease of %lld ms; it must be from 1 ms to 100 years (%lld ms), or "
                        "RLOCK_WATCHDOG (-1)", (long long)lease_ms, (long long)RLOCK_LEASE_MAX_MS);
    if (options->named_owner)
        owner = rli_owner_named(options->owner);
    rli_acquire acquire = {
        .client = lock->client,
        .kind = lock->kind,
        .names = &lock->names,
        .owner = owner,
        .wait_ms = options->wait_ms,
        .lease_ms = lease_ms,
        .cancel = options->cancel,
    };
    return rli_acquire_run(&acquire);
}

rlock_status rlock_try_lock(rlock *lock, int64_t wait_ms, int64_t lease_ms)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = wait_ms;
    options.lease_ms = lease_ms;
    return rlock_lock_with(lock, &options);
}

rlock_status rlock_lock_lease(rlock *lock, int64_t lease_ms)
{
    return rlock_try_lock(lock, RLOCK_FOREVER, lease_ms);
}

rlock_status rlock_lock(rlock *lock)
{
    return rlock_try_lock(lock, RLOCK_FOREVER, RLOCK_WATCHDOG);
}

rlock_status rlock_unlock(rlock *lock)
{
    rli_owner owner;
    rlock_status status = owner_of(lock, &owner);
    return status == RLOCK_OK ? rli_release_run(lock->client, &lock->names, &owner) : status;
}

rlock_status rlock_force_unlock(rlock *lock, bool *was_locked)
{
    rlock_status status = check(lock);
    return status == RLOCK_OK ? rli_release_force(lock->client, lock->kind, &lock->names, was_locked) : status;
}

/* --- asking --- */

/* This owner's session on the server; 0, which no session has, when there is none. *known: how often it
 * holds the lock as far as this process knows. */
static uint64_t session_number(rlock *lock, const rli_owner *owner, rli_lane **lane, int *known)
{
    rli_holds *holds = &lock->client->holds;
    pthread_mutex_lock(&holds->mutex);
    rli_entry *entry = rli_holds_entry(holds, &lock->names);
    rli_session *session = entry ? rli_holds_open_session(holds, entry, owner) : NULL;
    uint64_t number = session ? session->number : 0;
    *known = session ? session->count : 0;
    *lane = entry ? entry->lane : rli_pool_pick(&lock->client->pool);
    pthread_mutex_unlock(&holds->mutex);
    return number;
}

static rlock_status ask_state(rlock *lock, int64_t *pttl_ms, int64_t *count)
{
    rli_owner owner;
    rli_caller caller;
    rlock_status status = owner_of(lock, &owner);
    if (status == RLOCK_OK)
        status = rli_caller_begin(&caller, lock->client, NULL);
    if (status != RLOCK_OK)
        return status;
    char text[RLI_OWNER_TEXT];
    rli_lane *lane;
    rli_call call;
    int known;
    rli_owner_text(&lock->client->holds, session_number(lock, &owner, &lane, &known), text);
    lock->kind->state(&call, &lock->names, text);
    status = rli_call_run(&call, &caller, lane);
    if (status == RLOCK_OK &&
        (call.reply->type != REDIS_REPLY_ARRAY || call.reply->elements != 2 ||
         !rli_reply_integer(call.reply->element[0], pttl_ms) || !rli_reply_integer(call.reply->element[1], count)))
        status = rli_reply_unexpected(call.reply, lock->names.name);
    /* The server says whether; how often, we know better: a re-entry whose answer was lost is not ours. */
    if (status == RLOCK_OK && *count > known)
        *count = known;
    rli_call_clear(&call);
    rli_caller_end(&caller);
    return status;
}

static rlock_status no_place(const char *what)
{
    return rli_fail(RLOCK_INVALID, "the place for %s is NULL", what);
}

rlock_status rlock_is_locked(rlock *lock, bool *locked)
{
    int64_t pttl_ms, count;
    rlock_status status = locked ? ask_state(lock, &pttl_ms, &count) : no_place("the answer");
    if (status == RLOCK_OK)
        *locked = pttl_ms != -2;
    return status;
}

rlock_status rlock_remain_time_to_live(rlock *lock, int64_t *ms)
{
    int64_t pttl_ms, count;
    rlock_status status = ms ? ask_state(lock, &pttl_ms, &count) : no_place("the milliseconds");
    if (status == RLOCK_OK)
        *ms = pttl_ms;
    return status;
}

rlock_status rlock_is_held(rlock *lock, bool *held)
{
    int64_t pttl_ms, count;
    rlock_status status = held ? ask_state(lock, &pttl_ms, &count) : no_place("the answer");
    if (status == RLOCK_OK)
        *held = count > 0;
    return status;
}

rlock_status rlock_get_hold_count(rlock *lock, int *out)
{
    int64_t pttl_ms, count;
    rlock_status status = out ? ask_state(lock, &pttl_ms, &count) : no_place("the count");
    if (status == RLOCK_OK)
        *out = (int)count;
    return status;
}

int64_t rlock_valid_for(rlock *lock)
{
    rli_owner owner;
    if (owner_of(lock, &owner) != RLOCK_OK)
        return 0;
    rli_holds *holds = &lock->client->holds;
    pthread_mutex_lock(&holds->mutex);
    rli_entry *entry = rli_holds_entry(holds, &lock->names);
    rli_session *session = entry ? rli_holds_open_session(holds, entry, &owner) : NULL;
    int64_t left_ms = session && session->count > 0 ? session->deadline_ms - rli_now_ms() : 0;
    pthread_mutex_unlock(&holds->mutex);
    return left_ms > 0 ? left_ms : 0;
}

/* --- RLOCK_WITH --- */

rlock_with_guard rlock_with_enter(rlock *lock, rlock_status *status)
{
    rlock_status acquired = rlock_lock(lock);
    if (status)
        *status = acquired;
    return (rlock_with_guard){.lock = lock, .status = status, .held = acquired == RLOCK_OK};
}

void rlock_with_leave(rlock_with_guard *guard)
{
    if (!guard->held)
        return;
    guard->held = false;
    rlock_status released = rlock_unlock(guard->lock);
    if (guard->status)
        *guard->status = released;
}
