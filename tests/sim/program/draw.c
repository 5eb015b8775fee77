/* Plans at random. A seed also decides how hard a run is: how much goes wrong, how few names there are to contend for, how
 * long leases are, so that rare meetings are common in some runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/draw_parts.h"

#include <string.h>

int draw_roll(drawing *self, int sides)
{
    return dice_roll(&self->dice, sides);
}

bool draw_one_in(drawing *self, int sides)
{
    return draw_roll(self, sides) == 0;
}

int64_t draw_span(drawing *self, int64_t least, int64_t most)
{
    int64_t top = least;
    while (top < most && !draw_one_in(self, 4))
        top *= 3;
    if (top > most)
        top = most;
    return least + (int64_t)draw_roll(self, (int)(top - least < INT32_MAX ? top - least + 1 : INT32_MAX));
}

/* --- options --- */

static void option(drawing *self, plan_client *to, const char *name, int64_t value)
{
    (void)self;
    size_t length = strlen(to->options);
    snprintf(to->options + length, sizeof to->options - length, "%s%s=%lld", length ? "&" : "", name, (long long)value);
}

static void word(plan_client *to, const char *text)
{
    size_t length = strlen(to->options);
    snprintf(to->options + length, sizeof to->options - length, "%s%s", length ? "&" : "", text);
}

static void draw_client(drawing *self, plan_client *to)
{
    static const int64_t timeouts[] = {100, 400, 1000, 3000}, watchdogs[] = {300, 1000, 3000, 30000};
    *to = (plan_client){.rate_ppm = draw_roll(self, 15601) - 7800, .reports = !draw_one_in(self, 4)};
    int64_t timeout_ms = timeouts[draw_roll(self, 4)], watchdog_ms = watchdogs[draw_roll(self, 4)];
    /* What the link can serve: a connection takes some round trips, and so does a script that the server lacks. */
    int64_t trip_us = self->plan->latency_us + self->plan->jitter_us;
    option(self, to, "timeout", timeout_ms > trip_us / 100 ? timeout_ms : 3000);
    option(self, to, "lockWatchdogTimeout", watchdog_ms > trip_us / 20 ? watchdog_ms : 30000);
    if (draw_one_in(self, 2))
        option(self, to, "retryAttempts", draw_roll(self, 4));
    if (draw_one_in(self, 3))
        word(to, "localHandOver=true");
    if (draw_one_in(self, 3))
        word(to, "unlockWaits=false");
    if (draw_one_in(self, 4))
        option(self, to, "connectionPoolSize", 1 + draw_roll(self, 3));
    if (draw_one_in(self, 4))
        option(self, to, "lockWatchdogBatchSize", 1 + draw_roll(self, 3));
    if (draw_one_in(self, 5))
        option(self, to, "fairLockWaitTimeout", 100 + draw_roll(self, 3000));
    if (self->plan->topology != SINGLE && draw_one_in(self, 3))
        word(to, "checkLockSyncedSlaves=false");
    if (self->plan->topology != SINGLE && draw_one_in(self, 3))
        option(self, to, "slavesSyncTimeout", 20 + draw_roll(self, 1000));
    if (self->plan->topology != SINGLE && draw_one_in(self, 3))
        option(self, to, "scanInterval", 100 + draw_roll(self, 3000));
}

/* --- objects --- */

static int add_object(drawing *self, object_kind kind, const char *name)
{
    plan *to = self->plan;
    if (to->object_count == PLAN_OBJECTS)
        return 0;
    plan_object *one = &to->objects[to->object_count];
    *one = (plan_object){.kind = kind};
    snprintf(one->name, sizeof one->name, "%s", name);
    return to->object_count++;
}

static void add_composite(drawing *self, object_kind kind)
{
    if (self->plan->object_count + PLAN_MEMBERS + 1 > PLAN_OBJECTS)
        return;
    static const char *const names[] = {"m0", "m1", "m2"};
    int members[PLAN_MEMBERS], count = kind == RED ? PLAN_MEMBERS : 2 + draw_roll(self, 2);
    for (int i = 0; i < count; i++)
        members[i] = add_object(self, draw_one_in(self, 3) ? FAIR : REENTRANT, names[i]);
    plan_object *one = &self->plan->objects[add_object(self, kind, "-")];
    memcpy(one->members, members, sizeof members);
    one->member_count = count;
}

/* Kinds of one name meet in one hash. */
static void draw_objects(drawing *self)
{
    static const char *const locks[] = {"a", "b"}, *const read_writes[] = {"r", "q"};
    static const object_kind exclusive[] = {REENTRANT, REENTRANT, SPIN, FAIR, FAIR, FENCED, NON_REENTRANT, NON_REENTRANT_FAIR};
    int names = draw_one_in(self, 2) ? 1 : 2, count = 1 + draw_roll(self, 3);
    int flavour = draw_roll(self, 10); /* what most of the run is about */
    if (flavour < 6 || flavour == 9) {
        for (int i = 0; i < count; i++)
            add_object(self, exclusive[draw_roll(self, 8)], locks[draw_roll(self, names)]);
    }
    if (flavour == 6 || flavour == 7 || draw_one_in(self, 5)) {
        const char *name = read_writes[draw_roll(self, names)];
        add_object(self, READ, name);
        add_object(self, WRITE, name);
    }
    if (flavour == 8 || draw_one_in(self, 8))
        add_composite(self, draw_one_in(self, 2) ? MULTI : RED);
    if (flavour == 9 || draw_one_in(self, 6)) {
        if (draw_one_in(self, 2))
            add_object(self, SEMAPHORE, "s");
        if (draw_one_in(self, 2))
            add_object(self, PERMITS, "p");
        if (draw_one_in(self, 3))
            add_object(self, LATCH, "l");
    }
    if (self->plan->object_count == 0)
        add_object(self, REENTRANT, locks[0]);
}

/* --- faults --- */

static void draw_fault(drawing *self, plan_fault *to)
{
    static const int weights[FAULT_KINDS] = {
        [RESET_CONNECTION] = 14, [SILENCE] = 12, [STOP_SERVER] = 5, [RESTART] = 3, [STOP_CLIENT] = 5, [REFUSE] = 3,
        [SERVER_ERROR] = 3, [SCRIPTS_FLUSHED] = 2, [KEY_DELETED] = 2, [KEY_SHORTENED] = 2, [KEY_FORCED] = 2,
        [FIELD_ODD] = 1, [ALL_DELETED] = 1, [CLIENTS_KILLED] = 2};
    int drawn[FAULT_KINDS];
    memcpy(drawn, weights, sizeof drawn);
    drawn[FAILOVER] = self->plan->topology == SINGLE ? 0 : 5;
    drawn[REPLICAS_SILENT] = self->plan->topology == SINGLE ? 0 : 4;
    drawn[SLOT_MOVES] = self->plan->topology == CLUSTER ? 6 : 0;
    drawn[NAME_CHANGES] = self->plan->named ? 3 : 0;
    *to = (plan_fault){
        .kind = (fault_kind)dice_weighted(&self->dice, drawn, FAULT_KINDS),
        .at_ms = draw_roll(self, (int)self->horizon_ms),
        .span_ms = draw_span(self, 5, 8000),
        .who = draw_roll(self, 16),
        .count = draw_roll(self, 8),
    };
    if (to->kind == FAILOVER) {
        to->span_ms += 300 + draw_roll(self, 4000);
        to->count = draw_one_in(self, 2) ? 0 : to->count; /* nothing may be lost */
    }
}

void plan_draw(plan *to, uint64_t seed)
{
    static const int versions[] = {62, 70, 70, 72, 80};
    uint64_t mixed = (seed ^ seed >> 31) * UINT64_C(0xd6e8feb86659fd93); /* neighbours have nothing in common */
    drawing self = {.plan = to, .dice = dice_seeded(mixed ^ mixed >> 32)};
    *to = (plan){.seed = seed};
    to->topology = draw_one_in(&self, 2) ? REPLICATED + draw_roll(&self, TOPOLOGIES - REPLICATED) : SINGLE;
    to->version = versions[draw_roll(&self, 5)];
    if (draw_one_in(&self, 3))
        to->changes = 1 + draw_roll(&self, 12);
    to->period = 1 << draw_roll(&self, 8);
    to->stalls = draw_one_in(&self, 2) ? 0 : 200 << draw_roll(&self, 6);
    to->latency_us = draw_one_in(&self, 4) ? 1000 + draw_roll(&self, 20000) : 20 + draw_roll(&self, 300);
    to->jitter_us = draw_one_in(&self, 2) ? to->latency_us : to->latency_us * (1 + draw_roll(&self, 10));
    to->splits = draw_one_in(&self, 2) ? 0 : 2 + draw_roll(&self, 50);
    to->named = draw_one_in(&self, 6);
    self.hardness = draw_roll(&self, 4);
    self.horizon_ms = 1000 + draw_roll(&self, 30000);
    draw_objects(&self);
    to->client_count = 1 + draw_roll(&self, 3);
    for (int i = 0; i < to->client_count; i++)
        draw_client(&self, &to->clients[i]);
    to->thread_count = 1 + draw_roll(&self, 8);
    for (int i = 0; i < to->thread_count; i++)
        draw_thread(&self, &to->threads[i], draw_roll(&self, to->client_count));
    for (int i = draw_roll(&self, 3); i > 0 && to->thread_count < PLAN_THREADS; i--)
        draw_thread(&self, &to->threads[to->thread_count++], -1);
    to->fault_count = self.hardness == 0 ? 0 : self.hardness == 1 ? 1 + draw_roll(&self, 2) : draw_roll(&self, PLAN_FAULTS);
    bool only_moves = to->topology == CLUSTER && self.hardness == 1;
    if (only_moves)
        to->fault_count = 1 + draw_roll(&self, 8);
    for (int i = 0; i < to->fault_count; i++) {
        draw_fault(&self, &to->faults[i]);
        if (only_moves)
            to->faults[i].kind = SLOT_MOVES;
    }
}
