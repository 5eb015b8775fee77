/* Servers: what a plan's clients connect to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/servers.h"

#include "tests/sim/actors/scripts.h"
#include "tests/sim/check/heard.h"
#include "tests/sim/check/ledger.h"
#include "tests/sim/check/masters.h"
#include "tests/sim/check/wire.h"
#include "tests/sim/program/known.h"
#include "tests/sim/program/listeners.h"
#include "tests/sim/program/moment.h"
#include "tests/sim/program/run.h"
#include "tests/sim/server/memory.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/names.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESSES "10.0.0."
#define PORT 6379
#define SENTINEL_ADDRESSES "10.0.1."
#define SENTINEL_PORT 26379
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
static void note_force(const sim_run *run, const char *name_of_script)
{
    size_t length = strlen(name_of_script);
    bool forces = length > 6 && strcmp(name_of_script + length - 6, "/force") == 0 && run->count > 0;
    for (int i = 0; forces && run->answer.length > 1 && run->answer.at[1] != '0' && i < of->object_count; i++) {
        const char *name = of->objects[i].name;
        if (strlen(name) == run->words[0].length && memcmp(name, run->words[0].at, run->words[0].length) == 0) {
            run_void(i, "it is forced open");
            return;
        }
    }
}

/* What a script was told, and what it answered, in a line; of a client's id the last digits. */
static void show_run(const host *self, const connection *from, const sim_run *run, const char *name_of_script)
{
    char text[150] = "";
    size_t length = 0;
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
             name_of_script, text, answer);
}

static void ran(void *world, sim_link *link, const sim_run *run)
{
    const host *self = world;
    const connection *from = sim_link_peer(link);
    const char *name_of_script = run->name ? run->name : actor_script_name(run->sha1);
    name_of_script = name_of_script ? name_of_script : run->sha1;
    if (timeline_kept)
        show_run(self, from, run, name_of_script);
    note_force(run, name_of_script);
    shard_note_run(self, run);
    if (run->keys > 0)
        known_slot_ran(self, run->words[0].at, run->words[0].length);
    wire_ran((host *)world, run, name_of_script);
    if (from)
        masters_ran(self, connection_client(from), run);
    moment_comes(moment_of(name_of_script), from);
}

static void begins(void *world, const sim_run *run)
{
    wire_begins(world, run);
}

static void published(void *world, const char *channel, size_t channel_length, const char *message, size_t message_length,
                      size_t heard)
{
    (void)world;
    wire_published(channel, channel_length, message, message_length, heard);
    moment_comes(MESSAGE_SENT, NULL);
}

static void notified(void *world, const char *key, size_t length, const char *what)
{
    (void)world;
    heard_happened(key, length, what);
}

/* --- where they are --- */

/* Those of one deployment have their clocks from one source. */
static host *start(const char *name, const char *address, int port, sim_mode mode)
{
    static const struct {
        int number;
        sim_version version;
    } versions[] = {{62, SIM_REDIS_6_2}, {70, SIM_REDIS_7_0}, {72, SIM_REDIS_7_2}, {80, SIM_REDIS_8_0}};
    host *self = host_make(name, address, port);
    const machine *first = host_number(0)->machine;
    self->machine->rate_ppm = first->rate_ppm;
    self->machine->wall_ns = first->wall_ns + first->since_boot_ns - self->machine->since_boot_ns;
    sim_server_settings settings = {.mode = mode, .host = sim_copy(address, strlen(address)), .port = port,
                                    .seed = world_chance(UINT32_MAX),
                                    .hooks = {self, wall_us, spoke, hung_up, trouble, ran, NULL, known_spread, begins, published, notified},
                                    .notifies = listeners_are_planned(of) ? "Kgx" : NULL};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        if (versions[i].number == of->version)
            settings.version = versions[i].version;
    }
    self->server = sim_server_make(&settings);
    return self;
}

static void start_shard(int nodes)
{
    host *hosts[SHARD_NODES];
    for (int i = 0; i < nodes; i++) {
        int number = shard_count() * nodes + i + 1;
        char name[24] = "redis", address[32];
        if (of->topology != SINGLE)
            snprintf(name, sizeof name, "redis%d", number);
        snprintf(address, sizeof address, ADDRESSES "%d", number);
        hosts[i] = start(name, address, PORT, of->topology == CLUSTER ? SIM_CLUSTER : SIM_SINGLE);
    }
    shard_make(hosts, nodes);
}

#define SENTINELS 3

static void start_sentinels(void)
{
    host *hosts[SENTINELS];
    for (int i = 0; i < SENTINELS; i++) {
        char name[24], address[32];
        snprintf(name, sizeof name, "sentinel%d", i + 1);
        snprintf(address, sizeof address, SENTINEL_ADDRESSES "%d", i + 1);
        hosts[i] = start(name, address, SENTINEL_PORT, SIM_SENTINEL);
    }
    known_begin_sentinels(hosts, SENTINELS);
}

/* Tokens get one digit more within a run. By the seed alone, so that a run is what it
 * was for locks without tokens. */
static void begin_counters(void)
{
    static const char *const begins[] = {NULL, "8", "98", "998"};
    const char *begin = begins[of->seed / 7 % 4];
    for (int i = 0; begin && i < of->object_count; i++) {
        char key[80];
        size_t length;
        snprintf(key, sizeof key, "redisson_lock_token:{%s}", of->objects[i].name);
        if (of->objects[i].kind == FENCED)
            sim_server_ask(servers_host(i)->server, 0, (const char *const[]){"SET", key, begin, NULL}, &length);
    }
}

void servers_start(const plan *by)
{
    of = by;
    int shards = of->topology == CLUSTER ? 3 : 1;
    int nodes = of->topology == SINGLE ? 1 : of->topology == CLUSTER ? 2 : 2 + (int)world_chance(2);
    for (int i = 0; i < shards; i++)
        start_shard(nodes);
    if (of->topology == SENTINEL)
        start_sentinels();
    if (of->topology == CLUSTER)
        known_begin_cluster();
    servers_name_takes(1000000);
    begin_counters();
}

void servers_name_takes(int64_t span_ns)
{
    name_means(NAME, (const char *const[]){ADDRESSES "1", NULL}, span_ns);
}

/* The scheme, and who is configured: of several, not all. */
static int write_places(char *to, size_t size)
{
    const char *first = of->named && of->topology != SENTINEL ? NAME : ADDRESSES "1";
    switch (of->topology) {
    case SINGLE: return snprintf(to, size, "redis://%s:%d", first, PORT);
    case SENTINEL:
        return snprintf(to, size, "redis-sentinel://%s1:%d,%s2:%d", SENTINEL_ADDRESSES, SENTINEL_PORT, SENTINEL_ADDRESSES,
                        SENTINEL_PORT);
    case CLUSTER: return snprintf(to, size, "redis-cluster://%s:%d,%s4:%d", first, PORT, ADDRESSES, PORT);
    default: break;
    }
    int length = snprintf(to, size, "%s://%s:%d", of->named ? "redis-master-slave" : "redis-replicated", first, PORT);
    for (int i = 2; i <= shard_number(0)->count; i++)
        length += snprintf(to + length, size - (size_t)length, ",%s%d:%d", ADDRESSES, i, PORT);
    return length;
}

const char *servers_url(const char *query)
{
    static char url[256 + PLAN_TEXT];
    int length = write_places(url, sizeof url);
    const char *which = of->topology == SENTINEL ? "masterName=" MASTER_NAME "&" : "";
    snprintf(url + length, sizeof url - (size_t)length, "?%s%s", which, query);
    return url;
}

host *servers_host(int object)
{
    return known_host_of(of->objects[object].name, strlen(of->objects[object].name));
}

host *servers_any(int number)
{
    int count = 0;
    while (host_number(count))
        count++;
    return host_number(number % count);
}

host *servers_with_data(int number)
{
    host *at = servers_any(number);
    return shard_node(at) ? at : shard_number(0)->master->at;
}

/* --- past the wire --- */

void servers_each_key(server_key_fn *act, void *argument)
{
    for (int i = 0; i < shard_count(); i++) {
        host *at = shard_number(i)->master->at;
        const char *name = NULL;
        size_t length = 0;
        char before[256];
        size_t before_length = 0;
        while (at->server && sim_server_key(at->server, 0, name ? before : NULL, before_length, &name, &length)) {
            int64_t expires_us = -1;
            const char *type = sim_server_look(at->server, 0, name, length, &expires_us);
            before_length = length < sizeof before ? length : sizeof before - 1;
            memcpy(before, name, before_length);
            if (type && known_may_be_at(shard_number(i), name, length))
                act(argument, at, name, length, type, expires_us < 0 ? -1 : (expires_us - wall_us(at)) / 1000);
        }
    }
}

static void close_link(void *link)
{
    sim_link_close(link);
}

/* By a connection of nobody's, so that publishing tells those who listen. */
void servers_command(host *at, const char *const *words)
{
    char bytes[1024];
    size_t length = 0, count = 0;
    sim_link *link = sim_link_open(at->server, NULL);
    if (of->topology == CLUSTER) /* the slot may just be on its way there */
        sim_link_hear(link, "ASKING\r\n", 8);
    while (words[count])
        count++;
    length += (size_t)snprintf(bytes, sizeof bytes, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(bytes + length, sizeof bytes - length, "$%zu\r\n%s\r\n", strlen(words[i]), words[i]);
    sim_link_hear(link, bytes, length);
    event_at(world_now_ns() + 20000000000, close_link, link); /* a server that is paused runs it later */
    host_plan(at);
}

/* The text of an answer on the wire: that of a bulk begins in its second line. */
static const char *ask(int object, const char *const *words, size_t *length)
{
    size_t whole = 0;
    const char *answer = sim_server_ask(servers_host(object)->server, 0, words, &whole), *end = answer + whole;
    const char *at = answer && whole && *answer == '$' ? memchr(answer, '\n', whole) : answer;
    *length = 0;
    if (!at || at + 1 >= end)
        return NULL;
    const char *line_end = memchr(at + 1, '\r', (size_t)(end - at - 1));
    *length = line_end ? (size_t)(line_end - at - 1) : 0;
    return at + 1;
}

int64_t servers_ask_number(int object, const char *const *words)
{
    char text[32];
    size_t length;
    const char *at = ask(object, words, &length);
    if (!at || length >= sizeof text)
        return 0;
    memcpy(text, at, length);
    text[length] = 0;
    return strtoll(text, NULL, 10);
}

bool servers_ask_text(int object, const char *text, const char *const *words)
{
    size_t length;
    const char *at = ask(object, words, &length);
    return at && strlen(text) == length && memcmp(at, text, length) == 0;
}

int64_t servers_wall_ms(const host *at)
{
    return wall_us((void *)at) / 1000;
}
