/* Undoing: releasing again what a request that was never answered may have taken, or may take yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_COMPENSATE_H
#define RLI_COMPENSATE_H

#include "engine/holds.h"
#include "watchdog/watchdog.h"

/* One release of a session that is being undone; the next after a longer pause, until the lease
 * that was asked for would have ended. May free the session. Engine's mutex held on entry and
 * return, not meanwhile. */
void rli_compensate(rli_watchdog *watchdog, rli_session *session);

#endif
