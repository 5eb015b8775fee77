/* Signal-list lock: a string that holds its owner's token, and a list on which each release leaves one element for the
 * waiter that has waited longest; the lock of python-redis-lock. The hold count is known to the owner's process
 * alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kind.h"

static void add_keys(rli_call *call, const rli_names *names)
{
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->keys[0], names->key_lengths[0]);
}

static void release(rli_call *call, const rli_request *request)
{
    rli_call_script(call, &rli_script_signal_release, 2);
    add_keys(call, request->names);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->count);
    rli_call_add_number(call, request->lease_ms);
}

static void force(rli_call *call, const rli_names *names)
{
    rli_call_script(call, &rli_script_signal_force, 2);
    add_keys(call, names);
    call->once = true;
}

/* There is no handoff: the element goes to whom the server finds to have waited longest, in whatever process. */
const rli_kind rli_kind_signal = {
    .name = "signal",
    .naming = {.what = "lock", .name_prefix = RLI_SIGNAL_LOCK, .twin_prefix = "lock-signal:"},
    .renew = &rli_script_token_renew,
    .look = &rli_script_token_look,
    .queueing = RLI_BY_SIGNAL,
    .acquire = rli_token_acquire,
    .release = release,
    .force = force,
    .state = rli_token_state,
    .parse_acquire = rli_reentrant_parse_acquire,
    .parse_release = rli_reentrant_parse_release,
};
