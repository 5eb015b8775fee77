/* The greeting: the first requests on a connection, by which the client logs in, chooses its database, names itself, and
 * asks which run of the server it talks to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_GREETING_H
#define RLI_GREETING_H

#include "net/connection.h"

/* Greets the server on a connection that is up, and notes which run of it answers. Results as those of
 * rli_connection_open. */
rlock_status rli_greeting_exchange(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                                   const rli_patience *patience);

#endif
