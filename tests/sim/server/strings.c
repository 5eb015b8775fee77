/* Commands of strings and counters. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"

#include <string.h>

static text string_of(const sim_value *own)
{
    return (text){own->string.at ? own->string.at : "", own->string.length};
}

static void put_string(sim_value *own, text content)
{
    own->string.length = 0;
    bytes_add(&own->string, content.at, content.length);
}

static void say_string(sim_call *call, const sim_value *own)
{
    if (own)
        say_text(call, string_of(own));
    else
        say_nil(call);
}

static void run_get(sim_call *call)
{
    sim_value *own;
    if (key_of(call, call->words[1], VALUE_STRING, &own))
        say_string(call, own);
}

static void run_getdel(sim_call *call)
{
    sim_value *own;
    if (!key_of(call, call->words[1], VALUE_STRING, &own))
        return;
    say_string(call, own);
    if (own)
        key_delete(call, call->words[1]);
}

static void run_getset(sim_call *call)
{
    sim_value *own;
    if (!key_of(call, call->words[1], VALUE_STRING, &own))
        return;
    say_string(call, own);
    put_string(key_make(call, call->words[1], VALUE_STRING), call->words[2]);
}

static void run_strlen(sim_call *call)
{
    sim_value *own;
    if (key_of(call, call->words[1], VALUE_STRING, &own))
        say_integer(call, own ? (int64_t)own->string.length : 0);
}

/* --- SET --- */

typedef struct set_options {
    bool only_new, only_old, get, keeps_end;
    int64_t expires_ms;
} set_options;

/* The end that a word names, in ms of the wall clock. False: an error was said. */
static bool end_of(sim_call *call, int word, bool seconds, bool absolute, int64_t *expires_ms)
{
    int64_t span;
    if (!word_integer(call, word, &span))
        return false;
    bool fits = span > 0 && (!seconds || span <= INT64_MAX / 1000);
    span *= fits && seconds ? 1000 : 1;
    fits = fits && (absolute || span <= INT64_MAX - now_ms(call->server));
    if (fits)
        *expires_ms = absolute ? span : span + now_ms(call->server);
    else
        say_error(call, call->server->settings.version < SIM_REDIS_7_0 ? "ERR invalid expire time in %s"
                                                                      : "ERR invalid expire time in '%s' command",
                  call->command->name);
    return fits;
}

static bool read_set_options(sim_call *call, set_options *options)
{
    *options = (set_options){.expires_ms = NO_EXPIRY};
    int end_word = 0;
    for (int i = 3; i < call->count; i++) {
        text word = call->words[i];
        bool more = i + 1 < call->count, ends = end_word || options->keeps_end;
        if (text_is_word(word, "nx") && !options->only_old)
            options->only_new = true;
        else if (text_is_word(word, "xx") && !options->only_new)
            options->only_old = true;
        else if (text_is_word(word, "get"))
            options->get = true;
        else if (text_is_word(word, "keepttl") && !ends)
            options->keeps_end = true;
        else if ((text_is_word(word, "px") || text_is_word(word, "ex") || text_is_word(word, "pxat") ||
                  text_is_word(word, "exat")) && more && !ends)
            end_word = ++i;
        else
            end_word = -1;
        if (end_word < 0) {
            say_syntax_error(call);
            return false;
        }
    }
    if (options->get && options->only_new && call->server->settings.version < SIM_REDIS_7_0) {
        say_syntax_error(call);
        return false;
    }
    text unit = call->words[end_word ? end_word - 1 : 0];
    return !end_word || end_of(call, end_word, *unit.at == 'e' || *unit.at == 'E', unit.length == 4, &options->expires_ms);
}

static void run_set(sim_call *call)
{
    set_options options;
    sim_value *old;
    if (!read_set_options(call, &options))
        return;
    old = key_find(call, call->words[1]);
    if (options.get && old && old->type != VALUE_STRING) {
        say_wrong_type(call);
        return;
    }
    bool sets = old ? !options.only_new : !options.only_old;
    if (options.get)
        say_string(call, old);
    else if (sets)
        say_ok(call);
    else
        say_nil(call);
    if (!sets)
        return;
    int64_t expires_ms = old && options.keeps_end ? old->expires_ms : options.expires_ms;
    sim_value *own = key_make(call, call->words[1], VALUE_STRING);
    put_string(own, call->words[2]);
    own->expires_ms = expires_ms;
    if (options.expires_ms != NO_EXPIRY)
        notify(call->server, call->database, 'g', "expire", call->words[1]);
    if (expires_ms != NO_EXPIRY && expires_ms <= now_ms(call->server) && call->server->settings.version >= SIM_REDIS_7_2)
        key_delete(call, call->words[1]);
}

static void run_setnx(sim_call *call)
{
    bool sets = !key_find(call, call->words[1]);
    if (sets)
        put_string(key_make(call, call->words[1], VALUE_STRING), call->words[2]);
    say_integer(call, sets);
}

static void set_with_end(sim_call *call, bool seconds)
{
    int64_t expires_ms;
    if (!end_of(call, 2, seconds, false, &expires_ms))
        return;
    sim_value *own = key_make(call, call->words[1], VALUE_STRING);
    put_string(own, call->words[3]);
    own->expires_ms = expires_ms;
    notify(call->server, call->database, 'g', "expire", call->words[1]);
    say_ok(call);
}

static void run_psetex(sim_call *call)
{
    set_with_end(call, false);
}

static void run_setex(sim_call *call)
{
    set_with_end(call, true);
}

static void run_mget(sim_call *call)
{
    say_array(call, (size_t)call->count - 1);
    for (int i = 1; i < call->count; i++) {
        const sim_value *own = key_find(call, call->words[i]);
        say_string(call, own && own->type == VALUE_STRING ? own : NULL);
    }
}

static void run_mset(sim_call *call)
{
    if (call->count % 2 == 0) {
        if (call->server->settings.version < SIM_REDIS_7_0)
            say_error(call, "ERR wrong number of arguments for MSET");
        else
            say_error(call, "ERR wrong number of arguments for 'mset' command");
        return;
    }
    for (int i = 1; i < call->count; i += 2)
        put_string(key_make(call, call->words[i], VALUE_STRING), call->words[i + 1]);
    say_ok(call);
}

static void run_append(sim_call *call)
{
    sim_value *own;
    if (!key_of(call, call->words[1], VALUE_STRING, &own))
        return;
    if (!own)
        own = key_make(call, call->words[1], VALUE_STRING);
    bytes_add(&own->string, call->words[2].at, call->words[2].length);
    key_changed(call, call->words[1]);
    say_integer(call, (int64_t)own->string.length);
}

/* --- counters --- */

static void add(sim_call *call, int64_t more)
{
    sim_value *own;
    int64_t sum = 0;
    if (!key_of(call, call->words[1], VALUE_STRING, &own))
        return;
    if (own && !text_integer(string_of(own), &sum)) {
        say_error(call, "ERR value is not an integer or out of range");
        return;
    }
    if (__builtin_add_overflow(sum, more, &sum)) {
        say_error(call, "ERR increment or decrement would overflow");
        return;
    }
    char digits[NUMBER_SIZE];
    if (!own)
        own = key_make(call, call->words[1], VALUE_STRING);
    put_string(own, (text){digits, integer_write(digits, sum)});
    key_changed(call, call->words[1]);
    say_integer(call, sum);
}

static void run_incr(sim_call *call)
{
    add(call, 1);
}

static void run_decr(sim_call *call)
{
    add(call, -1);
}

static void run_incrby(sim_call *call)
{
    int64_t more;
    if (word_integer(call, 2, &more))
        add(call, more);
}

static void run_decrby(sim_call *call)
{
    int64_t less;
    if (!word_integer(call, 2, &less))
        return;
    if (less == INT64_MIN && call->server->settings.version < SIM_REDIS_7_0)
        add(call, less); /* which is what its negation is there */
    else if (less == INT64_MIN)
        say_error(call, "ERR decrement would overflow");
    else
        add(call, -less);
}

#define WRITES (COMMAND_WRITE | COMMAND_MEMORY)

const sim_command string_commands[] = {
    {"get", run_get, 2, 0, 1, 1, 1, 0},
    {"getdel", run_getdel, 2, COMMAND_WRITE, 1, 1, 1, 0},
    {"getset", run_getset, 3, WRITES, 1, 1, 1, 0},
    {"strlen", run_strlen, 2, 0, 1, 1, 1, 0},
    {"set", run_set, -3, WRITES, 1, 1, 1, 0},
    {"setnx", run_setnx, 3, WRITES, 1, 1, 1, 0},
    {"psetex", run_psetex, 4, WRITES, 1, 1, 1, 0},
    {"setex", run_setex, 4, WRITES, 1, 1, 1, 0},
    {"mget", run_mget, -2, 0, 1, -1, 1, 0},
    {"mset", run_mset, -3, WRITES, 1, -1, 2, 0},
    {"append", run_append, 3, WRITES, 1, 1, 1, 0},
    {"incr", run_incr, 2, WRITES, 1, 1, 1, 0},
    {"decr", run_decr, 2, WRITES, 1, 1, 1, 0},
    {"incrby", run_incrby, 3, WRITES, 1, 1, 1, 0},
    {"decrby", run_decrby, 3, WRITES, 1, 1, 1, 0},
    {0},
};
