/* Links: bytes that come, commands in them, bytes that go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"

#include <string.h>

#define WORDS_MOST (1024 * 1024)
#define WORD_LONGEST (512 * 1024 * 1024)

sim_link *link_make(sim_server *server, void *peer)
{
    sim_link *link = sim_new(sizeof *link);
    link->server = server;
    link->peer = peer;
    link->authenticated = !*server->password;
    table_init(&link->channels, order_seed(server));
    table_init(&link->patterns, order_seed(server));
    table_init(&link->shards, order_seed(server));
    return link;
}

static int64_t links_count(const sim_server *server)
{
    int64_t count = 0;
    for (const sim_link *link = server->links; link; link = link->next)
        count += !link->hung_up && !link->muted;
    return count;
}

sim_link *sim_link_open(sim_server *server, void *peer)
{
    sim_link *link = link_make(server, peer);
    link->id = ++server->last_id;
    link->opened_us = server->settings.hooks.now_us(server->settings.hooks.world);
    link->next = server->links;
    server->links = link;
    const char *refusal = NULL;
    link->heard_us = link->opened_us;
    server->statistics.connections++;
    if (server->failure == SIM_FULL || (server->most_links && links_count(server) > server->most_links))
        refusal = "-ERR max number of clients reached\r\n";
    else if (server->failure == SIM_PROTECTED)
        refusal = "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for "
                  "the default user.\r\n";
    if (refusal) {
        server->statistics.rejected++;
        bytes_add(&link->out, refusal, strlen(refusal));
        link_spoke(link);
        link_hang_up(link);
    }
    return link;
}

void *sim_link_peer(const sim_link *link)
{
    return link->peer;
}

void link_spoke(sim_link *link)
{
    const sim_hooks *hooks = &link->server->settings.hooks;
    if (!link->muted && hooks->spoke && link->out.length)
        hooks->spoke(hooks->world, link);
}

void link_hang_up(sim_link *link)
{
    const sim_hooks *hooks = &link->server->settings.hooks;
    if (link->hung_up)
        return;
    link->hung_up = true;
    link->waits = link->pops = link->postponed = false;
    unsubscribe_all(link);
    tracking_end(link);
    link_clear_queue(link);
    if (!link->muted && hooks->hung_up)
        hooks->hung_up(hooks->world, link);
}

void sim_link_close(sim_link *link)
{
    link->muted = true; /* the world need not be told */
    link_hang_up(link);
    sim_link **place = &link->server->links;
    while (*place && *place != link)
        place = &(*place)->next;
    if (*place)
        *place = link->next;
    bytes_free(&link->in);
    bytes_free(&link->out);
    bytes_free(&link->name);
    sim_free(link->kept);
    sim_free(link);
}

size_t sim_link_waiting(const sim_link *link)
{
    return link->out.length;
}

uint64_t sim_link_id(const sim_link *link)
{
    return link->id;
}

size_t sim_link_take(sim_link *link, char *to, size_t most)
{
    size_t count = most < link->out.length ? most : link->out.length;
    if (count) {
        memcpy(to, link->out.at, count);
        bytes_drop(&link->out, count);
    }
    return count;
}

/* --- reading commands --- */

typedef enum reading { READ_ONE, READ_MORE, READ_WRONG } reading;

/* The line that begins at *at, without its end; *at: behind that. */
static bool read_line(const sim_link *link, size_t *at, text *line)
{
    const char *start = link->in.at + *at, *end = memchr(start, '\r', link->in.length - *at);
    if (!end || (size_t)(end - link->in.at) + 2 > link->in.length)
        return false;
    *line = (text){start, (size_t)(end - start)};
    *at += line->length + 2;
    return true;
}

static reading protocol_error(sim_link *link, const char *what)
{
    bytes_print(&link->out, "-ERR Protocol error: %s\r\n", what);
    return READ_WRONG;
}

/* Words divided by spaces. Quotes are as any other byte. */
static reading read_inline(sim_link *link, size_t *at, text **words, int *count)
{
    const char *start = link->in.at + *at, *end = memchr(start, '\n', link->in.length - *at);
    if (!end)
        return READ_MORE;
    size_t length = (size_t)(end - start);
    *at += length + 1;
    if (length && start[length - 1] == '\r')
        length--;
    for (size_t i = 0; i < length;) {
        size_t from = i;
        while (i < length && start[i] != ' ')
            i++;
        if (i > from)
            (*words)[(*count)++] = (text){start + from, i - from};
        i += i < length;
        if (*count == 64)
            break;
    }
    return READ_ONE;
}

/* The words of one command, which point into what has come. They stand in a buffer of the server's, which grows. */
static reading read_command(sim_link *link, size_t *at, text **words, int *room, int *count)
{
    size_t place = *at;
    int64_t expected, length;
    text line;
    *count = 0;
    if (link->in.at[place] != '*')
        return read_inline(link, at, words, count);
    if (!read_line(link, &place, &line))
        return READ_MORE;
    line = (text){line.at + 1, line.length - 1};
    if (!text_integer(line, &expected) || expected > WORDS_MOST)
        return protocol_error(link, "invalid multibulk length");
    if (expected > *room) {
        *room = (int)expected * 2;
        *words = sim_resize(*words, (size_t)*room * sizeof **words);
    }
    for (int64_t i = 0; i < expected; i++) {
        if (place >= link->in.length)
            return READ_MORE;
        if (link->in.at[place] != '$') {
            char what[] = "expected '$', got ' '";
            what[sizeof what - 3] = link->in.at[place];
            return protocol_error(link, what);
        }
        if (!read_line(link, &place, &line))
            return READ_MORE;
        line = (text){line.at + 1, line.length - 1};
        if (!text_integer(line, &length) || length < 0 || length > WORD_LONGEST)
            return protocol_error(link, "invalid bulk length");
        if (link->in.length - place < (size_t)length + 2)
            return READ_MORE;
        (*words)[i] = (text){link->in.at + place, (size_t)length};
        place += (size_t)length + 2;
    }
    *count = (int)expected;
    *at = place;
    return READ_ONE;
}

static void run_all(sim_link *link)
{
    sim_server *server = link->server;
    size_t at = 0;
    int count;
    while (at < link->in.length && !link->hung_up && !link->waits) {
        size_t next = at;
        reading read = read_command(link, &next, &server->words, &server->words_room, &count);
        if (read == READ_MORE)
            break;
        if (read == READ_WRONG) {
            link_spoke(link);
            link_hang_up(link);
            break;
        }
        if (count > 0 && !command_ask(link, server->words, count))
            break;
        at = next;
    }
    bytes_drop(&link->in, at);
}

void link_go_on(sim_link *link)
{
    if (link->running || link->hung_up || link->waits)
        return;
    link->running = true;
    link->postponed = false;
    run_all(link);
    link->running = false;
}

void sim_link_hear(sim_link *link, const char *at, size_t count)
{
    if (link->hung_up || !count)
        return;
    link->heard_us = link->server->settings.hooks.now_us(link->server->settings.hooks.world);
    bytes_add(&link->in, at, count);
    link_go_on(link);
}

/* --- idle ones --- */

static int64_t idle_from_us(const sim_link *link)
{
    bool stays = !link->server->idle_s || link->hung_up || link->waits || link->monitors || hears_anything(link);
    return stays ? INT64_MAX : link->heard_us + link->server->idle_s * 1000000;
}

int64_t idle_due_us(const sim_server *server)
{
    int64_t due_us = INT64_MAX;
    for (const sim_link *link = server->links; link; link = link->next) {
        if (idle_from_us(link) < due_us)
            due_us = idle_from_us(link);
    }
    return due_us;
}

void idle_look(sim_server *server)
{
    for (sim_link *link = server->links; link; link = link->next) {
        if (idle_from_us(link) <= server->now_us)
            link_hang_up(link);
    }
}
