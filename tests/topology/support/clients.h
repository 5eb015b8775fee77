/* Clients of servers that stand on no stage: opened by URL, closed when the test ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPOLOGY_CLIENTS_H
#define TOPOLOGY_CLIENTS_H

#include <rlock/rlock.h>

/* Attempts that end soon, and enough of them to outlast a failover on a busy machine: a minute at least. */
#define SPRY                                                                                                           \
    "timeout=1000&connectTimeout=1000&retryAttempts=200&retryBaseDelay=100&retryMaxDelay=500&scanInterval=500&"         \
    "slavesSyncTimeout=5000"
/* Two thirds of it, which are always left, are longer than a failover, though the machine stands still meanwhile. A hold is
 * renewed when a third has passed: what waits for that takes so long. */
#define SPRY_WATCHDOG SPRY "&lockWatchdogTimeout=45000"
#define SPRY_WATCHDOG_MS 45000

/* Opens a client, again and again while no server answers: opening makes one attempt, which is short in most tests, and a
 * server may stand still for longer. */
rlock_status open_patiently(rlock_client **client, const rlock_config *config);

/* A client, closed by clients_close. printf-like; fails the test when it can't be opened. Its handles
 * are those of stage.h. */
__attribute__((format(printf, 1, 2))) rlock_client *client_at(const char *format, ...);
/* Closes one now. */
void client_end(rlock_client *client);
/* Closes all, and frees all handles: before the servers are stopped. */
void clients_close(void);

/* Fails the test unless opening that URL answers `expected` and its message has all of the texts (ended by
 * NULL) in it. Gives how long it took, ms. */
__attribute__((sentinel)) long long refused_at(const char *url, rlock_status expected, const char *text, ...);

#endif
