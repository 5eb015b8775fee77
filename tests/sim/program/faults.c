/* Faults: what a plan has go wrong, when. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/faults.h"

#include "tests/sim/actors/actor.h"
#include "tests/sim/check/ledger.h"
#include "tests/sim/program/failover.h"
#include "tests/sim/program/foreign.h"
#include "tests/sim/program/listeners.h"
#include "tests/sim/program/moment.h"
#include "tests/sim/program/run.h"
#include "tests/sim/program/servers.h"
#include "tests/sim/program/shards.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/memory.h"
#include "tests/sim/world/names.h"

#include <inttypes.h>
#include <string.h>

#define WORDS(...) (const char *const[]){__VA_ARGS__, NULL}

static host *host_of(const plan_fault *fault)
{
    return servers_any(fault->who);
}

/* --- the network --- */

static void reset(const plan_fault *fault)
{
    int count = 0;
    while (connection_number(count))
        count++;
    connection *met = fault->meets != NO_MOMENT ? moment_connection() : NULL;
    if (count)
        connection_reset(met ? met : connection_number(fault->who * 7 % count), fault->count & 1);
}

static void silence(const plan_fault *fault)
{
    connection *one;
    const machine *client = fault->who < 8 ? run_machine(fault->who) : NULL;
    int64_t until_ns = world_now_ns() + fault->span_ms * 1000000;
    for (int i = 0; (one = connection_number(i)); i++) {
        if (!client || connection_client(one) == client)
            connection_silence(one, fault->count % 3 != 1, fault->count % 3 != 0, until_ns);
    }
}

static void kill_clients(const plan_fault *fault)
{
    connection *one;
    (void)fault;
    while ((one = connection_number(0)))
        connection_reset(one, false);
}

/* --- machines and servers --- */

static void restart(const plan_fault *fault)
{
    host *at = host_of(fault);
    bool keeps = fault->count & 1, is_master = shard_node(at) && !sim_server_master(at->server);
    host_drop_connections(at);
    sim_server_restart(at->server, keeps);
    if (shard_node(at))
        shard_note_change(shard_node(at)->of);
    ledger_note_restart();
    if (!keeps && is_master)
        ledger_void_data();
}

static void refuse(const plan_fault *fault)
{
    host *at = host_of(fault);
    at->refuses = fault->count & 1;
    at->deaf = !at->refuses;
    if (fault->count & 2)
        host_drop_connections(at);
}

static void accept_again(const plan_fault *fault)
{
    host *at = host_of(fault);
    at->refuses = at->deaf = false;
    if (shard_node(at)) /* nobody could ask it until now who follows it */
        shard_note_change(shard_node(at)->of);
}

static sim_failure failure_of(const plan_fault *fault)
{
    static const sim_failure failures[] = {SIM_LOADING, SIM_BUSY, SIM_MISCONF, SIM_OOM, SIM_NOREPLICAS, SIM_FULL,
                                           SIM_PROTECTED, SIM_LOADING};
    return failures[fault->count % 8];
}

bool fault_fills(const plan_fault *fault)
{
    return fault->kind == SERVER_ERROR && failure_of(fault) == SIM_FULL;
}

static void answer_errors(const plan_fault *fault)
{
    sim_server_fail(servers_with_data(fault->who)->server, failure_of(fault));
}

static void answer_well(const plan_fault *fault)
{
    sim_server_fail(servers_with_data(fault->who)->server, SIM_WELL);
}

static void stop_server(const plan_fault *fault)
{
    machine_stop(host_of(fault)->machine, fault->span_ms * 1000000, false);
}

static void stop_client(const plan_fault *fault)
{
    machine_stop(run_machine(fault->who), fault->span_ms * 1000000, fault->count == 1);
}

#define MOST_PAUSED_MS 8000
static int64_t paused_until_ns;

static void pause_server(const plan_fault *fault)
{
    char ms[24];
    int64_t span_ms = fault->span_ms < MOST_PAUSED_MS ? fault->span_ms : MOST_PAUSED_MS;
    int64_t until_ns = world_now_ns() + span_ms * 1000000 * 101 / 100; /* by the server's clock */
    paused_until_ns = until_ns > paused_until_ns ? until_ns : paused_until_ns;
    snprintf(ms, sizeof ms, "%" PRId64, span_ms);
    servers_command(servers_with_data(fault->who), WORDS("CLIENT", "PAUSE", ms, fault->count & 1 ? "ALL" : "WRITE"));
}

static void flush_scripts(const plan_fault *fault)
{
    servers_command(servers_with_data(fault->who), WORDS("SCRIPT", "FLUSH"));
}

/* --- names --- */

static void change_name(const plan_fault *fault)
{
    (void)fault;
    servers_name_takes(fault->span_ms * 1000000);
}

static void shorten_memory(const plan_fault *fault)
{
    memory_fails(fault->count + 1);
}

static void have_memory(const plan_fault *fault)
{
    (void)fault;
    memory_fails(0);
}

/* --- when --- */

static const struct {
    void (*begin)(const plan_fault *fault);
    void (*end)(const plan_fault *fault);
    bool lasts; /* for its span, by itself */
    bool commands; /* foreign hands: what they change is theirs when the command runs, which a paused server puts off */
} acts[FAULT_KINDS] = {
    [RESET_CONNECTION] = {reset, NULL, false, false},
    [SILENCE] = {silence, NULL, true, false},
    [STOP_SERVER] = {stop_server, NULL, true, false},
    [RESTART] = {restart, NULL, false, false},
    [STOP_CLIENT] = {stop_client, NULL, true, false},
    [REFUSE] = {refuse, accept_again, true, false},
    [SERVER_ERROR] = {answer_errors, answer_well, true, false},
    [SCRIPTS_FLUSHED] = {flush_scripts, NULL, false, false},
    [KEY_DELETED] = {foreign_delete, NULL, false, true},
    [KEY_SHORTENED] = {foreign_shorten, NULL, false, true},
    [KEY_FORCED] = {foreign_force, NULL, false, true},
    [FIELD_ODD] = {foreign_write_field, NULL, false, true},
    [ALL_DELETED] = {foreign_delete_all, NULL, false, true},
    [CLIENTS_KILLED] = {kill_clients, NULL, false, false},
    [FAILOVER] = {failover_begin, failover_end, true, false},
    [REPLICAS_SILENT] = {replicas_fall_silent, replicas_speak, true, false},
    [SLOT_MOVES] = {slot_begins, slot_ends, true, false},
    [GARBAGE_PUBLISHED] = {foreign_publish_garbage, NULL, false, true},
    [KEY_PERSISTED] = {foreign_persist, NULL, false, true},
    [KEY_RENAMED] = {foreign_rename, foreign_name_back, true, true},
    [KEY_TAKEN] = {foreign_take, foreign_give_back, true, true},
    [QUEUE_ODD] = {foreign_write_queue, NULL, false, true},
    [HELPERS_DELETED] = {foreign_delete_helpers, NULL, false, true},
    [SERVER_PAUSED] = {pause_server, NULL, true, true},
    [OVERHEARD] = {foreign_overhear, foreign_hang_up, true, false},
    [NAME_CHANGES] = {change_name, NULL, false, false},
    [MEMORY_SHORT] = {shorten_memory, have_memory, true, false},
};

static bool over;

static bool put_off(plan_fault *fault, void (*to)(void *argument))
{
    bool later = acts[fault->kind].commands && paused_until_ns > world_now_ns();
    if (later)
        event_at(paused_until_ns + 1000000, to, fault);
    return later;
}

static void begin_fault(void *argument)
{
    plan_fault *fault = argument;
    if (over || put_off(fault, begin_fault))
        return;
    timeline("world", "fault: %s, for %" PRId64 " ms (who %d, count %d)", fault_word(fault->kind), fault->span_ms, fault->who,
             fault->count);
    run_count_fault();
    if (acts[fault->kind].begin)
        acts[fault->kind].begin(fault);
}

static void end_fault(void *argument)
{
    plan_fault *fault = argument;
    if (!over && acts[fault->kind].end && !put_off(fault, end_fault))
        acts[fault->kind].end(fault);
}

#define BEGIN_NS INT64_C(500000000)

static void begin_met(void *argument)
{
    plan_fault *fault = argument;
    begin_fault(fault);
    event_at(world_now_ns() + fault->span_ms * 1000000, end_fault, fault);
}

static void meet(void *argument)
{
    const plan_fault *fault = argument;
    event_at(world_now_ns() + fault->after_us * INT64_C(1000), begin_met, argument);
}

static void await_moment(void *argument)
{
    const plan_fault *fault = argument;
    moment_when(fault->meets, world_now_ns() + MOMENT_MS * INT64_C(1000000), meet, argument);
}

static int64_t begins_ns(const plan_fault *fault)
{
    return BEGIN_NS + fault->at_ms * 1000000;
}

int64_t faults_end_ns(const plan *of)
{
    int64_t end_ns = BEGIN_NS;
    for (int i = 0; i < of->fault_count; i++) {
        const plan_fault *fault = &of->faults[i];
        int64_t own_ns = begins_ns(fault) + (acts[fault->kind].lasts ? fault->span_ms * 1000000 : 0);
        if (fault->meets != NO_MOMENT)
            own_ns += MOMENT_MS * INT64_C(1000000) + fault->after_us * INT64_C(1000);
        if (own_ns > end_ns)
            end_ns = own_ns;
    }
    return end_ns;
}

void faults_plan(const plan *of)
{
    int64_t now_ns = world_now_ns();
    for (int i = 0; i < of->fault_count; i++) {
        plan_fault *fault = (plan_fault *)&of->faults[i];
        if (fault->meets != NO_MOMENT) {
            event_at(now_ns + begins_ns(fault), await_moment, fault);
            continue;
        }
        event_at(now_ns + begins_ns(fault), begin_fault, fault);
        event_at(now_ns + begins_ns(fault) + fault->span_ms * 1000000, end_fault, fault);
    }
}

/* Behind what a server that stood still, or was paused, has heard before. */
static void clear_key(void *fault)
{
    foreign_clear(fault);
}

void faults_heal(void)
{
    host *at;
    over = true;
    for (int i = 0; (at = host_number(i)); i++) {
        at->refuses = at->deaf = false;
        sim_server_fail(at->server, SIM_WELL);
        host_plan(at);
    }
    failovers_heal();
    int64_t clear_ns = paused_until_ns > world_now_ns() ? paused_until_ns : world_now_ns();
    for (int i = 0; i < run_of->fault_count; i++) { /* the server may have refused to, or another has given it no end */
        if (run_of->faults[i].kind == KEY_TAKEN)
            event_at(clear_ns + 1000000, clear_key, (void *)(uintptr_t)&run_of->faults[i]);
    }
    servers_name_takes(1000000);
    network_heal();
    memory_fails(0);
    world_calm();
    timeline("world", "nothing goes wrong from now on");
}

/* --- the operator --- */

/* Whether somebody holds it who can never give it back: all who could wait for others. */
static bool is_held(const char *name, size_t length)
{
    for (const hold *held = ledger_first(); held; held = held->next) {
        if (held->count > 0 && run_is_of(held->resource, name, length))
            return true;
    }
    return false;
}

typedef struct to_free {
    host *at;
    char name[64];
} to_free;

typedef struct found {
    to_free all[32];
    int count;
} found;

static void note_lock(void *argument, host *at, const char *name, size_t length, const char *type, int64_t left_ms)
{
    found *self = argument;
    static const char heard[] = LISTENERS_KEY; /* its lock is given back at once, though its lease is long */
    bool of_listener = length >= sizeof heard && memcmp(name, heard, sizeof heard - 1) == 0;
    bool stands = !of_listener && (left_ms < 0 || left_ms >= 60000 || is_held(name, length));
    if ((strcmp(type, "hash") != 0 && strcmp(type, "string") != 0) || !stands || self->count == 32 || length >= 64)
        return;
    self->all[self->count].at = at;
    snprintf(self->all[self->count++].name, 64, "%.*s", (int)length, name);
}

/* An owner that has taken the lock as another kind keeps its place in the queue until it knows that its hold is over. */
static bool takes_queued_as_another_kind(void)
{
    bool any = false;
    for (int i = 0; i < run_of->object_count; i++) {
        object_kind kind = run_of->objects[i].kind;
        any |= (kind == FAIR || kind == NON_REENTRANT_FAIR) && !run_is_fair(run_resource(run_of, i));
    }
    return any;
}

/* A place that was left behind may be before those of others for years: by Redisson's waiters; and where the master does not
 * know all who listen, so that a dead waiter keeps its place. */
static void drop_queue(int object)
{
    char queue[64], timeouts[64];
    snprintf(queue, sizeof queue, "redisson_lock_queue:{%s}", run_of->objects[object].name);
    snprintf(timeouts, sizeof timeouts, "redisson_lock_timeout:{%s}", run_of->objects[object].name);
    servers_command(servers_host(object), WORDS("DEL", queue));
    servers_command(servers_host(object), WORDS("DEL", timeouts));
}

void faults_free_locks(void)
{
    found locks = {.count = 0};
    servers_each_key(note_lock, &locks);
    for (int i = 0; i < locks.count; i++) {
        ledger_void(-1, "an operator frees what stands for long");
        servers_command(locks.all[i].at, WORDS("DEL", locks.all[i].name));
    }
    bool are_left = actors_count() > 0 || (run_of->topology != SINGLE && !run_is_calm()) || takes_queued_as_another_kind();
    if (are_left)
        ledger_void(-1, "an operator clears the queues");
    for (int i = 0; i < run_of->object_count; i++) { /* what was deleted in silence, too */
        if (are_left)
            drop_queue(i);
        foreign_tell_waiters(servers_host(i), run_of->objects[i].name);
    }
    actors_look_again();
}
