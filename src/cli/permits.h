/* Permits with ids and a lease that a command runs under, kept for as long as it runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PERMITS_H
#define CLI_PERMITS_H

#include <pthread.h>
#include <rlock/lock.h>
#include <rlock/semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#define PERMITS_LEASE_MS 30000 /* of permits that are renewed, every third of it */

typedef struct cli_permits {
    rlock_permit_semaphore *semaphore;
    int count;
    rlock_permit *ids;
    bool renewed;
    int64_t lease_ms;
    _Atomic int64_t valid_until_ms; /* CLOCK_BOOTTIME */
    atomic_bool gone;               /* the server has them no more */
    int gone_fd;                    /* written to when that is found out; -1: nobody listens */
    pthread_t thread;               /* that renews, between permits_keep and permits_keep_no_more */
    int stop_fd;
} cli_permits;

/* NULL: rlock_last_error(). */
cli_permits *permits_open(rlock_client *client, const char *name, int count);
void permits_close(cli_permits *permits);

/* Takes them with the options' lease, or with one that is to be renewed (RLOCK_WATCHDOG). */
rlock_status permits_take(cli_permits *permits, const rlock_lock_options *how);
/* For how many more ms they are held for certain, by the clock alone. */
int64_t permits_valid_for(cli_permits *permits);
/* RLOCK_LOST: the server had them no more. */
rlock_status permits_give_back(cli_permits *permits);

/* Renews them from now on, unless they have a lease of their own; gone_fd, an eventfd, is written to when
 * they are gone. False: errno says why. permits_keep_no_more waits for a renewal that is under way. */
bool permits_keep(cli_permits *permits, int gone_fd);
void permits_keep_no_more(cli_permits *permits);

#endif
