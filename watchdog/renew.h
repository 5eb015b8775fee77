/* Renew: sends due renewals in batches, several at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RENEW_H
#define RLI_RENEW_H

#include "engine/session.h"
#include "watchdog/watchdog.h"

/* Sends one batch of due holds, beginning with the session `due`; or puts the session off when its server is
 * silent. Engine's mutex held on entry and return, not meanwhile. */
void rli_renew_due(rli_watchdog *watchdog, rli_session *due);
/* Returns whether a batch may be sent to the node now, for what is due since due_ms. If not, *until_ms is when to try
 * again, since the node does not answer; or 0: too much is under way there, and this has waited for answers, with the
 * engine's mutex released meanwhile: look again what is due. node NULL: it may. */
bool rli_renew_await_room(rli_watchdog *watchdog, const rli_node *node, int64_t due_ms, int64_t *until_ms);
/* Sends the batch, of renewals or looks. Engine's mutex held on entry and return, not meanwhile. */
void rli_renew_dispatch(struct rli_renewal_batch *batch);
/* Takes up the batches that were answered, and condemns the connections of those that were not answered in time.
 * Returns whether there was any answered one. Engine's mutex held on entry and return, not meanwhile. */
bool rli_renew_finish_answered(rli_watchdog *watchdog);

#endif
