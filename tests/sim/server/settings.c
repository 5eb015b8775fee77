/* Settings that are changed while the server runs (CONFIG, ACL SETUSER), and what it says of its commands: as far as the
 * model obeys them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"
#include "tests/sim/server/statistics.h"

#include <string.h>

/* What nobody notices of the model. */
static bool is_without_effect(text name)
{
    static const char *const names[] = {"repl-diskless-sync-delay", "lua-time-limit", "save", "appendonly"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (text_is_word(name, names[i]))
            return true;
    }
    return false;
}

static void set_notifies(sim_call *call, text letters)
{
    if (notify_set(call->server, letters))
        say_ok(call);
    else
        say_error(call, "ERR the model knows no such letters of notify-keyspace-events");
}

/* Of this setting alone. */
static void run_config_get(sim_call *call)
{
    if (!text_is_word(call->words[2], "notify-keyspace-events")) {
        run_unknown_of_family(call);
        return;
    }
    say_array(call, 2);
    say_text(call, call->words[2]);
    say_word(call, call->server->notifies);
}

static void run_config_set(sim_call *call)
{
    int64_t number;
    text name = call->words[2], value = call->words[3];
    if (text_is_word(name, "maxclients") && text_integer(value, &number) && number > 0) {
        call->server->most_links = number;
        say_ok(call);
    } else if (text_is_word(name, "timeout") && text_integer(value, &number) && number >= 0) {
        call->server->idle_s = number;
        say_ok(call);
    } else if (text_is_word(name, "maxmemory") && text_integer(value, &number)) {
        call->server->failure = number == 1 ? SIM_OOM : SIM_WELL; /* 1 byte is always used */
        say_ok(call);
    } else if (text_is_word(name, "notify-keyspace-events")) {
        set_notifies(call, value);
    } else if (is_without_effect(name)) {
        say_ok(call);
    } else {
        say_error(call, "ERR Unknown option or number of arguments for CONFIG SET - '%.*s'", (int)name.length, name.at);
    }
}

static void run_config_resetstat(sim_call *call)
{
    statistics_begin(call->server);
    say_ok(call);
}

/* One thing that the only user may do again, or may no longer. */
static bool obey_rule(sim_server *server, text rule)
{
    char name[64];
    if (text_is_word(rule, "resetchannels"))
        sim_server_deny(server, SIM_CHANNEL, "*");
    else if (text_is_word(rule, "allchannels"))
        sim_server_deny(server, SIM_CHANNEL, NULL);
    else if (rule.length > 1 && rule.length < sizeof name && (*rule.at == '-' || *rule.at == '+') && rule.at[1] != '@') {
        memcpy(name, rule.at + 1, rule.length - 1);
        name[rule.length - 1] = 0;
        sim_server_deny(server, SIM_COMMAND, *rule.at == '-' ? name : NULL);
    } else {
        return false;
    }
    return true;
}

static void run_acl_setuser(sim_call *call)
{
    bool known = text_is_word(call->words[2], "default");
    for (int i = 3; i < call->count && known; i++)
        known = obey_rule(call->server, call->words[i]);
    if (known)
        say_ok(call);
    else
        say_error(call, "ERR the model has one user, and not these rules");
}

/* Its name alone, and nothing else of what real ones tell. */
static void run_command_info(sim_call *call)
{
    say_array(call, (size_t)call->count - 2);
    for (int i = 2; i < call->count; i++) {
        const sim_command *known = command_find(call->server, &call->words[i], 1);
        if (!known) {
            say_nil_array(call);
            continue;
        }
        say_array(call, 1);
        say_word(call, known->name);
    }
}

#define SAYS (COMMAND_NO_SCRIPT | COMMAND_LOADING | COMMAND_STALE)

const sim_command setting_commands[] = {
    {"config", run_unknown_of_family, -2, COMMAND_FAMILY | SAYS | COMMAND_UNSEEN, 0, 0, 0, 0},
    {"config|get", run_config_get, 3, SAYS | COMMAND_UNSEEN, 0, 0, 0, 0},
    {"config|set", run_config_set, 4, SAYS | COMMAND_UNSEEN, 0, 0, 0, 0},
    {"config|resetstat", run_config_resetstat, 2, SAYS | COMMAND_UNSEEN, 0, 0, 0, 0},
    {"acl", run_unknown_of_family, -2, COMMAND_FAMILY | SAYS | COMMAND_UNSEEN, 0, 0, 0, 0},
    {"acl|setuser", run_acl_setuser, -3, SAYS | COMMAND_UNSEEN, 0, 0, 0, 0},
    {"command", run_unknown_of_family, -2, COMMAND_FAMILY | SAYS, 0, 0, 0, 0},
    {"command|info", run_command_info, -2, SAYS, 0, 0, 0, 0},
    {0},
};
