/* Commands of lists. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"

#include <limits.h>

static void push(sim_call *call, bool at_the_end, bool only_old)
{
    sim_value *own;
    if (!key_of(call, call->words[1], VALUE_LIST, &own))
        return;
    if (!own && only_old) {
        say_integer(call, 0);
        return;
    }
    if (!own)
        own = key_make(call, call->words[1], VALUE_LIST);
    for (int i = 2; i < call->count; i++)
        list_push(own, call->words[i], at_the_end);
    key_changed(call, call->words[1]);
    say_integer(call, (int64_t)list_size(own));
}

static void run_rpush(sim_call *call)
{
    push(call, true, false);
}

static void run_lpush(sim_call *call)
{
    push(call, false, false);
}

static void run_rpushx(sim_call *call)
{
    push(call, true, true);
}

static void run_lpushx(sim_call *call)
{
    push(call, false, true);
}

static void pop(sim_call *call, bool at_the_end)
{
    sim_value *own;
    int64_t count = 1;
    bool many = call->count == 3;
    if (call->count > 3) {
        say_error(call, "ERR wrong number of arguments for '%s' command", call->command->name);
        return;
    }
    if (many && (!text_integer(call->words[2], &count) || count < 0)) {
        say_error(call, "ERR value is out of range, must be positive");
        return;
    }
    if (!key_of(call, call->words[1], VALUE_LIST, &own))
        return;
    if (!own) {
        if (many)
            say_nil_array(call);
        else
            say_nil(call);
        return;
    }
    if (count > (int64_t)list_size(own))
        count = (int64_t)list_size(own);
    if (many)
        say_array(call, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        size_t at = at_the_end ? list_size(own) - 1 : 0;
        say_text(call, list_item(own, at));
        list_take(own, at);
    }
    if (count) {
        key_changed(call, call->words[1]);
        key_delete_empty(call, call->words[1], own);
    }
}

static void run_lpop(sim_call *call)
{
    pop(call, false);
}

static void run_rpop(sim_call *call)
{
    pop(call, true);
}

static void run_llen(sim_call *call)
{
    sim_value *own;
    if (key_of(call, call->words[1], VALUE_LIST, &own))
        say_integer(call, own ? (int64_t)list_size(own) : 0);
}

/* Counted from the end when below 0. False: it is outside. */
static bool place_of(const sim_value *own, int64_t index, size_t *at)
{
    int64_t size = own ? (int64_t)list_size(own) : 0;
    index += index < 0 ? size : 0;
    *at = (size_t)index;
    return index >= 0 && index < size;
}

static void run_lindex(sim_call *call)
{
    sim_value *own;
    int64_t index;
    size_t at;
    if (!key_of(call, call->words[1], VALUE_LIST, &own))
        return;
    if (!own)
        say_nil(call);
    else if (!word_integer(call, 2, &index))
        return;
    else if (place_of(own, index, &at))
        say_text(call, list_item(own, at));
    else
        say_nil(call);
}

static void run_lset(sim_call *call)
{
    sim_value *own;
    int64_t index;
    size_t at;
    if (!key_of(call, call->words[1], VALUE_LIST, &own))
        return;
    if (!own) {
        say_error(call, "ERR no such key");
        return;
    }
    if (!word_integer(call, 2, &index))
        return;
    if (call->server->settings.version >= SIM_REDIS_7_2)
        index = (int32_t)index; /* an int in those versions */
    if (!place_of(own, index, &at)) {
        say_error(call, "ERR index out of range");
    } else {
        list_set(own, at, call->words[3]);
        key_changed(call, call->words[1]);
        say_ok(call);
    }
}

/* The range that two words name; *end: behind its last. */
static bool read_range(sim_call *call, size_t size, size_t *first, size_t *end)
{
    int64_t from, to, count = (int64_t)size;
    if (!word_integer(call, 2, &from) || !word_integer(call, 3, &to))
        return false;
    from += from < 0 ? count : 0;
    to += to < 0 ? count : 0;
    from = from < 0 ? 0 : from;
    to = to >= count ? count - 1 : to;
    *first = from > to ? 0 : (size_t)from;
    *end = from > to ? 0 : (size_t)to + 1;
    return true;
}

static void run_lrange(sim_call *call)
{
    sim_value *own;
    size_t first, end;
    int64_t number;
    if (!word_integer(call, 2, &number) || !word_integer(call, 3, &number) ||
        !key_of(call, call->words[1], VALUE_LIST, &own) || !read_range(call, own ? list_size(own) : 0, &first, &end))
        return;
    say_array(call, end - first);
    for (; first < end; first++)
        say_text(call, list_item(own, first));
}

static void run_ltrim(sim_call *call)
{
    sim_value *own;
    size_t first, end;
    int64_t number;
    if (!word_integer(call, 2, &number) || !word_integer(call, 3, &number) ||
        !key_of(call, call->words[1], VALUE_LIST, &own) || !read_range(call, own ? list_size(own) : 0, &first, &end))
        return;
    if (own) {
        while (list_size(own) > end)
            list_take(own, list_size(own) - 1);
        for (size_t i = 0; i < first && list_size(own); i++)
            list_take(own, 0);
        key_changed(call, call->words[1]);
        key_delete_empty(call, call->words[1], own);
    }
    say_ok(call);
}

static void run_lrem(sim_call *call)
{
    sim_value *own;
    int64_t count, removed = 0;
    if (!word_integer(call, 2, &count) || !key_of(call, call->words[1], VALUE_LIST, &own))
        return;
    int64_t most = count == INT64_MIN ? INT64_MAX : count < 0 ? -count : count;
    for (size_t i = 0; own && i < list_size(own) && (most == 0 || removed < most);) {
        size_t at = count < 0 ? list_size(own) - 1 - i : i;
        if (text_is(list_item(own, at), call->words[3])) {
            list_take(own, at);
            removed++;
        } else {
            i++;
        }
    }
    if (removed) {
        key_changed(call, call->words[1]);
        key_delete_empty(call, call->words[1], own);
    }
    say_integer(call, removed);
}

static void run_linsert(sim_call *call)
{
    sim_value *own;
    bool after = text_is_word(call->words[2], "after");
    if (!after && !text_is_word(call->words[2], "before")) {
        say_syntax_error(call);
        return;
    }
    if (!key_of(call, call->words[1], VALUE_LIST, &own))
        return;
    for (size_t i = 0; own && i < list_size(own); i++) {
        if (text_is(list_item(own, i), call->words[3])) {
            list_insert(own, i + after, call->words[4]);
            key_changed(call, call->words[1]);
            say_integer(call, (int64_t)list_size(own));
            return;
        }
    }
    say_integer(call, own ? -1 : 0);
}

typedef struct list_search {
    int64_t rank, count, most; /* count -1: one place, not a list of them */
} list_search;

static bool read_search(sim_call *call, list_search *search)
{
    search->rank = 1;
    search->count = -1;
    search->most = 0;
    for (int i = 3; i < call->count; i += 2) {
        bool more = i + 1 < call->count;
        int64_t number;
        if (text_is_word(call->words[i], "rank") && more) {
            if (!text_integer(call->words[i + 1], &search->rank) || search->rank < -LONG_MAX) {
                say_error(call, "ERR value is not an integer or out of range");
                return false;
            }
            if (search->rank == 0) {
                say_error(call, call->server->settings.version < SIM_REDIS_7_0
                                    ? "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second, ..."
                                    : "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use "
                                      "negative to start from the end of the list");
                return false;
            }
        } else if ((text_is_word(call->words[i], "count") || text_is_word(call->words[i], "maxlen")) && more) {
            bool counts = text_is_word(call->words[i], "count");
            if (!text_integer(call->words[i + 1], &number) || number < 0) {
                say_error(call, "ERR %s can't be negative", counts ? "COUNT" : "MAXLEN");
                return false;
            }
            *(counts ? &search->count : &search->most) = number;
        } else {
            say_syntax_error(call);
            return false;
        }
    }
    return true;
}

static void run_lpos(sim_call *call)
{
    sim_value *own;
    list_search search;
    if (!read_search(call, &search) || !key_of(call, call->words[1], VALUE_LIST, &own))
        return;
    bool backwards = search.rank < 0;
    int64_t skip = (backwards ? -search.rank : search.rank) - 1, size = own ? (int64_t)list_size(own) : 0, found = 0;
    int64_t looked_at = search.most && search.most < size ? search.most : size;
    if (!own) {
        if (search.count < 0)
            say_nil(call);
        else
            say_array(call, 0);
        return;
    }
    /* Twice: how many there are comes before them. */
    for (int says = search.count < 0; says < 2; says++) {
        int64_t skipped = 0;
        if (says && search.count >= 0)
            say_array(call, (size_t)found);
        found = 0;
        for (int64_t i = 0; i < looked_at && (search.count < 0 ? !found : !search.count || found < search.count); i++) {
            int64_t at = backwards ? size - 1 - i : i;
            if (!text_is(list_item(own, (size_t)at), call->words[2]) || skipped++ < skip)
                continue;
            found++;
            if (says)
                say_integer(call, at);
        }
    }
    if (search.count < 0 && !found)
        say_nil(call);
}

#define WRITES (COMMAND_WRITE | COMMAND_MEMORY)

const sim_command list_commands[] = {
    {"rpush", run_rpush, -3, WRITES, 1, 1, 1, 0},
    {"lpush", run_lpush, -3, WRITES, 1, 1, 1, 0},
    {"rpushx", run_rpushx, -3, WRITES, 1, 1, 1, 0},
    {"lpushx", run_lpushx, -3, WRITES, 1, 1, 1, 0},
    {"lpop", run_lpop, -2, COMMAND_WRITE, 1, 1, 1, 0},
    {"rpop", run_rpop, -2, COMMAND_WRITE, 1, 1, 1, 0},
    {"llen", run_llen, 2, 0, 1, 1, 1, 0},
    {"lindex", run_lindex, 3, 0, 1, 1, 1, 0},
    {"lset", run_lset, 4, WRITES, 1, 1, 1, 0},
    {"lrange", run_lrange, 4, 0, 1, 1, 1, 0},
    {"ltrim", run_ltrim, 4, COMMAND_WRITE, 1, 1, 1, 0},
    {"lrem", run_lrem, 4, COMMAND_WRITE, 1, 1, 1, 0},
    {"linsert", run_linsert, 5, WRITES, 1, 1, 1, 0},
    {"lpos", run_lpos, -3, 0, 1, 1, 1, 0},
    {0},
};
