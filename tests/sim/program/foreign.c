/* Foreign hands: what an operator, a script of somebody, or another library does to the keys of locks. Whoever held what
 * they change relies on nothing from then on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/foreign.h"

#include "tests/sim/check/ledger.h"
#include "tests/sim/check/losses.h"
#include "tests/sim/program/run.h"
#include "tests/sim/program/servers.h"
#include "tests/sim/server/value.h"

#include <inttypes.h>
#include <string.h>

#define WORDS(...) (const char *const[]){__VA_ARGS__, NULL}

static int object_of(const plan_fault *fault)
{
    int object = fault->who % run_of->object_count;
    const plan_object *of = &run_of->objects[object];
    return of->kind == SHARDED ? of->members[fault->count % of->member_count] : object;
}

static const char *name_of(const plan_fault *fault)
{
    return run_of->objects[object_of(fault)].name;
}

static void check_deleted(int object)
{
    /* Else it is there, or the server has answered an error to that, and to the deletion before it. */
    if (!servers_says(object, "0", "EXISTS", run_of->objects[object].name))
        losses_not_gone(run_resource(run_of, object));
}

void foreign_delete(const plan_fault *fault)
{
    losses_gone(run_resource(run_of, object_of(fault)));
    run_void(object_of(fault), "its key is deleted");
    servers_command(servers_host(object_of(fault)), WORDS("DEL", name_of(fault)));
    check_deleted(object_of(fault));
}

void foreign_shorten(const plan_fault *fault)
{
    char ms[24];
    snprintf(ms, sizeof ms, "%" PRId64, fault->span_ms);
    run_void(object_of(fault), "its key's time is set by others");
    servers_command(servers_host(object_of(fault)), WORDS("PEXPIRE", name_of(fault), ms));
}

static void publish(host *at, const char *channel, const char *message)
{
    servers_command(at, WORDS("PUBLISH", channel, message));
    if (run_of->topology == CLUSTER)
        servers_command(at, WORDS("SPUBLISH", channel, message));
}

void foreign_tell_waiters(host *at, const char *name)
{
    static const char *const prefixes[] = {"redisson_lock__channel", "redisson_rwlock"};
    for (size_t i = 0; i < 2; i++) {
        char channel[96];
        snprintf(channel, sizeof channel, "%s:{%s}", prefixes[i], name);
        for (int said = 0; said < 2; said++)
            publish(at, channel, said ? "0" : "1");
    }
}

void foreign_force(const plan_fault *fault)
{
    foreign_delete(fault);
    foreign_tell_waiters(servers_host(object_of(fault)), name_of(fault));
}

void foreign_write_field(const plan_fault *fault)
{
    static const char *const fields[] = {"evil", "evil:1", "mode", "", "a:b:write"};
    static const char *const values[] = {"1000000000000000000", "-1", "x", "", "3"};
    if (!object_is_lock(run_of->objects[object_of(fault)].kind))
        return;
    run_void(object_of(fault), "an odd field is written into it");
    run_odd_field(run_resource(run_of, object_of(fault)));
    servers_command(servers_host(object_of(fault)),
                    WORDS("HSET", name_of(fault), fields[fault->count % 5], values[fault->who % 5]));
}

void foreign_delete_all(const plan_fault *fault)
{
    for (int i = 0; i < run_of->object_count && run_of->topology == SINGLE; i++) /* of others it is one server's */
        losses_gone(i);
    ledger_void(-1, "all keys are deleted");
    servers_command(servers_with_data(fault->who), WORDS("FLUSHALL"));
    for (int i = 0; i < run_of->object_count; i++)
        check_deleted(i);
}

/* --- messages --- */

void foreign_publish_garbage(const plan_fault *fault)
{
    static const char *const channels[] = {"redisson_lock__channel:{%s}", "redisson_rwlock:{%s}", "redisson_sc:{%s}",
                                           "redisson_countdownlatch__channel__{%s}"};
    static const char *const messages[] = {"", "x", "-1", "99999999999999999999", "2", "0x1", "1", "-9223372036854775808"};
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        char channel[96];
        snprintf(channel, sizeof channel, channels[i], name_of(fault));
        publish(servers_host(object_of(fault)), channel, messages[fault->count % 8]);
    }
}

static void overhear_all(const char *pattern)
{
    for (int i = 0; i < run_of->object_count; i++)
        sim_server_overhear(servers_host(i)->server, pattern);
}

void foreign_overhear(const plan_fault *fault)
{
    (void)fault;
    overhear_all("r*");
}

void foreign_hang_up(const plan_fault *fault)
{
    (void)fault;
    overhear_all(NULL);
}

/* --- the key --- */

/* It may stay for ever; and a renewal that gives it an end again may end it before a longer lease of its holder. */
void foreign_persist(const plan_fault *fault)
{
    run_void(object_of(fault), "its time to live is taken away");
    run_odd_field(run_resource(run_of, object_of(fault)));
    servers_command(servers_host(object_of(fault)), WORDS("PERSIST", name_of(fault)));
}

static const char *other_name(const plan_fault *fault)
{
    static char name[40];
    snprintf(name, sizeof name, "%s.old", name_of(fault));
    return name;
}

void foreign_rename(const plan_fault *fault)
{
    run_void(object_of(fault), "its key is given another name");
    run_odd_field(run_resource(run_of, object_of(fault)));
    servers_command(servers_host(object_of(fault)), WORDS("RENAME", name_of(fault), other_name(fault)));
}

void foreign_name_back(const plan_fault *fault)
{
    run_void(object_of(fault), "another key is given its name");
    servers_command(servers_host(object_of(fault)), WORDS("RENAME", other_name(fault), name_of(fault)));
}

/* Another library's lock takes the name when it is free; what is of another type takes it from its holder. */
void foreign_take(const plan_fault *fault)
{
    host *at = servers_host(object_of(fault));
    const char *name = name_of(fault);
    char ms[24];
    snprintf(ms, sizeof ms, "%" PRId64, fault->span_ms);
    if (fault->count % 2 == 0) {
        if (!object_is_lock(run_of->objects[object_of(fault)].kind))
            run_void(object_of(fault), "another library has a lock of its name");
        servers_command(at, WORDS("SET", name, "6b1f3c0a5d1e11ef8c6f0242ac120002", "NX", "PX", ms));
        return;
    }
    run_void(object_of(fault), "something else takes its name");
    servers_command(at, WORDS("DEL", name));
    switch (fault->count / 2) {
    case 0: servers_command(at, WORDS("RPUSH", name, "1", "2")); break;
    case 1: servers_command(at, WORDS("SADD", name, "evil")); break;
    case 2: servers_command(at, WORDS("SET", name, "not a number")); break;
    default: servers_command(at, WORDS("ZADD", name, "1.5", "evil")); break;
    }
}

void foreign_clear(const plan_fault *fault)
{
    run_void(object_of(fault), "its key is deleted");
    servers_command(servers_host(object_of(fault)), WORDS("DEL", name_of(fault)));
}

void foreign_give_back(const plan_fault *fault)
{
    if (fault->count % 2 == 1)
        foreign_clear(fault);
}

/* --- what stands beside it --- */

/* Before the first in the queue, of its own client, of an owner that waits no more. False: nobody queues. */
static bool write_dead_place(host *at, const char *queue, const char *timeouts)
{
    char dead[64];
    const sim_value *own = sim_server_value(at->server, 0, queue, strlen(queue));
    text head = own && own->type == VALUE_LIST && list_size(own) > 0 ? list_item(own, 0) : (text){"", 0};
    if (head.length < 38)
        return false;
    snprintf(dead, sizeof dead, "%.36s:999999", head.at);
    servers_command(at, WORDS("LPUSH", queue, dead));
    servers_command(at, WORDS("ZADD", timeouts, "1e15", dead));
    return true;
}

void foreign_write_queue(const plan_fault *fault)
{
    host *at = servers_host(object_of(fault));
    char queue[64], timeouts[64];
    snprintf(queue, sizeof queue, "redisson_lock_queue:{%s}", name_of(fault));
    snprintf(timeouts, sizeof timeouts, "redisson_lock_timeout:{%s}", name_of(fault));
    switch (fault->count % 6) {
    case 0: servers_command(at, WORDS("RPUSH", queue, "evil")); break; /* without a score */
    case 1: servers_command(at, WORDS("LPUSH", queue, "")); break;
    case 2: servers_command(at, WORDS("ZADD", timeouts, "-5", "evil:1")); break; /* without a place */
    case 3: servers_command(at, WORDS("DEL", timeouts)); break;
    case 4: servers_command(at, WORDS("DEL", queue)); break;
    default:
        if (fault->count == 11 && write_dead_place(at, queue, timeouts))
            break;
        servers_command(at, WORDS("LPUSH", queue, "8d3f0f5c-35e0-4d4a-9f0e-5f2f6b0c7a11:7"));
        servers_command(at, WORDS("ZADD", timeouts, "1e300", "8d3f0f5c-35e0-4d4a-9f0e-5f2f6b0c7a11:7"));
        break;
    }
}

typedef struct beside {
    const char *name;
    char keys[16][128];
    host *at[16];
    int count;
} beside;

static void note_helper(void *argument, host *at, const char *name, size_t length, const char *type, int64_t left_ms)
{
    beside *self = argument;
    char tag[32];
    (void)type;
    (void)left_ms;
    snprintf(tag, sizeof tag, "{%s}", self->name);
    char *own = self->keys[self->count % 16];
    snprintf(own, 128, "%.*s", (int)length, name);
    if (self->count == 16 || length >= 128 || !strstr(own, tag))
        return;
    self->at[self->count++] = at;
}

/* The queue, the times of read holds and permits, the counter of tokens. */
void foreign_delete_helpers(const plan_fault *fault)
{
    beside found = {.name = name_of(fault)};
    run_void(object_of(fault), "the keys beside it are deleted");
    servers_each_key(note_helper, &found);
    for (int i = 0; i < found.count; i++)
        servers_command(found.at[i], WORDS("DEL", found.keys[i]));
}
