/* Collect: reads the answers to async releases and async calls that nobody else reads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/collect.h"

#include "base/clock.h"

void rli_collect(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    engine->collect_at_ms = RLI_NEVER;
    rli_engine_unlock(engine);
    rli_topology_collect(engine->topology, rli_now_ms());
    bool async = engine->tend(engine);
    rli_engine_lock(engine);
    if (engine->posted > 0 || async)
        rli_engine_collect_soon(engine);
}
