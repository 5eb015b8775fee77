/* Collect: reads the answers to async releases that no other operation reads. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_COLLECT_H
#define RLI_COLLECT_H

#include "watchdog/watchdog.h"

/* Called by the watchdog's thread at engine->collect_at_ms. Engine's mutex held on entry and return, not meanwhile. */
void rli_collect(rli_watchdog *watchdog);

#endif
