/* Names of hosts that lead where the test says: getaddrinfo of this program asks it first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPOLOGY_NAMES_H
#define TOPOLOGY_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name; others with that end lead where it does, and all others are the system's. The library asks for it as for
 * any other. */
#define NAME_OF_HOST "redis" NAMES_END
#define NAMES_END ".rlock.test"
/* Names that end so are all 127.0.0.1, and keep their ports. */
#define NAMES_OF_NODES ".nodes" NAMES_END

/* From now on it is 127.0.0.1, and every port there is that one, as if another machine had the address; 0:
 * it cannot be resolved, as at first. Any thread. */
void name_leads_to(int port);
/* The same with several addresses, in that order. */
#define NAME_ADDRESSES 64
void name_leads_along(const int *ports, size_t count);
/* How often it was asked for. */
int name_asked(void);
/* Waits until that is `count` at least; false: not within ms. */
bool name_await_asked(int count, int64_t ms);
/* From now on the resolver does not answer for the name, until it is told to answer again. Any thread; a forked child
 * decides for itself. */
void name_stall(bool stalls);
/* Waits until that name of a node was asked for. False: not within ms. */
bool name_await(const char *name, int64_t ms);

#endif
