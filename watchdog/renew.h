/* Renewing: one batch of holds that are due. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RENEW_H
#define RLI_RENEW_H

#include "watchdog/watchdog.h"

/* Renews the holds that are due, a batch of one kind at most. Holds' mutex held on entry and return,
 * not meanwhile. */
void rli_renew_due(rli_watchdog *watchdog);

#endif
