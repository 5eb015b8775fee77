/* What happens between the start of the command and its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SUPERVISE_H
#define CLI_SUPERVISE_H

#include "cli/child.h"
#include "cli/loss.h"
#include "cli/signals.h"

#include <stdint.h>

/* Waits for the end of the command, passing signals on to it. When the lock is lost first, ends
 * it and whatever it started: SIGTERM, after kill_after_ms SIGKILL, until nothing is left but what
 * cannot be found or may not be signalled, which it says.
 * True: the command ended while the lock was held. */
bool supervise(cli_child *child, cli_loss *loss, const cli_signals *signals, int64_t kill_after_ms);

#endif
