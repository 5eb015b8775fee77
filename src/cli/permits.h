/* Permits: permits with ids and a lease that a command runs under, renewed for as long as it runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PERMITS_H
#define CLI_PERMITS_H

#include <pthread.h>
#include <rlock/lock.h>
#include <rlock/semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Lease of permits that are renewed; they are renewed every third of it. */
#define PERMITS_LEASE_MS 30000

typedef struct cli_permits {
    rlock_permit_semaphore *semaphore;
    int count;
    rlock_permit *ids;
    bool renewed;
    int64_t lease_ms;
    _Atomic int64_t valid_until_ms; /* CLOCK_BOOTTIME */
    atomic_bool gone;               /* a permit is no longer on the server */
    int gone_fd;                    /* eventfd, written to when `gone` is set; -1: none */
    pthread_t thread;               /* renews, from permits_keep to permits_keep_no_more */
    int stop_fd;
} cli_permits;

/* Makes the handle for `count` permits. NULL: rlock_last_error() says why. End it with permits_close(). */
cli_permits *permits_open(rlock_client *client, const char *name, int count);
void permits_close(cli_permits *permits);

/* Acquires the permits with the options' lease; RLOCK_WATCHDOG: with a lease that is renewed. RLOCK_LOST: the
 * lease has ended already. */
rlock_status permits_take(cli_permits *permits, const rlock_lock_options *how);
/* For how many more ms the permits are certainly held, by the local clock. */
int64_t permits_valid_for(cli_permits *permits);
/* Releases the permits. RLOCK_LOST: at least one of them was no longer there. */
rlock_status permits_give_back(cli_permits *permits);

/* From now on renews the permits, unless they were acquired with a lease; writes to gone_fd, an eventfd, when
 * one of them is gone. False: errno says why. permits_keep_no_more ends that, after a renewal that is under
 * way. */
bool permits_keep(cli_permits *permits, int gone_fd);
void permits_keep_no_more(cli_permits *permits);

#endif
