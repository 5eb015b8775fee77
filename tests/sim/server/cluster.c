/* Clusters: which node serves a key, and what a node says about the others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/cluster.h"

#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"

#include <string.h>

/* CRC16, XMODEM. */
static unsigned crc_of(const char *at, size_t length)
{
    static uint16_t crcs[256];
    static bool made;
    for (unsigned i = 0; !made && i < 256; i++) {
        unsigned crc = i << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
        crcs[i] = (uint16_t)crc;
    }
    made = true;
    unsigned crc = 0;
    for (size_t i = 0; i < length; i++)
        crc = (crc << 8 & 0xffff) ^ crcs[(crc >> 8 ^ (unsigned char)at[i]) & 0xff];
    return crc;
}

int sim_slot_of(const char *key, size_t length)
{
    const char *open = length ? memchr(key, '{', length) : NULL;
    const char *close = open ? memchr(open + 1, '}', length - (size_t)(open + 1 - key)) : NULL;
    if (close && close > open + 1)
        return (int)(crc_of(open + 1, (size_t)(close - open - 1)) % SIM_SLOTS);
    return (int)(crc_of(key, length) % SIM_SLOTS);
}

void sim_cluster_view_init(sim_cluster_view *view)
{
    memset(view, 0, sizeof *view);
    memset(view->owner, SIM_NOBODY, sizeof view->owner);
    memset(view->migrating_to, SIM_NOBODY, sizeof view->migrating_to);
    memset(view->importing_from, SIM_NOBODY, sizeof view->importing_from);
}

void sim_server_see_cluster(sim_server *server, const sim_cluster_view *view)
{
    server->cluster = view;
    if (!view)
        return;
    shards_look(server);
    pops_look(server);
}

bool sim_server_move_key(sim_server *from, sim_server *to, const char *key, size_t length)
{
    from->now_us = from->settings.hooks.now_us(from->settings.hooks.world);
    to->now_us = to->settings.hooks.now_us(to->settings.hooks.world);
    sim_call leave = {.server = from}, arrive = {.server = to};
    text name = {key, length};
    const sim_value *own = key_find(&leave, name);
    if (!own)
        return false;
    sim_value *copy = value_copy(own, order_seed(to));
    if (copy->expires_ms != NO_EXPIRY) /* MIGRATE says how long it has left */
        copy->expires_ms += now_ms(to) - now_ms(from);
    key_put(&arrive, name, copy);
    key_delete(&leave, name);
    unit_end(from);
    unit_end(to);
    return true;
}

/* --- where a command belongs --- */

/* What the keys of one command, or of all that wait for EXEC, have in common. */
typedef struct asked_keys {
    int slot; /* -1: no key */
    bool cross, several, writes, channels;
    text first;
    size_t missing, present;
} asked_keys;

static void look_at(sim_call *call, const sim_command *command, const text *words, int count, asked_keys *asked)
{
    int keys = command_keys(command, words, count);
    asked->writes |= (command->flags & COMMAND_WRITE) != 0;
    asked->channels |= (command->flags & COMMAND_CHANNELS) != 0;
    for (int i = 0; i < keys; i++) {
        text key = words[command_key(command, words, count, i)];
        int slot = sim_slot_of(key.at, key.length);
        if (asked->slot < 0) {
            asked->slot = slot;
            asked->first = key;
        } else if (!text_is(key, asked->first)) {
            asked->cross |= slot != asked->slot;
            asked->several = true;
        }
        if (asked->channels)
            continue;
        if (key_find(call, key))
            asked->present++;
        else
            asked->missing++;
    }
}

static sim_where where_is(const sim_call *call, const asked_keys *asked, int *node)
{
    const sim_cluster_view *view = call->server->cluster;
    const sim_link *link = call->link;
    int owner = view->owner[asked->slot], self = view->self;
    int migrating = owner == self ? view->migrating_to[asked->slot] : SIM_NOBODY;
    int importing = migrating == SIM_NOBODY ? view->importing_from[asked->slot] : SIM_NOBODY;
    *node = owner;
    if (owner == SIM_NOBODY)
        return WHERE_UNSERVED;
    if (asked->cross)
        return WHERE_CROSS;
    if (view->down)
        return WHERE_DOWN;
    if (migrating != SIM_NOBODY && asked->missing) {
        *node = migrating;
        return asked->present ? WHERE_TRY_AGAIN : WHERE_ASK;
    }
    if (importing != SIM_NOBODY && link->asking)
        return asked->several && asked->missing ? WHERE_TRY_AGAIN : WHERE_HERE;
    bool reads_here = (link->readonly || asked->channels) && !asked->writes && view->nodes[self].master == owner;
    return owner == self || reads_here ? WHERE_HERE : WHERE_MOVED;
}

sim_where command_where(sim_call *call, int *slot, int *node)
{
    sim_link *link = call->link;
    asked_keys asked = {.slot = -1};
    if (call->server->settings.mode != SIM_CLUSTER || !call->server->cluster || link->muted)
        return WHERE_HERE;
    bool exec = strcmp(call->command->name, "exec") == 0;
    if (!exec)
        look_at(call, call->command, call->words, call->count, &asked);
    for (size_t i = 0; exec && i < link->queued; i++)
        look_at(call, link->queue[i].command, link->queue[i].words, link->queue[i].count, &asked);
    *slot = asked.slot;
    if (asked.slot < 0)
        return WHERE_HERE;
    sim_where where = where_is(call, &asked, node);
    if (exec && where != WHERE_HERE)
        link_clear_queue(link);
    return where;
}

void say_where(sim_call *call, sim_where where, int slot, int node)
{
    const sim_cluster_view *view = call->server->cluster;
    switch (where) {
    case WHERE_HERE:
        break;
    case WHERE_CROSS:
        say_error(call, "CROSSSLOT Keys in request don't hash to the same slot");
        break;
    case WHERE_TRY_AGAIN:
        say_error(call, "TRYAGAIN Multiple keys request during rehashing of slot");
        break;
    case WHERE_DOWN:
        say_error(call, "CLUSTERDOWN The cluster is down");
        break;
    case WHERE_UNSERVED:
        say_error(call, "CLUSTERDOWN Hash slot not served");
        break;
    case WHERE_MOVED:
    case WHERE_ASK:
        say_error(call, "%s %d %s:%d", where == WHERE_ASK ? "ASK" : "MOVED", slot, view->nodes[node].host,
                  view->nodes[node].port);
        break;
    }
}

/* --- what it says --- */

static bool is_cluster(sim_call *call)
{
    bool is = call->server->settings.mode == SIM_CLUSTER && call->server->cluster;
    if (!is)
        say_error(call, "ERR This instance has cluster support disabled");
    return is;
}

static void say_node(sim_call *call, const sim_cluster_node *node)
{
    bool old = call->server->settings.version < SIM_REDIS_7_0;
    say_array(call, old ? 3 : 4);
    say_word(call, node->host);
    say_integer(call, node->port);
    say_word(call, node->id);
    if (!old)
        say_array(call, 0);
}

static int range_end(const sim_cluster_view *view, int first)
{
    int last = first;
    while (last + 1 < SIM_SLOTS && view->owner[last + 1] == view->owner[first])
        last++;
    return last;
}

static void say_slots_of(sim_call *call, int first, int last)
{
    const sim_cluster_view *view = call->server->cluster;
    int owner = view->owner[first];
    size_t replicas = 0;
    for (int i = 0; i < view->count; i++)
        replicas += view->nodes[i].master == owner && !view->nodes[i].failed;
    say_array(call, 3 + replicas);
    say_integer(call, first);
    say_integer(call, last);
    say_node(call, &view->nodes[owner]);
    for (int i = 0; i < view->count; i++) {
        if (view->nodes[i].master == owner && !view->nodes[i].failed)
            say_node(call, &view->nodes[i]);
    }
}

static void run_slots(sim_call *call)
{
    const sim_cluster_view *view = call->server->cluster;
    size_t ranges = 0;
    if (!is_cluster(call))
        return;
    for (int says = 0; says < 2; says++) {
        if (says)
            say_array(call, ranges);
        for (int first = 0, last; first < SIM_SLOTS; first = last + 1) {
            last = range_end(view, first);
            if (view->owner[first] == SIM_NOBODY)
                continue;
            ranges++;
            if (says)
                say_slots_of(call, first, last);
        }
    }
}

static void run_cluster_info(sim_call *call)
{
    const sim_cluster_view *view = call->server->cluster;
    bytes all = {0};
    int assigned = 0, masters = 0;
    if (!is_cluster(call))
        return;
    for (int i = 0; i < SIM_SLOTS; i++)
        assigned += view->owner[i] != SIM_NOBODY;
    for (int i = 0; i < view->count; i++)
        masters += view->nodes[i].master == SIM_NOBODY;
    bytes_print(&all, "cluster_state:%s\r\ncluster_slots_assigned:%d\r\ncluster_slots_ok:%d\r\ncluster_slots_pfail:0\r\n"
                "cluster_slots_fail:0\r\ncluster_known_nodes:%d\r\ncluster_size:%d\r\ncluster_current_epoch:%llu\r\n"
                "cluster_my_epoch:%llu\r\n", view->down ? "fail" : "ok", assigned, assigned, view->count, masters,
                (unsigned long long)view->epoch, (unsigned long long)view->epoch);
    say_text(call, (text){all.at, all.length});
    bytes_free(&all);
}

static void run_nodes(sim_call *call)
{
    const sim_cluster_view *view = call->server->cluster;
    bytes all = {0};
    if (!is_cluster(call))
        return;
    for (int i = 0; i < view->count; i++) {
        const sim_cluster_node *node = &view->nodes[i];
        bool master = node->master == SIM_NOBODY;
        bytes_print(&all, "%s %s:%d@%d %s%s%s %s 0 0 %llu connected", node->id, node->host, node->port, node->port + 10000,
                    i == view->self ? "myself," : "", master ? "master" : "slave", node->failed ? ",fail" : "",
                    master ? "-" : view->nodes[node->master].id, (unsigned long long)view->epoch);
        for (int first = 0, last; first < SIM_SLOTS; first = last + 1) {
            last = range_end(view, first);
            if (view->owner[first] == i && last > first)
                bytes_print(&all, " %d-%d", first, last);
            else if (view->owner[first] == i)
                bytes_print(&all, " %d", first);
        }
        bytes_add(&all, "\n", 1);
    }
    say_text(call, (text){all.at ? all.at : "", all.length});
    bytes_free(&all);
}

static void run_keyslot(sim_call *call)
{
    if (is_cluster(call))
        say_integer(call, sim_slot_of(call->words[2].at, call->words[2].length));
}

static void run_myid(sim_call *call)
{
    if (is_cluster(call))
        say_word(call, call->server->cluster->nodes[call->server->cluster->self].id);
}

static void run_asking(sim_call *call)
{
    if (!is_cluster(call))
        return;
    call->link->asking = true;
    say_ok(call);
}

static void run_readonly(sim_call *call)
{
    if (!is_cluster(call))
        return;
    call->link->readonly = true;
    say_ok(call);
}

static void run_readwrite(sim_call *call)
{
    if (!is_cluster(call))
        return;
    call->link->readonly = false;
    say_ok(call);
}

#define STATE (COMMAND_STALE | COMMAND_LOADING)

const sim_command cluster_commands[] = {
    {"cluster", run_unknown_of_family, -2, COMMAND_FAMILY, 0, 0, 0, 0},
    {"cluster|slots", run_slots, 2, STATE, 0, 0, 0, 0},
    {"cluster|info", run_cluster_info, 2, STATE, 0, 0, 0, 0},
    {"cluster|nodes", run_nodes, 2, STATE, 0, 0, 0, 0},
    {"cluster|keyslot", run_keyslot, 3, STATE, 0, 0, 0, 0},
    {"cluster|myid", run_myid, 2, STATE, 0, 0, 0, 0},
    {"asking", run_asking, 1, 0, 0, 0, 0, 0},
    {"readonly", run_readonly, 1, STATE, 0, 0, 0, 0},
    {"readwrite", run_readwrite, 1, STATE, 0, 0, 0, 0},
    {0},
};
