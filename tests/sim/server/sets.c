/* Commands of sets. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"

static void run_sadd(sim_call *call)
{
    sim_value *own;
    int64_t added = 0;
    if (!key_of(call, call->words[1], VALUE_SET, &own))
        return;
    if (!own)
        own = key_make(call, call->words[1], VALUE_SET);
    for (int i = 2; i < call->count; i++) {
        bool fresh;
        table_add(&own->members, call->words[i], &fresh);
        added += fresh;
    }
    if (added)
        key_changed(call, call->words[1]);
    say_integer(call, added);
}

static void run_srem(sim_call *call)
{
    sim_value *own;
    int64_t removed = 0;
    if (!key_of(call, call->words[1], VALUE_SET, &own))
        return;
    for (int i = 2; own && i < call->count; i++) {
        entry *one = table_take(&own->members, call->words[i]);
        removed += one != NULL;
        sim_free(one);
    }
    if (removed) {
        key_changed(call, call->words[1]);
        key_delete_empty(call, call->words[1], own);
    }
    say_integer(call, removed);
}

static void run_sismember(sim_call *call)
{
    sim_value *own;
    if (key_of(call, call->words[1], VALUE_SET, &own))
        say_integer(call, own && table_find(&own->members, call->words[2]));
}

static void run_smismember(sim_call *call)
{
    sim_value *own;
    if (!key_of(call, call->words[1], VALUE_SET, &own))
        return;
    say_array(call, (size_t)call->count - 2);
    for (int i = 2; i < call->count; i++)
        say_integer(call, own && table_find(&own->members, call->words[i]));
}

static void run_scard(sim_call *call)
{
    sim_value *own;
    if (key_of(call, call->words[1], VALUE_SET, &own))
        say_integer(call, own ? (int64_t)own->members.count : 0);
}

static void run_smembers(sim_call *call)
{
    sim_value *own;
    if (!key_of(call, call->words[1], VALUE_SET, &own))
        return;
    say_array(call, own ? own->members.count : 0);
    for (const entry *one = own ? table_next(&own->members, NULL) : NULL; one; one = table_next(&own->members, one))
        say_text(call, entry_name(one));
}

const sim_command set_commands[] = {
    {"sadd", run_sadd, -3, COMMAND_WRITE | COMMAND_MEMORY, 1, 1, 1, 0},
    {"srem", run_srem, -3, COMMAND_WRITE, 1, 1, 1, 0},
    {"sismember", run_sismember, 3, 0, 1, 1, 1, 0},
    {"smismember", run_smismember, -3, 0, 1, 1, 1, 0},
    {"scard", run_scard, 2, 0, 1, 1, 1, 0},
    {"smembers", run_smembers, 2, 0, 1, 1, 1, 0},
    {0},
};
