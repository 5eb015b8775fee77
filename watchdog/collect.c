/* Collect: reads the answers to async releases that no other operation reads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/collect.h"

#include "base/clock.h"

void rli_collect(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    engine->collect_at_ms = RLI_NEVER;
    pthread_mutex_unlock(&engine->mutex);
    rli_topology_collect(engine->topology, rli_now_ms());
    pthread_mutex_lock(&engine->mutex);
    if (engine->posted > 0)
        rli_engine_collect_soon(engine);
}
