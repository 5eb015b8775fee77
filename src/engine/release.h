/* Releasing: one hold given back by its owner, or all of them by force. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RELEASE_H
#define RLI_RELEASE_H

#include "engine/engine.h"
#include "engine/kind.h"

#include <stdbool.h>
#include <stdint.h>

/* As rlock_unlock; the answer is waited for answer_ms at most, RLI_NEVER: the configured attempts. */
rlock_status rli_release_run(rli_engine *engine, const rli_kind *kind, const rli_names *names, const rli_owner *owner,
                             int64_t answer_ms);

/* As rlock_force_unlock; was_locked may be NULL. */
rlock_status rli_release_force(rli_engine *engine, const rli_kind *kind, const rli_names *names, bool *was_locked);

/* Gives back on the server what was kept for a waiter (local_handoff.h), which has gone; what is not answered soon is done
 * again in the background. The thread's last error stays. Mutex not held. */
void rli_release_offered(rli_engine *engine, rli_session *offered, const rli_names *names);

#endif
