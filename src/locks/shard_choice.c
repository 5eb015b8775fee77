/* Shard choice: which part an owner holds by a sharded lock. It may hold others by their names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/shard_choice.h"

#include "base/clock.h"
#include "client/client.h"
#include "engine/holds.h"
#include "engine/session.h"
#include "locks/single.h"

/* The owner of a question about the parts, all of which are of one client. */
typedef struct asked {
    rli_engine *engine;
    rli_owner owner;
} asked;

/* Takes the engine's mutex. False: the client is closed, or memory is short; then it does not. */
static bool begin(asked *by, const rli_composite *set, const rli_owner *given)
{
    const rli_single *first = rli_single_of(set->members[0]);
    if (rli_client_check(first->client) != RLOCK_OK || rli_single_owner(first, given, &by->owner) != RLOCK_OK)
        return false;
    by->engine = &first->client->engine;
    rli_engine_lock(by->engine);
    return true;
}

/* The session in which the owner holds the part, however it took it; NULL: none. Mutex held. */
static rli_session *session_of(const asked *by, rlock *part)
{
    const rli_single *single = rli_single_of(part);
    rli_entry *entry = rli_entry_find(by->engine, &single->names);
    rli_session *session = entry ? rli_session_find_open(by->engine, entry, single->kind, &by->owner) : NULL;
    return session && session->count > 0 ? session : NULL;
}

/* Mutex held. */
static rlock *find(const asked *by, const rli_composite *set, size_t *number)
{
    for (size_t i = 0; i < set->count; i++) {
        const rli_session *session = session_of(by, set->members[i]);
        *number = i;
        if (session && session->sharded && rli_now_ms() < session->deadline_ms)
            return set->members[i];
    }
    return NULL;
}

/* The session that has lost a hold of the sharded lock, and that no unlock has told. Mutex held. */
static const rli_session *lost_of(const asked *by, rlock *part)
{
    const rli_single *single = rli_single_of(part);
    const rli_entry *entry = rli_entry_find(by->engine, &single->names);
    return entry ? rli_session_find_lost_of(by->engine, entry, single->kind, &by->owner, true) : NULL;
}

rlock *rli_shard_held(const rli_composite *set, const rli_owner *owner, size_t *number)
{
    asked by;
    if (!begin(&by, set, owner))
        return NULL;
    rlock *held = find(&by, set, number);
    rli_engine_unlock(by.engine);
    return held;
}

/* One more hold of that session is the sharded lock's. By now it may be lost, and the owner may have another one. Mutex
 * held. */
static void count_hold(const asked *by, rlock *part, uint64_t session_number)
{
    const rli_single *single = rli_single_of(part);
    const rli_entry *entry = rli_entry_find(by->engine, &single->names);
    rli_session *session = entry ? rli_session_find_number(by->engine, entry, single->kind, &by->owner, session_number)
                                 : NULL;
    if (session)
        rli_session_add_sharded(session);
}

rlock *rli_shard_choose(const rli_composite *set, const rli_owner *owner, rlock *part, uint64_t session_number)
{
    asked by;
    size_t number;
    if (!begin(&by, set, owner))
        return part;
    rlock *held = find(&by, set, &number);
    if (!held || held == part)
        count_hold(&by, part, session_number);
    rli_engine_unlock(by.engine);
    return held ? held : part;
}

int rli_shard_count(const rli_composite *set, const rli_owner *owner, rlock *part)
{
    asked by;
    if (!begin(&by, set, owner))
        return 0;
    const rli_session *session = session_of(&by, part);
    int count = session ? rli_session_sharded_count(session) : 0;
    rli_engine_unlock(by.engine);
    return count;
}

bool rli_shard_is_owed(const rli_composite *set, const rli_owner *owner, rlock *part)
{
    asked by;
    if (!begin(&by, set, owner))
        return true; /* the part's own call says why */
    const rli_session *session = session_of(&by, part);
    bool owed = (session && session->sharded) || lost_of(&by, part);
    rli_engine_unlock(by.engine);
    return owed;
}

int64_t rli_shard_valid_in(const rli_composite *set, const rli_owner *owner, uint64_t session_number)
{
    int64_t left_ms = 0;
    for (size_t i = 0; left_ms == 0 && i < set->count; i++)
        left_ms = set->members[i]->methods->valid_in(set->members[i], owner, session_number);
    return left_ms;
}
