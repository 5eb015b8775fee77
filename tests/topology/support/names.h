/* Names of hosts that lead where the test says: getaddrinfo of this program asks it first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPOLOGY_NAMES_H
#define TOPOLOGY_NAMES_H

/* The name; all others are the system's. The library asks for it as for any other. */
#define NAME_OF_HOST "redis.rlock.test"

/* From now on it is 127.0.0.1, and every port there is that one, as if another machine had the address; 0:
 * it cannot be resolved, as at first. Any thread. */
void name_leads_to(int port);
/* How often it was asked for. */
int name_asked(void);

#endif
