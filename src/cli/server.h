/* Which server the command talks to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SERVER_H
#define CLI_SERVER_H

#include <rlock/client.h>

/* Opens a client of `url`, or when that is NULL of RLOCK_URL, or of a server on this machine.
 * Says on stderr what failed and answers the exit status; EXIT_DONE: *client is set. */
int server_open(rlock_client **client, const char *url);

#define SERVER_HELP                                                                                \
    "  --url URL   the server: redis://[user:password@]host[:port][/db] or\n"                      \
    "              unix:///path[?db=n]; else RLOCK_URL from the environment,\n"                    \
    "              else redis://127.0.0.1:6379\n"

#endif
