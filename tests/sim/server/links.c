/* Commands about connections: who speaks, to which database, and ending others'. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"

#include <string.h>

static void run_ping(sim_call *call)
{
    if (call->count > 2) {
        say_error(call, "ERR wrong number of arguments for 'ping' command");
    } else if (hears_anything(call->link)) {
        say_array(call, 2);
        say_word(call, "pong");
        say_text(call, call->count == 2 ? call->words[1] : TEXT(""));
    } else if (call->count == 2) {
        say_text(call, call->words[1]);
    } else {
        say_status(call, "PONG");
    }
}

static void run_echo(sim_call *call)
{
    say_text(call, call->words[1]);
}

static void run_quit(sim_call *call)
{
    say_ok(call);
    call->link->closing = true;
}

static void run_auth(sim_call *call)
{
    sim_server *server = call->server;
    text user = call->count == 3 ? call->words[1] : TEXT("default"), password = call->words[call->count - 1];
    const char *own = *server->user ? server->user : "default";
    if (call->count > 3) {
        say_syntax_error(call);
        return;
    }
    if (call->count == 2 && (!*server->password || *server->user)) {
        say_error(call, "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
                        "configuration is correct?");
        return;
    }
    bool well = text_is(user, text_of(own)) && (!*server->password || text_is(password, text_of(server->password)));
    if (!well) {
        say_error(call, "WRONGPASS invalid username-password pair or user is disabled.");
        return;
    }
    call->link->authenticated = true;
    say_ok(call);
}

static void run_hello(sim_call *call)
{
    int64_t version;
    if (call->count > 1 && !text_integer(call->words[1], &version))
        say_error(call, "ERR Protocol version is not an integer or out of range");
    else
        say_error(call, "NOPROTO unsupported protocol version");
}

static void run_select(sim_call *call)
{
    int64_t number;
    if (!word_integer(call, 1, &number)) {
        return;
    } else if (number < INT32_MIN || number > INT32_MAX) {
        say_error(call, "ERR value is out of range, value must between -2147483648 and 2147483647");
    } else if (call->server->settings.mode == SIM_CLUSTER && number != 0) {
        say_error(call, "ERR SELECT is not allowed in cluster mode");
    } else if (number < 0 || number >= call->server->settings.databases) {
        say_error(call, "ERR DB index is out of range");
    } else {
        if (!call->lua)
            call->link->database = (int)number;
        call->database = (int)number;
        say_ok(call);
    }
}

/* --- CLIENT --- */

static void run_setname(sim_call *call)
{
    text name = call->words[2];
    for (size_t i = 0; i < name.length; i++) {
        if (name.at[i] < '!' || name.at[i] > '~') {
            say_error(call, "ERR Client names cannot contain spaces, newlines or special characters.");
            return;
        }
    }
    call->link->name.length = 0;
    bytes_add(&call->link->name, name.at, name.length);
    say_ok(call);
}

static void run_getname(sim_call *call)
{
    if (call->link->name.length)
        say_text(call, (text){call->link->name.at, call->link->name.length});
    else
        say_nil(call);
}

static void run_id(sim_call *call)
{
    say_integer(call, (int64_t)call->link->id);
}

static void describe(const sim_link *link, bytes *line)
{
    int64_t age_s = (link->server->now_us - link->opened_us) / 1000000;
    bytes_print(line, "id=%llu addr=127.0.0.1:%llu laddr=%s:%d fd=8 name=%.*s age=%lld idle=0 flags=%s db=%d sub=%zu psub=%zu",
                (unsigned long long)link->id, (unsigned long long)(40000 + link->id % 20000), link->server->host,
                link->server->settings.port, (int)link->name.length, link->name.at ? link->name.at : "",
                (long long)age_s, hears_anything(link) ? "P" : "N", link->database, link->channels.count,
                link->patterns.count);
    if (link->server->settings.version >= SIM_REDIS_7_0)
        bytes_print(line, " ssub=%zu", link->shards.count);
    bytes_print(line, " multi=%d\n", link->in_multi ? (int)link->queued : -1);
}

static void run_list(sim_call *call)
{
    bytes all = {0};
    for (const sim_link *link = call->server->links; link; link = link->next) {
        if (!link->hung_up)
            describe(link, &all);
    }
    say_text(call, (text){all.at ? all.at : "", all.length});
    bytes_free(&all);
}

typedef struct victims {
    int64_t id;         /* 0: any */
    int listening;      /* 1: those that listen, 0: those that do not, -1: any */
    bool spares_caller;
} victims;

static bool read_victims(sim_call *call, victims *whom)
{
    *whom = (victims){.listening = -1, .spares_caller = true};
    for (int i = 2; i + 1 < call->count; i += 2) {
        text what = call->words[i], is = call->words[i + 1];
        if (text_is_word(what, "id")) {
            if (!text_integer(is, &whom->id) || whom->id < 1) {
                say_error(call, "ERR client-id should be greater than 0");
                return false;
            }
        } else if (text_is_word(what, "type")) {
            whom->listening = text_is_word(is, "pubsub");
            if (!whom->listening && !text_is_word(is, "normal")) {
                say_error(call, "ERR Unknown client type '%.*s'", (int)is.length, is.at);
                return false;
            }
        } else if (text_is_word(what, "skipme") && (text_is_word(is, "yes") || text_is_word(is, "no"))) {
            whom->spares_caller = text_is_word(is, "yes");
        } else {
            say_syntax_error(call);
            return false;
        }
    }
    if (call->count % 2)
        say_syntax_error(call);
    return call->count % 2 == 0;
}

/* Not by address, which the model's links have none of. */
static void run_kill(sim_call *call)
{
    victims whom;
    int64_t killed = 0;
    if (call->count == 3) {
        say_error(call, "ERR No such client");
        return;
    }
    if (!read_victims(call, &whom))
        return;
    for (sim_link *link = call->server->links; link; link = link->next) {
        if (link->hung_up || link->muted || (link == call->link && whom.spares_caller) ||
            (whom.id && (uint64_t)whom.id != link->id) || (whom.listening >= 0 && whom.listening != hears_anything(link)))
            continue;
        killed++;
        if (link == call->link)
            link->closing = true;
        else
            link_hang_up(link);
    }
    say_integer(call, killed);
}

static void run_pause(sim_call *call)
{
    int64_t until_ms;
    bool writes = call->count > 3 && text_is_word(call->words[3], "write");
    if (call->count > 4 || (call->count == 4 && !writes && !text_is_word(call->words[3], "all"))) {
        say_error(call, "ERR CLIENT PAUSE mode must be WRITE or ALL");
        return;
    }
    if (!word_timeout(call, 2, &until_ms))
        return;
    call->server->paused_until_ms = until_ms ? until_ms : now_ms(call->server);
    call->server->pause_writes_only = writes;
    say_ok(call);
}

static void run_unpause(sim_call *call)
{
    if (call->server->paused_until_ms)
        call->server->paused_until_ms = now_ms(call->server);
    say_ok(call);
}

#define SAYS (COMMAND_NO_SCRIPT | COMMAND_LOADING | COMMAND_STALE | COMMAND_SENTINEL)

const sim_command link_commands[] = {
    {"ping", run_ping, -1, COMMAND_LISTENER | COMMAND_SENTINEL | COMMAND_STALE_6, 0, 0, 0, 0},
    {"echo", run_echo, 2, COMMAND_STALE_7, 0, 0, 0, 0},
    {"quit", run_quit, -1, COMMAND_STRANGER | COMMAND_LISTENER | COMMAND_BUSY | COMMAND_NO_QUEUE | SAYS, 0, 0, 0, 0},
    {"auth", run_auth, -2, COMMAND_UNSEEN | COMMAND_STRANGER | COMMAND_BUSY | SAYS, 0, 0, 0, 0},
    {"hello", run_hello, -1, COMMAND_STRANGER | COMMAND_BUSY | SAYS, 0, 0, 0, 0},
    {"select", run_select, 2, COMMAND_LOADING | COMMAND_STALE, 0, 0, 0, 0},
    {"client", run_unknown_of_family, -2, COMMAND_FAMILY | COMMAND_SENTINEL, 0, 0, 0, 0},
    {"client|setname", run_setname, 3, SAYS, 0, 0, 0, 0},
    {"client|getname", run_getname, 2, SAYS, 0, 0, 0, 0},
    {"client|id", run_id, 2, SAYS, 0, 0, 0, 0},
    {"client|list", run_list, -2, SAYS, 0, 0, 0, 0},
    {"client|kill", run_kill, -3, SAYS, 0, 0, 0, 0},
    {"client|pause", run_pause, -3, SAYS, 0, 0, 0, 0},
    {"client|unpause", run_unpause, 2, SAYS, 0, 0, 0, 0},
    {0},
};
