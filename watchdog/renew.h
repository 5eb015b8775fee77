/* Renew: sends due renewals in batches, several at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RENEW_H
#define RLI_RENEW_H

#include "engine/session.h"
#include "watchdog/watchdog.h"

/* Sends one batch of due holds, beginning with the session `timer`; or puts the session off when its server is
 * silent. Engine's mutex held on entry and return, not meanwhile. */
void rli_renew_due(rli_watchdog *watchdog, rli_session *timer);
/* Returns whether a batch may be sent to the node of what is due since due_ms. Otherwise *until_ms is when to try
 * again: the node does not answer; or 0: enough is under way there, and it has waited a moment for that, without the
 * engine's mutex, which is held on entry and return. node NULL: it may. */
bool rli_renew_may_send(rli_watchdog *watchdog, const rli_node *node, int64_t due_ms, int64_t *until_ms);
/* Sends the batch, of renewals or looks. Engine's mutex held on entry and return, not meanwhile. */
void rli_renew_dispatch(struct rli_renewal_batch *batch);
/* Takes up the batches that were answered, and condemns the connections of those that were not answered in time.
 * Returns whether there was any answered one. Engine's mutex held on entry and return, not meanwhile. */
bool rli_renew_finish_answered(rli_watchdog *watchdog);

#endif
