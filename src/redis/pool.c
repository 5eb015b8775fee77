/* A pool: the lanes to one server, no more of them than load needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pool.h"

#include "error.h"

#include <stdlib.h>

/* So many requests under way on every lane make another connection worth its cost. Fewer lanes
 * mean larger batches, and a batch is what saves system calls on both sides. */
#define BUSY_AT 40

static bool look(void *argument)
{
    rli_pool *pool = argument;
    bool busy = false;
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        busy |= rli_lane_guarded(&pool->lanes[i]);
    return busy;
}

rlock_status rli_pool_init(rli_pool *pool, const rli_settings *settings, const rli_address *address)
{
    *pool = (rli_pool){.settings = settings};
    pool->lanes = calloc((size_t)settings->pool_size, sizeof *pool->lanes);
    if (!pool->lanes)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for %d connections", settings->pool_size);
    for (int i = 0; i < settings->pool_size; i++)
        rli_lane_init(&pool->lanes[i], settings, address, &pool->guard);
    rli_guard_init(&pool->guard, settings->timeout_ms, look, pool);
    atomic_init(&pool->in_use, 1);
    return RLOCK_OK;
}

rli_lane *rli_pool_pick(rli_pool *pool)
{
    int in_use = atomic_load_explicit(&pool->in_use, memory_order_relaxed);
    rli_lane *best = &pool->lanes[0];
    int best_load = atomic_load_explicit(&best->load, memory_order_relaxed);
    for (int i = 1; i < in_use && best_load > 0; i++) {
        int load = atomic_load_explicit(&pool->lanes[i].load, memory_order_relaxed);
        if (load < best_load) {
            best = &pool->lanes[i];
            best_load = load;
        }
    }
    if (best_load >= BUSY_AT && in_use < pool->settings->pool_size &&
        atomic_compare_exchange_strong(&pool->in_use, &in_use, in_use + 1))
        best = &pool->lanes[in_use];
    return best;
}

bool rli_pool_collect(rli_pool *pool, int64_t until_ms)
{
    bool more = false;
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        more |= rli_lane_collect(&pool->lanes[i], until_ms);
    return more;
}

bool rli_pool_ping_if_idle(rli_pool *pool, rli_caller *caller, int64_t idle_ms)
{
    bool alive = true;
    for (int i = 0; i < atomic_load(&pool->in_use) && alive; i++)
        alive = rli_lane_ping_if_idle(&pool->lanes[i], caller, idle_ms);
    return alive;
}

void rli_pool_drop(rli_pool *pool)
{
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        rli_lane_drop(&pool->lanes[i]);
}

void rli_pool_renew(rli_pool *pool)
{
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        rli_lane_renew(&pool->lanes[i]);
}

void rli_pool_close(rli_pool *pool)
{
    for (int i = 0; i < pool->settings->pool_size; i++)
        rli_lane_close(&pool->lanes[i]);
    rli_guard_stop(&pool->guard);
}

void rli_pool_destroy(rli_pool *pool)
{
    for (int i = 0; pool->lanes && i < pool->settings->pool_size; i++)
        rli_lane_destroy(&pool->lanes[i]);
    rli_guard_destroy(&pool->guard);
    free(pool->lanes);
    pool->lanes = NULL;
}
