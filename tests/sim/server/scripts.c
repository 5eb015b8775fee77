/* Commands of scripts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/scripts.h"

#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"
#include "tests/sim/server/sha1.h"

#include <ctype.h>
#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <string.h>

static void free_script(entry *one)
{
    sim_free(one->pointer);
}

void scripts_forget(sim_server *server)
{
    table_clear(&server->scripts, free_script);
    script_state_free(server);
}

/* NULL: it does not compile, and the error was said. */
static const sim_script *compiled(sim_call *call, text body)
{
    sim_server *server = call->server;
    char sha1[41];
    bool fresh;
    sha1_hex(body.at, body.length, sha1);
    entry *one = table_find(&server->scripts, text_of(sha1));
    if (one)
        return one->pointer;
    lua_State *lua = script_state(server);
    if (luaL_loadbuffer(lua, body.at, body.length, "@user_script")) {
        say_error(call, "ERR Error compiling script (new function): %s", lua_tostring(lua, -1));
        lua_pop(lua, 1);
        return NULL;
    }
    script_shield(server);
    sim_script *own = sim_new(sizeof *own);
    memcpy(own->sha1, sha1, sizeof own->sha1);
    own->function = luaL_ref(lua, LUA_REGISTRYINDEX);
    own->name = script_name(sha1);
    table_add(&server->scripts, text_of(sha1), &fresh)->pointer = own;
    return own;
}

static const sim_script *known(sim_server *server, text sha1)
{
    char small[40];
    if (sha1.length != sizeof small)
        return NULL;
    for (size_t i = 0; i < sizeof small; i++)
        small[i] = (char)tolower((unsigned char)sha1.at[i]);
    const entry *one = table_find(&server->scripts, (text){small, sizeof small});
    return one ? one->pointer : NULL;
}

static bool read_key_count(sim_call *call, int64_t *keys)
{
    if (!word_integer(call, 2, keys))
        return false;
    if (*keys > call->count - 3)
        say_error(call, "ERR Number of keys can't be greater than number of args");
    else if (*keys < 0)
        say_error(call, "ERR Number of keys can't be negative");
    else
        return true;
    return false;
}

static void run_it(sim_call *call, const sim_script *script, int keys)
{
    sim_server *server = call->server;
    const sim_hooks *hooks = &server->settings.hooks;
    size_t said = call->link->out.length;
    sim_run run = {.sha1 = script->sha1, .name = script->name, .keys = (size_t)keys, .count = (size_t)call->count - 3,
                   .words = call->words + 3};
    if (hooks->begins && !call->link->muted)
        hooks->begins(hooks->world, &run);
    script_run(call, script, keys);
    if (!hooks->ran || call->link->muted)
        return;
    run.answer = (sim_word){call->link->out.at + said, call->link->out.length - said};
    hooks->ran(hooks->world, call->link, &run);
}

static void run_eval(sim_call *call)
{
    int64_t keys;
    if (!read_key_count(call, &keys))
        return;
    const sim_script *script = compiled(call, call->words[1]);
    if (script)
        run_it(call, script, (int)keys);
}

static void run_evalsha(sim_call *call)
{
    int64_t keys;
    const sim_script *script = known(call->server, call->words[1]);
    if (call->words[1].length != 40 || (read_key_count(call, &keys) && !script))
        say_error(call, "NOSCRIPT No matching script.%s",
                  call->server->settings.version == SIM_VALKEY_8_0 ? "" : " Please use EVAL.");
    else if (!call->failed)
        run_it(call, script, (int)keys);
}

static void run_load(sim_call *call)
{
    const sim_script *script = compiled(call, call->words[2]);
    if (script)
        say_word(call, script->sha1);
}

static void run_script_exists(sim_call *call)
{
    say_array(call, (size_t)call->count - 2);
    for (int i = 2; i < call->count; i++)
        say_integer(call, known(call->server, call->words[i]) != NULL);
}

static void run_flush(sim_call *call)
{
    if (call->count > 3 || (call->count == 3 && !text_is_word(call->words[2], "sync") &&
                            !text_is_word(call->words[2], "async"))) {
        say_error(call, "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        return;
    }
    scripts_forget(call->server);
    say_ok(call);
}

static void run_kill(sim_call *call)
{
    if (call->server->failure != SIM_BUSY) {
        say_error(call, "NOTBUSY No scripts in execution right now.");
        return;
    }
    call->server->failure = SIM_WELL;
    say_ok(call);
}

#define RUNS (COMMAND_NO_SCRIPT | COMMAND_SPREADS | COMMAND_NUMBERED)

const sim_command script_commands[] = {
    {"eval", run_eval, -3, RUNS, 2, 0, 1, 0},
    {"evalsha", run_evalsha, -3, RUNS, 2, 0, 1, 0},
    {"script", run_unknown_of_family, -2, COMMAND_FAMILY, 0, 0, 0, 0},
    {"script|load", run_load, 3, COMMAND_NO_SCRIPT | COMMAND_STALE_7, 0, 0, 0, 0},
    {"script|exists", run_script_exists, -3, COMMAND_NO_SCRIPT, 0, 0, 0, 0},
    {"script|flush", run_flush, -2, COMMAND_NO_SCRIPT, 0, 0, 0, 0},
    {"script|kill", run_kill, 2, COMMAND_NO_SCRIPT | COMMAND_BUSY, 0, 0, 0, 0},
    {0},
};
