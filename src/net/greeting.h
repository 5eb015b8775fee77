/* The greeting: the first requests on a connection.
 *
 * They log the client in, choose the database, name the connection, and ask which run of the server this is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_GREETING_H
#define RLI_GREETING_H

#include "net/connection.h"

/* Exchanges the greeting on a connected socket and sets connection->run_id. Statuses as for rli_connection_open. */
rlock_status rli_greeting_exchange(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                                   const rli_patience *patience);

#endif
