/* Collecting: reads the answers to releases that nobody waits for, where no later call does. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_COLLECT_H
#define RLI_COLLECT_H

#include "watchdog/watchdog.h"

/* The watchdog's thread, when it is time; engine's mutex held on entry and return, not meanwhile. */
void rli_collect(rli_watchdog *watchdog);

#endif
