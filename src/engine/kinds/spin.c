/* Spin lock, Redisson's RSpinLock: a reentrant lock that publishes nothing, and whose waiters poll. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kind.h"

static void hand_over(rli_call *call, const rli_request *request)
{
    rli_call_script(call, &rli_script_spin_handoff, 1);
    rli_call_add(call, request->names->name, request->names->length);
    rli_call_add_text(call, request->owner);
    rli_call_add_text(call, request->successor);
    rli_call_add_number(call, request->successor_lease_ms);
}

static void release(rli_call *call, const rli_request *request)
{
    if (request->successor) {
        hand_over(call, request);
        return;
    }
    rli_call_script(call, &rli_script_spin_release, 1);
    rli_call_add(call, request->names->name, request->names->length);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->count);
    rli_call_add_number(call, request->lease_ms);
}

static void force(rli_call *call, const rli_names *names)
{
    rli_call_script(call, &rli_script_spin_force, 1);
    rli_call_add(call, names->name, names->length);
    call->once = true;
}

const rli_kind rli_kind_spin = {
    .name = "spin",
    .naming = {.what = "lock"},
    .renew = &rli_script_lock_renew,
    .look = &rli_script_lock_look,
    .queueing = RLI_BY_SPINNING,
    .acquire = rli_reentrant_acquire,
    .release = release,
    .force = force,
    .state = rli_reentrant_state,
    .parse_acquire = rli_reentrant_parse_acquire,
    .parse_release = rli_reentrant_parse_release,
    .parse_handoff = rli_reentrant_parse_handoff,
};
