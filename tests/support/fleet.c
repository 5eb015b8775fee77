/* A master of the test's own and its replicas. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fleet.h"

#include "tests/support/event.h"
#include "tests/support/server_parts.h"
#include "tests/support/test.h"
#include "tests/support/texts.h"
#include "tests/support/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A replica that got its master's data by way of a file counts for WAIT at once, else up to a second later. */
#define ARGUMENTS ARGS("--repl-diskless-sync", "no")

#define WAIT_MS 30000 /* for what takes a moment, unless the machine is busy */

struct fleet {
    server *nodes[FLEET_NODES];
    int count;
    const char *hosts;
    texts texts;
};

static bool says(fleet *self, int node, const char *line)
{
    char *info = server_text(self->nodes[node], "INFO replication");
    bool so = strstr(info, line) != NULL;
    free(info);
    return so;
}

static bool wait_said(fleet *self, int node, const char *line, int64_t ms)
{
    for (int64_t end_ms = limit_end_ms(ms); !says(self, node, line); pass_ms(SERVER_LOOK_MS)) {
        if (now_ms() >= end_ms)
            return false;
    }
    return true;
}

bool fleet_wait_master(fleet *self, int node, int64_t ms)
{
    return wait_said(self, node, "role:master", ms);
}

/* The node that a replica follows; -1: none that is up. */
static int master_of(fleet *self, int node)
{
    char *info = server_text(self->nodes[node], "INFO replication");
    const char *port = strstr(info, "master_port:");
    int master = port ? fleet_node_at(self, atoi(port + strlen("master_port:"))) : -1;
    free(info);
    return master >= 0 && server_is_up(self->nodes[master]) ? master : -1;
}

/* WAIT counts it when its master, too, knows that it has the data. */
static bool is_in_step(fleet *self, int node)
{
    char line[64];
    snprintf(line, sizeof line, "port=%d,state=online", server_public_port(self->nodes[node]));
    if (!says(self, node, "master_link_status:up"))
        return false;
    int master = master_of(self, node);
    return master >= 0 && says(self, master, line);
}

bool fleet_wait_in_step(fleet *self, int node, int64_t ms)
{
    for (int64_t end_ms = limit_end_ms(ms); !is_in_step(self, node); pass_ms(SERVER_LOOK_MS)) {
        if (now_ms() >= end_ms)
            return false;
    }
    return true;
}

static void follow(fleet *self, int node, int master)
{
    char line[40];
    int port = server_public_port(self->nodes[master]);
    snprintf(line, sizeof line, "master_port:%d\r\n", port);
    freeReplyObject(server_command(self->nodes[node], "REPLICAOF 127.0.0.1 %d", port));
    cr_assert(wait_said(self, node, line, WAIT_MS), "node %d does not follow node %d", node, master);
}

static void await_in_step(fleet *self, int node)
{
    cr_assert(fleet_wait_in_step(self, node, WAIT_MS), "node %d does not get its master's data", node);
}

void fleet_follow(fleet *self, int node, int master)
{
    follow(self, node, master);
    await_in_step(self, node);
}

void fleet_promote(fleet *self, int node)
{
    freeReplyObject(server_command(self->nodes[node], "REPLICAOF NO ONE"));
    for (int i = 0; i < self->count; i++) {
        if (i != node && server_is_up(self->nodes[i]))
            fleet_follow(self, i, node);
    }
}

void fleet_each(fleet *self, const char *format, ...)
{
    char *command = NULL;
    va_list args;
    va_start(args, format);
    cr_assert(vasprintf(&command, format, args) >= 0);
    va_end(args);
    for (int i = 0; i < self->count; i++) {
        if (!server_is_up(self->nodes[i]))
            continue;
        redisReply *reply = server_command(self->nodes[i], command);
        cr_assert(reply->type != REDIS_REPLY_ERROR, "node %d refuses `%s`: %s", i, command, reply->str);
        freeReplyObject(reply);
    }
    free(command);
}

fleet *fleet_start(int replicas, const char *const *args)
{
    fleet *self = calloc(1, sizeof *self);
    cr_assert(self && replicas >= 0 && replicas < FLEET_NODES, "no fleet of that size");
    self->count = replicas + 1;
    const char *const *all = texts_args(&self->texts, ARGUMENTS, args);
    for (int i = 0; i < self->count; i++) {
        self->nodes[i] = server_start_with(all);
        self->hosts = texts_add(&self->texts, "%s%s127.0.0.1:%d", i ? self->hosts : "", i ? "," : "",
                                server_public_port(self->nodes[i]));
    }
    const char *password = server_argument(self->nodes[0], "--requirepass");
    if (password)
        fleet_each(self, "CONFIG SET masterauth %s", password);
    for (int i = 1; i < self->count; i++)
        follow(self, i, 0);
    for (int i = 1; i < self->count; i++)
        await_in_step(self, i);
    return self;
}

void fleet_stop(fleet *self)
{
    if (!self)
        return;
    for (int i = 0; i < self->count; i++)
        server_stop(self->nodes[i]);
    texts_free(&self->texts);
    free(self);
}

int fleet_size(const fleet *self)
{
    return self->count;
}

server *fleet_node(const fleet *self, int node)
{
    cr_assert(node >= 0 && node < self->count, "the fleet has no node %d", node);
    return self->nodes[node];
}

int fleet_node_at(const fleet *self, int port)
{
    for (int i = 0; i < self->count; i++) {
        if (server_public_port(self->nodes[i]) == port)
            return i;
    }
    return -1;
}

const char *fleet_hosts(const fleet *self)
{
    return self->hosts;
}

const char *fleet_master_slave_yaml(fleet *self, const char *section, const char *top)
{
    return yaml_write(&self->texts, &(yaml){.section = "masterSlaveServersConfig",
                                            .single = "masterAddress",
                                            .addressed = self->nodes[0],
                                            .list = "slaveAddresses",
                                            .listed = self->nodes + 1,
                                            .count = self->count - 1,
                                            .more = section,
                                            .top = top});
}

const char *fleet_replicated_yaml(fleet *self, const char *section, const char *top)
{
    return yaml_write(&self->texts, &(yaml){.section = "replicatedServersConfig",
                                            .list = "nodeAddresses",
                                            .listed = self->nodes,
                                            .count = self->count,
                                            .more = section,
                                            .top = top});
}
