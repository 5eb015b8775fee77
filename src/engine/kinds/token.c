/* Token lock: a string that holds its owner's token, as SET NX PX writes it; the lock of redis-py and of npm's redlock.
 * The hold count is known to the owner's process alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kind.h"

static void acquire(rli_call *call, const rli_request *request)
{
    rli_call_script(call, &rli_script_token_acquire, 1);
    rli_call_add(call, request->names->name, request->names->length);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->lease_ms);
    rli_call_add_number(call, request->count);
    rli_reentrant_add_replaced(call, request);
}

static void release(rli_call *call, const rli_request *request)
{
    rli_call_script(call, &rli_script_token_release, 1);
    rli_call_add(call, request->names->name, request->names->length);
    rli_call_add(call, request->names->channel, request->names->channel_length);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->count);
    rli_call_add_number(call, request->lease_ms);
}

static void force(rli_call *call, const rli_names *names)
{
    rli_call_script(call, &rli_script_token_force, 1);
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->channel, names->channel_length);
    call->once = true;
}

static void state(rli_call *call, const rli_names *names, const char *owner)
{
    rli_call_script(call, &rli_script_token_state, 1);
    rli_call_add(call, names->name, names->length);
    rli_call_add_text(call, owner);
}

/* There is no handoff: programs that take the lock by asking now and then would never find it free. */
const rli_kind rli_kind_token = {
    .name = "token",
    .naming = {.what = "lock", .channel_prefix = "rlock_token_channel"},
    .renew = &rli_script_token_renew,
    .queueing = RLI_BY_BACK_OFF,
    .acquire = acquire,
    .release = release,
    .force = force,
    .state = state,
    .parse_acquire = rli_reentrant_parse_acquire,
    .parse_release = rli_reentrant_parse_release,
};
