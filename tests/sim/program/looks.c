/* Looks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/looks.h"

#include "tests/sim/check/calls.h"
#include "tests/sim/world/finding.h"

#include <string.h>

typedef struct seen {
    bool there[PLAN_OBJECTS]; /* its name was found */
    int servers;
} seen;

static bool note_name(const char *name, void *argument)
{
    seen *self = argument;
    for (int i = 0; i < run_of->object_count; i++)
        self->there[i] |= strcmp(run_of->objects[i].name, name) == 0;
    return true;
}

static void note_server(const rlock_server *server, void *argument)
{
    seen *self = argument;
    if (!server->address || !*server->address)
        finding("a server is examined that has no address");
    self->servers++;
}

static rlock_status ask_whose(rlock_client *client, const char *name)
{
    rlock_inspection *inspection = NULL;
    rlock_status status = rlock_inspect(client, name, &inspection);
    if (status == RLOCK_OK)
        status = rlock_inspect_processes(client, name, inspection);
    rlock_inspection_free(inspection);
    return status;
}

/* A lock that is a hash, and of one key. */
static bool can_be_found(object_kind kind)
{
    return object_is_lock(kind) && !object_is_composite(kind) && kind != SHARDED && kind != TOKEN_LOCK && kind != SIGNAL_LOCK;
}

/* Whether it was held all the while: from before the look until now. */
static bool stands(const hold *held, int64_t began_ns)
{
    return held->count > 0 && !held->unsure && !held->lost_ns && held->calls == 0 && held->granted_ns < began_ns &&
           held->claimed_until_ns > world_now_ns() && held->epoch == ledger_epoch(held->resource);
}

static void check_found(const call *of, const seen *found)
{
    for (const hold *held = ledger_first(); held && run_is_calm(); held = held->next) {
        const plan_object *object = &run_of->objects[held->resource];
        if (can_be_found(object->kind) && stands(held, of->began_ns) && !found->there[held->resource])
            finding("%s has not found \"%s\", which %s holds", of->title, object->name, held->owner.title);
    }
}

void look_step(worker *self, const plan_step *step)
{
    call own;
    seen found = {.servers = 0};
    rlock_status status;
    rlock_client *client = self->of->client;
    int which = step->count % 4;
    call_begin(&own, self, step, NULL);
    switch (which) {
    case 0: status = rlock_find(client, NULL, RLOCK_FIND_LOCKS, note_name, &found); break;
    case 1: status = rlock_find(client, "*", RLOCK_FIND_STRINGS, note_name, &found); break;
    case 2: status = rlock_examine(client, note_server, &found); break;
    default: status = ask_whose(client, object_called(&run_of->objects[step->object])); break;
    }
    call_end(&own, status);
    judge_question(&own);
    if (which == 0 && status == RLOCK_OK)
        check_found(&own, &found);
    if (which == 2 && status == RLOCK_OK && found.servers == 0)
        finding("%s has examined no server", own.title);
}
