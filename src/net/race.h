/* A race: of the addresses that a name stands for, the first that connects is taken. The next one is tried when the one
 * before it has failed, or has not answered for a moment, and those before it stay in the race (RFC 8305). So an address
 * where nobody answers costs that moment, not all the time there is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RACE_H
#define RLI_RACE_H

#include "net/patience.h"

#include <netdb.h>

/* The winner's socket: non-blocking, closed on exec, tracked (forked.h); the others are closed. -1: no address connected
 * before patience ended; *why says why, in a text that stays. */
int rli_race(const struct addrinfo *addresses, const rli_patience *patience, const char **why);

#endif
