/* Extending: more time for what an owner holds already. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_EXTEND_H
#define RLI_EXTEND_H

#include "engine/engine.h"
#include "engine/kind.h"
#include "engine/owner.h"

/* Lets the owner's hold, all of its levels, stand for lease_ms from now at least; lowers nothing. The
 * answer is waited for answer_ms at most. RLOCK_OK; RLOCK_NOT_OWNER; RLOCK_LOST: the hold had run out
 * or was forced open, and counts as lost from now on; RLOCK_UNAVAILABLE, RLOCK_TIMEOUT, RLOCK_SERVER:
 * it stands as long as it did, or longer; RLOCK_CLOSED, RLOCK_FORKED. */
rlock_status rli_extend_run(rli_engine *engine, const rli_kind *kind, const rli_names *names, const rli_owner *owner,
                            int64_t lease_ms, int64_t answer_ms);

#endif
