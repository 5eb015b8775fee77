/* The life of a server of the model, and looking into it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/server.h"

#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"
#include "tests/sim/server/statistics.h"

#include <stdio.h>
#include <string.h>

#define WORDS_AT_FIRST 64

static void copy_setting(char *to, size_t size, const char *from, const char *otherwise)
{
    snprintf(to, size, "%s", from ? from : otherwise);
}

/* 40 hex digits that the seed and the number of the run decide. */
static void begin_run(sim_server *server)
{
    uint64_t state = order_seed(server) ^ (uint64_t)server->settings.port;
    server->runs++;
    for (int i = 0; i < 40; i++) {
        state = (state + server->runs) * 6364136223846793005u + 1442695040888963407u;
        server->run_id[i] = "0123456789abcdef"[state >> 60];
    }
    server->started_us = server->settings.hooks.now_us(server->settings.hooks.world);
    notify_set(server, text_of(server->settings.notifies ? server->settings.notifies : ""));
}

sim_server *sim_server_make(const sim_server_settings *settings)
{
    sim_server *server = sim_new(sizeof *server);
    server->settings = *settings;
    if (!server->settings.databases)
        server->settings.databases = settings->mode == SIM_CLUSTER ? 1 : DATABASES_MAX;
    copy_setting(server->host, sizeof server->host, settings->host, "127.0.0.1");
    copy_setting(server->user, sizeof server->user, settings->user, "");
    copy_setting(server->password, sizeof server->password, settings->password, "");
    keys_clear(server);
    table_init(&server->channels, order_seed(server));
    table_init(&server->patterns, order_seed(server));
    table_init(&server->shards, order_seed(server));
    table_init(&server->scripts, order_seed(server));
    server->connected = true;
    server->words_room = WORDS_AT_FIRST;
    server->words = sim_new(WORDS_AT_FIRST * sizeof *server->words);
    statistics_begin(server);
    begin_run(server);
    return server;
}

void sim_server_free(sim_server *server)
{
    if (!server)
        return;
    while (server->replicas)
        sim_server_follow(server->replicas, NULL);
    sim_server_follow(server, NULL);
    while (server->links)
        sim_link_close(server->links);
    keys_clear(server);
    scripts_forget(server);
    log_free(server);
    table_clear(&server->statistics.calls, NULL);
    table_clear(&server->channels, NULL);
    table_clear(&server->patterns, NULL);
    table_clear(&server->shards, NULL);
    for (size_t i = 0; i < sizeof server->denied / sizeof *server->denied; i++)
        sim_free(server->denied[i]);
    sim_free(server->words);
    bytes_free(&server->asked);
    sim_free(server);
}

void sim_server_restart(sim_server *server, bool keeps_data)
{
    for (sim_link *link = server->links; link; link = link->next)
        link_hang_up(link);
    scripts_forget(server);
    if (!keeps_data) {
        keys_clear(server);
        for (sim_server *replica = server->replicas; replica; replica = replica->next_replica)
            replica->synced = false;
    }
    server->synced = server->synced && keeps_data;
    server->paused_until_ms = 0;
    server->monitors = false;
    server->most_links = server->idle_s = 0;
    statistics_begin(server);
    begin_run(server);
}

void sim_server_fail(sim_server *server, sim_failure how)
{
    server->failure = how;
}

void sim_server_deny(sim_server *server, sim_right right, const char *pattern)
{
    sim_free(server->denied[right]);
    server->denied[right] = pattern ? sim_copy(pattern, strlen(pattern)) : NULL;
}

const sim_server_settings *sim_server_settings_of(const sim_server *server)
{
    return &server->settings;
}

const char *sim_server_run_id(const sim_server *server)
{
    return server->run_id;
}

int64_t sim_server_due_us(sim_server *server)
{
    int64_t due_ms = server->paused_until_ms ? server->paused_until_ms : INT64_MAX;
    for (const sim_link *link = server->links; link; link = link->next) {
        if (link->waits && link->wait_until_ms && link->wait_until_ms < due_ms)
            due_ms = link->wait_until_ms;
    }
    int64_t idle_us = idle_due_us(server), notify_us = notify_due_us(server);
    if (notify_us < idle_us)
        idle_us = notify_us;
    return due_ms > idle_us / 1000 ? idle_us : due_ms * 1000;
}

void sim_server_run(sim_server *server)
{
    server->now_us = server->settings.hooks.now_us(server->settings.hooks.world);
    pops_look(server);
    waits_look(server);
    pause_look(server);
    idle_look(server);
    notify_look(server);
}

/* --- looking past the wire --- */

bool sim_server_key(sim_server *server, int database, const char *before, size_t before_length, const char **name,
                    size_t *length)
{
    const entry *first = NULL;
    server->now_us = server->settings.hooks.now_us(server->settings.hooks.world);
    keys_count(server, database); /* drops those that have expired */
    for (const entry *one = table_next(&server->databases[database], NULL); one;
         one = table_next(&server->databases[database], one)) {
        if ((!before || text_order(entry_name(one), (text){before, before_length}) > 0) &&
            (!first || text_order(entry_name(one), entry_name(first)) < 0) &&
            sim_server_look(server, database, one->name, one->name_length, NULL))
            first = one;
    }
    if (first) {
        *name = first->name;
        *length = first->name_length;
    }
    return first != NULL;
}

const char *sim_server_look(sim_server *server, int database, const char *key, size_t length, int64_t *expires_us)
{
    server->now_us = server->settings.hooks.now_us(server->settings.hooks.world);
    sim_call look = {.server = server, .database = database};
    const sim_value *found = key_find(&look, (text){key, length});
    if (found && expires_us)
        *expires_us = found->expires_ms == NO_EXPIRY ? -1 : found->expires_ms * 1000;
    return found ? value_type_name(found->type) : NULL;
}

const sim_value *sim_server_value(sim_server *server, int database, const char *key, size_t length)
{
    server->now_us = server->settings.hooks.now_us(server->settings.hooks.world);
    sim_call look = {.server = server, .database = database};
    return key_find(&look, (text){key, length});
}

int64_t sim_server_now_us(const sim_server *server)
{
    return server->now_us;
}

const char *sim_server_ask(sim_server *server, int database, const char *const *words, size_t *length)
{
    sim_link *link = link_make(server, NULL);
    link->muted = link->authenticated = true;
    link->database = database;
    int count = 0;
    text views[64];
    for (; words[count] && count < 64; count++)
        views[count] = text_of(words[count]);
    command_ask(link, views, count);
    server->asked.length = 0;
    bytes_add(&server->asked, link->out.at, link->out.length);
    bytes_add(&server->asked, "", 1);
    *length = server->asked.length - 1;
    sim_link_close(link);
    return server->asked.at;
}
