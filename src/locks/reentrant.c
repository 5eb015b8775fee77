/* The reentrant lock, Redisson's RLock: a hash with one field, its owner's count. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/kind.h"
#include "redis/reply.h"

void rli_reentrant_acquire(rli_call *call, const rli_request *request)
{
    rli_call_script(call, &rli_script_lock_acquire, 1);
    rli_call_add(call, request->names->name, request->names->length);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->lease_ms);
    rli_call_add_number(call, request->count);
    rli_call_add_text(call, request->over);
}

void rli_reentrant_release(rli_call *call, const rli_request *request)
{
    rli_call_script(call, &rli_script_lock_release, 1);
    rli_call_add(call, request->names->name, request->names->length);
    rli_call_add(call, request->names->channel, request->names->channel_length);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->count);
    rli_call_add_number(call, request->lease_ms);
}

void rli_reentrant_force(rli_call *call, const rli_names *names)
{
    rli_call_script(call, &rli_script_lock_force, 1);
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->channel, names->channel_length);
    call->once = true;
}

void rli_reentrant_state(rli_call *call, const rli_names *names, const char *owner)
{
    rli_call_script(call, &rli_script_lock_state, 1);
    rli_call_add(call, names->name, names->length);
    rli_call_add_text(call, owner);
}

rli_verdict rli_reentrant_granted(const redisReply *reply)
{
    int64_t pttl_ms = 0;
    if (rli_reply_is_nil(reply))
        return (rli_verdict){.grant = RLI_GRANTED};
    if (!rli_reply_integer(reply, &pttl_ms) || pttl_ms < -3 || pttl_ms == -2)
        return (rli_verdict){.grant = RLI_ODD_GRANT};
    if (pttl_ms == -3)
        return (rli_verdict){.grant = RLI_OUTER_LOST};
    return (rli_verdict){.grant = RLI_DENIED, .pttl_ms = pttl_ms};
}

rli_released rli_reentrant_released(const redisReply *reply, const char **unheard)
{
    int64_t freed = 0;
    *unheard = NULL;
    if (rli_reply_is_nil(reply))
        return RLI_NOT_HELD;
    return rli_reply_integer(reply, &freed) ? RLI_RELEASED : RLI_ODD_RELEASE;
}

const rli_kind rli_kind_reentrant = {
    .name = "lock",
    .naming = {.what = "lock", .channel_prefix = RLI_LOCK_CHANNEL},
    .renew = &rli_script_lock_renew,
    .keeps = true,
    .acquire = rli_reentrant_acquire,
    .release = rli_reentrant_release,
    .force = rli_reentrant_force,
    .state = rli_reentrant_state,
    .granted = rli_reentrant_granted,
    .released = rli_reentrant_released,
};
