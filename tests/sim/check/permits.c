/* Permits that have ids and leases. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/permits.h"

#include "tests/sim/actors/actor.h"
#include "tests/sim/check/ledger.h"
#include "tests/sim/program/run.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <string.h>

#define CLAIMS 128
/* Redisson sets the end of a permit by its own clock, and lets others end by it. */
#define CLOCKS_APART_MS 50

typedef struct claim {
    int resource;
    char id[33];
    int64_t until_ns; /* true time */
    bool given;       /* its holder gives it back, and nobody else */
} claim;

static claim claims[CLAIMS];
static int abandoned[PLAN_OBJECTS];

static claim *claim_of(int resource, const char *id)
{
    claim *free_one = NULL;
    for (int i = 0; i < CLAIMS; i++) {
        if (claims[i].resource == resource && strcmp(claims[i].id, id) == 0)
            return &claims[i];
        if (!free_one && claims[i].until_ns <= world_now_ns())
            free_one = &claims[i];
    }
    return free_one;
}

/* When a lease that began then ends: the server's clock, by which it ends, may be 1 % faster, and it counts whole ms; and with
 * it end those of others whose clocks differ. */
static int64_t end_ns(int64_t began_ns, int64_t lease_ms)
{
    return began_ns + (lease_ms - (actors_count() ? CLOCKS_APART_MS : 0) - 1) * 990000;
}

void permits_take(int resource, const char *id, int64_t began_ns, int64_t lease_ms, const char *who)
{
    claim *own = claim_of(resource, id);
    int count = 0;
    if (!own || ledger_epoch(resource) != 0) /* foreign hands may make any number */
        return;
    *own = (claim){.resource = resource};
    strcpy(own->id, id);
    bool endless = lease_ms < 0 || lease_ms > WORLD_NEVER / 4000000;
    own->until_ns = endless ? WORLD_NEVER : end_ns(began_ns, lease_ms);
    for (int i = 0; i < CLAIMS; i++)
        count += claims[i].resource == resource && claims[i].until_ns > world_now_ns();
    if (count > PERMITS_MADE)
        finding("%s has a permit of \"%s\" more, which makes %d of %d", who, run_of->objects[resource].name, count,
                PERMITS_MADE);
}

void permits_rely(int resource, const char *id, int64_t valid_ms)
{
    claim *own = claim_of(resource, id);
    if (own && strcmp(own->id, id) == 0 && end_ns(world_now_ns(), valid_ms) > own->until_ns)
        own->until_ns = end_ns(world_now_ns(), valid_ms);
}

int64_t permits_give(int resource, const char *id, bool for_good)
{
    claim *own = claim_of(resource, id);
    if (!own || strcmp(own->id, id) != 0)
        return 0;
    int64_t until_ns = own->until_ns;
    own->until_ns = 0;
    own->given = for_good;
    return until_ns;
}

/* After a restart nobody knows whether it has what an attempt without an answer had taken. */
void permits_missing(int resource, int64_t began_ns, const char *who)
{
    if (ledger_epoch(resource) == 0 && !ledger_is_new_to(began_ns))
        finding("%s is told that its permit of \"%s\" is not there; its time was not over", who,
                run_of->objects[resource].name);
}

void permits_told(const char *id, bool gone, const char *who)
{
    for (int i = 0; i < CLAIMS; i++) {
        claim *own = &claims[i];
        if (strcmp(own->id, id) != 0)
            continue;
        bool lasts = (own->given && !actors_count()) || own->until_ns > world_now_ns();
        if (gone && lasts && ledger_epoch(own->resource) == 0 && !ledger_is_new_to(0))
            finding("%s is told that its permit of \"%s\" is gone; %s", who, run_of->objects[own->resource].name,
                    own->given ? "it had given it back" : "its time was not over");
        own->until_ns = 0; /* nobody relies on it any more */
    }
}

void permits_abandon(int resource)
{
    abandoned[resource]++;
}

/* Nobody gives back what a client had in doubt when it was closed. */
static bool closes(void)
{
    bool any = false;
    for (int i = 0; i < run_of->client_count; i++)
        any |= run_process(i)->closed;
    return any;
}

void permits_check(int resource, int64_t available, int64_t taken, int64_t valid)
{
    const char *name = run_of->objects[resource].name;
    if (ledger_epoch(resource) != 0)
        return;
    if (available + taken != PERMITS_MADE && (available != 0 || taken != 0)) /* or nobody could make it */
        finding("\"%s\" has %" PRId64 " permits available and %" PRId64 " taken, of %d", name, available, taken, PERMITS_MADE);
    if (valid > abandoned[resource] && !closes())
        finding("%" PRId64 " permits of \"%s\" are taken by nobody", valid - abandoned[resource], name);
}
