/* Fenced lock, Redisson's RFencedLock: a reentrant lock of which each grant carries the next fencing token. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kind.h"
#include "net/reply.h"

static void acquire(rli_call *call, const rli_request *request)
{
    const rli_names *names = request->names;
    rli_call_script(call, &rli_script_fenced_acquire, 2);
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->keys[0], names->key_lengths[0]);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->lease_ms);
    rli_call_add_number(call, request->count);
    rli_reentrant_add_replaced(call, request);
}

/* The answer is { token } when granted, otherwise that of the reentrant lock. */
static rli_acquire_result parse_acquire(const redisReply *reply)
{
    int64_t token = 0;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements == 4)
        return rli_reentrant_parse_acquire(reply);
    if (reply->elements != 1 || !rli_reply_integer(reply->element[0], &token) || token <= 0)
        return (rli_acquire_result){.grant = RLI_GRANT_MALFORMED};
    return (rli_acquire_result){.grant = RLI_GRANTED, .token = (uint64_t)token};
}

const rli_kind rli_kind_fenced = {
    .name = "fenced",
    .naming = {.what = "lock", .channel_prefix = RLI_LOCK_CHANNEL, .key_prefixes = {"redisson_lock_token"}},
    .renew = &rli_script_lock_renew,
    .look = &rli_script_lock_look,
    .fenced = true,
    .registers = true,
    .acquire = acquire,
    .release = rli_reentrant_release,
    .force = rli_reentrant_force,
    .state = rli_reentrant_state,
    .give_up = rli_reentrant_give_up,
    .parse_acquire = parse_acquire,
    .parse_release = rli_reentrant_parse_release,
    .parse_handoff = rli_reentrant_parse_handoff,
};
