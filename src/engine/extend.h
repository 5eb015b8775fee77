/* Extend: lengthens what an owner holds already. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_EXTEND_H
#define RLI_EXTEND_H

#include "engine/engine.h"
#include "engine/kind.h"
#include "engine/owner.h"

/* Extends the owner's hold, with all its levels, to at least lease_ms from now; shortens nothing. Waits for the
 * answer for answer_ms at most.
 * RLOCK_OK; RLOCK_NOT_OWNER; RLOCK_LOST: the hold had expired or was forced open, and counts as lost from now on.
 * RLOCK_UNAVAILABLE, RLOCK_TIMEOUT, RLOCK_SERVER: the hold lasts as long as before, or longer.
 * RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY. */
rlock_status rli_extend_run(rli_engine *engine, const rli_kind *kind, const rli_names *names, const rli_owner *owner,
                            int64_t lease_ms, int64_t answer_ms);

#endif
