/* Permits: permits with ids and a lease that a command runs under. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PERMITS_H
#define CLI_PERMITS_H

#include <rlock/lock.h>
#include <rlock/semaphore.h>
#include <stdbool.h>

typedef struct cli_permits {
    rlock_permit_semaphore *semaphore;
    int count;
    rlock_permit *ids;
    bool renewed;           /* by the watchdog */
    int64_t valid_until_ms; /* CLOCK_BOOTTIME; of those that are not renewed */
} cli_permits;

/* Makes the handle for `count` permits. NULL: rlock_last_error() says why. End it with permits_close(). */
cli_permits *permits_open(rlock_client *client, const char *name, int count);
void permits_close(cli_permits *permits);

/* Acquires the permits with the options' lease; RLOCK_WATCHDOG: the watchdog renews them. RLOCK_LOST: the
 * lease has ended already. RLOCK_INVALID: the semaphore must exist, and does not. */
rlock_status permits_take(cli_permits *permits, const rlock_lock_options *how, bool must_exist);
/* For how many more ms the permits are certainly held, by the local clock. */
int64_t permits_valid_for(const cli_permits *permits);
/* Releases the permits. RLOCK_LOST: at least one of them was no longer there. */
rlock_status permits_give_back(cli_permits *permits);

#endif
