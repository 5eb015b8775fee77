/* Token lock: a string that holds its owner's token, as SET NX PX writes it; the lock of redis-py and of npm's redlock.
 * The hold count is known to the owner's process alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kind.h"

void rli_token_acquire(rli_call *call, const rli_request *request)
{
    rli_start_acquire(call, request, &rli_script_token_acquire);
}

static void release(rli_call *call, const rli_request *request)
{
    rli_start_release(call, request, &rli_script_token_release);
}

static void force(rli_call *call, const rli_names *names)
{
    rli_start_force(call, names, &rli_script_token_force);
}

void rli_token_state(rli_call *call, const rli_names *names, const char *owner)
{
    rli_start_state(call, names, owner, &rli_script_token_state);
}

/* There is no handoff: programs that take the lock by asking now and then would never find it free. */
const rli_kind rli_kind_token = {
    .name = "token",
    .naming = {.what = "lock", .channel_prefix = "rlock_token_channel"},
    .renew = &rli_script_token_renew,
    .look = &rli_script_token_look,
    .queueing = RLI_BY_BACK_OFF,
    .acquire = rli_token_acquire,
    .release = release,
    .force = force,
    .state = rli_token_state,
    .parse_acquire = rli_reentrant_parse_acquire,
    .parse_release = rli_reentrant_parse_release,
};
