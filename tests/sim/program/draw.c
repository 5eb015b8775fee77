/* Plans at random. A seed also decides how hard a run is: how much goes wrong, how few names there are to contend for, how
 * long leases are, so that rare meetings are common in some runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/plan.h"
#include "tests/support/dice.h"

#include <string.h>

typedef struct drawing {
    plan *plan;
    dice dice;
    int hardness;       /* 0: nothing goes wrong */
    int64_t horizon_ms; /* most of what is planned is planned before */
} drawing;

static int roll(drawing *self, int sides)
{
    return dice_roll(&self->dice, sides);
}

static bool one_in(drawing *self, int sides)
{
    return roll(self, sides) == 0;
}

/* Small ones as often as large ones. */
static int64_t span(drawing *self, int64_t least, int64_t most)
{
    int64_t top = least;
    while (top < most && !one_in(self, 4))
        top *= 3;
    if (top > most)
        top = most;
    return least + (int64_t)roll(self, (int)(top - least < INT32_MAX ? top - least + 1 : INT32_MAX));
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
    *to = (plan_client){.rate_ppm = roll(self, 15601) - 7800, .reports = !one_in(self, 4)};
    int64_t timeout_ms = timeouts[roll(self, 4)], watchdog_ms = watchdogs[roll(self, 4)];
    /* What the link can serve: a connection takes some round trips, and so does a script that the server lacks. */
    int64_t trip_us = self->plan->latency_us + self->plan->jitter_us;
    option(self, to, "timeout", timeout_ms > trip_us / 100 ? timeout_ms : 3000);
    option(self, to, "lockWatchdogTimeout", watchdog_ms > trip_us / 20 ? watchdog_ms : 30000);
    if (one_in(self, 2))
        option(self, to, "retryAttempts", roll(self, 4));
    if (one_in(self, 3))
        word(to, "localHandOver=true");
    if (one_in(self, 3))
        word(to, "unlockWaits=false");
    if (one_in(self, 4))
        option(self, to, "connectionPoolSize", 1 + roll(self, 3));
    if (one_in(self, 4))
        option(self, to, "lockWatchdogBatchSize", 1 + roll(self, 3));
    if (one_in(self, 5))
        option(self, to, "fairLockWaitTimeout", 100 + roll(self, 3000));
    if (self->plan->topology != SINGLE && one_in(self, 3))
        word(to, "checkLockSyncedSlaves=false");
    if (self->plan->topology != SINGLE && one_in(self, 3))
        option(self, to, "slavesSyncTimeout", 20 + roll(self, 1000));
    if (self->plan->topology != SINGLE && one_in(self, 3))
        option(self, to, "scanInterval", 100 + roll(self, 3000));
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
    int members[PLAN_MEMBERS], count = kind == RED ? PLAN_MEMBERS : 2 + roll(self, 2);
    for (int i = 0; i < count; i++)
        members[i] = add_object(self, one_in(self, 3) ? FAIR : REENTRANT, names[i]);
    plan_object *one = &self->plan->objects[add_object(self, kind, "-")];
    memcpy(one->members, members, sizeof members);
    one->member_count = count;
}

/* Kinds of one name meet in one hash. */
static void draw_objects(drawing *self)
{
    static const char *const locks[] = {"a", "b"}, *const read_writes[] = {"r", "q"};
    static const object_kind exclusive[] = {REENTRANT, REENTRANT, SPIN, FAIR, FAIR, FENCED, NON_REENTRANT, NON_REENTRANT_FAIR};
    int names = one_in(self, 2) ? 1 : 2, count = 1 + roll(self, 3);
    int flavour = roll(self, 10); /* what most of the run is about */
    if (flavour < 6 || flavour == 9) {
        for (int i = 0; i < count; i++)
            add_object(self, exclusive[roll(self, 8)], locks[roll(self, names)]);
    }
    if (flavour == 6 || flavour == 7 || one_in(self, 5)) {
        const char *name = read_writes[roll(self, names)];
        add_object(self, READ, name);
        add_object(self, WRITE, name);
    }
    if (flavour == 8 || one_in(self, 8))
        add_composite(self, one_in(self, 2) ? MULTI : RED);
    if (flavour == 9 || one_in(self, 6)) {
        if (one_in(self, 2))
            add_object(self, SEMAPHORE, "s");
        if (one_in(self, 2))
            add_object(self, PERMITS, "p");
        if (one_in(self, 3))
            add_object(self, LATCH, "l");
    }
    if (self->plan->object_count == 0)
        add_object(self, REENTRANT, locks[0]);
}

/* --- steps --- */

static plan_step *add_step(plan_thread *to, step_kind kind, int object)
{
    static plan_step beyond;
    plan_step *one = to->step_count < PLAN_STEPS ? &to->steps[to->step_count++] : &beyond;
    *one = (plan_step){.kind = kind, .object = object, .wait_ms = -1, .lease_ms = -1, .cancel_ms = -1};
    return one;
}

static void add_pause(drawing *self, plan_thread *to)
{
    add_step(to, PAUSE, 0)->pause_ms = one_in(self, 3) ? 0 : span(self, 1, 3000);
}

static int64_t draw_lease(drawing *self)
{
    if (one_in(self, 2))
        return -1;
    return one_in(self, 40) ? INT64_C(3155760000000) : span(self, one_in(self, 6) ? 1 : 50, 60000);
}

static int64_t draw_wait(drawing *self)
{
    int which = roll(self, 6);
    return which < 2 ? -1 : which == 2 ? 0 : span(self, 1, 20000);
}

static void draw_acquire(drawing *self, plan_step *to)
{
    to->wait_ms = draw_wait(self);
    to->lease_ms = draw_lease(self);
    if (one_in(self, 6))
        to->cancel_ms = span(self, 1, 5000);
}

/* What may be lost for good is not waited for without end. */
static void draw_finite_acquire(drawing *self, plan_step *to)
{
    draw_acquire(self, to);
    if (to->wait_ms < 0)
        to->wait_ms = span(self, 1, 20000);
}

static void draw_question(drawing *self, plan_thread *to, int object, int owner)
{
    static const step_kind questions[] = {IS_LOCKED, IS_HELD, COUNT, TTL, VALID_FOR, GET_TOKEN, INSPECT, VALID_FOR};
    add_step(to, questions[roll(self, 8)], object)->owner = owner;
}

/* Any but a member of another, which only that one takes. */
static int draw_object(drawing *self)
{
    int object;
    do
        object = roll(self, self->plan->object_count);
    while (self->plan->objects[object].name[0] == 'm');
    return object;
}

/* Takes a lock, perhaps again and again, and gives it back, mostly as often. */
static void draw_lock_turn(drawing *self, plan_thread *to, int object, int depth)
{
    object_kind kind = self->plan->objects[object].kind;
    int owner = one_in(self, 5) ? 1 + roll(self, 2) : 0;
    if (one_in(self, 12)) {
        add_step(to, WITHIN, object)->pause_ms = span(self, 1, 1000);
        return;
    }
    plan_step *taken = add_step(to, kind == FENCED && one_in(self, 2) ? TOKEN : LOCK, object);
    draw_acquire(self, taken);
    taken->owner = owner;
    add_pause(self, to);
    if (one_in(self, 3))
        draw_question(self, to, object, owner);
    if (depth < 3 && one_in(self, 3)) {
        int nested = one_in(self, 2) ? object : draw_object(self);
        if (object_is_lock(self->plan->objects[nested].kind))
            draw_lock_turn(self, to, nested, depth + 1);
    }
    if (owner || !one_in(self, 25))
        add_step(to, UNLOCK, object)->owner = owner;
    if (one_in(self, 30))
        add_step(to, FORCE, object);
}

static void draw_semaphore_turn(drawing *self, plan_thread *to, int object)
{
    static const step_kind others[] = {SEM_ADD, SEM_DRAIN, SEM_AVAILABLE, SEM_SET, SEM_RELEASE};
    plan_step *taken = add_step(to, SEM_ACQUIRE, object);
    draw_finite_acquire(self, taken);
    taken->count = 1 + roll(self, 2);
    int count = taken->count;
    add_pause(self, to);
    if (one_in(self, 8))
        add_step(to, others[roll(self, 5)], object)->count = 1 + roll(self, 3);
    add_step(to, SEM_RELEASE, object)->count = count;
}

static void draw_permit_turn(drawing *self, plan_thread *to, int object)
{
    plan_step *taken = add_step(to, PERMIT_ACQUIRE, object);
    draw_finite_acquire(self, taken);
    taken->count = 1 + roll(self, 2);
    add_pause(self, to);
    if (one_in(self, 4))
        add_step(to, PERMIT_UPDATE, object)->lease_ms = draw_lease(self);
    if (one_in(self, 4))
        add_step(to, PERMIT_STATE, object);
    if (!one_in(self, 10))
        add_step(to, PERMIT_RELEASE, object);
}

static void draw_latch_turn(drawing *self, plan_thread *to, int object)
{
    static const step_kind kinds[] = {LATCH_SET, LATCH_DOWN, LATCH_DOWN, LATCH_AWAIT, LATCH_COUNT};
    plan_step *one = add_step(to, kinds[roll(self, 5)], object);
    one->count = roll(self, 4);
    one->wait_ms = one->kind == LATCH_AWAIT ? span(self, 1, 20000) : -1;
}

static void draw_turn(drawing *self, plan_thread *to)
{
    int object = draw_object(self);
    object_kind kind = self->plan->objects[object].kind;
    if (object_is_lock(kind))
        draw_lock_turn(self, to, object, 0);
    else if (kind == SEMAPHORE)
        draw_semaphore_turn(self, to, object);
    else if (kind == PERMITS)
        draw_permit_turn(self, to, object);
    else
        draw_latch_turn(self, to, object);
}

static void draw_thread(drawing *self, plan_thread *to, int client)
{
    *to = (plan_thread){.client = client};
    for (int i = 0; i < self->plan->object_count; i++) {
        object_kind kind = self->plan->objects[i].kind;
        if (kind == SEMAPHORE || kind == PERMITS)
            add_step(to, kind == SEMAPHORE ? SEM_SET : PERMIT_SET, i)->count = 2;
    }
    int turns = 2 + roll(self, 9);
    for (int i = 0; i < turns; i++) {
        draw_turn(self, to);
        if (one_in(self, 3))
            add_pause(self, to);
        if (self->hardness > 0 && one_in(self, 60))
            add_step(to, STARVE, 0)->count = 1 + roll(self, 20);
    }
    if (client >= 0 && one_in(self, 12))
        add_step(to, one_in(self, 3) ? CLOSE : LEAVE, 0);
    if (client >= 0 && one_in(self, 40))
        add_step(to, FORK, roll(self, self->plan->object_count));
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
        .at_ms = roll(self, (int)self->horizon_ms),
        .span_ms = span(self, 5, 8000),
        .who = roll(self, 16),
        .count = roll(self, 8),
    };
    if (to->kind == FAILOVER) {
        to->span_ms += 300 + roll(self, 4000);
        to->count = one_in(self, 2) ? 0 : to->count; /* nothing may be lost */
    }
}

void plan_draw(plan *to, uint64_t seed)
{
    static const int versions[] = {62, 70, 70, 72, 80};
    uint64_t mixed = (seed ^ seed >> 31) * UINT64_C(0xd6e8feb86659fd93); /* neighbours have nothing in common */
    drawing self = {.plan = to, .dice = dice_seeded(mixed ^ mixed >> 32)};
    *to = (plan){.seed = seed};
    to->topology = one_in(&self, 2) ? REPLICATED + roll(&self, TOPOLOGIES - REPLICATED) : SINGLE;
    to->version = versions[roll(&self, 5)];
    if (one_in(&self, 3))
        to->changes = 1 + roll(&self, 12);
    to->period = 1 << roll(&self, 8);
    to->stalls = one_in(&self, 2) ? 0 : 200 << roll(&self, 6);
    to->latency_us = one_in(&self, 4) ? 1000 + roll(&self, 20000) : 20 + roll(&self, 300);
    to->jitter_us = one_in(&self, 2) ? to->latency_us : to->latency_us * (1 + roll(&self, 10));
    to->splits = one_in(&self, 2) ? 0 : 2 + roll(&self, 50);
    to->named = one_in(&self, 6);
    self.hardness = roll(&self, 4);
    self.horizon_ms = 1000 + roll(&self, 30000);
    draw_objects(&self);
    to->client_count = 1 + roll(&self, 3);
    for (int i = 0; i < to->client_count; i++)
        draw_client(&self, &to->clients[i]);
    to->thread_count = 1 + roll(&self, 8);
    for (int i = 0; i < to->thread_count; i++)
        draw_thread(&self, &to->threads[i], roll(&self, to->client_count));
    for (int i = roll(&self, 3); i > 0 && to->thread_count < PLAN_THREADS; i--)
        draw_thread(&self, &to->threads[to->thread_count++], -1);
    to->fault_count = self.hardness == 0 ? 0 : self.hardness == 1 ? 1 + roll(&self, 2) : roll(&self, PLAN_FAULTS);
    bool only_moves = to->topology == CLUSTER && self.hardness == 1;
    if (only_moves)
        to->fault_count = 1 + roll(&self, 8);
    for (int i = 0; i < to->fault_count; i++) {
        draw_fault(&self, &to->faults[i]);
        if (only_moves)
            to->faults[i].kind = SLOT_MOVES;
    }
}
