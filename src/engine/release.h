/* Release: gives back one hold of its owner, or all holds by force. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RELEASE_H
#define RLI_RELEASE_H

#include "engine/engine.h"
#include "engine/kind.h"

#include <stdbool.h>
#include <stdint.h>

/* Releases as rlock_unlock does, with the same statuses. answer_ms: how long to wait for the answer; RLI_NEVER: as
 * long as the configured attempts take. */
rlock_status rli_release_run(rli_engine *engine, const rli_kind *kind, const rli_names *names, const rli_owner *owner,
                             int64_t answer_ms);

/* Releases as rlock_force_unlock does, with the same statuses. was_locked may be NULL. */
rlock_status rli_release_force(rli_engine *engine, const rli_kind *kind, const rli_names *names, bool *was_locked);

/* Releases on the server a hold that was offered to a waiter which has gone (rli_local_handoff_pass_on). Waits
 * briefly; if there is no answer, the watchdog repeats the release in the background. Keeps the thread's last
 * error. Mutex not held. */
void rli_release_offered(rli_engine *engine, rli_session *offered, const rli_names *names);

#endif
