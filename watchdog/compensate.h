/* Compensate: releases in the background what an unanswered request may have taken, or may still take. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_COMPENSATE_H
#define RLI_COMPENSATE_H

#include "engine/session.h"
#include "watchdog/watchdog.h"

/* Sends one round of compensating requests for a session in RLI_COMPENSATING, and schedules the next one after a
 * longer pause, until the requested lease would have ended. May free the session. Engine's mutex held on entry and
 * return, not meanwhile. */
void rli_compensate(rli_watchdog *watchdog, rli_session *session);

#endif
