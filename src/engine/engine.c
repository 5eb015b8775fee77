/* Engine: the state that all locks of one client share. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/thread.h"
#include "engine/holds.h"

/* How often the watchdog reads answers to async releases, so a loss is reported at most this much later. While
 * other operations go on, they read these answers, and the watchdog wakes ten times a second for nothing, which
 * costs little. */
#define COLLECT_MS 100

void rli_engine_init(rli_engine *engine, const rli_settings *settings, const char *client_id, rli_gate *gate,
                     rli_topology *topology, rlock_status (*attend)(rli_engine *engine),
                     bool (*tend)(rli_engine *engine))
{
    *engine = (rli_engine){.settings = settings,
                           .client_id = client_id,
                           .gate = gate,
                           .topology = topology,
                           .attend = attend,
                           .tend = tend,
                           .collect_at_ms = RLI_NEVER};
    rli_mutex_init_adaptive(&engine->mutex);
    pthread_cond_init(&engine->reports, NULL);
    rli_cond_init_monotonic(&engine->departed);
    rli_timer_heap_init(&engine->timers);
    rli_holds_init(engine);
    rli_renewed_permits_init(&engine->renewed_permits);
    rli_watch_init(engine);
}

void rli_engine_destroy(rli_engine *engine)
{
    rli_watch_destroy(engine);
    rli_holds_free(engine);
    rli_permits_in_doubt_destroy(&engine->permits_in_doubt);
    rli_renewed_permits_destroy(&engine->renewed_permits);
    rli_timer_heap_destroy(&engine->timers);
    rlock_cancel_free(engine->hurry);
    pthread_cond_destroy(&engine->reports);
    pthread_cond_destroy(&engine->departed);
    pthread_mutex_destroy(&engine->mutex);
}

void rli_engine_lock(rli_engine *engine)
{
    pthread_mutex_lock(&engine->mutex);
    rli_wakes_gather(&engine->wakes);
}

void rli_engine_unlock(rli_engine *engine)
{
    rli_wake_batch wakes = engine->wakes;
    engine->wakes = (rli_wake_batch){0};
    rli_wakes_gather(NULL);
    pthread_mutex_unlock(&engine->mutex);
    rli_wake_batch_end(&wakes);
}

bool rli_engine_await(rli_engine *engine, pthread_cond_t *cond, int64_t until_ms)
{
    struct timespec at = rli_monotonic_at(until_ms);
    rli_wake_batch_end(&engine->wakes);
    return (until_ms == RLI_NEVER ? pthread_cond_wait(cond, &engine->mutex)
                                  : pthread_cond_timedwait(cond, &engine->mutex, &at)) == 0;
}

void rli_engine_collect_soon(rli_engine *engine)
{
    if (engine->collect_at_ms != RLI_NEVER)
        return;
    engine->collect_at_ms = rli_after_ms(COLLECT_MS);
    rli_timer_heap_expect(&engine->timers, engine->collect_at_ms);
}
