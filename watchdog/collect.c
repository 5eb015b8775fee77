/* Collecting: reads the answers to releases that nobody waits for, where no later call does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/collect.h"

#include "base/clock.h"
#include "client/client.h"

/* A loss is told so much later at most than it could be. While calls go on they read the answers, and the thread
 * wakes ten times a second in vain, which is nothing. */
#define PACE_MS 100

void rli_collect_soon(rli_watchdog *watchdog)
{
    if (watchdog->collect_at_ms != RLI_NEVER)
        return;
    watchdog->collect_at_ms = rli_after_ms(PACE_MS);
    rli_agenda_expect(&watchdog->client->holds.agenda, watchdog->collect_at_ms);
}

void rli_collect(rli_watchdog *watchdog)
{
    rli_holds *holds = &watchdog->client->holds;
    watchdog->collect_at_ms = RLI_NEVER;
    pthread_mutex_unlock(&holds->mutex);
    rli_topology_collect(&watchdog->client->topology, rli_now_ms());
    pthread_mutex_lock(&holds->mutex);
    if (holds->posted > 0)
        rli_collect_soon(watchdog);
}
