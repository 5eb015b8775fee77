/* Renewing: what is due, in batches, of which several are under way at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RENEW_H
#define RLI_RENEW_H

#include "engine/holds.h"
#include "watchdog/watchdog.h"

/* Sends one batch of holds that are due, of which that session is the first; or puts it off, when its server is silent.
 * Engine's mutex held on entry and return, not meanwhile. */
void rli_renew_due(rli_watchdog *watchdog, rli_session *timer);
/* Takes up what was answered, and gives up what was not in time. True: there was something. The same of the mutex. */
bool rli_renew_land(rli_watchdog *watchdog);

#endif
