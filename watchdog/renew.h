/* Renew: sends due renewals in batches, several at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RENEW_H
#define RLI_RENEW_H

#include "engine/holds.h"
#include "watchdog/watchdog.h"

/* Sends one batch of due holds, beginning with the session `timer`; or puts the session off when its server is
 * silent. Engine's mutex held on entry and return, not meanwhile. */
void rli_renew_due(rli_watchdog *watchdog, rli_session *timer);
/* Sends the batch, of renewals or looks. Engine's mutex held on entry and return, not meanwhile. */
void rli_renew_dispatch(struct rli_renewal_batch *batch);
/* Takes up the batches that were answered, and condemns the connections of those that were not answered in time.
 * Returns whether there was any answered one. Engine's mutex held on entry and return, not meanwhile. */
bool rli_renew_finish_answered(rli_watchdog *watchdog);

#endif
