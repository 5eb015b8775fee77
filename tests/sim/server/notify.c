/* Keyspace notifications: messages about what becomes of keys, as far as tests listen to them (keyevents). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/command.h"

#include <string.h>

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

void notify(sim_server *server, int database, const char *event, text key)
{
    bytes channel = {0};
    if (!server->notifies)
        return;
    bytes_print(&channel, "__keyevent@%d__:%s", database, event);
    publish(server, (text){channel.at, channel.length}, key);
    bytes_free(&channel);
}

void notify_changed(sim_call *call, text key)
{
    if (!call->notified && call->command)
        notify(call->server, call->database, event_of(call->command), key);
    call->notified = true;
}

int64_t notify_due_us(sim_server *server)
{
    int64_t due_ms = INT64_MAX / 1000;
    for (int i = 0; i < DATABASES_MAX && server->notifies; i++) {
        for (const entry *one = table_next(&server->databases[i], NULL); one; one = table_next(&server->databases[i], one)) {
            const sim_value *own = one->pointer;
            if (own->expires_ms != NO_EXPIRY && own->expires_ms < due_ms)
                due_ms = own->expires_ms;
        }
    }
    return due_ms == INT64_MAX / 1000 ? INT64_MAX : (due_ms + 1) * 1000;
}

void notify_look(sim_server *server)
{
    for (int i = 0; i < DATABASES_MAX && server->notifies; i++)
        keys_count(server, i); /* drops those that have expired */
}
