/* Servers: what a plan's clients connect to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/servers.h"

#include "tests/sim/check/ledger.h"
#include "tests/sim/program/run.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/names.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESS "10.0.0.1"
#define NAME "redis.test"

static const plan *of;

/* --- what the model tells --- */

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

/* It is forced open when the server does so, which may be long after the call has given up. */
static void note_force(const sim_run *run)
{
    size_t length = run->name ? strlen(run->name) : 0;
    bool forces = length > 6 && strcmp(run->name + length - 6, "/force") == 0 && run->count > 0;
    for (int i = 0; forces && run->answer.length > 1 && run->answer.at[1] != '0' && i < of->object_count; i++) {
        const char *name = of->objects[i].name;
        if (strlen(name) == run->words[0].length && memcmp(name, run->words[0].at, run->words[0].length) == 0) {
            run_void(i, "it is forced open");
            return;
        }
    }
}

/* What a script was told, and what it answered, in a line; of a client's id the last digits. */
static void ran(void *world, sim_link *link, const sim_run *run)
{
    char text[150] = "";
    size_t length = 0;
    const host *self = world;
    const connection *from = sim_link_peer(link);
    for (size_t i = 0; i < run->count && length < sizeof text - 1; i++) {
        const char *word = run->words[i].at;
        size_t own = run->words[i].length;
        if (own > 36 && word[8] == '-') {
            word += 32;
            own -= 32;
        }
        length += (size_t)snprintf(text + length, sizeof text - length, "%.*s ", (int)own, word);
    }
    char answer[24];
    snprintf(answer, sizeof answer, "%.*s", (int)(run->answer.length < 23 ? run->answer.length : 23), run->answer.at);
    for (char *at = answer; *at; at++)
        *at = *at == '\r' || *at == '\n' ? ' ' : *at;
    timeline(self->machine->name, "%s %s %s→ %s", from ? connection_client(from)->name : "-",
             run->name ? run->name : run->sha1, text, answer);
    note_force(run);
}

/* --- where they are --- */

static host *start(const char *name, const char *address, int port, sim_mode mode)
{
    static const struct {
        int number;
        sim_version version;
    } versions[] = {{62, SIM_REDIS_6_2}, {70, SIM_REDIS_7_0}, {72, SIM_REDIS_7_2}, {80, SIM_REDIS_8_0}};
    host *self = host_make(name, address, port);
    sim_server_settings settings = {.mode = mode, .host = address, .port = port, .seed = world_chance(UINT32_MAX),
                                    .hooks = {self, wall_us, spoke, hung_up, trouble, ran, NULL}};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        if (versions[i].number == of->version)
            settings.version = versions[i].version;
    }
    self->server = sim_server_make(&settings);
    return self;
}

void servers_start(const plan *by)
{
    of = by;
    start("redis", ADDRESS, 6379, SIM_SINGLE);
    servers_name_takes(1000000);
}

void servers_name_takes(int64_t span_ns)
{
    name_means(NAME, (const char *const[]){ADDRESS, NULL}, span_ns);
}

const char *servers_url(const char *query)
{
    static char url[64 + PLAN_TEXT];
    snprintf(url, sizeof url, "redis://%s:6379?%s", of->named ? NAME : ADDRESS, query);
    return url;
}

host *servers_host(int object)
{
    (void)object;
    return host_number(0);
}

host *servers_any(int number)
{
    int count = 0;
    while (host_number(count))
        count++;
    return host_number(number % count);
}

/* --- past the wire --- */

void servers_each_key(server_key_fn *act, void *argument)
{
    host *at;
    for (int i = 0; (at = host_number(i)); i++) {
        const char *name = NULL;
        size_t length = 0;
        char before[256];
        size_t before_length = 0;
        while (at->server && sim_server_key(at->server, 0, name ? before : NULL, before_length, &name, &length)) {
            int64_t expires_us = -1;
            const char *type = sim_server_look(at->server, 0, name, length, &expires_us);
            before_length = length < sizeof before ? length : sizeof before - 1;
            memcpy(before, name, before_length);
            if (type)
                act(argument, at, name, length, type, expires_us < 0 ? -1 : (expires_us - wall_us(at)) / 1000);
        }
    }
}

/* By a connection of nobody's, so that publishing tells those who listen. */
void servers_command(host *at, const char *const *words)
{
    char bytes[1024];
    size_t length = 0, count = 0;
    sim_link *link = sim_link_open(at->server, NULL);
    while (words[count])
        count++;
    length += (size_t)snprintf(bytes, sizeof bytes, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(bytes + length, sizeof bytes - length, "$%zu\r\n%s\r\n", strlen(words[i]), words[i]);
    sim_link_hear(link, bytes, length);
    sim_link_close(link);
    host_plan(at);
}
