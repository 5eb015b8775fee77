/* The reentrant lock, Redisson's RLock: a hash with one field, its owner's count. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/kind.h"
#include "redis/reply.h"

static void acquire(rli_call *call, const rli_names *names, const char *owner, int64_t lease_ms, int count,
                    const char *over)
{
    rli_call_script(call, &rli_script_lock_acquire, 1);
    rli_call_add(call, names->name, names->length);
    rli_call_add_text(call, owner);
    rli_call_add_number(call, lease_ms);
    rli_call_add_number(call, count);
    rli_call_add_text(call, over);
}

static void release(rli_call *call, const rli_names *names, const char *owner, int64_t lease_ms, int count)
{
    rli_call_script(call, &rli_script_lock_release, 2);
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->channel, names->channel_length);
    rli_call_add_text(call, owner);
    rli_call_add_number(call, count);
    rli_call_add_number(call, lease_ms);
}

static void force(rli_call *call, const rli_names *names)
{
    rli_call_script(call, &rli_script_lock_force, 2);
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->channel, names->channel_length);
    call->once = true;
}

static void state(rli_call *call, const rli_names *names, const char *owner)
{
    rli_call_script(call, &rli_script_lock_state, 1);
    rli_call_add(call, names->name, names->length);
    rli_call_add_text(call, owner);
}

static rli_grant granted(const redisReply *reply, int64_t *pttl_ms)
{
    if (rli_reply_is_nil(reply))
        return RLI_GRANTED;
    if (!rli_reply_integer(reply, pttl_ms) || *pttl_ms < -3 || *pttl_ms == -2)
        return RLI_ODD_GRANT;
    return *pttl_ms == -3 ? RLI_OUTER_LOST : RLI_DENIED;
}

const rli_kind rli_kind_reentrant = {
    .name = "lock",
    .channel_prefix = "redisson_lock__channel",
    .renew = &rli_script_lock_renew,
    .acquire = acquire,
    .release = release,
    .force = force,
    .state = state,
    .granted = granted,
};
