/* Descendants: all processes that descend from this one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DESCENDANTS_H
#define CLI_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

/* Why a signal did not reach all processes. */
typedef struct cli_unreached {
    bool unknown; /* /proc does not show them */
    bool refused; /* they run as another user, and the signal is not permitted */
} cli_unreached;

/* Sends `signal` to all descendants: children, their children, and so on. A process that is started at the
 * same moment may be missed; another call finds it. `child` (0: none) is signalled even if /proc does not
 * show it. */
cli_unreached descendants_signal(int signal, pid_t child);

#endif
