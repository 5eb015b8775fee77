/* Commands: finding one, its keys, and asking for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/command.h"

#include "tests/sim/server/answer.h"
#include "tests/sim/server/memory.h"
#include "tests/sim/server/statistics.h"
#include "tests/sim/server/wording.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LONGEST 40
#define INDEX_SIZE 1024 /* some five times as many as there are commands */

static const sim_command *index_of[INDEX_SIZE];

static size_t place_in_index(const char *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash % INDEX_SIZE;
}

static void make_index(void)
{
    const sim_command *const all[] = {string_commands, hash_commands, list_commands, blocking_commands, set_commands, zset_commands,
                                  key_commands, expiry_commands, pubsub_commands, script_commands, link_commands,
                                  server_commands, multi_commands, replication_commands, cluster_commands,
                                  sentinel_commands, monitor_commands, setting_commands, tracking_commands};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (const sim_command *one = all[i]; one->name; one++) {
            size_t place = place_in_index(one->name, strlen(one->name));
            while (index_of[place])
                place = (place + 1) % INDEX_SIZE;
            index_of[place] = one;
        }
    }
}

static const sim_command *named(const char *name, size_t length)
{
    static bool made;
    if (!made)
        make_index();
    made = true;
    for (size_t place = place_in_index(name, length); index_of[place]; place = (place + 1) % INDEX_SIZE) {
        const char *own = index_of[place]->name;
        if (strncmp(own, name, length) == 0 && !own[length])
            return index_of[place];
    }
    return NULL;
}

/* Behind what `name` has already; false: it is too long for any. */
static bool add_small(char *name, size_t *length, text word)
{
    if (*length + word.length > NAME_LONGEST)
        return false;
    for (size_t i = 0; i < word.length; i++)
        name[(*length)++] = word.at[i] >= 'A' && word.at[i] <= 'Z' ? (char)(word.at[i] + 'a' - 'A') : word.at[i];
    return memchr(word.at, '|', word.length) == NULL;
}

static bool is_known(const sim_server *server, const sim_command *own)
{
    bool sentinels = strncmp(own->name, "sentinel", 8) == 0, is_sentinel = server->settings.mode == SIM_SENTINEL;
    return own->since <= server->settings.version && (is_sentinel ? (own->flags & COMMAND_SENTINEL) != 0 : !sentinels);
}

const sim_command *command_find(sim_server *server, const text *words, int count)
{
    char name[NAME_LONGEST + 2];
    size_t length = 0;
    if (!add_small(name, &length, *words))
        return NULL;
    const sim_command *family = named(name, length), *found = family;
    bool old = server->settings.version < SIM_REDIS_7_0;
    if (family && (family->flags & COMMAND_FAMILY) && count > 1) {
        name[length++] = '|';
        found = add_small(name, &length, words[1]) ? named(name, length) : NULL;
        /* Old versions look at the second word only when they run the command. */
        if (old && (!found || !is_known(server, found) || !command_arity_fits(server, found, count)))
            found = family;
    }
    return found && is_known(server, found) ? found : NULL;
}

bool command_arity_fits(const sim_server *server, const sim_command *own, int count)
{
    bool without_options = server->settings.version < SIM_REDIS_7_0 && (own->flags & COMMAND_OPTIONS_7);
    return own->arity < 0 && !without_options ? count >= -own->arity : count == abs(own->arity);
}

int command_keys(const sim_command *own, const text *words, int count)
{
    if (!own->first)
        return 0;
    if (own->flags & COMMAND_NUMBERED) {
        int64_t keys;
        int before = own->last; /* keys before the numbered ones: a destination */
        if (own->first >= count || !text_integer(words[own->first], &keys) || keys < 0 || keys > count - own->first - 1)
            return 0;
        return before + (int)keys;
    }
    int last = own->last < 0 ? count + own->last : own->last;
    return last < own->first ? 0 : (last - own->first) / own->step + 1;
}

int command_key(const sim_command *own, const text *words, int count, int i)
{
    (void)words;
    (void)count;
    if (!(own->flags & COMMAND_NUMBERED))
        return own->first + i * own->step;
    return i < own->last ? 1 + i : own->first + 1 + i - own->last;
}

/* --- what is refused --- */

static void say_unknown(sim_call *call)
{
    const text *words = call->words;
    const sim_command *family = NULL;
    char name[NAME_LONGEST + 2];
    size_t length = 0;
    bool old = call->server->settings.version < SIM_REDIS_7_0;
    if (add_small(name, &length, *words))
        family = named(name, length);
    if (family && (family->flags & COMMAND_FAMILY) && call->count > 1 && is_known(call->server, family)) {
        for (size_t i = 0; i < length; i++)
            name[i] = (char)toupper((unsigned char)name[i]);
        say_error(call, old ? "ERR Unknown subcommand or wrong number of arguments for '%.*s'. Try %.*s HELP."
                            : "ERR unknown subcommand '%.*s'. Try %.*s HELP.",
                  (int)(words[1].length < 128 ? words[1].length : 128), words[1].at, (int)length, name);
        return;
    }
    bytes args = {0};
    for (int i = 1; i < call->count && args.length < 128; i++)
        bytes_print(&args, old ? "`%.*s`, " : "'%.*s' ",
                    (int)(words[i].length < 128 - args.length ? words[i].length : 128 - args.length), words[i].at);
    say_error(call, old ? "ERR unknown command `%.*s`, with args beginning with: %.*s"
                        : "ERR unknown command '%.*s', with args beginning with: %.*s",
              (int)(words->length < 128 ? words->length : 128), words->at, (int)args.length, args.at ? args.at : "");
    bytes_free(&args);
}

void run_unknown_of_family(sim_call *call)
{
    say_unknown(call);
}

/* The text with the server's name for each %s, of which there are one or two; gone with the next. */
static const char *in_its_words(const sim_server *server, const char *format)
{
    static char line[512];
    const char *name = product_of(server), *first = strstr(format, "%s"), *rest = first + 2, *second = strstr(rest, "%s");
    int between = (int)(second ? second - rest : (ptrdiff_t)strlen(rest));
    snprintf(line, sizeof line, "%.*s%s%.*s%s%s", (int)(first - format), format, name, between, rest, second ? name : "",
             second ? second + 2 : "");
    return line;
}

#define WRITES_DISABLED                                                                                                    \
    "Commands that may modify the data set are disabled, because this instance is configured to report errors during "     \
    "writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the %s logs for details about the " \
    "RDB error."

const char *refusal_of(const sim_call *call, bool in_script)
{
    const sim_server *server = call->server;
    unsigned flags = call->command->flags;
    bool old = server->settings.version < SIM_REDIS_7_0;
    /* Until 7.2, queueing counts as use of memory. */
    bool queues = server->settings.version < SIM_REDIS_7_2 && !in_script && call->link->in_multi && !(flags & COMMAND_NO_QUEUE);
    if (server->failure == SIM_OOM && ((flags & COMMAND_MEMORY) || queues))
        return "OOM command not allowed when used memory > 'maxmemory'.";
    if (server->failure == SIM_MISCONF && ((flags & COMMAND_WRITE) || (!in_script && strcmp(call->command->name, "ping") == 0)))
        return in_its_words(server, old ? "MISCONF %s is configured to save RDB snapshots, but it is currently not able to persist "
                                          "on disk. " WRITES_DISABLED
                                        : "MISCONF %s is configured to save RDB snapshots, but it's currently unable to persist to "
                                          "disk. " WRITES_DISABLED);
    if (server->failure == SIM_NOREPLICAS && (flags & COMMAND_WRITE) && !server->master)
        return "NOREPLICAS Not enough good replicas to write.";
    if (server->master && (flags & COMMAND_WRITE))
        return "READONLY You can't write against a read only replica.";
    return NULL;
}

static bool serves_stale(const sim_call *call)
{
    bool old = call->server->settings.version < SIM_REDIS_7_0;
    return call->command->flags & (COMMAND_STALE | (old ? COMMAND_STALE_6 : COMMAND_STALE_7));
}

/* As refusal_of, for what concerns more than writes, and not what a script calls. */
static const char *state_refusal(const sim_call *call)
{
    const sim_server *server = call->server;
    unsigned flags = call->command->flags;
    if (server->failure == SIM_MASTERDOWN && server->master && !serves_stale(call))
        return "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
    if (server->failure == SIM_LOADING && !(flags & COMMAND_LOADING))
        return in_its_words(server, "LOADING %s is loading the dataset in memory");
    if (server->failure == SIM_BUSY && !(flags & COMMAND_BUSY))
        return in_its_words(server, "BUSY %s is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.");
    return NULL;
}

static bool is_denied(const sim_server *server, sim_right right, text subject)
{
    return server->denied[right] && text_matches(text_of(server->denied[right]), subject);
}

bool command_allowed(sim_server *server, const sim_command *own, const text *words, int count, sim_right *right, int *word)
{
    const char *family = strchr(own->name, '|');
    *word = 0;
    *right = SIM_COMMAND;
    if (!server->denied[SIM_COMMAND] && !server->denied[SIM_KEY] && !server->denied[SIM_CHANNEL])
        return true;
    if (is_denied(server, SIM_COMMAND, text_of(own->name)) ||
        (family && is_denied(server, SIM_COMMAND, (text){own->name, (size_t)(family - own->name)})))
        return false;
    bool channels = own->flags & COMMAND_CHANNELS;
    *right = SIM_KEY;
    for (int i = 0; !channels && i < command_keys(own, words, count); i++) {
        *word = command_key(own, words, count, i);
        if (is_denied(server, SIM_KEY, words[*word]))
            return false;
    }
    channels = channels || (own->flags & COMMAND_LISTENER) || strcmp(own->name, "publish") == 0;
    bool publishes = strstr(own->name, "publish") != NULL, leaves = strstr(own->name, "unsub") || strcmp(own->name, "ping") == 0;
    *right = SIM_CHANNEL;
    for (*word = 1; channels && !leaves && *word < (publishes ? 2 : count); ++*word) {
        if (is_denied(server, SIM_CHANNEL, words[*word]))
            return false;
    }
    return true;
}

static bool say_forbidden(sim_call *call)
{
    sim_server *server = call->server;
    sim_right right;
    int word;
    if (command_allowed(server, call->command, call->words, call->count, &right, &word))
        return false;
    const char *user = *server->user ? server->user : "default";
    if (server->settings.version >= SIM_REDIS_7_2) {
        if (right == SIM_COMMAND)
            say_error(call, "NOPERM User %s has no permissions to run the '%s' command", user, call->command->name);
        else
            say_error(call, "NOPERM No permissions to access a %s", right == SIM_KEY ? "key" : "channel");
    } else if (right == SIM_COMMAND) {
        bool old = server->settings.version < SIM_REDIS_7_0;
        const char *own = strchr(call->command->name, '|');
        say_error(call, "NOPERM this user has no permissions to run the '%.*s' command%s",
                  old && own ? (int)(own - call->command->name) : 99, call->command->name, old ? " or its subcommand" : "");
    } else {
        say_error(call, "NOPERM this user has no permissions to access one of the %ss used as arguments",
                  right == SIM_KEY ? "key" : "channel");
    }
    return true;
}

/* True: it was refused, and the answer given. */
static bool refused(sim_call *call)
{
    sim_link *link = call->link;
    sim_server *server = call->server;
    unsigned flags = call->command ? call->command->flags : 0;
    if (!call->command) {
        say_unknown(call);
        return true;
    }
    if (!command_arity_fits(server, call->command, call->count)) {
        say_error(call, "ERR wrong number of arguments for '%s' command", call->command->name);
        return true;
    }
    if (!link->authenticated && !(flags & COMMAND_STRANGER)) {
        say_error(call, "NOAUTH Authentication required.");
        return true;
    }
    if (link->in_multi && (flags & COMMAND_NO_MULTI) && server->settings.version >= SIM_REDIS_7_0) {
        say_error(call, "ERR Command not allowed inside a transaction");
        return true;
    }
    if (say_forbidden(call))
        return true;
    int slot, node;
    sim_where where = command_where(call, &slot, &node);
    if (where != WHERE_HERE) {
        say_where(call, where, slot, node);
        return true;
    }
    const char *refusal = refusal_of(call, false);
    if (refusal) {
        say_error(call, "%s", refusal);
        return true;
    }
    if (hears_anything(link) && !(flags & COMMAND_LISTENER)) {
        say_error(call, server->settings.version < SIM_REDIS_7_0
                            ? "ERR Can't execute '%s': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
                              "this context"
                            : "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
                              "allowed in this context", call->command->name);
        return true;
    }
    refusal = state_refusal(call);
    if (refusal)
        say_error(call, "%s", refusal);
    return refusal != NULL;
}

/* --- running --- */

static bool is_paused(const sim_call *call)
{
    const sim_server *server = call->server;
    return server->paused_until_ms > now_ms(server) && !call->link->muted &&
           (!server->pause_writes_only || (call->command->flags & (COMMAND_WRITE | COMMAND_SPREADS)));
}

text *words_copy(const text *words, int count)
{
    size_t size = (size_t)count * sizeof(text);
    for (int i = 0; i < count; i++)
        size += words[i].length;
    text *copy = sim_resize(NULL, size);
    char *at = (char *)(copy + count);
    for (int i = 0; i < count; i++) {
        if (words[i].length)
            memcpy(at, words[i].at, words[i].length);
        copy[i] = (text){at, words[i].length};
        at += words[i].length;
    }
    return copy;
}

static void keep_for_exec(sim_link *link, const sim_call *call)
{
    if (link->queued == link->queue_room) {
        link->queue_room = link->queue_room * 2 + 4;
        link->queue = sim_resize(link->queue, link->queue_room * sizeof *link->queue);
    }
    link->queue[link->queued++] = (queued){call->command, words_copy(call->words, call->count), call->count};
}

void command_run(sim_call *call)
{
    if (!call->link->muted) {
        monitors_tell(call);
        statistics_ran(call->server, call->command);
    }
    call->command->run(call);
    tracking_ran(call);
}

void pause_look(sim_server *server)
{
    if (server->paused_until_ms && server->paused_until_ms <= now_ms(server)) {
        server->paused_until_ms = 0;
        for (sim_link *link = server->links; link; link = link->next) {
            if (link->postponed)
                link_go_on(link);
        }
    }
}

bool command_ask(sim_link *link, const text *words, int count)
{
    sim_server *server = link->server;
    server->now_us = server->settings.hooks.now_us(server->settings.hooks.world);
    sim_call call = {.server = server, .link = link, .words = words, .count = count, .database = link->database,
                 .command = command_find(server, words, count)};
    size_t said = link->out.length;
    if (refused(&call)) {
        link->multi_broken = link->in_multi;
    } else if (is_paused(&call)) {
        return !(link->postponed = true);
    } else if (link->in_multi && !(call.command->flags & COMMAND_NO_QUEUE)) {
        keep_for_exec(link, &call);
        say_status(&call, "QUEUED");
    } else {
        command_run(&call);
        unit_end(server);
        link->written = server->offset;
    }
    if (call.command && strcmp(call.command->name, "asking") != 0)
        link->asking = false;
    if (link->out.length != said)
        link_spoke(link);
    if (link->closing)
        link_hang_up(link);
    pops_look(server);
    waits_look(server);
    pause_look(server);
    return true;
}
