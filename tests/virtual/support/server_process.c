/* The host of a test's own server in the simulated world: a model of redis-server, which costs no time to start. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/disk.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/listener.h"
#include "tests/sim/world/network.h"
#include "tests/sim/world/threads.h"
#include "tests/support/folder.h"
#include "tests/support/server_parts.h"
#include "tests/support/test.h"
#include "tests/virtual/support/replicas.h"
#include "tests/virtual/support/world.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct server_process {
    host *host;
    sim_server *model;
    folder folder;    /* for what the test writes there; "": nothing so far */
    listener *keeper; /* of its port */
};

/* --- what the model asks of its host --- */

static int64_t wall_us(void *world)
{
    const host *self = world;
    return machine_clock_ns(self->machine, CLOCK_REALTIME, world_now_ns()) / 1000;
}

static void spoke(void *world, sim_link *link)
{
    (void)world;
    if (sim_link_peer(link))
        network_spoke(sim_link_peer(link));
}

static void hung_up(void *world, sim_link *link)
{
    (void)world;
    if (sim_link_peer(link))
        network_hung_up(sim_link_peer(link));
}

static void trouble(void *world, const char *what)
{
    const host *self = world;
    finding("%s: %s", self->machine->name, what);
}

static sim_server *find(void *world, const char *address, int port)
{
    (void)world;
    struct in_addr there;
    host *found = inet_pton(AF_INET, address, &there) == 1 ? host_at(there, (in_port_t)port) : NULL;
    return found ? found->server : NULL;
}

/* --- its start --- */

/* What the model has no word for, and tests need not. */
static bool is_without_effect(const char *name)
{
    static const char *const names[] = {"--repl-diskless-sync", "--repl-diskless-sync-delay"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static sim_server_settings settings_of(const server *self)
{
    const sim_hooks hooks = {.world = self->process->host,
                             .now_us = wall_us,
                             .spoke = spoke,
                             .hung_up = hung_up,
                             .trouble = trouble,
                             .find = find};
    sim_server_settings settings = {
        .version = SIM_REDIS_7_0, .host = "127.0.0.1", .port = self->port, .seed = 1, .hooks = hooks};
    for (int i = 0; self->args[i]; i += 2) {
        if (strcmp(self->args[i], "--requirepass") == 0)
            settings.password = self->args[i + 1];
        else if (!is_without_effect(self->args[i]))
            cr_assert_fail("no server of the simulated world knows %s", self->args[i]);
    }
    return settings;
}

static int free_port(server_process *self)
{
    struct sockaddr_in any = {.sin_family = AF_INET}, own;
    self->keeper = listener_bind((struct sockaddr *)(void *)&any);
    listener_address(self->keeper, &own);
    return ntohs(own.sin_port);
}

void server_process_make(server *self, const char *config)
{
    static int number;
    cr_assert(!config, "no sentinel is in the simulated world");
    self->process = calloc(1, sizeof *self->process);
    cr_assert(self->process != NULL);
    snprintf(self->socket, sizeof self->socket, "/simulated/%d/redis.sock", ++number);
}

void server_process_start(server *self, bool anew)
{
    server_process *process = self->process;
    char name[16];
    if (anew) {
        self->port = free_port(process);
        snprintf(name, sizeof name, "redis %d", self->port);
        process->host = host_make(name, "127.0.0.1", self->port);
        process->host->path = self->socket;
        world_set_clock(process->host->machine);
        sim_server_settings settings = settings_of(self);
        process->model = sim_server_make(&settings);
        replicas_watch(process->host);
    } else {
        sim_server_restart(process->model, false);
        sim_server_follow(process->model, NULL);
    }
    process->host->server = process->model;
    host_go_on(process->host);
}

/* --- its end, and standing still --- */

void server_process_kill(server *self)
{
    if (!self->process->host)
        return;
    host_end_connections(self->process->host);
    if (self->process->host->server)
        replicas_lose(self->process->host);
    thread_sleep(self, world_now_ns() + 1000000, 0, "all to hear of its end");
}

void server_process_freeze(server *self)
{
    machine_stop(self->process->host->machine, WORLD_NEVER - world_now_ns(), false);
}

void server_process_thaw(server *self)
{
    host_go_on(self->process->host);
}

void disk_spoil(server *self)
{
    sim_server_fail(self->process->model, SIM_MISCONF);
}

void disk_mend(server *self)
{
    sim_server_fail(self->process->model, SIM_WELL);
}

void server_process_free(server *self)
{
    if (*self->process->folder.path)
        folder_remove(&self->process->folder);
    if (self->process->host)
        self->process->host->path = NULL; /* the host stays, and serves nobody */
    sim_server_free(self->process->model);
    free(self->process);
}

const char *server_folder(const server *self)
{
    if (!*self->process->folder.path)
        folder_make(&self->process->folder);
    return self->process->folder.path;
}

pid_t server_pid(const server *self)
{
    (void)self;
    cr_assert_fail("a server of the simulated world has no process");
    return 0;
}

char *server_log_end(const server *self)
{
    (void)self;
    return strdup("a server of the simulated world writes no log");
}
