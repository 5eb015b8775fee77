/* A race: connects to several addresses of one name and takes the first that answers (RFC 8305).
 *
 * The next address is tried when the previous one has failed, or has not answered for a moment; the earlier ones stay
 * in the race. So an address that does not answer costs that moment, not all of the available time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RACE_H
#define RLI_RACE_H

#include "net/patience.h"

#include <netdb.h>

/* Returns the winner's socket: non-blocking, closed on exec, tracked (base/forked.h); close it with rli_fd_close. The
 * other sockets are closed. -1: no address connected before patience ended; *why has the reason, in static text or
 * from strerror. */
int rli_race(const struct addrinfo *addresses, const rli_patience *patience, const char **why);

#endif
