/* Commands of hashes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"

#include <string.h>

static const entry *field_of(const sim_value *own, text field)
{
    return own ? table_find(&own->members, field) : NULL;
}

static bool put_field(sim_value *own, text field, text content)
{
    bool fresh;
    entry_put(table_add(&own->members, field, &fresh), content);
    return fresh;
}

static void put_all(sim_call *call, bool counts)
{
    sim_value *own;
    if (call->count % 2) {
        say_error(call, "ERR wrong number of arguments for '%s' command", call->command->name);
        return;
    }
    if (!key_of(call, call->words[1], VALUE_HASH, &own))
        return;
    if (!own)
        own = key_make(call, call->words[1], VALUE_HASH);
    int64_t fresh = 0;
    for (int i = 2; i < call->count; i += 2)
        fresh += put_field(own, call->words[i], call->words[i + 1]);
    key_changed(call, call->words[1]);
    if (counts)
        say_integer(call, fresh);
    else
        say_ok(call);
}

static void run_hset(sim_call *call)
{
    put_all(call, true);
}

static void run_hmset(sim_call *call)
{
    put_all(call, false);
}

static void run_hsetnx(sim_call *call)
{
    sim_value *own;
    if (!key_of(call, call->words[1], VALUE_HASH, &own))
        return;
    bool sets = !field_of(own, call->words[2]);
    if (sets) {
        put_field(own ? own : key_make(call, call->words[1], VALUE_HASH), call->words[2], call->words[3]);
        key_changed(call, call->words[1]);
    }
    say_integer(call, sets);
}

static void say_field(sim_call *call, const sim_value *own, text field)
{
    const entry *found = field_of(own, field);
    if (found)
        say_text(call, entry_text(found));
    else
        say_nil(call);
}

static void run_hget(sim_call *call)
{
    sim_value *own;
    if (key_of(call, call->words[1], VALUE_HASH, &own))
        say_field(call, own, call->words[2]);
}

static void run_hmget(sim_call *call)
{
    sim_value *own;
    if (!key_of(call, call->words[1], VALUE_HASH, &own))
        return;
    say_array(call, (size_t)call->count - 2);
    for (int i = 2; i < call->count; i++)
        say_field(call, own, call->words[i]);
}

static void run_hdel(sim_call *call)
{
    sim_value *own;
    if (!key_of(call, call->words[1], VALUE_HASH, &own))
        return;
    int64_t removed = 0;
    for (int i = 2; own && i < call->count; i++) {
        entry *one = table_take(&own->members, call->words[i]);
        if (one) {
            sim_free(one->bytes);
            sim_free(one);
            removed++;
        }
    }
    if (removed) {
        key_changed(call, call->words[1]);
        key_delete_empty(call, call->words[1], own);
    }
    say_integer(call, removed);
}

static void run_hexists(sim_call *call)
{
    sim_value *own;
    if (key_of(call, call->words[1], VALUE_HASH, &own))
        say_integer(call, field_of(own, call->words[2]) != NULL);
}

static void run_hlen(sim_call *call)
{
    sim_value *own;
    if (key_of(call, call->words[1], VALUE_HASH, &own))
        say_integer(call, own ? (int64_t)own->members.count : 0);
}

static void run_hstrlen(sim_call *call)
{
    sim_value *own;
    if (!key_of(call, call->words[1], VALUE_HASH, &own))
        return;
    const entry *found = field_of(own, call->words[2]);
    say_integer(call, found ? (int64_t)found->length : 0);
}

static void list_fields(sim_call *call, bool names, bool contents)
{
    sim_value *own;
    if (!key_of(call, call->words[1], VALUE_HASH, &own))
        return;
    say_array(call, own ? own->members.count * (size_t)(names + contents) : 0);
    for (const entry *one = own ? table_next(&own->members, NULL) : NULL; one; one = table_next(&own->members, one)) {
        if (names)
            say_text(call, entry_name(one));
        if (contents)
            say_text(call, entry_text(one));
    }
}

static void run_hgetall(sim_call *call)
{
    list_fields(call, true, true);
}

/* All in one answer, as a server does with a small hash. */
static void run_hscan(sim_call *call)
{
    scan_options by;
    sim_value *own;
    size_t count = 0;
    if (!scan_read_cursor(call, 2) || !key_of(call, call->words[1], VALUE_HASH, &own))
        return;
    if (own && !scan_read_options(call, 3, false, &by))
        return;
    for (const entry *one = own ? table_next(&own->members, NULL) : NULL; one; one = table_next(&own->members, one))
        count += text_matches(by.pattern, entry_name(one));
    say_array(call, 2);
    say_word(call, "0");
    say_array(call, 2 * count);
    for (const entry *one = own ? table_next(&own->members, NULL) : NULL; one; one = table_next(&own->members, one)) {
        if (text_matches(by.pattern, entry_name(one))) {
            say_text(call, entry_name(one));
            say_text(call, entry_text(one));
        }
    }
}

/* Any so many, each once: here the first. */
static void run_hrandfield(sim_call *call)
{
    sim_value *own;
    int64_t most;
    if (!word_integer(call, 2, &most) || !key_of(call, call->words[1], VALUE_HASH, &own))
        return;
    int64_t count = own ? (int64_t)own->members.count : 0;
    count = count < most ? count : most;
    say_array(call, (size_t)count);
    for (const entry *one = NULL; count > 0; count--) {
        one = table_next(&own->members, one);
        say_text(call, entry_name(one));
    }
}

static void run_hkeys(sim_call *call)
{
    list_fields(call, true, false);
}

static void run_hvals(sim_call *call)
{
    list_fields(call, false, true);
}

static void run_hincrby(sim_call *call)
{
    sim_value *own;
    int64_t more, sum = 0;
    if (!word_integer(call, 3, &more) || !key_of(call, call->words[1], VALUE_HASH, &own))
        return;
    const entry *found = field_of(own, call->words[2]);
    if (found && !text_integer(entry_text(found), &sum)) {
        say_error(call, "ERR hash value is not an integer");
        return;
    }
    if (__builtin_add_overflow(sum, more, &sum)) {
        say_error(call, "ERR increment or decrement would overflow");
        return;
    }
    char digits[NUMBER_SIZE];
    put_field(own ? own : key_make(call, call->words[1], VALUE_HASH), call->words[2],
              (text){digits, integer_write(digits, sum)});
    key_changed(call, call->words[1]);
    say_integer(call, sum);
}

#define WRITES (COMMAND_WRITE | COMMAND_MEMORY)

const sim_command hash_commands[] = {
    {"hset", run_hset, -4, WRITES, 1, 1, 1, 0},
    {"hmset", run_hmset, -4, WRITES, 1, 1, 1, 0},
    {"hsetnx", run_hsetnx, 4, WRITES, 1, 1, 1, 0},
    {"hget", run_hget, 3, 0, 1, 1, 1, 0},
    {"hmget", run_hmget, -3, 0, 1, 1, 1, 0},
    {"hdel", run_hdel, -3, COMMAND_WRITE, 1, 1, 1, 0},
    {"hexists", run_hexists, 3, 0, 1, 1, 1, 0},
    {"hlen", run_hlen, 2, 0, 1, 1, 1, 0},
    {"hstrlen", run_hstrlen, 3, 0, 1, 1, 1, 0},
    {"hgetall", run_hgetall, 2, 0, 1, 1, 1, 0},
    {"hrandfield", run_hrandfield, 3, 0, 1, 1, 1, 0},
    {"hscan", run_hscan, -3, 0, 1, 1, 1, 0},
    {"hkeys", run_hkeys, 2, 0, 1, 1, 1, 0},
    {"hvals", run_hvals, 2, 0, 1, 1, 1, 0},
    {"hincrby", run_hincrby, 4, WRITES, 1, 1, 1, 0},
    {0},
};
