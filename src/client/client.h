/* The client, seen from inside: the parts it is made of. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CLIENT_H
#define RLI_CLIENT_H

#include "client/caller.h"
#include "config/settings.h"
#include "engine/holds.h"
#include "redis/topology/topology.h"
#include "watchdog/reporter.h"
#include "watchdog/watchdog.h"

#include <rlock/client.h>
#include <stdatomic.h>

/* Mutexes are not held together, except that the topology's is taken before a lane's or a subscriber's, and a lane's
 * before the holds'. */
struct rlock_client {
    atomic_int references;   /* the program's own and one a handle */
    atomic_bool closed;
    unsigned generation;     /* of forks, when it was opened */
    char id[37];
    rli_settings settings;
    rli_topology topology;
    rli_holds holds;
    rli_watchdog watchdog;
    rli_reporter reporter;
    pthread_mutex_t mutex;
    rli_caller *callers;     /* guarded by mutex: those who may sleep, to be woken by close */
};

void rli_client_keep(rlock_client *client);
void rli_client_release(rlock_client *client);

/* RLOCK_OK, RLOCK_INVALID (NULL), RLOCK_FORKED or RLOCK_CLOSED; touches no mutex. */
rlock_status rli_client_check(const rlock_client *client);

#endif
