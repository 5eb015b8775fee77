/* Names of hosts that lead where the test says: getaddrinfo of this program asks it first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPOLOGY_NAMES_H
#define TOPOLOGY_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* The name; all others are the system's. The library asks for it as for any other. */
#define NAME_OF_HOST "redis.rlock.test"

/* Names that end so are all 127.0.0.1, and keep their ports. */
#define NAMES_OF_NODES ".nodes.rlock.test"

/* From now on it is 127.0.0.1, and every port there is that one, as if another machine had the address; 0:
 * it cannot be resolved, as at first. Any thread. */
void name_leads_to(int port);
/* How often it was asked for. */
int name_asked(void);
/* Waits until that name of a node was asked for. False: not within ms. */
bool name_await(const char *name, int64_t ms);

#endif
