/* Permit-expirable semaphore: its names, and the keys that all its scripts take. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_KINDS_PERMIT_H
#define RLI_KINDS_PERMIT_H

#include "engine/names.h"
#include "redis/call.h"

extern const rli_naming rli_permit_naming; /* keys[0] is the zset of permits */

/* Starts a call of `script` with its keys: the counter, the permits and the channel. */
void rli_permit_call(rli_call *call, const rli_names *names, const rli_script *script);

#endif
