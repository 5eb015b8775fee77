/* Guarded writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/guarded.h"

#include "tests/sim/check/wire_parts.h"
#include "tests/sim/program/servers.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>

#define WRITES 1024

typedef struct written {
    int resource, worker;
    unsigned epoch;    /* of the string, when the write began */
    uint64_t token;
    int64_t began_ns, ended_ns; /* 0: it goes on */
    bool done;         /* it has answered RLOCK_OK */
} written;

static written writes[WRITES];
static int count;

int guarded_begins(int resource, const worker *by, uint64_t token)
{
    if (count == WRITES)
        return -1;
    writes[count] = (written){.resource = resource, .worker = by->index, .epoch = ledger_epoch(resource), .token = token,
                              .began_ns = world_now_ns()};
    return count++;
}

/* Nothing was done to the string or its fence since before it. */
static bool counts(const written *one, int resource)
{
    return one->resource == resource && one->epoch == ledger_epoch(resource);
}

/* A write that was done before it began, with a newer token. */
static const written *newer_before(const written *own)
{
    for (int i = 0; i < count; i++) {
        const written *other = &writes[i];
        if (counts(other, own->resource) && other->done && other->token > own->token && other->ended_ns < own->began_ns)
            return other;
    }
    return NULL;
}

static bool is_any_newer(const written *own)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        any |= writes[i].resource == own->resource && writes[i].token > own->token;
    return any;
}

void guarded_ended(int number, const call *of)
{
    written *own = &writes[number];
    own->ended_ns = world_now_ns();
    own->done = of->status == RLOCK_OK;
    const written *newer = newer_before(own);
    if (own->done && counts(own, own->resource) && newer)
        finding("%s was done with token %" PRIu64 "; token %" PRIu64 " had been written before", of->title, own->token,
                newer->token);
    if (of->status == RLOCK_LOST && !is_any_newer(own))
        finding("%s was refused with token %" PRIu64 ", and nobody wrote with a newer one", of->title, own->token);
    guarded_look(own->resource);
}

/* Whether `other` has come after it for certain, so that it may not stand there. */
static bool is_after(const written *other, const written *own)
{
    bool later = other->token == own->token && own->ended_ns > 0 && other->began_ns > own->ended_ns;
    return other->done && (other->token > own->token || later);
}

void guarded_look(int resource)
{
    int64_t number;
    const sim_value *value = wire_value(servers_host(resource), run_of->objects[resource].name);
    if (!value || value->type != VALUE_STRING || run_has_odd_field(resource))
        return;
    if (!text_integer((text){value->string.at, value->string.length}, &number) || number < 0 || number >= count)
        return; /* somebody else's */
    const written *own = &writes[number];
    for (int i = 0; i < count && counts(own, resource); i++) {
        if (counts(&writes[i], resource) && is_after(&writes[i], own))
            finding("\"%s\" has what t%d wrote with token %" PRIu64 ", though t%d has written it with token %" PRIu64
                    " after that", run_of->objects[resource].name, own->worker, own->token, writes[i].worker,
                    writes[i].token);
    }
}
