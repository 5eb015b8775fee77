/* Messages: who listens to a channel, and telling them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"

#include <string.h>

/* In the order in which they came. */
typedef struct listeners {
    sim_link **links;
    size_t count, room;
} listeners;

/* The three kinds of channels. */
typedef struct channel_kind {
    const char *joined, *left, *message;
    size_t of_server, of_link; /* offsets of the tables */
} channel_kind;

#define KIND(joined, left, message, tables) \
    {joined, left, message, offsetof(sim_server, tables), offsetof(sim_link, tables)}
static const channel_kind plain = KIND("subscribe", "unsubscribe", "message", channels);
static const channel_kind pattern = KIND("psubscribe", "punsubscribe", "pmessage", patterns);
static const channel_kind shard = KIND("ssubscribe", "sunsubscribe", "smessage", shards);

static table *all_of(sim_server *server, const channel_kind *kind)
{
    return (table *)((char *)server + kind->of_server);
}

static table *own_of(sim_link *link, const channel_kind *kind)
{
    return (table *)((char *)link + kind->of_link);
}

static void add_listener(sim_link *link, const channel_kind *kind, text channel)
{
    bool fresh;
    table_add(own_of(link, kind), channel, &fresh);
    if (!fresh)
        return;
    entry *one = table_add(all_of(link->server, kind), channel, &fresh);
    if (fresh)
        one->pointer = sim_new(sizeof(listeners));
    listeners *all = one->pointer;
    if (all->count == all->room) {
        all->room = all->room * 2 + 2;
        all->links = sim_resize(all->links, all->room * sizeof *all->links);
    }
    all->links[all->count++] = link;
}

static void remove_listener(sim_link *link, const channel_kind *kind, text channel)
{
    table *channels = all_of(link->server, kind);
    listeners *all = table_find(channels, channel)->pointer;
    size_t at = 0;
    while (all->links[at] != link)
        at++;
    memmove(all->links + at, all->links + at + 1, (--all->count - at) * sizeof *all->links);
    if (!all->count) {
        sim_free(all->links);
        sim_free(all);
        sim_free(table_take(channels, channel));
    }
    sim_free(table_take(own_of(link, kind), channel));
}

void unsubscribe_all(sim_link *link)
{
    const channel_kind *const kinds[] = {&plain, &pattern, &shard};
    for (size_t i = 0; i < 3; i++) {
        table *own = own_of(link, kinds[i]);
        for (entry *one; (one = table_next(own, NULL)) != NULL;) {
            char *channel = sim_copy(one->name, one->name_length);
            remove_listener(link, kinds[i], (text){channel, one->name_length});
            sim_free(channel);
        }
        table_clear(own, NULL);
    }
}

bool hears_anything(const sim_link *link)
{
    return link->channels.count + link->patterns.count + link->shards.count > 0;
}

/* --- telling --- */

/* What a link is told, which need not be the one that calls. */
static sim_call to(sim_link *link)
{
    return (sim_call){.server = link->server, .link = link};
}

static size_t tell(sim_server *server, const channel_kind *kind, text channel, text message)
{
    const entry *one = table_find(all_of(server, kind), channel);
    const listeners *all = one ? one->pointer : NULL;
    for (size_t i = 0; all && i < all->count; i++) {
        sim_call say = to(all->links[i]);
        say_array(&say, 3);
        say_word(&say, kind->message);
        say_text(&say, channel);
        say_text(&say, message);
        link_spoke(all->links[i]);
    }
    return all ? all->count : 0;
}

static size_t tell_patterns(sim_server *server, text channel, text message)
{
    size_t told = 0;
    for (const entry *one = table_next(&server->patterns, NULL); one; one = table_next(&server->patterns, one)) {
        const listeners *all = one->pointer;
        if (!text_matches(entry_name(one), channel))
            continue;
        for (size_t i = 0; i < all->count; i++) {
            sim_call say = to(all->links[i]);
            say_array(&say, 4);
            say_word(&say, pattern.message);
            say_text(&say, entry_name(one));
            say_text(&say, channel);
            say_text(&say, message);
            link_spoke(all->links[i]);
        }
        told += all->count;
    }
    return told;
}

size_t publish(sim_server *server, text channel, text message)
{
    return tell(server, &plain, channel, message) + tell_patterns(server, channel, message);
}

void sim_server_overhear(sim_server *server, const char *pattern_text)
{
    server->overheard = pattern_text;
}

size_t publish_sharded(sim_server *server, text channel, text message)
{
    return tell(server, &shard, channel, message);
}

size_t sim_server_publish(sim_server *server, bool sharded, const char *channel, size_t channel_length,
                          const char *message, size_t message_length)
{
    return (sharded ? publish_sharded : publish)(server, (text){channel, channel_length}, (text){message, message_length});
}

static void spread(sim_call *call, bool sharded)
{
    sim_server *server = call->server;
    const sim_hooks *hooks = &server->settings.hooks;
    text channel = call->words[1], message = call->words[2];
    size_t told = (sharded ? publish_sharded : publish)(server, channel, message);
    if (hooks->published)
        hooks->published(hooks->world, channel.at, channel.length, message.at, message.length, told);
    if (server->settings.mode == SIM_CLUSTER) {
        if (hooks->spread)
            hooks->spread(hooks->world, server, sharded, channel.at, channel.length, message.at, message.length);
    } else {
        note_message(server, channel, message);
    }
    bool overheard = !sharded && server->overheard && text_matches(text_of(server->overheard), channel);
    say_integer(call, (int64_t)told + overheard);
}

static void run_publish(sim_call *call)
{
    spread(call, false);
}

static void run_spublish(sim_call *call)
{
    spread(call, true);
}

/* --- listening --- */

static void say_change(sim_call *call, const channel_kind *kind, bool joined, const text *channel)
{
    sim_link *link = call->link;
    say_array(call, 3);
    say_word(call, joined ? kind->joined : kind->left);
    if (channel)
        say_text(call, *channel);
    else
        say_nil(call);
    say_integer(call, (int64_t)(kind == &shard ? link->shards.count : link->channels.count + link->patterns.count));
}

static void join_all(sim_call *call, const channel_kind *kind)
{
    for (int i = 1; i < call->count; i++) {
        add_listener(call->link, kind, call->words[i]);
        say_change(call, kind, true, &call->words[i]);
    }
}

static void leave_all(sim_call *call, const channel_kind *kind)
{
    table *own = own_of(call->link, kind);
    if (call->server->settings.version == SIM_VALKEY_8_0 && !hears_anything(call->link)) {
        say_error(call, "NOSUB '%s' command executed not in subscribed mode", call->command->name);
        return;
    }
    for (int i = 1; i < call->count; i++) {
        if (table_find(own, call->words[i]))
            remove_listener(call->link, kind, call->words[i]);
        say_change(call, kind, false, &call->words[i]);
    }
    if (call->count == 1 && !own->count)
        say_change(call, kind, false, NULL);
    for (entry *one; call->count == 1 && (one = table_next(own, NULL)) != NULL;) {
        char *name = sim_copy(one->name, one->name_length);
        text channel = {name, one->name_length};
        remove_listener(call->link, kind, channel);
        say_change(call, kind, false, &channel);
        sim_free(name);
    }
}

static void run_subscribe(sim_call *call)
{
    join_all(call, &plain);
}

static void run_psubscribe(sim_call *call)
{
    join_all(call, &pattern);
}

static void run_ssubscribe(sim_call *call)
{
    join_all(call, &shard);
}

static void run_unsubscribe(sim_call *call)
{
    leave_all(call, &plain);
}

static void run_punsubscribe(sim_call *call)
{
    leave_all(call, &pattern);
}

static void run_sunsubscribe(sim_call *call)
{
    leave_all(call, &shard);
}

void shards_look(sim_server *server)
{
    const sim_cluster_view *view = server->cluster;
    for (entry *one = table_next(&server->shards, NULL), *next; one; one = next) {
        next = table_next(&server->shards, one);
        int owner = view->owner[sim_slot_of(one->name, one->name_length)];
        int master = view->nodes[view->self].master;
        if (owner == view->self || (master != SIM_NOBODY && owner == master))
            continue;
        char *name = sim_copy(one->name, one->name_length);
        text channel = {name, one->name_length};
        const listeners *all = one->pointer; /* goes with the last of them */
        for (size_t left = all->count; left; left--) {
            sim_link *link = *all->links;
            sim_call say = to(link);
            remove_listener(link, &shard, channel);
            say_change(&say, &shard, false, &channel);
            link_spoke(link);
        }
        sim_free(name);
    }
}

/* --- asking --- */

static void count_listeners(sim_call *call, const channel_kind *kind)
{
    say_array(call, (size_t)(call->count - 2) * 2);
    for (int i = 2; i < call->count; i++) {
        const entry *one = table_find(all_of(call->server, kind), call->words[i]);
        say_text(call, call->words[i]);
        say_integer(call, one ? (int64_t)((listeners *)one->pointer)->count : 0);
    }
}

static void run_numsub(sim_call *call)
{
    count_listeners(call, &plain);
}

static void run_shardnumsub(sim_call *call)
{
    count_listeners(call, &shard);
}

static void run_numpat(sim_call *call)
{
    say_integer(call, (int64_t)call->server->patterns.count);
}

static void list_channels(sim_call *call, const channel_kind *kind)
{
    const table *all = all_of(call->server, kind);
    text asked = call->count > 2 ? call->words[2] : TEXT("*");
    size_t count = 0;
    for (const entry *one = table_next(all, NULL); one; one = table_next(all, one))
        count += text_matches(asked, entry_name(one));
    say_array(call, count);
    for (const entry *one = table_next(all, NULL); one; one = table_next(all, one)) {
        if (text_matches(asked, entry_name(one)))
            say_text(call, entry_name(one));
    }
}

static void run_channels(sim_call *call)
{
    list_channels(call, &plain);
}

static void run_shardchannels(sim_call *call)
{
    list_channels(call, &shard);
}

#define LISTENS (COMMAND_LISTENER | COMMAND_NO_SCRIPT | COMMAND_LOADING | COMMAND_STALE)
#define ASKS (COMMAND_LOADING | COMMAND_STALE)

const sim_command pubsub_commands[] = {
    {"publish", run_publish, 3, ASKS | COMMAND_SPREADS | COMMAND_SENTINEL, 0, 0, 0, 0},
    {"spublish", run_spublish, 3, ASKS | COMMAND_SPREADS | COMMAND_CHANNELS, 1, 1, 1, SIM_REDIS_7_0},
    {"subscribe", run_subscribe, -2, LISTENS | COMMAND_SENTINEL, 0, 0, 0, 0},
    {"psubscribe", run_psubscribe, -2, LISTENS | COMMAND_SENTINEL, 0, 0, 0, 0},
    {"ssubscribe", run_ssubscribe, -2, LISTENS | COMMAND_CHANNELS, 1, -1, 1, SIM_REDIS_7_0},
    {"unsubscribe", run_unsubscribe, -1, LISTENS | COMMAND_SENTINEL, 0, 0, 0, 0},
    {"punsubscribe", run_punsubscribe, -1, LISTENS | COMMAND_SENTINEL, 0, 0, 0, 0},
    {"sunsubscribe", run_sunsubscribe, -1, LISTENS | COMMAND_CHANNELS, 1, -1, 1, SIM_REDIS_7_0},
    {"pubsub", run_unknown_of_family, -2, COMMAND_FAMILY, 0, 0, 0, 0},
    {"pubsub|numsub", run_numsub, -2, ASKS, 0, 0, 0, 0},
    {"pubsub|numpat", run_numpat, 2, ASKS, 0, 0, 0, 0},
    {"pubsub|channels", run_channels, -2, ASKS, 0, 0, 0, 0},
    {"pubsub|shardnumsub", run_shardnumsub, -2, ASKS, 0, 0, 0, SIM_REDIS_7_0},
    {"pubsub|shardchannels", run_shardchannels, -2, ASKS, 0, 0, 0, SIM_REDIS_7_0},
    {0},
};
