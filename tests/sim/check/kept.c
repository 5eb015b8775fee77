/* Kept: a lock that was granted stands on the server until its owner gives it back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/kept.h"

#include "tests/sim/check/members.h"
#include "tests/sim/check/wire_parts.h"
#include "tests/sim/program/servers.h"
#include "tests/sim/world/finding.h"

#include <string.h>

/* Whose the lock is there, as its key says; "": nobody's, or it is shared. */
static void holder(const host *at, int resource, char to[static TEXT_SIZE])
{
    const sim_value *own = wire_value(at, run_of->objects[resource].name);
    *to = 0;
    if (own && own->type == VALUE_STRING)
        snprintf(to, TEXT_SIZE, "%.*s", (int)own->string.length, own->string.at);
    if (!own || own->type != VALUE_HASH || value_size(own) != 1)
        return;
    const entry *one = table_next(&own->members, NULL);
    snprintf(to, TEXT_SIZE, "%.*s", (int)one->name_length, one->name);
}

static bool is_held_by(const host *at, const hold *held)
{
    char now[TEXT_SIZE];
    holder(at, held->resource, now);
    return strcmp(now, held->kept_as) == 0;
}

static bool is_such(const call *of)
{
    const hold *held = of->hold;
    object_kind kind = run_of->objects[held->resource].kind;
    bool single = held->side == EXCLUSIVE_SIDE && !object_is_composite(kind) && kind != GROUP;
    return single && run_is_of_one_kind(held->resource);
}

void kept_from(const call *of, validity by)
{
    hold *held = of->hold;
    *held->kept_as = 0;
    held->kept_until_ns = ledger_until_ns(by);
    if (!is_such(of) || by.ms <= 0 || by.asked_ns <= held->dropped_ns || held->unlocks > 0 ||
        members_are_given_back(held) || held->epoch != ledger_epoch(held->resource))
        return;
    holder(servers_host(held->resource), held->resource, held->kept_as);
}

void kept_before(const host *at, int resource)
{
    for (hold *held = ledger_first(); held; held = held->next) {
        if (held->resource == resource && at == servers_host(resource) && *held->kept_as && !is_held_by(at, held))
            *held->kept_as = 0; /* its lease has ended, or others have taken it away */
    }
}

void kept_after(const host *at, int resource, const char *script)
{
    for (hold *held = ledger_first(); held; held = held->next) {
        if (held->resource != resource || at != servers_host(resource) || !*held->kept_as || is_held_by(at, held))
            continue;
        *held->kept_as = 0;
        if (held->epoch == ledger_epoch(resource) && held->kept_until_ns > world_now_ns() && !strstr(script, "/force"))
            finding("%s gave back the hold of \"%s\" that %s was granted, and which nobody has asked to give back", script,
                    run_of->objects[resource].name, held->owner.title);
    }
}
