/* Plans at random. A seed also decides how hard a run is: how much goes wrong, how few names there are to contend for, how
 * long leases are, so that rare meetings are common in some runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/draw_parts.h"

#include <stdlib.h>
#include <string.h>

int draw_roll(drawing *self, int sides)
{
    return dice_roll(&self->dice, sides);
}

bool draw_one_in(drawing *self, int sides)
{
    return sides > 0 && draw_roll(self, sides) == 0;
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

void draw_moment(drawing *self, moment *which, int *after_us)
{
    const plan *of = self->plan;
    int trip_us = (int)(2 * of->latency_us + of->jitter_us);
    *which = self->mood.moment != NO_MOMENT ? self->mood.moment : (moment)(1 + draw_roll(self, MOMENTS - 1));
    switch (draw_roll(self, 4)) {
    case 0: *after_us = 0; break;
    case 1: *after_us = draw_roll(self, 100); break;
    case 2: *after_us = draw_roll(self, trip_us + 1); break;
    default: *after_us = draw_roll(self, 4 * trip_us + 1); break;
    }
}

int64_t draw_watchdog(drawing *self)
{
    const plan *of = self->plan;
    const char *at = strstr(of->clients[draw_roll(self, of->client_count)].options, "lockWatchdogTimeout=");
    int64_t watchdog_ms = at ? atoll(at + strlen("lockWatchdogTimeout=")) : 30000;
    return watchdog_ms < 30000 ? watchdog_ms : 30000;
}

/* --- options --- */

/* Whole, or not at all. */
static void word(plan_client *to, const char *text)
{
    size_t length = strlen(to->options);
    if (length + strlen(text) + 2 <= sizeof to->options)
        snprintf(to->options + length, sizeof to->options - length, "%s%s", length ? "&" : "", text);
}

static void option(drawing *self, plan_client *to, const char *name, int64_t value)
{
    char text[100];
    (void)self;
    snprintf(text, sizeof text, "%s=%lld", name, (long long)value);
    word(to, text);
}

static void draw_client(drawing *self, plan_client *to)
{
    static const int64_t timeouts[] = {100, 400, 1000, 3000}, watchdogs[] = {300, 1000, 3000, 30000, 120000};
    *to = (plan_client){.rate_ppm = draw_roll(self, 15601) - 7800, .reports = !draw_one_in(self, 4)};
    int64_t timeout_ms = timeouts[draw_roll(self, 4)], watchdog_ms = watchdogs[draw_roll(self, 5)];
    /* What the link can serve: a connection takes some round trips, and so does a script that the server lacks. */
    int64_t trip_us = self->plan->latency_us + self->plan->jitter_us;
    timeout_ms = timeout_ms > trip_us / 100 ? timeout_ms : 3000;
    option(self, to, "timeout", timeout_ms);
    option(self, to, "lockWatchdogTimeout", watchdog_ms > trip_us / 20 ? watchdog_ms : 30000);
    if (draw_one_in(self, 2))
        option(self, to, "retryAttempts", draw_roll(self, 4));
    if (draw_one_in(self, self->mood.keeps))
        word(to, "localHandOver=true");
    if (draw_one_in(self, self->mood.posts))
        word(to, "unlockWaits=false");
    if (draw_one_in(self, 6) && timeout_ms > trip_us / 25) /* the first call waits for the search, which asks several servers */
        word(to, "lazyInitialization=true");
    if (draw_one_in(self, 3))
        word(to, "lossTracking=true");
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
    if (self->plan->topology != SINGLE && draw_one_in(self, 3)) /* a map of a cluster has 16384 slots to look at */
        option(self, to, "scanInterval", (self->plan->topology == CLUSTER ? 2000 : 100) + draw_roll(self, 3000));
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

/* The most that are drawn. A scenario may have more, so that two of them are lost and the rest is a majority. */
#define MEMBERS 3

static void add_composite(drawing *self, object_kind kind)
{
    if (self->plan->object_count + MEMBERS + 1 > PLAN_OBJECTS)
        return;
    static const char *const names[] = {"m0", "m1", "m2"};
    int members[PLAN_MEMBERS] = {0}, count = draw_one_in(self, 3) ? 2 : MEMBERS;
    bool tokens = kind == RED && draw_one_in(self, 2); /* asked at the same time */
    for (int i = 0; i < count; i++) {
        object_kind mixed = draw_one_in(self, 3) ? FAIR : draw_one_in(self, 4) ? TOKEN_LOCK : REENTRANT;
        members[i] = add_object(self, tokens ? TOKEN_LOCK : mixed, names[i]);
    }
    plan_object *one = &self->plan->objects[add_object(self, kind, "-")];
    memcpy(one->members, members, sizeof members);
    one->member_count = count;
}

/* Its parts have names of their own. */
static void add_sharded(drawing *self)
{
    int members[PLAN_MEMBERS] = {0}, count = 1 + draw_roll(self, MEMBERS);
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "h:%d", i);
        members[i] = add_object(self, REENTRANT, name);
    }
    plan_object *one = &self->plan->objects[add_object(self, SHARDED, "h")];
    memcpy(one->members, members, sizeof members);
    one->member_count = count;
}

static void add_read_write(drawing *self, const char *name)
{
    add_object(self, READ, name);
    add_object(self, WRITE, name);
}

/* What most of a run is about. */
typedef enum flavour { PLAIN, FAIR_ONES, TOKENS, SIGNALS, READ_WRITES, COMPOSITES, COUNTED, MIXED, FLAVOURS } flavour;

/* Kinds of one name meet in one hash. */
static void draw_locks(drawing *self, bool fair, int names)
{
    static const char *const locks[] = {"a", "b"};
    static const object_kind exclusive[] = {REENTRANT, REENTRANT, SPIN, FAIR, FAIR, FENCED, NON_REENTRANT, NON_REENTRANT_FAIR};
    static const object_kind queueing[] = {FAIR, FAIR, FAIR, NON_REENTRANT_FAIR};
    object_kind kind = fair ? queueing[draw_roll(self, 4)] : exclusive[draw_roll(self, 8)];
    bool mixes = draw_one_in(self, 2);
    for (int count = 1 + draw_roll(self, 3); count > 0; count--) {
        add_object(self, kind, locks[draw_roll(self, names)]);
        if (mixes)
            kind = fair && !draw_one_in(self, 4) ? queueing[draw_roll(self, 4)] : exclusive[draw_roll(self, 8)];
    }
}

static void draw_counted(drawing *self)
{
    int which = 1 + draw_roll(self, 7);
    if (which & 1)
        add_object(self, SEMAPHORE, "s");
    if (which & 2)
        add_object(self, PERMITS, "p");
    if (which & 4)
        add_object(self, LATCH, "l");
}

/* Some runs are about these alone, by the seed: what is drawn of the others stays as it was. */
static bool draw_rarer_objects(drawing *self)
{
    switch (self->plan->seed % 16) {
    case 5: add_sharded(self); break;
    case 11:
        add_object(self, FENCED, "a");
        add_object(self, GUARDED, "w");
        break;
    case 8: add_object(self, GROUP, "g"); break;
    case 14: add_object(self, FLIGHT, "f"); break;
    default: return false;
    }
    if (draw_one_in(self, 4))
        draw_locks(self, false, 2);
    return true;
}

static void draw_objects(drawing *self)
{
    if (draw_rarer_objects(self))
        return;
    static const int weights[FLAVOURS] = {[PLAIN] = 5, [FAIR_ONES] = 3, [TOKENS] = 2, [SIGNALS] = 2, [READ_WRITES] = 4,
                                          [COMPOSITES] = 3, [COUNTED] = 4, [MIXED] = 2};
    int names = draw_one_in(self, 2) ? 1 : 2;
    flavour of = (flavour)dice_weighted(&self->dice, weights, FLAVOURS);
    if (of == PLAIN || of == FAIR_ONES || of == MIXED)
        draw_locks(self, of == FAIR_ONES, names);
    if (of == TOKENS || draw_one_in(self, 16))
        add_object(self, TOKEN_LOCK, "t");
    if (of == SIGNALS || draw_one_in(self, 24))
        add_object(self, SIGNAL_LOCK, "lock:{z}");
    if (of == READ_WRITES || of == MIXED || draw_one_in(self, 12))
        add_read_write(self, names == 1 ? "r" : "q");
    if (of == COMPOSITES || draw_one_in(self, 20))
        add_composite(self, draw_one_in(self, 2) ? MULTI : RED);
    if (of == COUNTED || (of == MIXED && draw_one_in(self, 2)))
        draw_counted(self);
    if (of != PLAIN && of != FAIR_ONES && draw_one_in(self, 6))
        draw_locks(self, false, 1);
}

/* --- faults --- */

typedef enum family { NETWORK, SERVERS, CLIENTS, DELETIONS, FOREIGN, REPLICATION, FAMILIES } family;

static void draw_usual_weights(drawing *self, int weights[FAULT_KINDS])
{
    static const int usual[FAULT_KINDS] = {
        [RESET_CONNECTION] = 14, [SILENCE] = 12, [STOP_SERVER] = 5, [RESTART] = 3, [STOP_CLIENT] = 5, [REFUSE] = 3,
        [SERVER_ERROR] = 3, [SCRIPTS_FLUSHED] = 2, [KEY_DELETED] = 2, [KEY_SHORTENED] = 2, [KEY_FORCED] = 2,
        [FIELD_ODD] = 1, [ALL_DELETED] = 1, [CLIENTS_KILLED] = 2, [MEMORY_SHORT] = 2, [GARBAGE_PUBLISHED] = 2,
        [KEY_PERSISTED] = 1, [KEY_RENAMED] = 1, [KEY_TAKEN] = 2, [QUEUE_ODD] = 2, [HELPERS_DELETED] = 1, [SERVER_PAUSED] = 2,
        [OVERHEARD] = 5};
    memcpy(weights, usual, sizeof usual);
    weights[FAILOVER] = self->plan->topology == SINGLE ? 0 : 5;
    weights[REPLICAS_SILENT] = self->plan->topology == SINGLE ? 0 : 4;
    weights[SLOT_MOVES] = self->plan->topology == CLUSTER ? 6 : 0;
    weights[NAME_CHANGES] = self->plan->named ? 3 : 0;
}

static void keep_family(drawing *self, int weights[FAULT_KINDS])
{
    int often[FAMILIES] = {[NETWORK] = 4, [SERVERS] = 2, [CLIENTS] = 2, [DELETIONS] = 3, [FOREIGN] = 1};
    often[REPLICATION] = self->plan->topology == SINGLE ? 0 : 8;
    static const family families[FAULT_KINDS] = {
        [STOP_SERVER] = SERVERS, [RESTART] = SERVERS, [SERVER_ERROR] = SERVERS, [SCRIPTS_FLUSHED] = SERVERS,
        [FAILOVER] = REPLICATION, [REPLICAS_SILENT] = REPLICATION, [SLOT_MOVES] = SERVERS, [SERVER_PAUSED] = SERVERS,
        [STOP_CLIENT] = CLIENTS, [MEMORY_SHORT] = CLIENTS, [KEY_DELETED] = DELETIONS, [KEY_FORCED] = DELETIONS,
        [ALL_DELETED] = DELETIONS, [KEY_SHORTENED] = FOREIGN, [FIELD_ODD] = FOREIGN, [GARBAGE_PUBLISHED] = FOREIGN,
        [KEY_PERSISTED] = FOREIGN, [KEY_RENAMED] = FOREIGN, [KEY_TAKEN] = FOREIGN, [QUEUE_ODD] = FOREIGN,
        [HELPERS_DELETED] = FOREIGN};
    if (self->clean) /* where alone it can be seen that each of them is told */
        often[DELETIONS] = 12;
    family kept = (family)dice_weighted(&self->dice, often, FAMILIES);
    family beside = kept == REPLICATION && draw_one_in(self, 2) ? NETWORK : kept;
    for (int i = 0; i < FAULT_KINDS; i++)
        weights[i] = families[i] == kept || families[i] == beside ? weights[i] : 0;
}

static void keep_some(drawing *self, int weights[FAULT_KINDS])
{
    bool keeps[FAULT_KINDS] = {false};
    for (int most = 1 + draw_roll(self, 3); most > 0; most--)
        keeps[draw_one_in(self, 2) ? dice_weighted(&self->dice, weights, FAULT_KINDS) : draw_roll(self, FAULT_KINDS)] = true;
    keeps[dice_weighted(&self->dice, weights, FAULT_KINDS)] = true;
    for (int i = 0; i < FAULT_KINDS; i++)
        weights[i] = keeps[i] && weights[i] ? 1 : 0;
}

/* Those that may happen in this run, and how often: all of them, those of one family, or some few. */
static void draw_weights(drawing *self, int weights[FAULT_KINDS])
{
    int which = draw_roll(self, 4);
    draw_usual_weights(self, weights);
    if (which == 0)
        keep_family(self, weights);
    else if (which < 3)
        keep_some(self, weights);
}

static void draw_fault(drawing *self, const int weights[FAULT_KINDS], int64_t longest_ms, plan_fault *to)
{
    *to = (plan_fault){
        .kind = (fault_kind)dice_weighted(&self->dice, weights, FAULT_KINDS),
        .at_ms = 8 * self->mood.trip_ms - 490 + draw_roll(self, (int)self->horizon_ms), /* when all clients are open */
        .span_ms = draw_span(self, 5, longest_ms),
        .who = draw_roll(self, 16),
        .count = draw_roll(self, 8),
    };
    if (draw_one_in(self, self->mood.faults_meet))
        draw_moment(self, &to->meets, &to->after_us);
    if (to->kind == REPLICAS_SILENT) /* for longer than clients wait for them */
        to->span_ms += draw_roll(self, 3000);
    if (to->kind == FAILOVER) {
        to->span_ms += 300 + draw_roll(self, 4000);
        to->count = draw_one_in(self, 2) ? 0 : to->count; /* nothing may be lost */
    }
}

/* What lasts as long as a lease: what ends with it, and what comes just before or after. */
static int64_t draw_near_lease(drawing *self)
{
    return draw_watchdog(self) * (60 + draw_roll(self, 45)) / 100;
}

static void draw_faults(drawing *self)
{
    static const int64_t longest_ms[] = {100, 1000, 8000, 8000};
    int weights[FAULT_KINDS];
    plan *to = self->plan;
    bool near_lease = draw_one_in(self, 5);
    int64_t longest = longest_ms[draw_roll(self, 4)];
    to->fault_count = self->hardness == 0 ? 0 : self->hardness == 1 ? 1 + draw_roll(self, 2) : draw_roll(self, PLAN_FAULTS);
    draw_weights(self, weights);
    if (to->topology == CLUSTER && self->hardness == 1) { /* nothing but slots that move, which no call is to notice */
        memset(weights, 0, sizeof weights);
        weights[SLOT_MOVES] = 1;
        to->fault_count = 1 + draw_roll(self, 8);
    }
    for (int i = 0; i < to->fault_count; i++)
        draw_fault(self, weights, longest, &to->faults[i]);
    for (int i = 0; i < to->fault_count && near_lease; i++)
        to->faults[i].span_ms = draw_near_lease(self);
}

/* --- what a run is like --- */

static int draw_rate(drawing *self, int usual)
{
    int which = draw_roll(self, 4);
    return which < 2 ? 0 : which == 2 ? usual : usual / 4 + 1;
}

static void draw_mood(drawing *self)
{
    static const int64_t horizons_ms[] = {20, 100, 300, 1000, 3000, 10000, 31000};
    mood *to = &self->mood;
    const plan *of = self->plan;
    self->horizon_ms = horizons_ms[draw_roll(self, 7)];
    to->trip_ms = 1 + (2 * of->latency_us + of->jitter_us) / 1000;
    self->horizon_ms += 10 * to->trip_ms;
    to->pause_ms = draw_one_in(self, 3) ? 1 + to->trip_ms : draw_one_in(self, 2) ? 3000 : 1 + self->horizon_ms / 4;
    to->pauses = draw_one_in(self, 6) ? 0 : 1 + draw_roll(self, 3);
    to->leases = (lease_mood)draw_roll(self, LEASE_MOODS);
    to->waits = draw_one_in(self, 3) ? WAITS_MIXED : (wait_mood)draw_roll(self, WAIT_MOODS);
    to->cancels = draw_rate(self, 6);
    to->cancels_soon = draw_one_in(self, 2);
    to->named = draw_one_in(self, 6) ? 1 : draw_rate(self, 5);
    to->owners = 1 + draw_roll(self, 2);
    to->nests = draw_rate(self, 3);
    to->asks = draw_rate(self, 3);
    to->forces = draw_rate(self, 20);
    to->forgets = draw_rate(self, 25);
    to->blocks = draw_rate(self, 12);
    to->leaves = draw_rate(self, 12);
    to->closes = draw_one_in(self, 4) ? 8 : 0;
    to->forks = draw_one_in(self, 6) ? 16 : 0;
    to->starves = self->hardness && draw_one_in(self, 4) ? 8 : 0;
    to->meets = draw_rate(self, 3);
    to->faults_meet = draw_rate(self, 3);
    to->moment = draw_one_in(self, 2) ? NO_MOMENT : (moment)(1 + draw_roll(self, MOMENTS - 1));
    to->outstays = draw_rate(self, 8);
    if (self->clean && !draw_one_in(self, 3)) /* more is promised then */
        to->forces = to->closes = to->starves = 0;
    to->keeps = draw_roll(self, 3);
    to->posts = draw_roll(self, 3);
    /* by the seed alone: what else is drawn of a seed stays as it was */
    to->asyncs = of->seed % 3 == 0 ? 1 + (int)(of->seed / 3 % 3) : 0;
    to->looks = of->seed % 8 == 5 ? 1 + (int)(of->seed / 8 % 4) : 0;
    to->listens = of->seed % 8 == 1 ? 1 + (int)(of->seed / 8 % 4) : 0;
    to->forgets_loop = to->asyncs && of->seed / 9 % 2 ? 6 : 0;
}

static void draw_world(drawing *self)
{
    static const int versions[] = {62, 70, 70, 72, 80};
    plan *to = self->plan;
    if (draw_one_in(self, 3))
        to->topology = (topology_kind)(REPLICATED + draw_roll(self, TOPOLOGIES - REPLICATED));
    to->version = versions[draw_roll(self, 5)];
    if (draw_one_in(self, 3))
        to->changes = 1 + draw_roll(self, 12);
    to->period = 1 << (draw_one_in(self, 4) ? draw_roll(self, 8) : 3 + draw_roll(self, 6)); /* turns cost the most time */
    bool clean = self->clean = draw_one_in(self, 3); /* where more is promised, and more can be checked */
    to->stalls = clean || draw_one_in(self, 2) ? 0 : 200 << draw_roll(self, 6);
    to->latency_us = !clean && draw_one_in(self, 3) ? 1000 + draw_roll(self, 20000) : 20 + draw_roll(self, 300);
    to->jitter_us = draw_one_in(self, 2) ? to->latency_us : to->latency_us * (1 + draw_roll(self, 10));
    to->splits = clean || draw_one_in(self, 2) ? 0 : 2 + draw_roll(self, 50);
    to->named = draw_one_in(self, 6);
}

void plan_draw(plan *to, uint64_t seed)
{
    uint64_t mixed = (seed ^ seed >> 31) * UINT64_C(0xd6e8feb86659fd93); /* neighbours have nothing in common */
    drawing self = {.plan = to, .dice = dice_seeded(mixed ^ mixed >> 32)};
    *to = (plan){.seed = seed};
    draw_world(&self);
    self.hardness = draw_roll(&self, 4);
    draw_mood(&self);
    draw_objects(&self);
    to->client_count = 1 + draw_roll(&self, 3);
    for (int i = 0; i < to->client_count; i++)
        draw_client(&self, &to->clients[i]);
    to->thread_count = 1 + draw_roll(&self, 8);
    for (int i = 0; i < to->thread_count; i++)
        draw_thread(&self, &to->threads[i], draw_roll(&self, to->client_count));
    for (int i = draw_one_in(&self, 3) ? 1 + draw_roll(&self, 2) : 0; i > 0 && to->thread_count < PLAN_THREADS; i--)
        draw_thread(&self, &to->threads[to->thread_count++], -1);
    draw_faults(&self);
}
