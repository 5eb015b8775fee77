/* Permit-expirable semaphore: its names, and the keys that all its scripts take. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kinds/permit.h"

const rli_naming rli_permit_naming = {
    .what = "permit-expirable semaphore",
    .channel_prefix = "redisson_sc",
    .key_suffix = "timeout",
};

void rli_permit_call(rli_call *call, const rli_names *names, const rli_script *script)
{
    rli_call_script(call, script, 3);
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->keys[0], names->key_lengths[0]);
    rli_call_add(call, names->channel, names->channel_length);
}
