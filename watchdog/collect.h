/* Collecting: reads the answers to releases that nobody waits for, where no later call does. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_COLLECT_H
#define RLI_COLLECT_H

#include "watchdog/watchdog.h"

/* A release is about to be posted: has its answer read before long. Holds' mutex held. */
void rli_collect_soon(rli_watchdog *watchdog);
/* The watchdog's thread, when it is time; holds' mutex held on entry and return, not meanwhile. */
void rli_collect(rli_watchdog *watchdog);

#endif
