/* Places: several servers, two clients on each, and locks made of locks there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/places.h"

#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"

#include <string.h>

#define HANDLES 2048
#define MEMBERS 16
#define BRIEF "timeout=200&retryAttempts=1&retryBaseDelay=50&retryMaxDelay=100"

struct place places[PLACES];

static const kind *member = &kind_reentrant;
static rlock *handles[HANDLES];
static size_t handle_count;

static rlock_client *open_client(server *at, const char *query)
{
    return stage_open_client(query ? server_url_with(at, query) : server_url(at));
}

static void open_places(const char *query)
{
    stage_open_with(query);
    places[0] = (struct place){stage.server, stage.client, stage.other};
    for (size_t i = 1; i < PLACES; i++) {
        places[i].server = server_start();
        places[i].ours = open_client(places[i].server, query);
        places[i].theirs = open_client(places[i].server, query);
    }
}

void places_open(void)
{
    open_places(NULL);
}

void places_quick(void)
{
    open_places(STAGE_QUICK);
}

void places_brief(void)
{
    open_places(BRIEF);
}

/* Clients first, as the stage does: that ends calls which a failed test left waiting. */
void places_close(void)
{
    stage_close_client(places[0].ours);
    stage_close_client(places[0].theirs);
    for (size_t i = 1; i < PLACES; i++) {
        rlock_client_close(places[i].ours);
        rlock_client_close(places[i].theirs);
    }
    for (size_t i = 0; i < handle_count; i++)
        rlock_free(handles[i]);
    handle_count = 0;
    stage_close();
    for (size_t i = 1; i < PLACES; i++)
        server_stop(places[i].server);
    memset(places, 0, sizeof places);
    member = &kind_reentrant;
}

rlock *keep_lock(rlock *lock)
{
    cr_assert(lock != NULL, "no handle: %s", rlock_last_error());
    cr_assert(handle_count < HANDLES, "too many handles");
    handles[handle_count++] = lock;
    return lock;
}

rlock *made_of(lock_maker *make, rlock *const *locks, size_t n)
{
    return keep_lock(make(locks, n));
}

rlock *made_of_names(lock_maker *make, rlock_client *client, const char *const *names, size_t n)
{
    rlock *locks[MEMBERS];
    cr_assert(n <= MEMBERS);
    for (size_t i = 0; i < n; i++)
        locks[i] = lock_of(client, names[i]);
    return made_of(make, locks, n);
}

void places_of(const kind *of)
{
    member = of;
}

rlock *lock_by(rlock_client *client, const char *name)
{
    return kind_of(member, client, name);
}

rlock *lock_at(size_t place, bool ours, const char *name)
{
    return lock_by(ours ? places[place].ours : places[place].theirs, name);
}

rlock *made_on_places(lock_maker *make, bool ours, const char *name)
{
    rlock *locks[PLACES];
    for (size_t i = 0; i < PLACES; i++)
        locks[i] = lock_at(i, ours, name);
    return made_of(make, locks, PLACES);
}

bool held_at(size_t place, const char *name)
{
    return server_integer(places[place].server, "EXISTS %s", name) == 1;
}

bool wait_free_at(size_t place, const char *name, int64_t ms)
{
    return server_wait_exists(places[place].server, name, false, ms);
}

void foreign_hold_at(size_t place, const char *name)
{
    const char *how = member->field ? "HSET %s %s 1" : "SET %s %s";
    freeReplyObject(server_command(places[place].server, how, name, FOREIGN_CLIENT ":1"));
    freeReplyObject(server_command(places[place].server, "PEXPIRE %s 60000", name));
}

void foreign_release_at(size_t place, const char *name)
{
    freeReplyObject(server_command(places[place].server, "DEL %s", name));
    freeReplyObject(server_command(places[place].server, "PUBLISH %s 0", kind_channel(member, name)));
}
