/* Every process that descends from this one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DESCENDANTS_H
#define CLI_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

/* Processes that a signal did not reach. */
typedef struct cli_unreached {
    bool unknown; /* /proc does not tell of them */
    bool refused; /* they run as another user: the signal is not permitted */
} cli_unreached;

/* Sends `signal` to each of them: children, their children, and so on. One that is started at
 * the same moment may be missed; asking again finds it. `child` (0: none) is reached though /proc may not show it. */
cli_unreached descendants_signal(int signal, pid_t child);

#endif
