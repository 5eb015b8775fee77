/* Whereabouts: whether the configured servers are on this machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_WHEREABOUTS_H
#define CLI_WHEREABOUTS_H

#include "cli/message.h"

#include <rlock/config.h>
#include <stdbool.h>

/* Returns true only if it is certain: a unix socket, or one server at a loopback address or "localhost". A
 * cluster or sentinels may lead to any machine. Looks up no host names. `shown`: the hosts, for messages. */
bool servers_are_here(const rlock_config *config, char shown[SHOWN_SIZE]);

#endif
