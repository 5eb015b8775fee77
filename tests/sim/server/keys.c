/* Commands of any key. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"

static void run_del(sim_call *call)
{
    int64_t removed = 0;
    for (int i = 1; i < call->count; i++)
        removed += key_delete(call, call->words[i]);
    say_integer(call, removed);
}

static void run_exists(sim_call *call)
{
    int64_t found = 0;
    for (int i = 1; i < call->count; i++)
        found += key_find(call, call->words[i]) != NULL;
    say_integer(call, found);
}

static void run_type(sim_call *call)
{
    const sim_value *own = key_find(call, call->words[1]);
    say_status(call, own ? value_type_name(own->type) : "none");
}

static bool is_listed(sim_call *call, const entry *one, const scan_options *by)
{
    const sim_value *own = one->pointer;
    return (own->expires_ms == NO_EXPIRY || own->expires_ms >= now_ms(call->server)) &&
           text_matches(by->pattern, entry_name(one)) &&
           (!by->type.at || text_is_word(by->type, value_type_name(own->type)));
}

static void list_keys(sim_call *call, const scan_options *by)
{
    const table *keys = &call->server->databases[call->database];
    size_t count = 0;
    keys_count(call->server, call->database); /* drops those that have expired */
    for (const entry *one = table_next(keys, NULL); one; one = table_next(keys, one))
        count += is_listed(call, one, by);
    say_array(call, count);
    for (const entry *one = table_next(keys, NULL); one; one = table_next(keys, one)) {
        if (is_listed(call, one, by))
            say_text(call, entry_name(one));
    }
}

static void run_keys(sim_call *call)
{
    list_keys(call, &(scan_options){.pattern = call->words[1]});
}

bool scan_read_cursor(sim_call *call, int word)
{
    int64_t cursor;
    if (text_integer(call->words[word], &cursor))
        return true;
    say_error(call, "ERR invalid cursor");
    return false;
}

bool scan_read_options(sim_call *call, int first, bool typed, scan_options *to)
{
    int64_t count = 1;
    *to = (scan_options){.pattern = TEXT("*")};
    for (int i = first; i < call->count; i += 2) {
        bool more = i + 1 < call->count, well = true;
        if (more && text_is_word(call->words[i], "match"))
            to->pattern = call->words[i + 1];
        else if (more && text_is_word(call->words[i], "count") && !word_integer(call, i + 1, &count))
            return false;
        else if (more && typed && text_is_word(call->words[i], "type"))
            to->type = call->words[i + 1];
        else
            well = more && text_is_word(call->words[i], "count");
        if (!well || count < 1) {
            say_syntax_error(call);
            return false;
        }
    }
    return true;
}

/* All in one answer, as a server may. */
static void run_scan(sim_call *call)
{
    scan_options by;
    if (!scan_read_cursor(call, 1) || !scan_read_options(call, 2, true, &by))
        return;
    say_array(call, 2);
    say_word(call, "0");
    list_keys(call, &by);
}

static void run_dbsize(sim_call *call)
{
    say_integer(call, (int64_t)keys_count(call->server, call->database));
}

static void clear(sim_call *call, int database)
{
    table *keys = &call->server->databases[database];
    call->database = database;
    for (entry *one = table_next(keys, NULL), *next; one; one = next) {
        next = table_next(keys, one);
        key_delete_untold(call, entry_name(one));
    }
}

static bool is_flush(sim_call *call)
{
    bool well = call->count == 1 || (call->count == 2 && (text_is_word(call->words[1], "sync") ||
                                                           text_is_word(call->words[1], "async")));
    if (!well)
        say_syntax_error(call);
    return well;
}

static void run_flushdb(sim_call *call)
{
    if (!is_flush(call))
        return;
    tracking_flushed(call->server); /* instead of a message for each key */
    clear(call, call->database);
    say_ok(call);
}

static void run_flushall(sim_call *call)
{
    if (!is_flush(call))
        return;
    tracking_flushed(call->server);
    for (int i = 0; i < DATABASES_MAX; i++)
        clear(call, i);
    say_ok(call);
}

static void rename_key(sim_call *call, bool only_new)
{
    sim_value *own = key_find(call, call->words[1]);
    if (!own) {
        say_error(call, "ERR no such key");
        return;
    }
    bool same = text_is(call->words[1], call->words[2]), there = key_find(call, call->words[2]) != NULL;
    if (!same && !(only_new && there)) {
        sim_value *copy = value_copy(own, order_seed(call->server));
        notify(call->server, call->database, 'g', "rename_from", call->words[1]);
        notify(call->server, call->database, 'g', "rename_to", call->words[2]);
        call->notified = true;
        key_put(call, call->words[2], copy);
        key_delete_untold(call, call->words[1]);
    }
    if (only_new)
        say_integer(call, !there);
    else
        say_ok(call);
}

static void run_rename(sim_call *call)
{
    rename_key(call, false);
}

static void run_renamenx(sim_call *call)
{
    rename_key(call, true);
}

const sim_command key_commands[] = {
    {"del", run_del, -2, COMMAND_WRITE, 1, -1, 1, 0},
    {"unlink", run_del, -2, COMMAND_WRITE, 1, -1, 1, 0},
    {"exists", run_exists, -2, 0, 1, -1, 1, 0},
    {"touch", run_exists, -2, 0, 1, -1, 1, 0},
    {"type", run_type, 2, 0, 1, 1, 1, 0},
    {"keys", run_keys, 2, 0, 0, 0, 0, 0},
    {"scan", run_scan, -2, 0, 0, 0, 0, 0},
    {"dbsize", run_dbsize, 1, 0, 0, 0, 0, 0},
    {"flushdb", run_flushdb, -1, COMMAND_WRITE, 0, 0, 0, 0},
    {"flushall", run_flushall, -1, COMMAND_WRITE, 0, 0, 0, 0},
    {"rename", run_rename, 3, COMMAND_WRITE, 1, 2, 1, 0},
    {"renamenx", run_renamenx, 3, COMMAND_WRITE, 1, 2, 1, 0},
    {0},
};
