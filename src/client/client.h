/* Client: the parts that it is made of. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CLIENT_H
#define RLI_CLIENT_H

#include "base/gate.h"
#include "client/loop.h"
#include "config/settings.h"
#include "engine/engine.h"
#include "redis/topology/topology.h"
#include "watchdog/reporter.h"
#include "watchdog/watchdog.h"

#include <rlock/client.h>

/* Mutexes are not held together, with two exceptions: the topology's mutex may be held while a pipeline's or
 * a subscriber's is taken, and a pipeline's while the engine's is taken. */
struct rlock_client {
    rli_gate gate;
    char id[37];
    rli_settings settings;
    rli_topology topology;
    rli_engine engine;
    rli_watchdog watchdog;
    rli_reporter reporter;
    rli_loop loop;
};

/* RLOCK_OK; RLOCK_INVALID: NULL; RLOCK_FORKED; RLOCK_CLOSED. Takes no mutex. */
rlock_status rli_client_check(const rlock_client *client);

#endif
