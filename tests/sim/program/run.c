/* A run: the processes of a plan in their world. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/run.h"

#include "tests/sim/actors/actor.h"
#include "tests/sim/check/ends.h"
#include "tests/sim/program/faults.h"
#include "tests/sim/program/flights.h"
#include "tests/sim/program/lock_of.h"
#include "tests/sim/program/loops.h"
#include "tests/sim/program/operations.h"
#include "tests/sim/program/servers.h"
#include "tests/sim/program/steps.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/memory.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define MOST_STEPS INT64_C(60000000)

const plan *run_of;
static int resources[PLAN_OBJECTS]; /* of its objects */

static process processes[PLAN_CLIENTS];
static worker workers[PLAN_THREADS];
static int worker_count;
static bool calm, gentle, only_moves, only_shortens, whole, healed;
static int64_t well_ns; /* since when it is */
static run_counts counts;

static bool is_calm(const plan *of);

/* --- of the run under way --- */

int run_worker_count(void)
{
    return worker_count;
}

worker *run_worker(int index)
{
    return &workers[index];
}

process *run_process(int index)
{
    return &processes[index];
}

bool run_only_moves(void)
{
    return only_moves;
}

bool run_only_shortens(void)
{
    return only_shortens;
}

bool run_is_calm(void)
{
    return calm;
}

bool run_is_gentle(void)
{
    return gentle;
}

bool run_is_whole(void)
{
    return whole;
}

bool run_is_healed(void)
{
    return healed;
}

int64_t run_well_since_ns(void)
{
    bool odd_keys = run_has_fault(KEY_TAKEN) || run_has_fault(FIELD_ODD) || run_has_fault(QUEUE_ODD);
    bool slow_names = run_has_fault(NAME_CHANGES); /* they stay so */
    return healed && is_calm(run_of) && !odd_keys && !slow_names ? well_ns : WORLD_NEVER;
}

void run_count_call(void)
{
    counts.calls++;
}

void run_count_fault(void)
{
    counts.faults++;
}

/* Kinds of lock that share a name share what they exclude; what is made of several is of its own. */
static int resource_of(const plan *of, int object)
{
    for (int i = 0; i < object; i++) {
        if (strcmp(of->objects[i].name, of->objects[object].name) == 0 && of->objects[i].name[0] != '-')
            return i;
    }
    return object;
}

int run_resource(const plan *of, int object)
{
    return of == run_of ? resources[object] : resource_of(of, object);
}

bool run_is_of(int object, const char *name, size_t length)
{
    const plan_object *one = &run_of->objects[object];
    bool is = strlen(one->name) == length && memcmp(one->name, name, length) == 0;
    for (int i = 0; i < one->member_count && !is; i++)
        is = run_is_of(one->members[i], name, length);
    return is;
}

bool run_is_called(int object, const char *name)
{
    const plan_object *one = &run_of->objects[object];
    return strcmp(object_called(one), name) == 0 || (one->kind == SHARDED && run_is_of(object, name, strlen(name)));
}

bool run_is_of_one_kind(int resource)
{
    bool is = true;
    for (int i = 0; i < run_of->object_count; i++)
        is &= run_resource(run_of, i) != resource || run_of->objects[i].kind == run_of->objects[resource].kind;
    return is;
}

bool run_is_fair(int resource)
{
    bool is = true;
    for (int i = 0; i < run_of->object_count; i++) {
        object_kind kind = run_of->objects[i].kind;
        is &= run_resource(run_of, i) != resource || kind == FAIR || kind == NON_REENTRANT_FAIR;
    }
    return is;
}

void run_void(int object, const char *why)
{
    const plan_object *one = &run_of->objects[object];
    const char *name = one->name;
    for (int i = 0; one->kind == SHARDED && i < one->member_count; i++)
        run_void(one->members[i], why);
    for (int i = 0; i < run_of->object_count; i++) {
        if (run_resource(run_of, i) == i && run_is_of(i, name, strlen(name)))
            ledger_void(i, why);
    }
}

static bool odd[PLAN_OBJECTS];

void run_odd_field(int resource)
{
    odd[resource] = true;
}

bool run_has_odd_field(int resource)
{
    return odd[resource];
}

static int64_t option_of(const process *of, const char *name, int64_t otherwise)
{
    const char *at = strstr(of->plan->clients[of->index].options, name);
    return at ? atoll(at + strlen(name)) : otherwise;
}

bool run_has_composite(void)
{
    bool any = false;
    for (int i = 0; i < run_of->object_count; i++)
        any |= object_is_composite(run_of->objects[i].kind);
    return any;
}

/* It is tried again after pauses; and one by one, where locks of several have left hundreds of requests in doubt. */
int64_t run_background_ms(void)
{
    return run_has_composite() ? 200000 : 45000;
}

static int64_t client_timeout_ms(const process *of)
{
    return option_of(of, "timeout=", 3000);
}

int64_t run_hasty_ms(const process *of)
{
    int64_t quarter_ms = client_timeout_ms(of) / 4;
    bool serves = quarter_ms >= 100 && quarter_ms > (run_of->latency_us + run_of->jitter_us) / 100;
    return serves && option_of(of, "retryAttempts=", 4) == 2 ? quarter_ms : -1;
}

int64_t run_timeout_ms(const process *of)
{
    int64_t hasty_ms = run_hasty_ms(of);
    return hasty_ms > 0 ? hasty_ms : client_timeout_ms(of);
}

/* How long a call may be occupied with a server that does not answer. */
int64_t run_patience_ms(const process *of)
{
    int64_t attempts = option_of(of, "retryAttempts=", 4) + 1, timeout_ms = client_timeout_ms(of);
    return attempts * (timeout_ms + 2000 + 2000) + 10000 + 7500;
}

int64_t run_watchdog_ms(const process *of)
{
    return option_of(of, "lockWatchdogTimeout=", 30000);
}

static bool are_all(const plan *of, bool (*is)(fault_kind kind))
{
    bool are = true;
    for (int i = 0; i < of->fault_count; i++)
        are &= is(of->faults[i].kind);
    return are;
}

bool run_has_fault(fault_kind kind)
{
    bool has = false;
    for (int i = 0; i < run_of->fault_count; i++)
        has |= run_of->faults[i].kind == kind;
    return has;
}

static bool is_stop(fault_kind kind)
{
    return kind == STOP_SERVER || kind == STOP_CLIENT;
}

static bool is_of_connections(fault_kind kind)
{
    return kind == RESET_CONNECTION || kind == SILENCE || kind == CLIENTS_KILLED;
}

bool run_only_stops(void)
{
    return are_all(run_of, is_stop);
}

static bool is_by_hand(fault_kind kind)
{
    return kind == KEY_DELETED || kind == KEY_FORCED || kind == ALL_DELETED;
}

static bool is_by_hand_or_cut(fault_kind kind)
{
    return is_by_hand(kind) || kind == RESET_CONNECTION || kind == CLIENTS_KILLED;
}

bool run_only_deletes_and_cuts(void)
{
    return run_of->topology == SINGLE && are_all(run_of, is_by_hand_or_cut);
}

bool run_only_fills(void)
{
    bool only = run_of->topology == SINGLE && run_of->fault_count > 0;
    for (int i = 0; i < run_of->fault_count; i++)
        only &= fault_fills(&run_of->faults[i]);
    return only && is_calm(run_of);
}

bool run_keeps_holds(int client)
{
    const process *of = &processes[client];
    bool gets_through = run_of->fault_count <= 2 && are_all(run_of, is_of_connections);
    return !of->closed && (gets_through || only_moves) && run_of->latency_us + run_of->jitter_us < 10000 &&
           run_watchdog_ms(of) >= 3000 && memory_failures() == 0 &&
           (run_watchdog_ms(of) >= 30 * run_timeout_ms(of) || run_of->fault_count <= 1);
}

static bool is_move(fault_kind kind)
{
    return kind == SLOT_MOVES;
}

static bool is_shortening(fault_kind kind)
{
    return kind == KEY_SHORTENED;
}

static bool is_flush(fault_kind kind)
{
    return kind == SCRIPTS_FLUSHED;
}

/* Nothing fails: what takes its time comes at last. */
static bool is_whole(const plan *of)
{
    bool well = of->fault_count == 0;
    for (int i = 0; i < of->thread_count; i++) {
        for (int k = 0; k < of->threads[i].step_count; k++)
            well &= of->threads[i].steps[k].kind != STARVE;
    }
    return well;
}

/* But for its faults, and for how slow its network is. */
static bool is_steady(const plan *of)
{
    bool well = of->stalls == 0 && of->splits == 0;
    for (int i = 0; i < of->thread_count; i++) {
        for (int k = 0; k < of->threads[i].step_count; k++) {
            step_kind kind = of->threads[i].steps[k].kind;
            well &= kind != STARVE && kind != CLOSE && kind != FORCE;
        }
    }
    return well;
}

static bool is_calm(const plan *of)
{
    return is_steady(of) && of->latency_us + of->jitter_us < 10000;
}

machine *run_machine(int number)
{
    int chosen = number % (run_of->client_count + actors_count());
    return chosen < run_of->client_count ? processes[chosen].machine : actor_number(chosen - run_of->client_count)->machine;
}

/* --- processes --- */

static void *work(void *argument)
{
    worker *self = argument;
    self->waits_for = -1;
    self->thread = thread_self();
    bool goes_on = true;
    for (int i = 0; i < self->plan->step_count && goes_on && self->of->client; i++)
        goes_on = step_take(self, &self->plan->steps[i]);
    steps_end(self);
    return NULL;
}

/* What named owners still hold is nobody's when the last thread has ended. */
static void release_named(process *self)
{
    static worker last[PLAN_CLIENTS];
    worker *own = &last[self->index];
    *own = (worker){.of = self, .index = 1000 + self->index, .thread = thread_self(), .waits_for = -1, .left = true};
    for (int i = 0; i < self->plan->object_count && !self->closed; i++) {
        for (int number = 1; number < PLAN_OWN_NAME && object_is_lock(self->plan->objects[i].kind); number++) {
            plan_step step = {.kind = UNLOCK, .object = i, .owner = number, .wait_ms = -1, .lease_ms = -1};
            for (int most = 60; most > 0 && ends_is_held_by(self->index, run_resource(self->plan, i), -number); most--) {
                step_take(own, &step);
                if (memory_failures() > 0) /* there may be none for the handle, for a while */
                    thread_sleep(own, world_now_ns() + SECOND, 0, "memory");
            }
        }
    }
    /* Without memory for a handle, nothing could be given back. */
    for (hold *held = ledger_first(); held && memory_failures() > 0; held = held->next) {
        if (held->owner.client == self->index && held->owner.number < 0 && held->count > 0)
            ends_abandon(held, run_watchdog_ms(self));
    }
    steps_end(own);
}

/* Closing waits for posted releases, and for the first round of giving back what is in doubt, for a second or the
 * timeout. That is enough for a connection, and to find out that the server has forgotten the script and to send it. */
static bool closing_waits(const process *self)
{
    int64_t waits_ms = client_timeout_ms(self) < 1000 ? client_timeout_ms(self) : 1000;
    int64_t rounds = 1; /* one for each call that may be in doubt, one after the other */
    for (int i = 0; i < run_of->thread_count && self->doubts; i++)
        rounds += run_of->threads[i].client == self->index ? run_of->threads[i].step_count : 0;
    bool suffices = rounds * (run_of->latency_us + run_of->jitter_us) / 100 <= waits_ms;
    return (run_of->fault_count == 0 && !self->doubts) || (are_all(run_of, is_flush) && suffices);
}

/* In the background it gives back what it may have taken, and what ended threads have left ends. */
static void linger(process *self)
{
    bool left = false;
    for (int i = 0; i < worker_count; i++)
        left |= workers[i].of == self && workers[i].left;
    int64_t from_ns = healed ? world_now_ns() : faults_end_ns(run_of);
    if (left)
        from_ns += 2 * run_watchdog_ms(self) * 1000000 + 2 * SECOND;
    /* What is posted, or kept for the next owner, is given back when its call has long ended. */
    const char *options = run_of->clients[self->index].options;
    bool later = strstr(options, "unlockWaits=false") || strstr(options, "localHandOver=true");
    if (left || ((self->doubts || later) && !closing_waits(self)))
        thread_sleep(self, from_ns + run_background_ms() * 1000000, 0, "what is in doubt to be given back");
}

static void *live(void *argument)
{
    process *self = argument;
    const plan_client *as = &self->plan->clients[self->index];
    rlock_status status = rlock_client_open(&self->client, servers_url(as->options));
    timeline(thread_title(thread_self()), "opens a client (%s): %s", as->options, rlock_strstatus(status));
    if (status != RLOCK_OK) {
        self->client = NULL;
        if (calm)
            finding("a client could not be opened though nothing is wrong: %s", rlock_last_error());
        return NULL;
    }
    if (as->reports && rlock_on_lost(self->client, ends_note_loss, self) != RLOCK_OK)
        finding("%s cannot be told of losses: %s", self->machine->name, rlock_last_error());
    flights_begin(self);
    rlock *keeps = rlock_get_lock(self->client, "keeps the client"); /* other threads may close it */
    loop_begin(self);
    for (int i = 0; i < worker_count; i++) {
        if (workers[i].of == self) {
            char name[16];
            snprintf(name, sizeof name, "t%d", i);
            workers[i].thread = thread_start(self->machine, name, work, &workers[i]);
        }
    }
    for (int i = 0; i < worker_count; i++) {
        if (workers[i].of == self)
            thread_join(workers[i].thread);
    }
    flights_end(self);
    release_named(self);
    operations_await_all(self);
    linger(self);
    loop_end(self);
    rlock_free(keeps);
    if (!self->closed)
        rlock_client_close(self->client);
    operations_check(self);
    /* A silent connection may deliver later what this client has asked for twice; no client looks for it then. */
    if (!healed && !closing_waits(self))
        ends_abandon_late(run_watchdog_ms(self));
    timeline(thread_title(thread_self()), "has ended");
    return NULL;
}

static void begin_processes(const plan *of)
{
    for (int i = 0; i < of->client_count; i++) {
        char name[8];
        snprintf(name, sizeof name, "%c", 'A' + i);
        processes[i] = (process){.plan = of, .index = i, .machine = machine_make(name, of->clients[i].rate_ppm, 0)};
    }
    for (int i = 0; i < of->thread_count; i++) {
        if (of->threads[i].client < 0)
            continue;
        workers[worker_count] = (worker){.of = &processes[of->threads[i].client], .plan = &of->threads[i],
                                         .index = worker_count, .waits_for = -1};
        worker_count++;
    }
    for (int i = 0; i < of->client_count; i++)
        processes[i].main = thread_start(processes[i].machine, "main", live, &processes[i]);
    actors_begin(of);
}

/* --- the run --- */

/* Those who wait for each other by plan are helped on by an operator, now and then. */
static void await_processes(const plan *of, int64_t healed_ns)
{
    for (int64_t turn = 0;; turn++) {
        bool any = actors_live();
        for (int i = 0; i < of->client_count; i++)
            any |= thread_is_alive(processes[i].main);
        if (!any)
            return;
        thread_sleep(of, world_now_ns() + SECOND, 0, "the processes to end");
        if (turn % 10 == 0 && world_now_ns() > healed_ns + 150 * SECOND)
            faults_free_locks();
        if (world_now_ns() > healed_ns + 3600 * SECOND) {
            static char threads[4000], holds[4000];
            threads_describe(threads, sizeof threads);
            ledger_describe(holds, sizeof holds);
            finding("an hour after the last fault calls have not returned\n%s%s", threads, holds);
        }
    }
}

run_counts run_plan(const plan *of)
{
    const schedule by = {.seed = of->seed, .period = of->period, .changes = of->changes, .steps = 2000 << of->seed % 8,
                         .stalls = of->stalls, .most_steps = MOST_STEPS};
    run_of = of;
    for (int i = 0; i < of->object_count; i++)
        resources[i] = resource_of(of, i);
    world_begin(&by);
    world_place(machine_make("world", 0, 0));
    network.latency_ns = of->latency_us * 1000;
    network.jitter_ns = of->jitter_us * 1000;
    network.splits = of->splits;
    calm = of->fault_count == 0 && is_calm(of);
    gentle = are_all(of, is_by_hand) && is_calm(of);
    only_moves = are_all(of, is_move) && is_calm(of);
    only_shortens = are_all(of, is_shortening) && is_steady(of);
    whole = is_whole(of);
    servers_start(of);
    ends_begin();
    begin_processes(of);
    faults_plan(of);
    thread_sleep(of, world_now_ns() + faults_end_ns(of) + SECOND, 0, "the faults to be over");
    faults_heal();
    healed = true;
    well_ns = world_now_ns();
    await_processes(of, world_now_ns());
    ends_check(of);
    counts.steps = world_steps();
    counts.virtual_ms = world_now_ns() / 1000000;
    counts.trace = world_trace();
    return counts;
}
