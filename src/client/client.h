/* Client: the parts that it is made of. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CLIENT_H
#define RLI_CLIENT_H

#include "base/gate.h"
#include "client/key_events.h"
#include "client/loop.h"
#include "config/settings.h"
#include "engine/engine.h"
#include "redis/topology/topology.h"
#include "watchdog/reporter.h"
#include "watchdog/watchdog.h"

#include <pthread.h>
#include <rlock/client.h>
#include <stdatomic.h>

struct rli_red_kept;

/* The keepers of red locks (locks/red_kept.h) whose first member, in the order that all handles on them agree on, is
 * of this client. A forked child opens other clients, so it meets no mutex that a thread of its parent held. */
#define RLI_KEEPER_BUCKETS 64
typedef struct rli_keepers {
    pthread_mutex_t mutex; /* held for a moment when such a lock is taken under the watchdog or released */
    atomic_int count;      /* may be read without the mutex */
    uint64_t numbers;      /* the highest that one has had */
    struct rli_red_kept *buckets[RLI_KEEPER_BUCKETS];
} rli_keepers;

/* Mutexes are not held together, with three exceptions: the keepers' may be held while any other is taken, the
 * topology's while a pipeline's or a subscriber's is taken, and a pipeline's while the engine's is taken. */
struct rlock_client {
    rli_gate gate;
    char id[37];
    rli_settings settings;
    rli_topology topology;
    rli_engine engine;
    rli_watchdog watchdog;
    rli_reporter reporter;
    rli_loop loop;
    rli_key_events key_events;
    rli_keepers keepers;
};

/* RLOCK_OK; RLOCK_INVALID: NULL; RLOCK_FORKED; RLOCK_CLOSED. Takes no mutex. */
rlock_status rli_client_check(const rlock_client *client);

#endif
