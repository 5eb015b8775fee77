/* Permits: gives back permits that are in doubt. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_WATCHDOG_PERMITS_H
#define RLI_WATCHDOG_PERMITS_H

#include "watchdog/watchdog.h"

/* Gives back the permits that are due first. Engine's mutex held on entry and return, not meanwhile. */
void rli_permits_give_back(rli_watchdog *watchdog);

#endif
