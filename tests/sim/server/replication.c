/* Replication: what a master has written, and what its replicas have of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"

#include <stdio.h>
#include <string.h>

/* --- the log --- */

static void unit_free(log_unit *own)
{
    for (size_t i = 0; i < own->count; i++) {
        sim_free(own->changes[i].key);
        sim_free(own->changes[i].channel);
        sim_free(own->changes[i].message);
        if (own->changes[i].value)
            value_free(own->changes[i].value);
    }
    sim_free(own->changes);
    *own = (log_unit){0};
}

void log_free(sim_server *server)
{
    write_log *log = &server->log;
    for (size_t i = 0; i < log->count; i++)
        unit_free(&log->units[i]);
    unit_free(&log->open);
    sim_free(log->units);
    *log = (struct write_log){.first = server->offset};
}

static log_change *add_change(log_unit *open)
{
    if ((open->count & (open->count - 1)) == 0) /* a power of two: full */
        open->changes = sim_resize(open->changes, (open->count ? open->count * 2 : 1) * sizeof *open->changes);
    log_change *own = &open->changes[open->count++];
    *own = (log_change){0};
    return own;
}

void note_change(sim_server *server, int database, text key)
{
    log_unit *open = &server->log.open;
    server->changed = true;
    tracking_changed(server, key);
    if (!server->replicas)
        return;
    for (size_t i = 0; i < open->count; i++) {
        const log_change *old = &open->changes[i];
        if (old->key && old->database == database && text_is((text){old->key, old->key_length}, key))
            return;
    }
    log_change *own = add_change(open);
    own->database = database;
    own->key = sim_copy(key.at, key.length);
    own->key_length = key.length;
}

void note_message(sim_server *server, text channel, text message)
{
    server->changed = true;
    if (!server->replicas)
        return;
    log_change *own = add_change(&server->log.open);
    own->channel = sim_copy(channel.at, channel.length);
    own->channel_length = channel.length;
    own->message = sim_copy(message.at, message.length);
    own->message_length = message.length;
}

void unit_end(sim_server *server)
{
    write_log *log = &server->log;
    if (!server->changed)
        return;
    server->changed = false;
    server->offset++;
    if (!server->replicas) {
        log->first = server->offset;
        return;
    }
    for (size_t i = 0; i < log->open.count; i++) {
        log_change *own = &log->open.changes[i];
        const entry *one = own->key ? table_find(&server->databases[own->database], (text){own->key, own->key_length}) : NULL;
        own->value = one ? value_copy(one->pointer, order_seed(server)) : NULL;
    }
    if (log->count == log->room) {
        log->room = log->room * 2 + 8;
        log->units = sim_resize(log->units, log->room * sizeof *log->units);
    }
    log->units[log->count++] = log->open;
    log->open = (log_unit){0};
}

/* What all replicas have is forgotten. */
static void trim(sim_server *server)
{
    write_log *log = &server->log;
    int64_t least = server->offset;
    for (const sim_server *replica = server->replicas; replica; replica = replica->next_replica) {
        if (replica->synced && replica->applied < least)
            least = replica->applied;
    }
    size_t gone = (size_t)(least - log->first);
    for (size_t i = 0; i < gone; i++)
        unit_free(&log->units[i]);
    if (gone) {
        memmove(log->units, log->units + gone, (log->count - gone) * sizeof *log->units);
        log->count -= gone;
        log->first = least;
    }
}

/* --- taking over --- */

static void install(sim_server *replica, const log_change *change)
{
    if (!change->key) {
        publish(replica, (text){change->channel, change->channel_length}, (text){change->message, change->message_length});
        note_message(replica, (text){change->channel, change->channel_length},
                     (text){change->message, change->message_length});
        return;
    }
    text key = {change->key, change->key_length};
    sim_call as_master = {.server = replica, .database = change->database};
    if (change->value) {
        key_put(&as_master, key, value_copy(change->value, order_seed(replica)));
        return;
    }
    entry *one = table_take(&replica->databases[change->database], key);
    if (one) {
        value_free(one->pointer);
        sim_free(one);
        note_change(replica, change->database, key);
    }
}

static void copy_all(sim_server *replica)
{
    const sim_server *master = replica->master;
    keys_clear(replica);
    for (int i = 0; i < DATABASES_MAX; i++) {
        for (const entry *one = table_next(&master->databases[i], NULL); one; one = table_next(&master->databases[i], one)) {
            sim_call as_master = {.server = replica, .database = i};
            key_put(&as_master, entry_name(one), value_copy(one->pointer, order_seed(replica)));
        }
    }
    replica->applied = master->offset;
    replica->synced = true;
    for (sim_server *own = replica->replicas; own; own = own->next_replica)
        own->synced = false; /* they copy all in their turn */
}

int64_t sim_replica_lacks(const sim_server *server)
{
    if (!server->master)
        return 0;
    return server->synced ? server->master->offset - server->applied : server->master->offset + 1;
}

bool sim_replica_lacking(const sim_server *server, void (*note)(void *argument, const char *key, size_t length),
                         void *argument)
{
    const sim_server *master = server->master;
    if (!master || !server->synced)
        return !master;
    for (int64_t at = server->applied - master->log.first; at < (int64_t)master->log.count; at++) {
        const log_unit *unit = &master->log.units[at];
        for (size_t i = 0; i < unit->count; i++) {
            if (unit->changes[i].key)
                note(argument, unit->changes[i].key, unit->changes[i].key_length);
        }
    }
    return true;
}

int64_t sim_replica_catch_up(sim_server *server, int64_t writes)
{
    sim_server *master = server->master;
    if (!master || !server->connected || writes < 1)
        return sim_replica_lacks(server);
    server->now_us = server->settings.hooks.now_us(server->settings.hooks.world);
    if (!server->synced)
        copy_all(server);
    for (; writes > 0 && server->applied < master->offset; writes--) {
        const log_unit *next = &master->log.units[server->applied - master->log.first];
        for (size_t i = 0; i < next->count; i++)
            install(server, &next->changes[i]);
        server->applied++;
        unit_end(server);
    }
    unit_end(server);
    trim(master);
    master->now_us = master->settings.hooks.now_us(master->settings.hooks.world);
    waits_look(master);
    return sim_replica_lacks(server);
}

/* --- who follows whom --- */

void sim_server_follow(sim_server *server, sim_server *master)
{
    sim_server *former = server->master;
    if (former) {
        sim_server **place = &former->replicas;
        while (*place != server)
            place = &(*place)->next_replica;
        *place = server->next_replica;
        server->next_replica = NULL;
        if (!former->replicas)
            log_free(former);
        else
            trim(former);
        if (former->absent)
            sim_server_free(former);
    }
    server->master = master;
    server->synced = false;
    if (!master)
        return;
    if (!master->replicas)
        master->log.first = master->offset;
    server->next_replica = master->replicas;
    master->replicas = server;
    /* As Redis, which ends its clients' WAITs and blocking pops when it becomes a replica. */
    for (sim_link *link = server->links; link; link = link->next) {
        if (!link->waits)
            continue;
        link->waits = link->pops = false;
        sim_call say = {.server = server, .link = link};
        say_error(&say, "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)");
        link_spoke(link);
        link_hang_up(link);
    }
}

void sim_replica_connect(sim_server *server, bool connected)
{
    server->connected = connected;
}

sim_server *sim_server_master(const sim_server *server)
{
    return server->master;
}

int replicas_connected(const sim_server *server)
{
    int count = 0;
    for (const sim_server *replica = server->replicas; replica; replica = replica->next_replica)
        count += replica->connected && replica->synced;
    return count;
}

int replicas_with(const sim_server *server, int64_t offset)
{
    int count = 0;
    for (const sim_server *replica = server->replicas; replica; replica = replica->next_replica)
        count += replica->connected && replica->synced && replica->applied >= offset;
    return count;
}

/* --- WAIT --- */

void waits_look(sim_server *server)
{
    for (sim_link *link = server->links; link; link = link->next) {
        if (!link->waits || link->pops)
            continue;
        int have = replicas_with(server, link->written);
        bool over = link->wait_until_ms && link->wait_until_ms <= now_ms(server);
        if (have < link->wait_for && !over)
            continue;
        link->waits = false;
        sim_call say = {.server = server, .link = link};
        say_integer(&say, have);
        link_spoke(link);
        link_go_on(link);
    }
}

static void run_wait(sim_call *call)
{
    sim_link *link = call->link;
    int64_t replicas, until_ms;
    if (call->server->master) {
        say_error(call, "ERR WAIT cannot be used with replica instances. Please also note that %sif a replica is "
                        "configured to be writable (which is not the default) writes to replicas are just local and are not "
                        "propagated.", call->server->settings.version == SIM_VALKEY_8_0 ? "" : "since Redis 4.0 ");
        return;
    }
    if (!word_integer(call, 1, &replicas))
        return;
    if (!word_timeout(call, 2, &until_ms))
        return;
    int have = replicas_with(call->server, link->written);
    if (have >= replicas || link->in_multi || link->muted) {
        say_integer(call, have);
        return;
    }
    link->waits = true;
    link->wait_for = replicas;
    link->wait_until_ms = until_ms;
}

static void run_role(sim_call *call)
{
    const sim_server *server = call->server;
    if (server->sentinel && server->settings.mode == SIM_SENTINEL) {
        say_array(call, 2);
        say_word(call, "sentinel");
        say_array(call, 1);
        say_word(call, server->sentinel->master_name);
        return;
    }
    if (server->master) {
        say_array(call, 5);
        say_word(call, "slave");
        say_word(call, server->master->host);
        say_integer(call, server->master->settings.port);
        say_word(call, server->connected && server->synced ? "connected" : "connect");
        say_integer(call, server->synced ? server->applied : -1);
        return;
    }
    say_array(call, 3);
    say_word(call, "master");
    say_integer(call, server->offset);
    say_array(call, (size_t)replicas_connected(server));
    for (const sim_server *replica = server->replicas; replica; replica = replica->next_replica) {
        char digits[NUMBER_SIZE];
        if (!replica->connected || !replica->synced)
            continue;
        say_array(call, 3);
        say_word(call, replica->host);
        say_text(call, (text){digits, integer_write(digits, replica->settings.port)});
        say_text(call, (text){digits, integer_write(digits, replica->applied)});
    }
}

/* In the place of a master that is not there. */
static sim_server *nobody(const sim_server *server, const char *host, int port)
{
    sim_server_settings settings = {.version = server->settings.version, .host = host, .port = port,
                                    .hooks = {.world = server->settings.hooks.world,
                                              .now_us = server->settings.hooks.now_us}};
    sim_server *absent = sim_server_make(&settings);
    absent->absent = true;
    return absent;
}

/* The world sees to it that what the master writes comes (sim_replica_catch_up). */
static void follow(sim_call *call)
{
    sim_server *server = call->server;
    const sim_hooks *hooks = &server->settings.hooks;
    char host[64];
    int64_t port;
    if (!text_integer(call->words[2], &port) || port < 0 || port > 65535) {
        say_error(call, "ERR Invalid master port");
        return;
    }
    snprintf(host, sizeof host, "%.*s", (int)call->words[1].length, call->words[1].at);
    sim_server *master = hooks->find ? hooks->find(hooks->world, host, (int)port) : NULL;
    sim_server_follow(server, master ? master : nobody(server, host, (int)port));
    say_ok(call);
}

/* Who follows whom is the world's to say, where that does not find servers by their addresses. */
static void run_replicaof(sim_call *call)
{
    if (call->server->settings.mode == SIM_CLUSTER) {
        say_error(call, "ERR REPLICAOF not allowed in cluster mode.");
    } else if (text_is_word(call->words[1], "no") && text_is_word(call->words[2], "one")) {
        sim_server_follow(call->server, NULL);
        say_ok(call);
    } else if (call->server->settings.hooks.find) {
        follow(call);
    } else {
        say_error(call, "ERR the model follows a master only when the world says so");
    }
}

const sim_command replication_commands[] = {
    {"wait", run_wait, 3, COMMAND_NO_SCRIPT, 0, 0, 0, 0},
    {"role", run_role, 1, COMMAND_NO_SCRIPT | COMMAND_LOADING | COMMAND_STALE | COMMAND_SENTINEL, 0, 0, 0, 0},
    {"replicaof", run_replicaof, 3, COMMAND_NO_SCRIPT | COMMAND_STALE, 0, 0, 0, 0},
    {"slaveof", run_replicaof, 3, COMMAND_NO_SCRIPT | COMMAND_STALE, 0, 0, 0, 0},
    {0},
};
