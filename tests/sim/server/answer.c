/* Answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"

#include "tests/sim/server/number.h"

#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The value on top of Lua's stack is complete: it goes into the array that is being filled, and that into the one
 * around it when it is full. */
static void placed(sim_call *call)
{
    while (call->depth > 0) {
        int level = call->depth - 1;
        lua_rawseti(call->lua, -2, ++call->nested[level].index);
        if (--call->nested[level].left)
            return;
        call->depth--;
    }
}

static void add_line(sim_call *call, char kind, const char *at, size_t length)
{
    bytes *out = &call->link->out;
    bytes_add(out, &kind, 1);
    bytes_add(out, at, length);
    bytes_add(out, "\r\n", 2);
}

static void add_number_line(sim_call *call, char kind, int64_t value)
{
    char line[NUMBER_SIZE + 3];
    *line = kind;
    size_t length = 1 + integer_write(line + 1, value);
    line[length++] = '\r';
    line[length++] = '\n';
    bytes_add(&call->link->out, line, length);
}

void say_integer(sim_call *call, int64_t value)
{
    if (call->lua) {
        lua_pushnumber(call->lua, (lua_Number)value);
        placed(call);
    } else {
        add_number_line(call, ':', value);
    }
}

void say_text(sim_call *call, text value)
{
    if (call->lua) {
        lua_pushlstring(call->lua, value.at, value.length);
        placed(call);
        return;
    }
    add_number_line(call, '$', (int64_t)value.length);
    bytes_add(&call->link->out, value.at, value.length);
    bytes_add(&call->link->out, "\r\n", 2);
}

void say_word(sim_call *call, const char *value)
{
    say_text(call, text_of(value));
}

void say_status(sim_call *call, const char *value)
{
    if (!call->lua) {
        add_line(call, '+', value, strlen(value));
        return;
    }
    lua_createtable(call->lua, 0, 1);
    lua_pushstring(call->lua, value);
    lua_setfield(call->lua, -2, "ok");
    placed(call);
}

void say_ok(sim_call *call)
{
    say_status(call, "OK");
}

void say_nil(sim_call *call)
{
    if (call->lua) {
        lua_pushboolean(call->lua, 0);
        placed(call);
    } else {
        bytes_add(&call->link->out, "$-1\r\n", 5);
    }
}

void say_nil_array(sim_call *call)
{
    if (call->lua)
        say_nil(call);
    else
        bytes_add(&call->link->out, "*-1\r\n", 5);
}

void say_array(sim_call *call, size_t count)
{
    if (!call->lua) {
        add_number_line(call, '*', (int64_t)count);
        return;
    }
    luaL_checkstack(call->lua, 4, "answer");
    lua_createtable(call->lua, (int)count, 0);
    if (!count) {
        placed(call);
        return;
    }
    call->nested[call->depth].left = count;
    call->nested[call->depth++].index = 0;
}

void say_score(sim_call *call, double score)
{
    char digits[NUMBER_ROOM];
    bool exact = call->server->settings.version >= SIM_REDIS_7_2;
    say_text(call, (text){digits, number_write(digits, score, exact ? NUMBER_WHOLE : NUMBER_17_DIGITS)});
}

void say_error(sim_call *call, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *at = line; *at; at++) {
        if (*at == '\r' || *at == '\n')
            *at = ' ';
    }
    call->failed = true;
    if (!call->lua) {
        call->server->statistics.errors += !call->link->muted;
        add_line(call, '-', line, strlen(line));
        return;
    }
    lua_createtable(call->lua, 0, 1);
    lua_pushstring(call->lua, line);
    lua_setfield(call->lua, -2, "err");
    placed(call);
}

void say_syntax_error(sim_call *call)
{
    say_error(call, "ERR syntax error");
}

void say_wrong_type(sim_call *call)
{
    say_error(call, "WRONGTYPE Operation against a key holding the wrong kind of value");
}

bool word_integer(sim_call *call, int word, int64_t *value)
{
    if (text_integer(call->words[word], value))
        return true;
    say_error(call, "ERR value is not an integer or out of range");
    return false;
}

bool word_timeout(sim_call *call, int word, int64_t *until_ms)
{
    int64_t span;
    if (!text_integer(call->words[word], &span)) {
        say_error(call, "ERR timeout is not an integer or out of range");
        return false;
    }
    if (span < 0) {
        say_error(call, "ERR timeout is negative");
        return false;
    }
    if (__builtin_add_overflow(span, now_ms(call->server), until_ms))
        *until_ms = INT64_MAX / 1000; /* a real server's own sum overflows */
    if (span == 0)
        *until_ms = 0;
    return true;
}

bool word_score(sim_call *call, int word, double *value)
{
    if (text_number(call->words[word], value))
        return true;
    say_error(call, "ERR value is not a valid float");
    return false;
}
