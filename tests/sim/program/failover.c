/* Failovers, replicas that do not confirm, and slots that move. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/ledger.h"
#include "tests/sim/program/failover.h"

#include "tests/sim/program/known.h"
#include "tests/sim/program/run.h"
#include "tests/sim/world/finding.h"

#include <string.h>

/* What becomes of the old master until it is told. */
typedef enum fate {
    DIES,          /* and comes back in the end, at first as a master */
    FALLS_SILENT,
    STAYS,         /* for all clients */
    STAYS_FOR_SOME
} fate;

typedef struct failover {
    const plan_fault *by; /* NULL: none is under way */
    node *old, *to;
    fate fate;
    int64_t until_ns;     /* the replica falls behind until then at most */
    bool away, promoted;
} failover;

static failover failing[SHARDS_MOST];
static const plan_fault *moves;

static int64_t third_ns(const failover *self)
{
    return self->by->span_ms * 1000000 / 3;
}

/* --- the old master --- */

static void silence(const failover *self)
{
    connection *one;
    for (int i = 0; i < run_of->client_count; i++) {
        const machine *client = run_process(i)->machine;
        if (self->fate == STAYS_FOR_SOME && (i & 1) == (self->by->count & 1))
            continue;
        self->old->at->hidden_from |= UINT64_C(1) << client->number;
        for (int k = 0; (one = connection_number(k)); k++) {
            if (connection_client(one) == client && connection_host(one) == self->old->at)
                connection_silence(one, true, true, WORLD_NEVER);
        }
    }
}

static void goes_away(failover *self)
{
    self->away = true;
    known_suspect(self->to->of);
    known_within(third_ns(self));
    if (self->fate == DIES) {
        self->old->at->refuses = true;
        host_drop_connections(self->old->at);
        sim_server_restart(self->old->at->server, true);
        ledger_note_restart(); /* it has its data, but no client can know */
    } else if (self->fate != STAYS) {
        silence(self);
    }
}

/* To their own, when they come back: until then they had been cut off. */
static void come_back(failover *self)
{
    connection *one;
    self->old->at->refuses = false;
    self->old->at->hidden_from = 0;
    for (int k = 0; (one = connection_number(k)); k++) {
        if (connection_host(one) == self->old->at)
            connection_silence(one, true, true, world_now_ns());
    }
}

/* --- in the course of time --- */

static void promote(failover *self)
{
    if (self->promoted)
        return;
    self->promoted = true;
    if (!self->to->held && !self->to->silent)
        sim_replica_catch_up(self->to->at->server, INT64_MAX);
    known_raise_epoch();
    shard_promote(self->to);
    self->to->held = false;
    known_now(self->to);
    known_within(third_ns(self));
}

static void is_due(void *argument)
{
    failover *self = argument;
    if (!self->by || self->promoted)
        return;
    if (self->away) {
        promote(self);
    } else if (sim_replica_lacks(self->to->at->server) >= self->by->count || world_now_ns() >= self->until_ns) {
        goes_away(self);
        event_at(world_now_ns() + 1000 + (int64_t)world_chance((uint64_t)third_ns(self) + 1), is_due, self);
    } else {
        event_at(world_now_ns() + third_ns(self) / 50 + 1000, is_due, self);
    }
}

static node *some_replica(shard *of, int number)
{
    node *found = NULL;
    for (int i = 0; i < of->count; i++) {
        node *one = &of->nodes[i];
        if (one != of->master && (!found || number-- > 0))
            found = one;
    }
    return found;
}

static fate fate_of(const plan_fault *fault)
{
    return (fate)(fault->who / 4 % 4);
}

bool failover_cuts_off_nobody(const plan_fault *fault)
{
    return fate_of(fault) == STAYS;
}

void failover_begin(const plan_fault *fault)
{
    int number = fault->who % shard_count();
    shard *of = shard_number(number);
    failover *self = &failing[number];
    if (of->busy || of->count == 1)
        return;
    of->busy = true;
    *self = (failover){.by = fault, .old = of->master, .to = some_replica(of, fault->who & 1), .fate = fate_of(fault)};
    self->until_ns = world_now_ns() + third_ns(self);
    self->to->held = fault->count > 0;
    is_due(self);
}

static void finish(failover *self)
{
    promote(self);
    come_back(self);
    shard_demote(self->old);
    if (run_of->topology == SENTINEL) /* as sentinels have it: CLIENT KILL TYPE normal, and pubsub */
        host_drop_connections(self->old->at);
    self->to->of->busy = false;
    self->by = NULL;
    known_now(self->old);
    known_within(third_ns(&(failover){.by = &(plan_fault){.span_ms = 1000}}));
}

/* One that had died is a master for itself until it is found. */
static void is_found(void *argument)
{
    failover *self = argument;
    if (self->by)
        finish(self);
}

void failover_end(const plan_fault *fault)
{
    failover *self = &failing[fault->who % shard_count()];
    if (self->by != fault)
        return;
    promote(self);
    come_back(self);
    event_at(world_now_ns() + 1000 + (int64_t)world_chance(200000000), is_found, self);
}

/* --- replicas that do not confirm --- */

static void each_replica(bool silent, bool cut_off)
{
    for (int i = 0; i < shard_count(); i++) {
        for (int k = 0; k < shard_number(i)->count; k++) {
            node *one = &shard_number(i)->nodes[k];
            one->silent = silent;
            one->cut_off = cut_off;
            sim_replica_connect(one->at->server, !cut_off);
            if (cut_off || !silent)
                shard_note_change(one->of);
            shard_catch_up(one);
        }
    }
}

void replicas_fall_silent(const plan_fault *fault)
{
    each_replica(true, fault->count & 1);
}

void replicas_speak(const plan_fault *fault)
{
    (void)fault;
    each_replica(false, false);
}

/* --- slots that move --- */

static void next_key(void *argument)
{
    const plan_fault *self = argument;
    if (moves == self && known_slot_key_goes())
        event_at(world_now_ns() + 1000 + (int64_t)world_chance((uint64_t)self->span_ms * 500000), next_key, argument);
}

void slot_begins(const plan_fault *fault)
{
    const char *name = run_of->objects[fault->who % run_of->object_count].name;
    int slot = sim_slot_of(name, strlen(name));
    shard *from = known_owner(slot), *to = from;
    for (int i = 0; i < shard_count(); i++) {
        if (shard_number(i) != from && (to == from || fault->count & 1))
            to = shard_number(i);
    }
    if (run_of->topology != CLUSTER || moves || from->busy || to->busy)
        return;
    moves = fault;
    from->busy = to->busy = true;
    known_slot_begins(slot, to);
    event_at(world_now_ns() + 1000 + (int64_t)world_chance((uint64_t)fault->span_ms * 500000), next_key, (void *)(uintptr_t)fault);
}

void slot_ends(const plan_fault *fault)
{
    if (moves != fault)
        return;
    moves = NULL;
    known_slot_has_moved();
    for (int i = 0; i < shard_count(); i++) {
        bool fails = failing[i].by != NULL;
        shard_number(i)->busy = fails;
    }
    known_within(INT64_C(1000000) * (int64_t)(1 + world_chance(1000)));
}

/* --- */

void failovers_heal(void)
{
    if (moves)
        slot_ends(moves);
    for (int i = 0; i < shard_count(); i++) {
        if (failing[i].by)
            finish(&failing[i]);
    }
    each_replica(false, false);
    known_now(NULL);
}
