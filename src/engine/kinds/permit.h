/* The permit-expirable semaphore on the server: its names, and what its scripts are given first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_KINDS_PERMIT_H
#define RLI_KINDS_PERMIT_H

#include "engine/names.h"
#include "redis/call.h"

extern const rli_naming rli_permit_naming; /* keys[0]: the zset of permits */

/* Starts a call on counter, permits and channel. */
void rli_permit_call(rli_call *call, const rli_names *names, const rli_script *script);

#endif
