/* A pool: the lanes to one server, no more of them than load needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/pool.h"

#include "base/error.h"

#include <stdlib.h>

/* So many requests under way on every lane make another connection worth its cost. Fewer lanes mean larger
 * batches, and a batch is what saves system calls on both sides, and wake-ups of the server. */
#define BUSY_AT 80
/* So few callers are best off with a lane each: there is no batch to be had, and nobody is woken but by
 * his own reply. */
#define FEW 2

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

static int load_of(const rli_lane *lane)
{
    return atomic_load_explicit(&lane->load, memory_order_relaxed);
}

/* How many lanes are best for one request more beside so many. */
static int wanted(const rli_pool *pool, int load)
{
    int lanes = load < FEW ? load + 1 : load / BUSY_AT + 1;
    return lanes < pool->settings->pool_size ? lanes : pool->settings->pool_size;
}

rli_lane *rli_pool_pick(rli_pool *pool)
{
    int in_use = atomic_load_explicit(&pool->in_use, memory_order_relaxed), load = 0;
    for (int i = 0; i < in_use; i++)
        load += load_of(&pool->lanes[i]);
    int lanes = wanted(pool, load);
    while (in_use < lanes && !atomic_compare_exchange_weak(&pool->in_use, &in_use, lanes))
        continue;
    rli_lane *best = &pool->lanes[0];
    for (int i = 1; i < lanes; i++) {
        if (load_of(&pool->lanes[i]) < load_of(best))
            best = &pool->lanes[i];
    }
    return best;
}

bool rli_pool_collect(rli_pool *pool, int64_t until_ms)
{
    bool more = false;
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        more |= rli_lane_collect(&pool->lanes[i], until_ms);
    return more;
}

bool rli_pool_ping_if_idle(rli_pool *pool, rli_operation *op, int64_t idle_ms)
{
    bool alive = true;
    for (int i = 0; i < atomic_load(&pool->in_use) && alive; i++)
        alive = rli_lane_ping_if_idle(&pool->lanes[i], op, idle_ms);
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

void rli_pool_shut(rli_pool *pool)
{
    for (int i = 0; i < pool->settings->pool_size; i++)
        rli_lane_shut(&pool->lanes[i]);
    rli_guard_stop(&pool->guard);
}

void rli_pool_reopen(rli_pool *pool)
{
    rli_guard_reopen(&pool->guard);
    for (int i = 0; i < pool->settings->pool_size; i++)
        rli_lane_reopen(&pool->lanes[i]);
}

void rli_pool_destroy(rli_pool *pool)
{
    for (int i = 0; pool->lanes && i < pool->settings->pool_size; i++)
        rli_lane_destroy(&pool->lanes[i]);
    rli_guard_destroy(&pool->guard);
    free(pool->lanes);
    pool->lanes = NULL;
}
