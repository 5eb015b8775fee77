/* Watching: what must hold while a run goes on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/watch.h"

#include "tests/sim/actors/actor.h"
#include "tests/sim/check/ends.h"
#include "tests/sim/check/heard.h"
#include "tests/sim/check/guarded.h"
#include "tests/sim/check/losses.h"
#include "tests/sim/check/wire.h"
#include "tests/sim/program/run.h"
#include "tests/sim/program/servers.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <string.h>

#define MS INT64_C(1000000)
#define LOOK_NS (200 * MS)
/* A free lock is taken by one who waits within a round trip and a wake-up; some milliseconds may be left to others. */
#define TAKEN_MS 2000
/* Where places of a queue are left behind by processes that have ended, each is passed over in its time. */
#define PASSED_OVER_MS 90000
/* So soon what is in doubt is released in the background, when nothing holds that up but a machine that stands still. */
#define AT_ONCE_MS 12000
/* …and when nothing at all fails or stands still. */
#define SOON_MS 3000

static int64_t free_since_ns[PLAN_OBJECTS], owned_ns[PLAN_OBJECTS];
static int64_t healed_ns;
/* A client is closed in the middle; or Redisson's waiter is cancelled, and its place in a queue stays, or gives up, and takes
 * so much time from those behind it that they are dropped. */
static bool leaves_places;

/* --- what there is --- */

typedef struct seen {
    bool there[PLAN_OBJECTS];
} seen;

static bool is_a_token(object_kind kind)
{
    return kind == TOKEN_LOCK || kind == SIGNAL_LOCK;
}

static void look_at_key(void *argument, host *at, const char *name, size_t length, const char *type, int64_t left_ms)
{
    seen *self = argument;
    (void)at;
    wire_look_at_key(name, length);
    for (int i = 0; i < run_of->object_count; i++) {
        const char *own = run_of->objects[i].name;
        if (!object_is_lock(run_of->objects[i].kind) || strlen(own) != length || memcmp(own, name, length) != 0)
            continue;
        int resource = run_resource(run_of, i);
        self->there[resource] |= run_of->objects[i].kind != GROUP || wire_group_is_held(at, own);
        /* What foreign hands write there is a token of somebody's, too. */
        bool is_token = is_a_token(run_of->objects[i].kind) && strcmp(type, "string") == 0 && !run_has_fault(KEY_TAKEN);
        bool is_lock = is_token || strcmp(type, "hash") == 0;
        if (left_ms < 0 && is_lock && !run_has_odd_field(resource))
            finding("lock \"%s\" stands on the server without an end", own);
    }
}

/* --- those who wait --- */

static bool queues(int resource)
{
    bool fair = false;
    for (int i = 0; i < run_of->object_count; i++) {
        object_kind kind = run_of->objects[i].kind;
        fair |= run_resource(run_of, i) == resource && (kind == FAIR || kind == NON_REENTRANT_FAIR);
    }
    return fair;
}

/* Where the master does not know all who listen, a dead waiter keeps its place for its time: 300 s, or its wait. */
#define PLACE_MS 310000

static bool keeps_dead_places(void)
{
    bool counts = run_of->topology == SINGLE || (run_of->topology == CLUSTER && run_of->version > 62);
    return !counts && (leaves_places || !run_is_whole());
}

/* …or what a lost message would have told is found when the time to live ends that its waiter was told. */
static int64_t found_late_ms(void)
{
    int64_t longest_ms = 0;
    for (int i = 0; i < run_of->client_count; i++) {
        int64_t own_ms = run_watchdog_ms(run_process(i));
        longest_ms = own_ms > longest_ms ? own_ms : longest_ms;
    }
    return longest_ms > 30000 ? PASSED_OVER_MS + longest_ms : PASSED_OVER_MS;
}

/* Other programs do not tell that they have released a token lock: it is found by the next question. */
#define BACK_OFF_MS 1100

/* A signal may be lost with whom it was for, and a lease that ends signals to nobody. */
#define SIGNAL_LOST_MS 5500

static int64_t untold_ms(int resource)
{
    object_kind kind = run_of->objects[resource].kind;
    return kind == TOKEN_LOCK ? BACK_OFF_MS : kind == SIGNAL_LOCK && !(run_is_calm() && wire_is_freed(resource)) ? SIGNAL_LOST_MS : 0;
}

/* A waiter whose server takes no connection for its messages asks by itself, every two seconds at least. */
#define DEAF_MS 2000

/* Whoever asks for a latch is told when it ends, if it does. */
static bool is_told_its_end(int resource)
{
    return run_of->objects[resource].kind == LATCH && run_only_shortens();
}

static int64_t bound_ms(int resource)
{
    int64_t trips_ms = (run_of->latency_us + run_of->jitter_us) * 40 / 1000;
    if (queues(resource) && keeps_dead_places())
        return found_late_ms() + PLACE_MS * run_worker_count();
    /* Replicas may take longer to confirm than is waited for, again and again. */
    bool confirms = run_of->topology == SINGLE || run_is_calm();
    if (run_only_fills())
        return TAKEN_MS + trips_ms + (run_of->stalls ? TAKEN_MS : 0) + DEAF_MS + untold_ms(resource);
    if ((!run_is_whole() && !is_told_its_end(resource)) || !confirms || (leaves_places && queues(resource)))
        return found_late_ms();
    return TAKEN_MS + trips_ms + (run_of->stalls ? TAKEN_MS : 0) + untold_ms(resource);
}

/* How a release wakes waiters: on the channel of each, not at all, or on one channel. */
static int waking_of(object_kind kind)
{
    return kind == FAIR || kind == NON_REENTRANT_FAIR ? 1 : kind == SPIN ? 2 : kind == TOKEN_LOCK ? 3 : kind == SIGNAL_LOCK ? 4 : 0;
}

/* Where kinds are mixed, waiters may hear of no release, and wait for the time to live. */
static bool is_mixed(int resource)
{
    for (int i = 0; i < run_of->object_count; i++) {
        if (run_resource(run_of, i) == resource &&
            waking_of(run_of->objects[i].kind) != waking_of(run_of->objects[resource].kind))
            return true;
    }
    return false;
}

/* Foreign hands took it away without a message: it is found free when its time to live would have ended. */
static bool was_taken_in_silence(int resource, int64_t since_ns)
{
    return ledger_void_ns(resource) >= since_ns && ledger_void_ns(resource) > 0;
}

/* Who waits since then, though it could have it. */
static void check_waiter(int resource, const thread *who, int waits_for, int64_t since_ns)
{
    int64_t now_ns = world_now_ns(), free_ns = now_ns - free_since_ns[resource];
    if (waits_for != resource || since_ns > free_since_ns[resource] || now_ns - since_ns < bound_ms(resource) * MS ||
        was_taken_in_silence(resource, since_ns))
        return;
    finding("%s waits for lock \"%s\", which has been free for %" PRId64 " ms", thread_title(who),
            run_of->objects[resource].name, free_ns / MS);
}

/* …or for any part of a sharded lock. */
static void check_waiter_for_parts(int resource, const worker *one)
{
    const plan_object *whole = one->waits_for < 0 ? NULL : &run_of->objects[one->waits_for];
    bool is_part = false;
    for (int i = 0; whole && whole->kind == SHARDED && i < whole->member_count; i++)
        is_part |= run_resource(run_of, whole->members[i]) == resource;
    int64_t from_ns = free_since_ns[resource] > one->waits_since_ns ? free_since_ns[resource] : one->waits_since_ns;
    if (is_part && world_now_ns() - from_ns > bound_ms(resource) * MS)
        finding("%s waits for sharded lock \"%s\", of which part \"%s\" has been free for %" PRId64 " ms",
                thread_title(one->thread), whole->name, run_of->objects[resource].name, (world_now_ns() - from_ns) / MS);
}

/* When a full server last left an actor without a connection for commands. */
static int64_t turned_away_ns[PLAN_THREADS];

static void look_who_is_turned_away(void)
{
    for (int i = 0; i < actors_count(); i++) {
        if (!run_is_healed() && !actor_number(i)->command_id)
            turned_away_ns[i] = world_now_ns();
    }
}

static bool was_turned_away(int index, int resource)
{
    return world_now_ns() - turned_away_ns[index] < bound_ms(resource) * MS;
}

/* Redisson's waiters sleep until the time to live ends, where nobody tells them of the end: unlocking a spin lock does not,
 * and in a fair queue a place that was left behind is before theirs. */
static bool may_sleep_on(int resource)
{
    bool may = queues(resource) && bound_ms(resource) >= PASSED_OVER_MS;
    for (int i = 0; i < run_of->object_count; i++)
        may |= run_resource(run_of, i) == resource && run_of->objects[i].kind == SPIN;
    return may;
}

/* Redisson shortens a lock's time, by a re-entry with a short lease, and tells nobody who was told a longer one. */
static bool may_have_ended_early(int resource)
{
    return actors_count() > 0 && wire_taken_ns(resource) > wire_freed_ns(resource);
}

static void check_waiters(int resource)
{
    if (is_mixed(resource) || may_have_ended_early(resource))
        return;
    int64_t free_ns = world_now_ns() - free_since_ns[resource];
    if (free_ns < bound_ms(resource) * MS || (!run_is_whole() && !run_is_healed() && !run_only_fills()))
        return;
    for (int i = 0; i < actors_count() && !may_sleep_on(resource); i++) {
        const actor *one = actor_number(i);
        if (!was_turned_away(i, resource))
            check_waiter(resource, one->thread, one->waits_for, one->waits_since_ns);
    }
    for (int i = 0; i < run_worker_count(); i++) {
        const worker *one = run_worker(i);
        check_waiter(resource, one->thread, one->waits_for, one->waits_since_ns);
        check_waiter_for_parts(resource, one);
    }
}

static int64_t told_ns[PLAN_CLIENTS][PLAN_OBJECTS];

void watch_told_gone(int client, int resource)
{
    told_ns[client][resource] = world_now_ns();
}

/* A process that has found out that its hold was deleted lets its own waiters ask. */
static void check_waiter_told(int resource, const worker *one)
{
    int64_t since_ns = told_ns[one->of->index][resource];
    if (!run_is_gentle() || queues(resource) || is_mixed(resource) || may_have_ended_early(resource) ||
        one->waits_for != resource || one->waits_since_ns > since_ns || since_ns < ledger_void_ns(resource))
        return;
    if (since_ns < free_since_ns[resource])
        since_ns = free_since_ns[resource];
    int64_t free_ms = (world_now_ns() - since_ns) / MS;
    if (free_ms > TAKEN_MS + untold_ms(resource))
        finding("%s waits for lock \"%s\", which has been free for %" PRId64 " ms, and its client was told",
                thread_title(one->thread), run_of->objects[resource].name, free_ms);
}

/* Whether the one that waits could have what it waits for now, though the key stands: others read, or there are permits. */
static bool could_have(const worker *one, int resource)
{
    const plan_object *of = &run_of->objects[resource];
    if (of->kind == LATCH)
        return servers_number(resource, "GET", of->name) <= 0;
    if (of->kind == SEMAPHORE || of->kind == PERMITS)
        return servers_number(resource, "GET", of->name) >= one->wants;
    if (actors_count() > 0) /* Redisson tells nobody when a writer that also reads gives the write lock back */
        return false;
    return one->waits_as == READ_SIDE && !is_mixed(resource) && servers_says(resource, "read", "HGET", of->name, "mode");
}

static void check_worker(worker *one)
{
    int resource = one->waits_for;
    if (!could_have(one, resource))
        one->could_since_ns = world_now_ns();
    else if (world_now_ns() - one->could_since_ns > bound_ms(resource) * MS && !was_taken_in_silence(resource, one->waits_since_ns))
        finding("%s waits for \"%s\", and could have had it for %" PRId64 " ms", thread_title(one->thread),
                run_of->objects[resource].name, (world_now_ns() - one->could_since_ns) / MS);
}

/* --- what is held by nobody --- */

static bool has_owner(int resource)
{
    const char *name = run_of->objects[resource].name;
    for (const hold *held = ledger_first(); held; held = held->next) {
        /* What an ended thread held is nobody's: ends_abandoned_until_ns. */
        bool counts = held->count > 0 && !held->left && (!held->lost_ns || held->unsure);
        bool holds = held->calls > 0 || counts;
        if (holds && run_is_of(held->resource, name, strlen(name)))
            return true;
    }
    return false;
}

/* Whether calls on it are under way that do more than wait: one that waits has it at once when it may. */
static bool is_used(int resource)
{
    const char *name = run_of->objects[resource].name;
    int calls = 0;
    for (const hold *held = ledger_first(); held; held = held->next) {
        bool counts = held->count > 0 && !held->left && (!held->lost_ns || held->unsure);
        calls += run_is_of(held->resource, name, strlen(name)) ? held->calls + PLAN_THREADS * counts : 0;
    }
    for (int i = 0; i < run_worker_count(); i++)
        calls -= run_worker(i)->waits_for == resource;
    return calls > 0;
}

static bool is_outlasted(int64_t lease_ms, int64_t stops_ms)
{
    return lease_ms > AT_ONCE_MS && lease_ms <= stops_ms;
}

/* A request may run when everything has stood still for longer than its lease. Nobody looks for it any more then: what it
 * takes ends with that lease. */
static bool stops_outlast_doubt(void)
{
    int64_t stops_ms = 0;
    bool outlast = false;
    for (int i = 0; i < run_of->fault_count; i++)
        stops_ms += run_of->faults[i].span_ms;
    for (int i = 0; i < run_of->client_count; i++)
        outlast |= is_outlasted(run_watchdog_ms(run_process(i)), stops_ms);
    for (int i = 0; i < run_of->thread_count; i++) {
        for (int k = 0; k < run_of->threads[i].step_count; k++)
            outlast |= is_outlasted(run_of->threads[i].steps[k].lease_ms, stops_ms);
    }
    return outlast;
}

/* Holds in doubt are released one after another, each thread's, and each takes several round trips. */
static int64_t one_by_one_ms(void)
{
    return run_of->thread_count * 8 * (run_of->latency_us + run_of->jitter_us) / 1000;
}

static int64_t used_ns[PLAN_OBJECTS];
static bool in_child; /* of a fork: the threads that call, and the one that releases what is in doubt, are its parent's */

void watch_in_child(void)
{
    in_child = true;
}

/* Where nothing fails, one of those that wait has it soon. */
static void check_used(int resource)
{
    bool calm = run_is_calm() && actors_count() == 0 && !in_child;
    bool judged = calm && !run_has_composite() && !run_has_odd_field(resource);
    if (!judged || is_used(resource) || ends_abandoned_until_ns(resource) > world_now_ns())
        used_ns[resource] = world_now_ns();
    if (world_now_ns() - used_ns[resource] > SOON_MS * MS)
        finding("lock \"%s\" is held by none of those that call, for %" PRId64 " ms now",
                run_of->objects[resource].name, (world_now_ns() - used_ns[resource]) / MS);
}

static void check_owner(int resource)
{
    if (has_owner(resource) || actors_doubt(resource) || run_has_odd_field(resource))
        owned_ns[resource] = world_now_ns();
    int64_t since_ns = owned_ns[resource];
    if (since_ns < healed_ns)
        since_ns = healed_ns;
    if (since_ns < ends_abandoned_until_ns(resource))
        since_ns = ends_abandoned_until_ns(resource);
    bool at_once = run_only_stops() && !run_has_composite() && !stops_outlast_doubt();
    int64_t bound_ms = at_once ? AT_ONCE_MS + one_by_one_ms() : run_background_ms();
    if (world_now_ns() - since_ns > bound_ms * MS)
        finding("lock \"%s\" is held by nobody, for %" PRId64 " ms now", run_of->objects[resource].name,
                (world_now_ns() - since_ns) / MS);
}

/* --- now and then --- */

static void look(void *again)
{
    seen now = {0};
    if (!run_is_healed())
        healed_ns = world_now_ns();
    look_who_is_turned_away();
    servers_each_key(look_at_key, &now);
    wire_look_at_holds();
    for (int i = 0; i < run_of->object_count; i++) {
        if (run_resource(run_of, i) != i || !object_is_lock(run_of->objects[i].kind) ||
            object_is_composite(run_of->objects[i].kind) || run_of->objects[i].kind == SHARDED)
            continue;
        if (now.there[i])
            free_since_ns[i] = world_now_ns();
        else
            check_waiters(i);
        for (int k = 0; k < run_worker_count() && !now.there[i]; k++)
            check_waiter_told(i, run_worker(k));
        if (now.there[i]) {
            check_owner(i);
            check_used(i);
        } else {
            owned_ns[i] = used_ns[i] = world_now_ns();
        }
    }
    for (int i = 0; i < run_worker_count(); i++) {
        worker *one = run_worker(i);
        if (one->waits_for >= 0 && (run_is_calm() || is_told_its_end(one->waits_for)))
            check_worker(one);
    }
    for (int i = 0; i < run_of->object_count; i++) {
        if (run_of->objects[i].kind == GUARDED)
            guarded_look(i);
    }
    losses_look();
    heard_look();
    if (again)
        event_at(world_now_ns() + LOOK_NS, look, again);
}

void watch_begin(void)
{
    static char again;
    for (int i = 0; i < run_of->thread_count; i++) {
        const plan_thread *of = &run_of->threads[i];
        for (int k = 0; k < of->step_count; k++)
            leaves_places |= of->steps[k].kind == CLOSE || of->client < 0;
    }
    event_at(world_now_ns() + LOOK_NS, look, &again);
}
