/* One run of a script: what goes in, and what comes out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/scripts.h"

#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <stdio.h>
#include <string.h>

/* Far more instructions than any script of ours needs for its largest input. */
#define INSTRUCTIONS_MOST 50000000
#define DEEPEST 200

static void run_out(lua_State *lua, lua_Debug *unused)
{
    (void)unused;
    lua_sethook(lua, run_out, LUA_MASKCOUNT, 1); /* so that it is not caught, either */
    luaL_error(lua, "Script killed by the model: it has no end");
}

static void set_words(lua_State *lua, const char *name, const text *words, int count)
{
    lua_createtable(lua, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushlstring(lua, words[i].at, words[i].length);
        lua_rawseti(lua, -2, i + 1);
    }
    lua_setglobal(lua, name);
}

void script_run(sim_call *call, const sim_script *script, int keys)
{
    sim_server *server = call->server;
    lua_State *lua = script_state(server);
    server->caller = call;
    server->script_wrote = false;
    server->script_database = call->database;
    set_words(lua, "KEYS", call->words + 3, keys);
    set_words(lua, "ARGV", call->words + 3 + keys, call->count - 3 - keys);
    lua_pushlightuserdata(lua, server);
    lua_pushcclosure(lua, script_error_handler, 1);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, script->function);
    lua_sethook(lua, run_out, LUA_MASKCOUNT, INSTRUCTIONS_MOST);
    bool failed = lua_pcall(lua, 0, 1, -2) != 0;
    if (lua_gethookcount(lua) == 1 && server->settings.hooks.trouble)
        server->settings.hooks.trouble(server->settings.hooks.world, script->name ? script->name : script->sha1);
    lua_sethook(lua, NULL, 0, 0);
    if (failed) {
        script_say_failure(call, script);
        lua_pop(lua, 1);
    } else {
        script_say(call, lua);
    }
    lua_pop(lua, 1);
    server->caller = NULL;
}

/* --- the answer --- */

static int64_t whole(double number)
{
    return number >= -9223372036854775808.0 && number < 9223372036854775808.0 ? (int64_t)number : INT64_MIN;
}

/* Whether the table on top has a text of that name, which is then on top of it. */
static bool has_text(lua_State *lua, const char *name)
{
    lua_pushstring(lua, name);
    lua_rawget(lua, -2);
    if (lua_type(lua, -1) == LUA_TSTRING)
        return true;
    lua_pop(lua, 1);
    return false;
}

static void say_list(sim_call *call, lua_State *lua)
{
    size_t count = 0;
    for (bool more = true; more; lua_pop(lua, 1)) {
        lua_rawgeti(lua, -1, (int)count + 1);
        more = !lua_isnil(lua, -1);
        count += more;
    }
    say_array(call, count);
    for (size_t i = 1; i <= count; i++) {
        lua_rawgeti(lua, -1, (int)i);
        script_say(call, lua);
    }
}

static void say_table(sim_call *call, lua_State *lua)
{
    if (has_text(lua, "err")) {
        size_t length;
        const char *what = lua_tolstring(lua, -1, &length);
        while (length && strchr("\r\n", what[length - 1]))
            length--; /* up to Redis 6.2, refusals end with a line */
        say_error(call, "%.*s", (int)length, what);
        lua_pop(lua, 1);
    } else if (has_text(lua, "ok")) {
        char line[512];
        snprintf(line, sizeof line, "%s", lua_tostring(lua, -1));
        for (char *at = line; (at = strpbrk(at, "\r\n")) != NULL;)
            *at = ' ';
        say_status(call, line);
        lua_pop(lua, 1);
    } else {
        say_list(call, lua);
    }
}

void script_say(sim_call *call, lua_State *lua)
{
    text word;
    switch (lua_type(lua, -1)) {
    case LUA_TSTRING:
        word.at = lua_tolstring(lua, -1, &word.length);
        say_text(call, word);
        break;
    case LUA_TNUMBER:
        say_integer(call, whole(lua_tonumber(lua, -1)));
        break;
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1))
            say_integer(call, 1);
        else
            say_nil(call);
        break;
    case LUA_TTABLE:
        if (lua_gettop(lua) < DEEPEST && lua_checkstack(lua, 4))
            say_table(call, lua);
        else
            say_error(call, "ERR reached lua stack limit");
        break;
    default:
        say_nil(call);
    }
    lua_pop(lua, 1);
}
