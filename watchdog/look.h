/* Look: reads holds that others may have changed, and judges what stands there.
 *
 * Looks leave in batches, as renewals do, on the same connections: reading a key there also has the server track it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_LOOK_H
#define RLI_LOOK_H

#include "engine/session.h"
#include "watchdog/renewal_batch.h"
#include "watchdog/watchdog.h"

/* Called at engine->watch.due_ms. Engine's mutex held on entry and return, not always meanwhile. */
void rli_look_due(rli_watchdog *watchdog);
/* The session that is first on the timer heap is old enough to be tracked. Has it read, with others like it. Engine's
 * mutex held on entry and return, not always meanwhile. */
void rli_look_at_old(rli_watchdog *watchdog, rli_session *session);
/* Judges what a look answered for one session. answer: NULL if there is none. sent_ms: when the look was sent. Engine's
 * mutex held. */
void rli_look_judge(rli_engine *engine, const rli_renewal_batch *batch, rli_session *session, const redisReply *answer,
                    int64_t sent_ms);

#endif
