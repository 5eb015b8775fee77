/* Group lock, Redisson's RedissonFasterMultiLock: many values of one group, held together; a hash has the holds of
 * all. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kind.h"
#include "engine/values.h"
#include "net/reply.h"

void rli_group_add_values(rli_call *call, const rli_values *values)
{
    rli_call_add(call, values->fields, values->count * RLI_VALUE_FIELD);
}

static void acquire(rli_call *call, const rli_request *request)
{
    const rli_names *names = request->names;
    rli_call_script(call, &rli_script_group_acquire, 1);
    rli_call_add(call, names->name, names->length);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->lease_ms);
    rli_call_add_number(call, request->count);
    rli_call_add_text(call, request->replaced);
    rli_call_add(call, names->channel, names->channel_length);
    rli_group_add_values(call, names->values);
}

static void release(rli_call *call, const rli_request *request)
{
    rli_start_release(call, request, &rli_script_group_release);
    rli_group_add_values(call, request->names->values);
}

static void force(rli_call *call, const rli_names *names)
{
    rli_start_force(call, names, &rli_script_group_force);
    rli_group_add_values(call, names->values);
}

static void state(rli_call *call, const rli_names *names, const char *owner)
{
    rli_start_state(call, names, owner, &rli_script_group_state);
    rli_group_add_values(call, names->values);
}

/* The answer is { ms, 1 } when a session of this client holds one of the values, otherwise that of the reentrant
 * lock. */
static rli_acquire_result parse_acquire(const redisReply *reply)
{
    int64_t wait_ms = 0, rivals = 0;
    if (reply->type != REDIS_REPLY_ARRAY)
        return rli_reentrant_parse_acquire(reply);
    if (reply->elements != 2 || !rli_reply_integer(reply->element[0], &wait_ms) || wait_ms < 0 ||
        !rli_reply_integer(reply->element[1], &rivals))
        return (rli_acquire_result){.grant = RLI_GRANT_MALFORMED};
    return (rli_acquire_result){.grant = RLI_DENIED, .pttl_ms = wait_ms, .has_rival = rivals > 0};
}

const rli_kind rli_kind_group = {
    .name = "group",
    .naming = {.what = "group", .channel_prefix = RLI_LOCK_CHANNEL},
    .renew = &rli_script_group_renew,
    .acquire = acquire,
    .release = release,
    .force = force,
    .state = state,
    .parse_acquire = parse_acquire,
    .parse_release = rli_reentrant_parse_release,
};
