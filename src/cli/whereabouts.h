/* Whether the servers that settings name are on this machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_WHEREABOUTS_H
#define CLI_WHEREABOUTS_H

#include "cli/message.h"

#include <rlock/config.h>
#include <stdbool.h>

/* Whether it is certain that they are: a unix socket, or one server at a loopback address or at "localhost".
 * A cluster or sentinels may lead anywhere. No name is looked up. `shown`: their hosts, for messages. */
bool servers_are_here(const rlock_config *config, char shown[SHOWN_SIZE]);

#endif
