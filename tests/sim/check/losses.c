/* Losses: what foreign hands took away is told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/losses.h"

#include "tests/sim/check/wire.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <string.h>

#define MS INT64_C(1000000)
/* What was found out in the background is reported by a thread. */
#define TOLD_MS 2000
#define AWAITED 64

/* Those of which rlock_on_lost is to tell, and by when. */
static struct {
    int client, resource;
    bool named;
    int64_t by_ns; /* 0: none */
} awaited[AWAITED];

static bool is_told_of_losses(int client)
{
    return run_of->clients[client].reports && !run_process(client)->closed;
}

static void await_report(const hold *of, int64_t within_ms)
{
    for (int i = 0; i < AWAITED; i++) {
        if (awaited[i].by_ns == 0) {
            awaited[i].client = of->owner.client;
            awaited[i].resource = of->resource;
            awaited[i].named = of->owner.number < 0;
            awaited[i].by_ns = world_now_ns() + within_ms * MS;
            return;
        }
    }
}

void losses_gone(int resource)
{
    if (run_has_fault(FAILOVER)) /* its owner may use a former master yet, where nothing was deleted */
        return;
    for (hold *held = ledger_first(); held; held = held->next) {
        bool stands = held->resource == resource && held->owner.client < PLAN_CLIENTS && held->count > 0 && held->calls == 0 && !held->unsure && !held->lost_ns &&
                      !held->left && held->epoch == ledger_epoch(resource) && held->told_any_ns <= held->granted_ns;
        if (stands && !object_is_composite(run_of->objects[resource].kind))
            held->gone_ns = world_now_ns();
    }
}

void losses_not_gone(int resource)
{
    for (hold *held = ledger_first(); held; held = held->next) {
        if (held->resource == resource && held->gone_ns == world_now_ns())
            held->gone_ns = 0;
    }
}

void losses_told(int client, const rlock_lost_event *lost)
{
    for (int i = 0; i < AWAITED; i++) {
        if (awaited[i].by_ns && awaited[i].client == client && awaited[i].named == lost->named_owner &&
            run_is_called(awaited[i].resource, lost->name)) {
            awaited[i].by_ns = 0;
            return;
        }
    }
}

/* Where answers may be lost, a release that finds nothing may be one that was carried out before. */
void losses_given_back(hold *held)
{
    if (!held->gone_ns || held->unsure || held->calls > 0 || !run_is_gentle())
        return;
    if (held->told_ns >= held->gone_ns) /* before the program heard how its release ended */
        return;
    const char *options = run_of->clients[held->owner.client].options;
    if (strstr(options, "localHandOver=true")) /* it may be kept, and the next owner is told */
        return;
    if (!strstr(options, "unlockWaits=false"))
        finding("%s gave back its hold of \"%s\", which had been deleted %" PRId64 " ms before, and was not told",
                held->owner.title, run_of->objects[held->resource].name, (world_now_ns() - held->gone_ns) / MS);
    if (is_told_of_losses(held->owner.client))
        await_report(held, TOLD_MS);
}

/* With lossTracking, what others have shortened is known soon; a name that they change often rests for so long. */
#define NOTICED_MS 7000

static void check_shortened(const hold *held, validity by)
{
    int64_t since_ns = ledger_void_ns(held->resource);
    const plan_object *object = &run_of->objects[held->resource];
    bool tracks = strstr(run_of->clients[held->owner.client].options, "lossTracking=true");
    bool sure = held->count > 0 && !held->unsure && held->calls == 0 && held->side != PART_SIDE;
    if (!tracks || !sure || run_of->topology != SINGLE || !run_only_shortens() || object_is_composite(object->kind) ||
        since_ns == 0 || held->granted_ns > since_ns || by.asked_ns < since_ns + NOTICED_MS * MS)
        return;
    int64_t left_ms = wire_left_ns(held->resource) / MS;
    if (by.ms > left_ms + 2)
        finding("%s may rely on its hold of \"%s\" for %" PRId64 " ms, and the server keeps it for %" PRId64
                ", as others have set it %" PRId64 " ms ago", held->owner.title, object->name, by.ms, left_ms,
                (world_now_ns() - since_ns) / MS);
}

void losses_valid(const hold *held, validity by)
{
    int64_t ms = by.ms;
    if (ms <= 0)
        return;
    check_shortened(held, by);
    if (held->given_up_ns && by.asked_ns > held->given_up_ns)
        finding("%s may rely for %" PRId64 " ms on its hold of \"%s\", which its client has forced open", held->owner.title, ms,
                run_of->objects[held->resource].name);
    int64_t most_ms = run_watchdog_ms(run_process(held->owner.client));
    if (held->lease_ms > most_ms)
        most_ms = held->lease_ms;
    int64_t gone_ms = (world_now_ns() - held->gone_ns) / MS;
    if (held->calls > 0) /* an async acquire may have taken it anew, whose function was not called yet */
        return;
    if (held->gone_ns && held->side == EXCLUSIVE_SIDE && gone_ms > most_ms + most_ms / 50)
        finding("%s may rely for %" PRId64 " ms on its hold of \"%s\", which was deleted %" PRId64 " ms ago",
                held->owner.title, ms, run_of->objects[held->resource].name, gone_ms);
}

/* A hold that is renewed: the renewal finds that it is gone. */
static void look_at_renewed(hold *held)
{
    if (!held->gone_ns || !held->renewed || held->lease_ms > 0 || held->count == 0 || held->calls > 0 || held->unsure)
        return;
    int64_t watchdog_ms = run_watchdog_ms(run_process(held->owner.client));
    bool is_due = world_now_ns() - held->gone_ns > (watchdog_ms + TOLD_MS) * MS;
    if (is_due && is_told_of_losses(held->owner.client) && run_is_gentle() && !held->told_ns)
        finding("%s holds \"%s\", which was deleted %" PRId64 " ms ago, and was not told", held->owner.title,
                run_of->objects[held->resource].name, (world_now_ns() - held->gone_ns) / MS);
}

/* With lossTracking, a deletion is reported by the server. That looks again when it tracks again. */
static void look_at_tracked(const hold *held)
{
    const plan_object *object = &run_of->objects[held->resource];
    if (!held->gone_ns || held->told_ns || held->count == 0 || held->calls > 0 || held->unsure || held->side == PART_SIDE ||
        object_is_composite(object->kind) || object->kind == GROUP || object->kind == SIGNAL_LOCK)
        return;
    bool tracks = strstr(run_of->clients[held->owner.client].options, "lossTracking=true");
    bool stood = held->renewed || held->claimed_until_ns > held->gone_ns; /* else its lease may have ended before */
    if (!tracks || !stood || !is_told_of_losses(held->owner.client) || !run_only_deletes_and_cuts())
        return;
    int64_t since_ns = run_well_since_ns();
    if (since_ns < held->gone_ns)
        since_ns = held->gone_ns;
    if (since_ns < held->granted_ns + NOTICED_MS * MS) /* until then it is too young to be tracked */
        since_ns = held->granted_ns + NOTICED_MS * MS;
    if (world_now_ns() > since_ns && world_now_ns() - since_ns > NOTICED_MS * MS)
        finding("%s holds \"%s\", which was deleted %" PRId64 " ms ago, and was not told though its client tracks losses",
                held->owner.title, object->name, (world_now_ns() - held->gone_ns) / MS);
}

static bool forgotten;

void losses_forget(void)
{
    forgotten = true;
}

void losses_look(void)
{
    if (forgotten)
        return;
    for (hold *held = ledger_first(); held; held = held->next) {
        look_at_renewed(held);
        look_at_tracked(held);
    }
    for (int i = 0; i < AWAITED; i++) {
        if (awaited[i].by_ns == 0 || world_now_ns() < awaited[i].by_ns)
            continue;
        if (is_told_of_losses(awaited[i].client))
            finding("a hold of \"%s\" was given back after it had been deleted; its client %s was not told",
                    run_of->objects[awaited[i].resource].name, run_process(awaited[i].client)->machine->name);
        awaited[i].by_ns = 0;
    }
}
