/* Commands about the end of keys. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"

typedef struct expire_options {
    bool only_new, only_old, later, sooner;
} expire_options;

static bool read_options(sim_call *call, expire_options *options)
{
    *options = (expire_options){0};
    for (int i = 3; i < call->count; i++) {
        text word = call->words[i];
        if (text_is_word(word, "nx"))
            options->only_new = true;
        else if (text_is_word(word, "xx"))
            options->only_old = true;
        else if (text_is_word(word, "gt"))
            options->later = true;
        else if (text_is_word(word, "lt"))
            options->sooner = true;
        else {
            say_error(call, "ERR Unsupported option %.*s", (int)word.length, word.at);
            return false;
        }
    }
    if (options->only_new && (options->only_old || options->later || options->sooner))
        say_error(call, "ERR NX and XX, GT or LT options at the same time are not compatible");
    else if (options->later && options->sooner)
        say_error(call, "ERR GT and LT options at the same time are not compatible");
    else
        return true;
    return false;
}

/* Whether the options let it end then. No end is later than any. */
static bool applies(const expire_options *options, int64_t before_ms, int64_t expires_ms)
{
    bool has_end = before_ms != NO_EXPIRY;
    return !(options->only_new && has_end) && !(options->only_old && !has_end) &&
           !(options->later && (!has_end || expires_ms <= before_ms)) &&
           !(options->sooner && has_end && expires_ms >= before_ms);
}

static bool read_instant(sim_call *call, bool seconds, bool absolute, int64_t *expires_ms)
{
    int64_t span;
    if (!word_integer(call, 2, &span))
        return false;
    bool fits = !seconds || (span <= INT64_MAX / 1000 && span >= INT64_MIN / 1000);
    span *= fits && seconds ? 1000 : 1;
    if (!fits || (!absolute && __builtin_add_overflow(span, now_ms(call->server), &span))) {
        say_error(call, call->server->settings.version < SIM_REDIS_7_0 ? "ERR invalid expire time in %s"
                                                                      : "ERR invalid expire time in '%s' command",
                  call->command->name);
        return false;
    }
    *expires_ms = span;
    return true;
}

static void expire(sim_call *call, bool seconds, bool absolute)
{
    expire_options options;
    int64_t expires_ms;
    if (!read_options(call, &options) || !read_instant(call, seconds, absolute, &expires_ms))
        return;
    sim_value *own = key_find(call, call->words[1]);
    bool sets = own && applies(&options, own->expires_ms, expires_ms);
    if (sets && expires_ms <= now_ms(call->server)) {
        key_delete(call, call->words[1]);
    } else if (sets) {
        own->expires_ms = expires_ms;
        key_changed(call, call->words[1]);
    }
    say_integer(call, sets);
}

static void run_pexpire(sim_call *call)
{
    expire(call, false, false);
}

static void run_expire(sim_call *call)
{
    expire(call, true, false);
}

static void run_pexpireat(sim_call *call)
{
    expire(call, false, true);
}

static void run_expireat(sim_call *call)
{
    expire(call, true, true);
}

static void run_persist(sim_call *call)
{
    sim_value *own = key_find(call, call->words[1]);
    bool ended = own && own->expires_ms != NO_EXPIRY;
    if (ended) {
        own->expires_ms = NO_EXPIRY;
        key_changed(call, call->words[1]);
    }
    say_integer(call, ended);
}

/* -2: no key, -1: no end. */
static void say_left(sim_call *call, bool seconds, bool absolute)
{
    const sim_value *own = key_find(call, call->words[1]);
    if (!own || own->expires_ms == NO_EXPIRY) {
        say_integer(call, own ? -1 : -2);
        return;
    }
    int64_t left = absolute ? own->expires_ms : own->expires_ms - now_ms(call->server);
    left = left < 0 ? 0 : left;
    say_integer(call, seconds ? (left + 500) / 1000 : left);
}

static void run_pttl(sim_call *call)
{
    say_left(call, false, false);
}

static void run_ttl(sim_call *call)
{
    say_left(call, true, false);
}

static void run_pexpiretime(sim_call *call)
{
    say_left(call, false, true);
}

const sim_command expiry_commands[] = {
    {"pexpire", run_pexpire, -3, COMMAND_WRITE | COMMAND_OPTIONS_7, 1, 1, 1, 0},
    {"expire", run_expire, -3, COMMAND_WRITE | COMMAND_OPTIONS_7, 1, 1, 1, 0},
    {"pexpireat", run_pexpireat, -3, COMMAND_WRITE | COMMAND_OPTIONS_7, 1, 1, 1, 0},
    {"expireat", run_expireat, -3, COMMAND_WRITE | COMMAND_OPTIONS_7, 1, 1, 1, 0},
    {"persist", run_persist, 2, COMMAND_WRITE, 1, 1, 1, 0},
    {"pttl", run_pttl, 2, 0, 1, 1, 1, 0},
    {"ttl", run_ttl, 2, 0, 1, 1, 1, 0},
    {"pexpiretime", run_pexpiretime, 2, 0, 1, 1, 1, SIM_REDIS_7_0},
    {0},
};
