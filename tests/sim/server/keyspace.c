/* The keyspace: keys, their values and their ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/memory.h"

uint64_t order_seed(const sim_server *server)
{
    return server->settings.seed * 0x9e3779b97f4a7c15u + server->runs;
}

static bool has_expired(const sim_server *server, const sim_value *own)
{
    return own->expires_ms != NO_EXPIRY && now_ms(server) > own->expires_ms;
}

/* event NULL: nobody is told. */
static bool drop(sim_server *server, int database, text key, const char *event)
{
    entry *one = table_take(&server->databases[database], key);
    if (!one)
        return false;
    if (event)
        notify(server, database, *event == 'e' ? 'x' : 'g', event, entry_name(one));
    note_change(server, database, key);
    value_free(one->pointer);
    sim_free(one);
    return true;
}

sim_value *key_find(sim_call *call, text key)
{
    sim_server *server = call->server;
    entry *one = table_find(&server->databases[call->database], key);
    if (!one)
        return NULL;
    if (!has_expired(server, one->pointer))
        return one->pointer;
    if (!server->master) /* a replica waits for its master's word */
        drop(server, call->database, key, "expired");
    return NULL;
}

bool key_of(sim_call *call, text key, value_type type, sim_value **found)
{
    *found = key_find(call, key);
    if (!*found || (*found)->type == type)
        return true;
    say_wrong_type(call);
    return false;
}

void key_changed(sim_call *call, text key)
{
    call->wrote = true;
    note_change(call->server, call->database, key);
    notify_changed(call, key);
}

void key_put(sim_call *call, text key, sim_value *own)
{
    bool fresh;
    key_find(call, key); /* one that has expired goes, and is told of */
    entry *one = table_add(&call->server->databases[call->database], key, &fresh);
    if (!fresh)
        value_free(one->pointer);
    one->pointer = own;
    key_changed(call, key);
}

sim_value *key_make(sim_call *call, text key, value_type type)
{
    sim_value *own = value_make(type, order_seed(call->server));
    key_put(call, key, own);
    return own;
}

bool key_delete(sim_call *call, text key)
{
    if (!key_find(call, key))
        return false;
    call->wrote = true;
    return drop(call->server, call->database, key, "del");
}

void key_delete_untold(sim_call *call, text key)
{
    call->wrote = true;
    drop(call->server, call->database, key, NULL);
}

void key_delete_empty(sim_call *call, text key, const sim_value *own)
{
    if (value_size(own) == 0)
        key_delete(call, key);
}

/* Those that have expired are dropped first. */
size_t keys_count(sim_server *server, int database)
{
    table *keys = &server->databases[database];
    size_t expired = 0;
    for (entry *one = table_next(keys, NULL), *next; one; one = next) {
        next = table_next(keys, one);
        if (!has_expired(server, one->pointer))
            continue;
        if (server->master)
            expired++;
        else
            drop(server, database, entry_name(one), "expired");
    }
    return keys->count - expired;
}

static void free_value(entry *one)
{
    value_free(one->pointer);
}

void keys_clear(sim_server *server)
{
    for (int i = 0; i < DATABASES_MAX; i++) {
        table_clear(&server->databases[i], free_value);
        table_init(&server->databases[i], order_seed(server));
    }
}
