/* Read-write lock, Redisson's RReadWriteLock: a hash with a mode, the readers' and the writer's counts, and another
 * key for each read hold. Its two sides are two kinds of lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kind.h"
#include "net/reply.h"

/* A script that looks at timeout keys, which it cannot name: as Redisson does, it names what they begin with. There is
 * no key of that name, so that a cluster, where keys of the lock's slot are on their way to another node, has the
 * request wait for all of them (TRYAGAIN), instead of running the script on those that are there. */
static void start(rli_call *call, const rli_script *script, const rli_names *names)
{
    rli_call_script(call, script, 2);
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->keys[0], names->key_lengths[0]);
}

/* --- the read side --- */

static void read_acquire(rli_call *call, const rli_request *request)
{
    const rli_names *names = request->names;
    start(call, &rli_script_read_acquire, names);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->lease_ms);
    rli_call_add_number(call, request->count);
    rli_call_add_text(call, request->replaced);
    rli_call_add_text(call, request->writer);
    if (*request->replaced)
        rli_call_add(call, names->channel, names->channel_length);
}

static void read_release(rli_call *call, const rli_request *request)
{
    const rli_names *names = request->names;
    start(call, &rli_script_read_release, names);
    rli_call_add(call, names->channel, names->channel_length);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->count);
    rli_call_add_number(call, request->highest);
}

static void read_force(rli_call *call, const rli_names *names)
{
    rli_start_force(call, names, &rli_script_read_force);
}

static void read_state(rli_call *call, const rli_names *names, const char *owner)
{
    rli_start_state(call, names, owner, &rli_script_read_state);
}

/* The answer is { 1 } when granted under the owner's write hold, otherwise that of the reentrant lock. */
static rli_acquire_result read_parse_acquire(const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 1)
        return (rli_acquire_result){.grant = RLI_GRANTED, .beneath = true};
    return rli_reentrant_parse_acquire(reply);
}

/* --- the write side --- */

static void write_acquire(rli_call *call, const rli_request *request)
{
    const rli_names *names = request->names;
    start(call, &rli_script_write_acquire, names);
    rli_call_add(call, names->channel, names->channel_length);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->lease_ms);
    rli_call_add_number(call, request->count);
    rli_call_add_text(call, request->replaced);
}

static void write_release(rli_call *call, const rli_request *request)
{
    const rli_names *names = request->names;
    start(call, &rli_script_write_release, names);
    rli_call_add(call, names->channel, names->channel_length);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->count);
    rli_call_add_number(call, request->lease_ms);
}

static void write_force(rli_call *call, const rli_names *names)
{
    rli_start_force(call, names, &rli_script_write_force);
}

static void write_state(rli_call *call, const rli_names *names, const char *owner)
{
    rli_start_state(call, names, owner, &rli_script_write_state);
}

/* The answer is { PTTL } when granted, as leases add up, otherwise that of the reentrant lock. */
static rli_acquire_result write_parse_acquire(const redisReply *reply)
{
    int64_t pttl_ms = 0;
    if (reply->type != REDIS_REPLY_ARRAY)
        return rli_reentrant_parse_acquire(reply);
    if (reply->elements != 1 || !rli_reply_integer(reply->element[0], &pttl_ms))
        return (rli_acquire_result){.grant = RLI_GRANT_MALFORMED};
    return (rli_acquire_result){.grant = RLI_GRANTED, .pttl_ms = pttl_ms};
}

#define CHANNEL "redisson_rwlock"

/* keys[0] is the prefix of the timeout keys of read holds. */
#define NAMING                                                                                                         \
    {                                                                                                                  \
        .what = "read-write lock", .channel_prefix = CHANNEL, .key_suffix = ""                                         \
    }

const rli_kind rli_kind_read = {
    .name = "read",
    .naming = NAMING,
    .renew = &rli_script_read_renew,
    .look = &rli_script_read_look,
    .queueing = RLI_IN_NO_QUEUE,
    .sharing = RLI_READING,
    .acquire = read_acquire,
    .release = read_release,
    .force = read_force,
    .state = read_state,
    .parse_acquire = read_parse_acquire,
    .parse_release = rli_reentrant_parse_release,
};

const rli_kind rli_kind_write = {
    .name = "write",
    .naming = NAMING,
    .renew = &rli_script_write_renew,
    .look = &rli_script_write_look,
    .sharing = RLI_WRITING,
    .acquire = write_acquire,
    .release = write_release,
    .force = write_force,
    .state = write_state,
    .parse_acquire = write_parse_acquire,
    .parse_release = rli_reentrant_parse_release,
};
