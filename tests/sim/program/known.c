/* What is known of who serves what. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/known.h"

#include "tests/sim/check/ledger.h"
#include "tests/sim/program/run.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t epoch;
static bool suspected[SHARDS_MOST];

/* --- sentinels --- */

static struct {
    host *at;
    sim_sentinel_view view;
} sentinels[SIM_SENTINELS_MAX];
static int sentinel_count;

static void sentinel_learns(int number)
{
    const shard *of = shard_number(0);
    sim_sentinel_view *view = &sentinels[number].view;
    const sim_server_settings *settings = sim_server_settings_of(of->master->at->server);
    snprintf(view->host, sizeof view->host, "%s", settings->host);
    view->port = settings->port;
    view->epoch = epoch;
    view->master_down = suspected[0];
    view->replicas = of->count - 1;
    sim_server_see_masters(sentinels[number].at->server, view);
    host_plan(sentinels[number].at);
}

void known_begin_sentinels(host *const *hosts, int count)
{
    sentinel_count = count;
    for (int i = 0; i < count; i++) {
        sim_sentinel_view *view = &sentinels[i].view;
        sentinels[i].at = hosts[i];
        snprintf(view->master_name, sizeof view->master_name, MASTER_NAME);
        view->quorum = count / 2 + 1;
        for (int k = 0; k < count; k++) {
            if (k == i)
                continue;
            const sim_server_settings *other = sim_server_settings_of(hosts[k]->server);
            snprintf(view->sentinels[view->others].host, sizeof view->sentinels->host, "%s", other->host);
            snprintf(view->sentinels[view->others].run_id, sizeof view->sentinels->run_id, "%s",
                     sim_server_run_id(hosts[k]->server));
            view->sentinels[view->others++].port = other->port;
        }
        sentinel_learns(i);
    }
}

/* --- clusters --- */

#define NODES (SHARDS_MOST * SHARD_NODES)

static sim_cluster_view views[NODES];
static char ids[NODES][41];
static bool is_cluster;
static int8_t owners[SIM_SLOTS]; /* shards */

static struct {
    int slot;
    shard *from, *to; /* from NULL: none moves */
} moving;

static int number_of_shard(const shard *of)
{
    int number = 0;
    while (shard_number(number) != of)
        number++;
    return number;
}

/* In views: the nodes of a shard stand together. */
static int8_t place_of(const node *one)
{
    int place = 0;
    for (int i = 0; shard_number(i) != one->of; i++)
        place += shard_number(i)->count;
    return (int8_t)(place + (int)(one - one->of->nodes));
}

static void describe_node(sim_cluster_view *view, const node *one)
{
    int place = place_of(one);
    sim_cluster_node *to = &view->nodes[place];
    const sim_server_settings *settings = sim_server_settings_of(one->at->server);
    memcpy(to->id, ids[place], sizeof to->id);
    snprintf(to->host, sizeof to->host, "%s", settings->host);
    to->port = settings->port;
    to->failed = shard_is_deposed(one);
    to->master = one == one->of->master || to->failed ? SIM_NOBODY : place_of(one->of->master);
    if (place >= view->count)
        view->count = place + 1;
}

static void node_learns(const node *self)
{
    int8_t own = place_of(self);
    sim_cluster_view *view = &views[own];
    bool down = false;
    view->epoch = epoch;
    view->self = own;
    for (int i = 0; i < shard_count(); i++) {
        down |= suspected[i];
        for (int k = 0; k < shard_number(i)->count; k++)
            describe_node(view, &shard_number(i)->nodes[k]);
    }
    view->down = down && world_chance(2);
    int8_t masters[SHARDS_MOST];
    for (int i = 0; i < shard_count(); i++)
        masters[i] = place_of(shard_number(i)->master);
    for (int slot = 0; slot < SIM_SLOTS; slot++) {
        view->owner[slot] = masters[owners[slot]];
        if (view->owner[slot] != own)
            view->migrating_to[slot] = SIM_NOBODY;
        else
            view->importing_from[slot] = SIM_NOBODY;
    }
    sim_server_see_cluster(self->at->server, view);
    host_plan(self->at);
}

void known_begin_cluster(void)
{
    is_cluster = true;
    for (int i = 0; i < NODES; i++) {
        sim_cluster_view_init(&views[i]);
        for (int k = 0; k < 40; k++)
            ids[i][k] = "0123456789abcdef"[world_chance(16)];
    }
    for (int slot = 0; slot < SIM_SLOTS; slot++)
        owners[slot] = (int8_t)(slot * shard_count() / SIM_SLOTS);
    epoch = (uint64_t)shard_count();
    known_now(NULL);
}

/* --- learning --- */

/* Those that are cut off learn when they are again one of the others. */
static void learn(void *argument)
{
    const host *at = argument;
    const node *self = shard_node(at);
    for (int i = 0; i < sentinel_count; i++) {
        if (sentinels[i].at == at)
            sentinel_learns(i);
    }
    if (self && is_cluster && !shard_is_deposed(self))
        node_learns(self);
}

void known_within(int64_t span_ns)
{
    host *at;
    for (int i = 0; (at = host_number(i)); i++)
        event_at(world_now_ns() + 1000 + (int64_t)world_chance((uint64_t)span_ns + 1), learn, at);
}

void known_now(const node *one)
{
    host *at;
    if (one)
        learn(one->at);
    for (int i = 0; !one && (at = host_number(i)); i++)
        learn(at);
}

void known_raise_epoch(void)
{
    memset(suspected, 0, sizeof suspected);
    epoch++;
}

void known_suspect(const shard *away)
{
    suspected[number_of_shard(away)] = true;
}

/* --- slots --- */

shard *known_owner(int slot)
{
    return is_cluster ? shard_number(owners[slot]) : shard_number(0);
}

host *known_host_of(const char *key, size_t length)
{
    int slot = sim_slot_of(key, length);
    host *at = known_owner(slot)->master->at;
    bool gone = moving.from && moving.slot == slot && !sim_server_look(at->server, 0, key, length, NULL);
    return gone ? moving.to->master->at : at;
}

bool known_may_be_at(const shard *of, const char *key, size_t length)
{
    int slot = sim_slot_of(key, length);
    return !is_cluster || known_owner(slot) == of || (moving.from && moving.slot == slot && moving.to == of);
}

bool shards_lack(const char *name, int64_t began_ns)
{
    int slot = sim_slot_of(name, strlen(name));
    bool moves = moving.from && moving.slot == slot;
    return !moves && shard_lacks(known_owner(slot), name, began_ns);
}

shard *known_slot_from(void)
{
    return moving.from;
}

/* A request that an older ASK has led there, while the slot came back, has made there what stands elsewhere: the server can
 * not tell. */
static void note_twice(int slot)
{
    for (int i = 0; i < run_of->object_count; i++) {
        const char *name = run_of->objects[i].name;
        if (sim_slot_of(name, strlen(name)) == slot)
            run_void(i, "its key was at two nodes");
    }
}

void known_slot_ran(const host *at, const char *key, size_t length)
{
    if (moving.from && at == moving.to->master->at && sim_slot_of(key, length) == moving.slot &&
        sim_server_look(at->server, 0, key, length, NULL) &&
        sim_server_look(moving.from->master->at->server, 0, key, length, NULL))
        note_twice(moving.slot);
}

void known_slot_begins(int slot, shard *to)
{
    moving.slot = slot;
    moving.from = known_owner(slot);
    moving.to = to;
    int8_t from_place = place_of(moving.from->master), to_place = place_of(to->master);
    timeline("world", "slot %d begins to move from %s to %s", slot, moving.from->master->at->machine->name,
             to->master->at->machine->name);
    views[to_place].importing_from[slot] = from_place;
    views[from_place].migrating_to[slot] = to_place;
    ledger_note_restart(); /* what is repeated may go to either */
}

bool known_slot_key_goes(void)
{
    host *from = moving.from->master->at, *to = moving.to->master->at;
    const char *name = NULL;
    char before[256];
    size_t length = 0, before_length = 0;
    while (sim_server_key(from->server, 0, name ? before : NULL, before_length, &name, &length)) {
        before_length = length < sizeof before ? length : sizeof before;
        memcpy(before, name, before_length);
        if (sim_slot_of(name, length) != moving.slot)
            continue;
        timeline("world", "key %.*s goes to %s", (int)before_length, before, to->machine->name);
        if (sim_server_look(to->server, 0, before, before_length, NULL))
            note_twice(moving.slot);
        sim_server_move_key(from->server, to->server, before, before_length);
        shard_note_change(moving.from);
        shard_note_change(moving.to);
        ledger_note_restart(); /* what was under way there is in doubt */
        host_plan(from);
        host_plan(to);
        return true;
    }
    return false;
}

void known_slot_has_moved(void)
{
    while (known_slot_key_goes())
        continue;
    timeline("world", "slot %d is served by %s", moving.slot, moving.to->master->at->machine->name);
    shard_note_change(moving.to);
    owners[moving.slot] = (int8_t)number_of_shard(moving.to);
    epoch++;
    known_now(moving.to->master); /* whoever moves it tells both */
    known_now(moving.from->master);
    moving.from = NULL;
    ledger_note_restart();
}

/* --- messages of a cluster --- */

typedef struct message {
    host *to;
    bool sharded;
    size_t channel_length, length;
    char *channel, *text;
} message;

static void deliver(void *argument)
{
    message *self = argument;
    if (!self->to->deaf && !self->to->refuses)
        sim_server_publish(self->to->server, self->sharded, self->channel, self->channel_length, self->text, self->length);
    free(self->channel);
    free(self->text);
    free(self);
}

static char *copy(const char *from, size_t length)
{
    char *own = malloc(length + 1);
    if (!own)
        abort();
    memcpy(own, from, length);
    return own;
}

void known_spread(void *world, sim_server *server, bool sharded, const char *channel, size_t channel_length,
                  const char *text, size_t length)
{
    const node *from = shard_node(world);
    for (int i = 0; i < shard_count() && !shard_is_deposed(from); i++) {
        shard *of = shard_number(i);
        for (int k = 0; k < of->count; k++) {
            host *to = of->nodes[k].at;
            message *own = to->server == server || (sharded && of != from->of) ? NULL : malloc(sizeof *own);
            if (!own)
                continue;
            *own = (message){to, sharded, channel_length, length, copy(channel, channel_length), copy(text, length)};
            event_at(world_now_ns() + network.latency_ns + (int64_t)world_chance((uint64_t)network.jitter_ns + 1), deliver,
                     own);
        }
    }
}
