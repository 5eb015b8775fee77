/* Shards: a master and its replicas. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/shards.h"

#include "tests/sim/check/ends.h"
#include "tests/sim/world/finding.h"

#include <stdlib.h>
#include <string.h>

static shard all[SHARDS_MOST];
static int count;

shard *shard_number(int number)
{
    return number < count ? &all[number] : NULL;
}

int shard_count(void)
{
    return count;
}

node *shard_node(const host *at)
{
    return at->of;
}

/* --- what a master writes reaches its replicas --- */

static void arrive(void *argument)
{
    node *self = argument;
    int64_t lacks = sim_replica_lacks(self->at->server);
    self->coming = false;
    if (lacks == 0 || self->held || self->silent)
        return;
    if (self->at->machine->stopped_until_ns > world_now_ns()) {
        self->coming = true;
        event_at(self->at->machine->stopped_until_ns, arrive, self);
        return;
    }
    sim_replica_catch_up(self->at->server, 1 + (int64_t)world_chance((uint64_t)lacks));
    host_plan(self->of->master->at); /* WAITs may have ended */
    shard_catch_up(self);
}

void shard_catch_up(node *self)
{
    if (self->coming || self->held || self->silent || sim_replica_lacks(self->at->server) == 0)
        return;
    self->coming = true;
    event_at(world_now_ns() + 2 * network.latency_ns + (int64_t)world_chance((uint64_t)network.jitter_ns + 1), arrive, self);
}

static void called(host *at)
{
    shard *own = shard_node(at)->of;
    for (int i = 0; i < own->count; i++) {
        if (sim_server_master(own->nodes[i].at->server) == at->server)
            shard_catch_up(&own->nodes[i]);
    }
}

/* By then all clients have asked their servers who is there. */
#define LONG_NS INT64_C(12000000000)

shard *shard_make(host *const *hosts, int nodes)
{
    if (count == SHARDS_MOST || nodes > SHARD_NODES)
        abort();
    shard *self = &all[count++];
    self->count = nodes;
    self->master = &self->nodes[0];
    for (int i = 0; i < nodes; i++) {
        self->nodes[i] = (node){.at = hosts[i], .of = self, .since_ns = -LONG_NS};
        hosts[i]->of = &self->nodes[i];
        hosts[i]->called = called;
        if (i > 0) {
            sim_server_follow(hosts[i]->server, hosts[0]->server);
            sim_replica_catch_up(hosts[i]->server, 1);
        }
    }
    return self;
}

void shard_note_change(shard *of)
{
    for (int i = 0; i < of->count; i++)
        of->nodes[i].since_ns = world_now_ns();
}

static void ignore(void *argument, const char *key, size_t length)
{
    (void)argument, (void)key, (void)length;
}

/* Its master does not count a replica that has yet to copy its data. */
static bool is_counted(const node *one)
{
    return !one->cut_off && sim_replica_lacking(one->at->server, ignore, NULL);
}

bool shard_lacks(const shard *of, const char *name, int64_t began_ns)
{
    bool any = false;
    const host *master = of->master->at;
    if (master->machine->stopped_until_ns > began_ns - LONG_NS || master->refuses || master->deaf) /* nobody could ask it */
        return false;
    for (int i = 0; i < of->count; i++) {
        const node *one = &of->nodes[i];
        if (one->since_ns > began_ns - LONG_NS || shard_is_deposed(one))
            return false;
        if (one == of->master || !is_counted(one))
            continue;
        any |= one->at->machine->stopped_until_ns <= began_ns - LONG_NS; /* else it was not counted until a moment ago */
        if (sim_server_look(one->at->server, 0, name, strlen(name), NULL))
            return false;
    }
    return any;
}

/* --- who is the master --- */

/* An object whose lock, queue, counter… it is. */
static void lose(void *why, const char *key, size_t length)
{
    for (int i = 0; i < run_of->object_count; i++) {
        char within[24];
        const char *name = run_of->objects[i].name;
        snprintf(within, sizeof within, "{%s}", name);
        if ((strlen(name) == length && memcmp(name, key, length) == 0) || memmem(key, length, within, strlen(within))) {
            run_void(i, why);
            ends_left_behind(i);
        }
    }
}

void shard_promote(node *to)
{
    shard *own = to->of;
    timeline("world", "%s is the master from now on, and lacks %lld writes of %s", to->at->machine->name,
             (long long)sim_replica_lacks(to->at->server), own->master->at->machine->name);
    if (!sim_replica_lacking(to->at->server, lose, (void *)(uintptr_t)"the new master has not heard of what was done last")) {
        ledger_void(-1, "the new master has not got the data of the old one");
        for (int i = 0; i < run_of->object_count; i++)
            ends_left_behind(i);
    }
    sim_server_follow(to->at->server, NULL);
    node *old = own->master;
    own->master = to;
    shard_note_change(own);
    for (int i = 0; i < own->count; i++) {
        node *other = &own->nodes[i];
        if (other != old && other != to) {
            sim_server_follow(other->at->server, to->at->server);
            shard_catch_up(other);
        }
    }
    ledger_note_restart();
}

void shard_demote(node *old)
{
    timeline("world", "%s follows %s", old->at->machine->name, old->of->master->at->machine->name);
    sim_server_follow(old->at->server, old->of->master->at->server);
    shard_note_change(old->of);
    shard_catch_up(old);
}

bool shard_is_deposed(const node *one)
{
    return one->of->master != one && !sim_server_master(one->at->server);
}

void shard_note_run(const host *at, const sim_run *run)
{
    if (!shard_node(at) || !shard_is_deposed(shard_node(at)))
        return;
    for (size_t i = 0; i < run->keys && i < run->count; i++)
        lose((void *)(uintptr_t)"a master that is none any more was used", run->words[i].at, run->words[i].length);
}
