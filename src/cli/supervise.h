/* Supervise: from the start of the command to its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SUPERVISE_H
#define CLI_SUPERVISE_H

#include "cli/child.h"
#include "cli/loss.h"
#include "cli/signals.h"

#include <stdint.h>

/* Waits for the end of the command, and passes signals on to it. If the lock is lost first, ends the command
 * and everything that it started: sends SIGTERM, and SIGKILL after kill_after_ms, until no process is left,
 * except those that cannot be found or may not be signalled, of which it writes a message. Returns true if
 * the command ended while the lock was held. */
bool supervise(cli_child *child, cli_loss *loss, const cli_signals *signals, int64_t kill_after_ms);

#endif
