/* Errors of scripts, in the words of the versions: up to Redis 6.2 texts, with the place before the code; later tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/scripts.h"

#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <stdio.h>
#include <string.h>

static bool is_old(const sim_server *server)
{
    return server->settings.version < SIM_REDIS_7_0;
}

void script_push_error(lua_State *lua, const sim_server *server, const char *what)
{
    lua_Debug place;
    const char *space = strchr(what, ' ');
    bool coded = *what == '-' && space;
    lua_createtable(lua, 0, 1);
    if (is_old(server) && lua_getstack(lua, 1, &place) && lua_getinfo(lua, "nSl", &place))
        lua_pushfstring(lua, "%s: %d: %s", place.source, place.currentline, what);
    else if (is_old(server))
        lua_pushstring(lua, what);
    else if (coded)
        lua_pushstring(lua, what + 1);
    else
        lua_pushfstring(lua, "ERR %s", what + (*what == '-'));
    lua_setfield(lua, -2, "err");
}

void script_raise(lua_State *lua, const sim_server *server)
{
    if (is_old(server))
        lua_getfield(lua, -1, "err");
    lua_error(lua);
}

/* The function in which it happened: not the one of C that raised it. */
static bool find_place(lua_State *lua, lua_Debug *place)
{
    for (int level = 1; lua_getstack(lua, level, place); level++) {
        lua_getinfo(lua, "nSl", place);
        if (level > 1 || strcmp(place->what, "C") != 0)
            return true;
    }
    return false;
}

int script_error_handler(lua_State *lua)
{
    const sim_server *server = lua_touserdata(lua, lua_upvalueindex(1));
    lua_Debug place;
    bool placed = find_place(lua, &place);
    if (is_old(server)) {
        const char *what = lua_tostring(lua, 1);
        if (placed && what)
            lua_pushfstring(lua, "%s:%d: %s", place.source, place.currentline, what);
        else if (placed) /* the handler of those versions fails in its turn */
            lua_pushfstring(lua, "@err_handler_def:9: err_handler_def:9: attempt to concatenate local 'err' (a %s value)",
                            luaL_typename(lua, 1));
        return 1;
    }
    if (!lua_istable(lua, 1)) {
        const char *what = lua_tostring(lua, 1);
        lua_settop(lua, 1);
        lua_createtable(lua, 0, 3);
        lua_pushfstring(lua, "ERR %s", what ? what : lua_isnil(lua, 1) ? "nil" : luaL_typename(lua, 1));
        lua_setfield(lua, -2, "err");
    }
    if (placed) {
        lua_pushstring(lua, place.source);
        lua_setfield(lua, -2, "source");
        lua_pushinteger(lua, place.currentline);
        lua_setfield(lua, -2, "line");
    }
    return 1;
}

void script_say_failure(sim_call *call, const sim_script *script)
{
    lua_State *lua = call->server->lua;
    char line[900];
    if (is_old(call->server) || !lua_istable(lua, -1)) {
        const char *what = lua_tostring(lua, -1);
        snprintf(line, sizeof line, "%s", what ? what : "execution failure");
        for (size_t length = strlen(line); length && (line[length - 1] == '\n' || line[length - 1] == '\r'); length--)
            line[length - 1] = 0;
        say_error(call, is_old(call->server) ? "ERR Error running script (call to f_%s): %s" : "ERR Error running script %s, %s",
                  script->sha1, line);
        return;
    }
    lua_getfield(lua, -1, "err");
    lua_getfield(lua, -2, "source");
    lua_getfield(lua, -3, "line");
    const char *what = lua_tostring(lua, -3), *source = lua_tostring(lua, -2), *number = lua_tostring(lua, -1);
    snprintf(line, sizeof line, "%s", what ? what : "ERR unknown error");
    if (source && number)
        say_error(call, "%s script: %s, on %s:%s.", line, script->sha1, source, number);
    else
        say_error(call, "%s", line);
    lua_pop(lua, 3);
}
