/* Tracking: has each server report changes of the keys that are read on the background connection, to the connection
 * for messages (CLIENT TRACKING with REDIRECT). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_WATCHDOG_TRACKING_H
#define RLI_WATCHDOG_TRACKING_H

#include "watchdog/watchdog.h"

/* Begins, repeats or ends tracking at each server, as its connections, holds and the watch require, and notes which
 * holds are to be read again for that. Engine's mutex held on entry and return, not meanwhile. */
void rli_tracking_tend(rli_watchdog *watchdog);
/* Returns whether the server tracks what is read on the background connection; if not, has that begun. False also while
 * tracking is switched off. NULL: no server is known. Engine's mutex held. */
bool rli_tracking_want(rli_engine *engine, rli_node *node);
/* Notes that the server's background connection was used. If it is another one than the one that tracks, tracking
 * begins anew. Engine's mutex held. */
void rli_tracking_check(rli_engine *engine, rli_node *node);

#endif
