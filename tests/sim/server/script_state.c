/* What scripts find in Lua: the server's functions, and no way to make globals. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"
#include "tests/sim/server/number.h"
#include "tests/sim/server/scripts.h"
#include "tests/sim/server/sha1.h"
#include "tests/sim/server/wording.h"

#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <stdio.h>
#include <lua5.1/lualib.h>
#include <string.h>

static sim_server *server_of(lua_State *lua)
{
    return lua_touserdata(lua, lua_upvalueindex(1));
}

/* --- redis.call --- */

/* Numbers among the words are written here; those of a larger command become texts of Lua. */
#define NUMBERS 16

typedef struct lua_words {
    text all[32], *at; /* `at`: all, or more */
    char digits[NUMBERS][NUMBER_ROOM];
    int count, numbers;
} lua_words;

static text number_word(lua_State *lua, lua_words *words, int index)
{
    sim_version version = server_of(lua)->settings.version;
    number_style style = version < SIM_REDIS_7_2 ? NUMBER_17_DIGITS : version == SIM_REDIS_7_2 ? NUMBER_SHORTEST : NUMBER_WHOLE;
    char digits[NUMBER_ROOM], *to = words->numbers < NUMBERS ? words->digits[words->numbers++] : digits;
    text word = {to, number_write(to, lua_tonumber(lua, index) + (style == NUMBER_WHOLE ? 0.0 : -0.0), style)};
    if (to == digits) {
        lua_pushlstring(lua, word.at, word.length);
        lua_replace(lua, index);
        word.at = lua_tolstring(lua, index, &word.length);
    }
    return word;
}

/* False: they are none, and an error is on the stack. The words stay on Lua's stack. */
static bool read_words(lua_State *lua, lua_words *words)
{
    words->count = lua_gettop(lua);
    words->numbers = 0;
    words->at = words->all;
    if (words->count == 0) {
        script_push_error(lua, server_of(lua), script_refusal_of(server_of(lua), REFUSAL_NO_WORDS));
        return false;
    }
    if (words->count > (int)(sizeof words->all / sizeof *words->all))
        words->at = lua_newuserdata(lua, (size_t)words->count * sizeof(text));
    for (int i = 0; i < words->count; i++) {
        int type = lua_type(lua, i + 1);
        if (type == LUA_TNUMBER) {
            words->at[i] = number_word(lua, words, i + 1);
        } else if (type == LUA_TSTRING) {
            words->at[i].at = lua_tolstring(lua, i + 1, &words->at[i].length);
        } else {
            script_push_error(lua, server_of(lua), script_refusal_of(server_of(lua), REFUSAL_NO_TEXT));
            return false;
        }
    }
    return true;
}

static const char *forbidden(const sim_call *call)
{
    static const char *const what[] = {"run this command or subcommand",
                                       "access at least one of the keys mentioned in the command arguments",
                                       "publish to the channel mentioned in the command"};
    static char line[160];
    sim_server *server = call->server;
    sim_right right;
    int word;
    if (command_allowed(server, call->command, call->words, call->count, &right, &word))
        return NULL;
    const char *user = *server->user ? server->user : "default";
    if (server->settings.version < SIM_REDIS_7_2)
        snprintf(line, sizeof line, "The user executing the script can't %s", what[right]);
    else if (right == SIM_COMMAND)
        snprintf(line, sizeof line, "ACL failure in script: User %s has no permissions to run the '%s' command", user,
                 call->command->name);
    else
        snprintf(line, sizeof line, "ACL failure in script: No permissions to access a %s", right == SIM_KEY ? "key" : "channel");
    return line;
}

/* Why the command is not run; NULL: it is. Its code, if it has one, has a `-` before it. */
static const char *refusal(sim_call *call)
{
    static char line[512];
    sim_server *server = call->server;
    bool old = server->settings.version < SIM_REDIS_7_0;
    const char *why;
    int slot, node;
    if (!call->command)
        return script_refusal_of(server, REFUSAL_UNKNOWN);
    if (!command_arity_fits(server, call->command, call->count))
        return script_refusal_of(server, REFUSAL_ARITY);
    if (call->command->flags & COMMAND_NO_SCRIPT)
        return script_refusal_of(server, REFUSAL_FORBIDDEN);
    if ((why = forbidden(call)) != NULL)
        return why;
    if (!server->script_wrote && (why = refusal_of(call, true)) != NULL) {
        snprintf(line, sizeof line, "-%s%s", why, old ? "\r\n" : "");
        return line;
    }
    server->script_wrote |= (call->command->flags & COMMAND_WRITE) != 0;
    sim_where where = command_where(call, &slot, &node);
    if (where == WHERE_DOWN)
        return old ? "Lua script attempted to execute a command while the cluster is down"
                   : "Script attempted to execute a command while the cluster is down";
    if (where != WHERE_HERE)
        return old ? "Lua script attempted to access a non local key in a cluster node"
                   : "Script attempted to access a non local key in a cluster node";
    return NULL;
}

static int run_one(lua_State *lua, bool raises)
{
    sim_server *server = server_of(lua);
    lua_words words;
    if (!read_words(lua, &words)) {
        if (raises)
            script_raise(lua, server);
        return 1;
    }
    sim_call one = {.server = server, .link = server->caller->link, .words = words.at, .count = words.count,
                .database = server->script_database, .lua = lua, .command = command_find(server, words.at, words.count)};
    const char *why = refusal(&one);
    luaL_checkstack(lua, 16, "answer");
    if (why) {
        script_push_error(lua, server, why);
        one.failed = true;
    } else {
        command_run(&one);
        server->script_database = one.database;
        server->caller->wrote |= one.wrote;
    }
    if (one.failed && raises)
        script_raise(lua, server);
    return 1;
}

static int lua_redis_call(lua_State *lua)
{
    return run_one(lua, true);
}

static int lua_redis_pcall(lua_State *lua)
{
    return run_one(lua, false);
}

/* --- the other functions --- */

static int lua_sha1hex(lua_State *lua)
{
    char digits[41];
    text of;
    if (lua_gettop(lua) != 1 || !(of.at = lua_tolstring(lua, 1, &of.length))) {
        script_push_error(lua, server_of(lua), "wrong number of arguments");
        script_raise(lua, server_of(lua));
    }
    sha1_hex(of.at, of.length, digits);
    lua_pushstring(lua, digits);
    return 1;
}

static bool is_one_text(lua_State *lua)
{
    bool is = lua_gettop(lua) == 1 && lua_type(lua, 1) == LUA_TSTRING;
    if (!is)
        script_push_error(lua, server_of(lua), "wrong number or type of arguments");
    return is;
}

static int lua_error_reply(lua_State *lua)
{
    if (!is_one_text(lua))
        return 1;
    const char *what = lua_tostring(lua, 1);
    if (server_of(lua)->settings.version >= SIM_REDIS_7_0) {
        script_push_error(lua, server_of(lua), *what == '-' ? what : lua_pushfstring(lua, "-%s", what));
        return 1;
    }
    lua_createtable(lua, 0, 1);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, "err");
    return 1;
}

static int lua_status_reply(lua_State *lua)
{
    if (!is_one_text(lua))
        return 1;
    lua_createtable(lua, 0, 1);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, "ok");
    return 1;
}

static int lua_does_nothing(lua_State *lua)
{
    lua_pushboolean(lua, 1);
    return 1;
}

/* Since errors are tables: who catches one is given its text. */
static int lua_catch(lua_State *lua)
{
    luaL_checkany(lua, 1);
    int status = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0);
    if (status && lua_istable(lua, -1)) {
        lua_getfield(lua, -1, "err");
        if (lua_isstring(lua, -1))
            lua_replace(lua, -2);
        else
            lua_pop(lua, 1);
    }
    lua_pushboolean(lua, status == 0);
    lua_insert(lua, 1);
    return lua_gettop(lua);
}

static int lua_no_global(lua_State *lua)
{
    return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'", lua_tostring(lua, 2));
}

static int lua_no_new_global(lua_State *lua)
{
    return luaL_error(lua, "Attempt to modify a readonly table");
}

/* --- the state --- */

static void add_function(lua_State *lua, sim_server *server, const char *name, lua_CFunction function)
{
    lua_pushlightuserdata(lua, server);
    lua_pushcclosure(lua, function, 1);
    lua_setfield(lua, -2, name);
}

static void add_redis(lua_State *lua, sim_server *server)
{
    static const struct {
        const char *text;
        int number;
    } versions[] = {[SIM_REDIS_7_0] = {"7.0.15", 0x0007000f}, [SIM_REDIS_7_2] = {"7.2.4", 0x00070204},
                    [SIM_REDIS_8_0] = {"8.0.2", 0x00080002}, [SIM_VALKEY_8_0] = {"7.2.4", 0x00070204},
                    [SIM_REDICT_7_3] = {"7.2.4", 0x00070204}};
    lua_newtable(lua);
    add_function(lua, server, "call", lua_redis_call);
    add_function(lua, server, "pcall", lua_redis_pcall);
    add_function(lua, server, "sha1hex", lua_sha1hex);
    add_function(lua, server, "error_reply", lua_error_reply);
    add_function(lua, server, "status_reply", lua_status_reply);
    add_function(lua, server, "log", lua_does_nothing);
    add_function(lua, server, "replicate_commands", lua_does_nothing);
    if (server->settings.version >= SIM_REDIS_7_0) {
        lua_pushstring(lua, versions[server->settings.version].text);
        lua_setfield(lua, -2, "REDIS_VERSION");
        lua_pushinteger(lua, versions[server->settings.version].number);
        lua_setfield(lua, -2, "REDIS_VERSION_NUM");
    }
    lua_setglobal(lua, "redis");
}

/* What scripts see in place of the globals: all of them, and none can be set. Of tables that they hold, such as
 * `string`, the fields can, which a real server forbids, too. */
static void push_readonly_globals(lua_State *lua, sim_server *server)
{
    lua_newtable(lua);
    lua_newtable(lua);
    lua_pushvalue(lua, LUA_GLOBALSINDEX);
    lua_setfield(lua, -2, "__index");
    add_function(lua, server, "__newindex", lua_no_new_global);
    lua_setmetatable(lua, -2);
}

static void forbid_globals(lua_State *lua, sim_server *server)
{
    static const char *const unwanted[] = {"dofile", "loadfile", "print", "newproxy"};
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++) {
        lua_pushnil(lua);
        lua_setglobal(lua, unwanted[i]);
    }
    lua_newtable(lua);
    lua_setglobal(lua, "KEYS");
    lua_newtable(lua);
    lua_setglobal(lua, "ARGV");
    lua_pushvalue(lua, LUA_GLOBALSINDEX);
    lua_newtable(lua);
    add_function(lua, server, "__index", lua_no_global);
    add_function(lua, server, "__newindex", lua_no_new_global);
    lua_setmetatable(lua, -2);
    lua_pop(lua, 1);
}

static void *allocate(void *unused, void *at, size_t old, size_t size)
{
    (void)unused;
    (void)old;
    if (size)
        return sim_resize(at, size);
    sim_free(at);
    return NULL;
}

static int open_libraries(lua_State *lua)
{
    static const struct {
        const char *name;
        lua_CFunction open;
    } libraries[] = {{"", luaopen_base}, {LUA_TABLIBNAME, luaopen_table}, {LUA_STRLIBNAME, luaopen_string},
                     {LUA_MATHLIBNAME, luaopen_math}};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        lua_pushcfunction(lua, libraries[i].open);
        lua_pushstring(lua, libraries[i].name);
        lua_call(lua, 1, 0);
    }
    return 0;
}

lua_State *script_state(sim_server *server)
{
    if (server->lua)
        return server->lua;
    lua_State *lua = server->lua = lua_newstate(allocate, NULL);
    open_libraries(lua);
    add_redis(lua, server);
    if (server->settings.version >= SIM_REDIS_7_0) {
        lua_pushcfunction(lua, lua_catch);
        lua_setglobal(lua, "pcall");
    }
    forbid_globals(lua, server);
    push_readonly_globals(lua, server);
    server->readonly_globals = luaL_ref(lua, LUA_REGISTRYINDEX);
    return lua;
}

void script_shield(sim_server *server)
{
    lua_rawgeti(server->lua, LUA_REGISTRYINDEX, server->readonly_globals);
    lua_setfenv(server->lua, -2);
}

void script_state_free(sim_server *server)
{
    if (server->lua)
        lua_close(server->lua);
    server->lua = NULL;
}
