/* Ends: losses are told, and when all is done nothing is left. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/ends.h"

#include "tests/sim/check/counted.h"
#include "tests/sim/check/losses.h"
#include "tests/sim/check/permits.h"
#include "tests/sim/check/watch.h"
#include "tests/sim/program/servers.h"
#include "tests/sim/world/descriptors.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/memory.h"

#include <inttypes.h>
#include <string.h>

#define MS INT64_C(1000000)

static int64_t abandoned_until_ns[PLAN_OBJECTS];
static int64_t first_blocks;
static bool closes; /* a client is closed in the middle */
static bool acts;   /* others than the library's clients wait, too */

int64_t ends_abandoned_until_ns(int resource)
{
    return abandoned_until_ns[resource];
}

bool ends_is_held_by(int client, int resource, int number)
{
    for (const hold *held = ledger_first(); held; held = held->next) {
        if (held->owner.client == client && held->resource == resource && held->owner.number == number &&
            held->count + held->to_tell > 0)
            return true;
    }
    return false;
}

static void abandon(int resource, int64_t lease_ms)
{
    int64_t until_ns = lease_ms > WORLD_NEVER / 4 / MS ? WORLD_NEVER / 2 : world_now_ns() + lease_ms * MS * 2;
    for (int i = 0; i < run_of->object_count; i++) { /* its members', too */
        const char *name = run_of->objects[i].name;
        if (run_is_of(resource, name, strlen(name)) && until_ns > abandoned_until_ns[run_resource(run_of, i)])
            abandoned_until_ns[run_resource(run_of, i)] = until_ns;
    }
}

void ends_abandon(hold *held, int64_t watchdog_ms)
{
    held->left = true;
    if (held->side == READ_SIDE || held->side == WRITE_SIDE) /* a read hold lengthens a write hold, for good */
        ends_abandon_all(watchdog_ms);
    else if (held->count > 0 || held->unsure)
        abandon(held->resource, held->lease_ms > watchdog_ms ? held->lease_ms : watchdog_ms);
}

/* Each write hold of an owner lengthens the lease by its own. A named owner may be several threads. */
static int64_t longest_lease_ms(int64_t watchdog_ms)
{
    int64_t longest_ms = watchdog_ms, most = 1, named_writes = 0;
    for (int i = 0; i < run_of->thread_count; i++) {
        int64_t writes = 0;
        for (int k = 0; k < run_of->threads[i].step_count; k++) {
            const plan_step *step = &run_of->threads[i].steps[k];
            bool is_write = step->kind == LOCK && run_of->objects[step->object].kind == WRITE;
            longest_ms = step->lease_ms > longest_ms ? step->lease_ms : longest_ms;
            writes += is_write && step->owner == 0;
            named_writes += is_write && step->owner != 0;
        }
        most = writes > most ? writes : most;
    }
    return longest_ms * (named_writes > most ? named_writes : most);
}

void ends_left_behind(int object)
{
    int64_t longest_ms = 0;
    for (int i = 0; i < run_of->client_count; i++) {
        int64_t own_ms = longest_lease_ms(run_watchdog_ms(run_process(i)));
        longest_ms = own_ms > longest_ms ? own_ms : longest_ms;
    }
    abandon(object, longest_ms);
}

void ends_left_for_good(int object)
{
    abandon(object, INT64_C(1000000000));
}

void ends_abandon_all(int64_t watchdog_ms)
{
    int64_t longest_ms = longest_lease_ms(watchdog_ms);
    for (int i = 0; i < run_of->object_count; i++)
        abandon(i, longest_ms);
}

void ends_abandon_late(int64_t watchdog_ms)
{
    if (longest_lease_ms(watchdog_ms) > run_background_ms())
        ends_abandon_all(watchdog_ms);
}

void ends_note_loss(const rlock_lost_event *lost, void *argument)
{
    process *self = argument;
    self->told++;
    if (lost->permit) {
        timeline(thread_title(thread_self()), "is told: permit %s of \"%s\" is lost, reason %d", lost->permit, lost->name,
                 (int)lost->reason);
        permits_told(lost->permit, lost->reason == RLOCK_LOST_GONE, self->machine->name);
        return;
    }
    timeline(thread_title(thread_self()), "is told: \"%s\" is lost, %d holds of %s %lld, reason %d", lost->name,
             lost->hold_count, lost->named_owner ? "owner" : "thread", (long long)lost->owner, (int)lost->reason);
    bool any = false;
    for (hold *held = ledger_first(); held; held = held->next) {
        bool is_of = held->owner.client == self->index && run_is_called(held->resource, lost->name);
        any |= is_of;
        if (is_of && lost->reason == RLOCK_LOST_GONE)
            watch_told_gone(self->index, held->resource);
        if (is_of && (held->owner.number < 0) == lost->named_owner)
            held->told_any_ns = world_now_ns();
        if (is_of && held->gone_ns && (held->owner.number < 0) == lost->named_owner)
            held->told_ns = world_now_ns();
    }
    if (!any && lost->name[0] != 'm')
        finding("%s is told that it lost \"%s\", which it never held", self->machine->name, lost->name);
    if (lost->hold_count < 1)
        finding("%s is told of %d lost holds", self->machine->name, lost->hold_count);
    losses_told(self->index, lost);
}

void ends_begin(void)
{
    first_blocks = memory_blocks();
    for (int i = 0; i < run_of->thread_count; i++) {
        acts |= run_of->threads[i].client < 0;
        for (int k = 0; k < run_of->threads[i].step_count; k++)
            closes |= run_of->threads[i].steps[k].kind == CLOSE;
    }
    watch_begin();
}

/* --- at the end --- */

#define LATE_MS 8000

/* A request that runs later than this is not undone any more: its place ends with the queue or the registry. */
static int64_t undone_ms(void)
{
    int64_t least_ms = LATE_MS;
    for (int i = 0; i < run_of->thread_count; i++) {
        for (int k = 0; k < run_of->threads[i].step_count; k++) {
            int64_t lease_ms = run_of->threads[i].steps[k].lease_ms;
            least_ms = lease_ms > 0 && lease_ms < least_ms ? lease_ms : least_ms;
        }
    }
    return least_ms;
}

static bool comes_late(void)
{
    int64_t most_ms = undone_ms();
    bool any = false;
    for (int i = 0; i < run_of->fault_count; i++)
        any |= run_of->faults[i].span_ms > most_ms;
    return any;
}

/* Nobody dies in its place, no server forgets that a place was left, and none is asked for later. */
static bool places_are_left(void)
{
    return !comes_late() && !closes && !acts && !run_has_fault(QUEUE_ODD) && (run_of->topology == SINGLE || run_is_calm());
}

static void check_place(const char *name, size_t length)
{
    static const char prefix[] = "redisson_lock_queue:{";
    static const char registry[] = "rlock_waiters:{";
    bool queue = length > sizeof prefix && memcmp(name, prefix, sizeof prefix - 1) == 0;
    bool waiters = length > sizeof registry && memcmp(name, registry, sizeof registry - 1) == 0;
    if ((queue || waiters) && places_are_left())
        finding("nobody waits any more, and \"%.*s\" has places", (int)length, name);
}

static void check_left(void *argument, host *at, const char *name, size_t length, const char *type, int64_t left_ms)
{
    (void)argument;
    (void)at;
    check_place(name, length);
    for (int i = 0; i < run_of->object_count; i++) {
        const char *own = run_of->objects[i].name;
        /* An expired hold on values of a group leaves its fields behind. */
        if (!object_is_lock(run_of->objects[i].kind) || run_of->objects[i].kind == GROUP || strlen(own) != length || memcmp(own, name, length) != 0)
            continue;
        int resource = run_resource(run_of, i);
        if (abandoned_until_ns[resource] > world_now_ns() || run_has_odd_field(resource))
            return;
        finding("lock \"%s\" (%s) is held by nobody, and stands for %" PRId64 " ms more", own, type, left_ms);
    }
}

static void check_objects(const plan *of)
{
    for (int i = 0; i < of->object_count; i++) {
        const char *name = of->objects[i].name;
        char timeouts[32], now_ms[24];
        snprintf(timeouts, sizeof timeouts, "{%s}:timeout", name);
        snprintf(now_ms, sizeof now_ms, "(%" PRId64, servers_wall_ms(servers_host(i)) + 1);
        if (of->objects[i].kind == SEMAPHORE)
            counted_check(i, servers_number(i, "GET", name));
        else if (of->objects[i].kind == LATCH)
            latch_check(i, servers_number(i, "GET", name));
        else if (of->objects[i].kind == PERMITS)
            permits_check(i, servers_number(i, "GET", name), servers_number(i, "ZCARD", timeouts),
                          servers_number(i, "ZCOUNT", timeouts, now_ms, "+inf"));
    }
}

/* Of the library itself: the list of lookups, and a list of descriptors, with as many entries as were open at a time. */
#define BLOCKS_KEPT 8

void ends_check(const plan *of)
{
    thread_sleep(of, world_now_ns() + run_background_ms() * MS, 0, "what is left to end");
    servers_each_key(check_left, NULL);
    check_objects(of);
    if (descriptors_open() != 0)
        finding("%d descriptors are left open", descriptors_open());
    if (threads_alive() != 1) {
        static char text[4000];
        threads_describe(text, sizeof text);
        finding("threads of closed clients live on\n%s", text);
    }
    if (memory_blocks() - first_blocks > BLOCKS_KEPT)
        finding("%" PRId64 " blocks of memory are left", memory_blocks() - first_blocks);
}
