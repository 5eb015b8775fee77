/* Keyspace notifications: messages about what becomes of keys. Of deleted and expired keys (classes g and x) as a real
 * server; of the other classes as far as tests listen to them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/command.h"

#include <string.h>

#define CLASSES "g$lshzx"

/* By which name a command tells what it has done. */
static const char *event_of(const sim_command *command)
{
    static const struct {
        const char *command, *event;
    } others[] = {{"hmset", "hset"}, {"pexpire", "expire"}, {"pexpireat", "expire"}, {"expireat", "expire"},
                  {"incr", "incrby"}, {"decr", "decrby"}, {"mset", "set"}, {"setex", "set"}, {"psetex", "set"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(command->name, others[i].command) == 0)
            return others[i].event;
    }
    return command->name;
}

static char class_of(const char *event, value_type type)
{
    static const char classes[] = {[VALUE_STRING] = '$', [VALUE_HASH] = 'h', [VALUE_LIST] = 'l', [VALUE_SET] = 's',
                                   [VALUE_ZSET] = 'z'};
    bool is_generic = strcmp(event, "expire") == 0 || strcmp(event, "persist") == 0;
    return is_generic ? 'g' : classes[type];
}

static bool has(const sim_server *server, char letter)
{
    return strchr(server->notifies, letter) != NULL;
}

void notify(sim_server *server, int database, char class, const char *event, text key)
{
    bytes channel = {0};
    if (!*server->notifies || !(has(server, class) || has(server, 'A')))
        return;
    if (server->settings.hooks.notified)
        server->settings.hooks.notified(server->settings.hooks.world, key.at, key.length, event);
    if (has(server, 'K')) {
        bytes_print(&channel, "__keyspace@%d__:", database);
        bytes_add(&channel, key.at, key.length);
        publish(server, (text){channel.at, channel.length}, text_of(event));
    }
    channel.length = 0;
    if (has(server, 'E')) {
        bytes_print(&channel, "__keyevent@%d__:%s", database, event);
        publish(server, (text){channel.at, channel.length}, key);
    }
    bytes_free(&channel);
}

void notify_changed(sim_call *call, text key)
{
    bool tells = *call->server->notifies && call->command && !call->notified;
    const entry *one = tells ? table_find(&call->server->databases[call->database], key) : NULL;
    if (one) {
        const char *event = event_of(call->command);
        char class = class_of(event, ((const sim_value *)one->pointer)->type);
        notify(call->server, call->database, class, event, key);
    }
    call->notified = true;
}

bool notify_set(sim_server *server, text letters)
{
    char known[sizeof server->notifies] = "";
    static const char order[] = CLASSES "AKE"; /* as CONFIG GET tells them */
    size_t count = 0;
    for (size_t i = 0; i < letters.length; i++) {
        if (!letters.at[i] || !strchr(order, letters.at[i]))
            return false;
    }
    for (const char *one = order; *one; one++) {
        bool of_all = strchr(CLASSES, *one) && memchr(letters.at, 'A', letters.length);
        if (letters.length && memchr(letters.at, *one, letters.length) && !of_all)
            known[count++] = *one;
    }
    memcpy(server->notifies, known, sizeof known);
    return true;
}

/* What ends later than that, the run does not see; and a nanosecond of it would not fit. */
#define MOST_MS (INT64_MAX / 2000000)

int64_t notify_due_us(sim_server *server)
{
    int64_t due_ms = MOST_MS;
    bool tells = *server->notifies && !server->master; /* a replica waits for its master's word */
    for (int i = 0; i < DATABASES_MAX && tells; i++) {
        for (const entry *one = table_next(&server->databases[i], NULL); one; one = table_next(&server->databases[i], one)) {
            const sim_value *own = one->pointer;
            if (own->expires_ms != NO_EXPIRY && own->expires_ms < due_ms)
                due_ms = own->expires_ms;
        }
    }
    return due_ms == MOST_MS ? INT64_MAX : (due_ms + 1) * 1000;
}

void notify_look(sim_server *server)
{
    for (int i = 0; i < DATABASES_MAX && *server->notifies; i++)
        keys_count(server, i); /* drops those that have expired */
}
