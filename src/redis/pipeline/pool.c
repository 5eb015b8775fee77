/* A pool: the pipelines to one server, no more than the load needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/pool.h"

#include "base/error.h"

#include <stddef.h>
#include <stdlib.h>

/* Requests under way per pipeline that make one more connection worth its cost. Fewer pipelines mean larger batches,
 * and batches save system calls on both sides and wake-ups of the server. */
#define BUSY_AT 80
/* Up to this many callers do best with a pipeline each: they form no batches anyway, and each is woken only for its
 * own reply. */
#define FEW 2

static bool look(void *argument)
{
    rli_pool *pool = argument;
    bool busy = false;
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        busy |= rli_pipeline_check_timeouts(&pool->pipelines[i]);
    return busy;
}

rlock_status rli_pool_init(rli_pool *pool, const rli_settings *settings, const rli_address *address)
{
    *pool = (rli_pool){.settings = settings};
    pool->pipelines = calloc((size_t)settings->pool_size, sizeof *pool->pipelines);
    if (!pool->pipelines)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for %d connections", settings->pool_size);
    for (int i = 0; i < settings->pool_size; i++)
        rli_pipeline_init(&pool->pipelines[i], settings, address, &pool->receive_timeout);
    rli_receive_timeout_init(&pool->receive_timeout, settings->timeout_ms, look, pool);
    atomic_init(&pool->in_use, 1);
    return RLOCK_OK;
}

static int load_of(const rli_pipeline *pipeline)
{
    return atomic_load_explicit(&pipeline->load, memory_order_relaxed);
}

/* The best number of pipelines when one more request joins `load` others. */
static int wanted(const rli_pool *pool, int load)
{
    int pipelines = load < FEW ? load + 1 : load / BUSY_AT + 1;
    return pipelines < pool->settings->pool_size ? pipelines : pool->settings->pool_size;
}

/* What this thread has chosen since rli_pool_gather. */
#define GATHERED_MOST 8
static _Thread_local struct {
    bool on;
    int count;
    const rli_pool *pools[GATHERED_MOST];
    ptrdiff_t pipelines[GATHERED_MOST]; /* indexes, because a pool may go, and another come in its place */
} gathered;

void rli_pool_gather(void)
{
    gathered.on = true;
    gathered.count = 0;
}

void rli_pool_scatter(void)
{
    gathered.on = false;
}

static rli_pipeline *least_busy(rli_pool *pool)
{
    int in_use = atomic_load_explicit(&pool->in_use, memory_order_relaxed), load = 0;
    for (int i = 0; i < in_use; i++)
        load += load_of(&pool->pipelines[i]);
    int pipelines = wanted(pool, load);
    while (in_use < pipelines && !atomic_compare_exchange_weak(&pool->in_use, &in_use, pipelines))
        continue;
    rli_pipeline *best = &pool->pipelines[0];
    for (int i = 1; i < pipelines; i++) {
        if (load_of(&pool->pipelines[i]) < load_of(best))
            best = &pool->pipelines[i];
    }
    return best;
}

rli_pipeline *rli_pool_pick(rli_pool *pool)
{
    for (int i = 0; gathered.on && i < gathered.count; i++) {
        if (gathered.pools[i] == pool && gathered.pipelines[i] < atomic_load(&pool->in_use))
            return &pool->pipelines[gathered.pipelines[i]];
    }
    rli_pipeline *picked = least_busy(pool);
    if (gathered.on && gathered.count < GATHERED_MOST) {
        gathered.pools[gathered.count] = pool;
        gathered.pipelines[gathered.count++] = picked - pool->pipelines;
    }
    return picked;
}

rli_pipeline *rli_pool_pick_connected(rli_pool *pool, const rli_pipeline *failed)
{
    uint64_t run_id;
    for (int i = 0; i < atomic_load(&pool->in_use); i++) {
        if (&pool->pipelines[i] != failed && rli_pipeline_serial(&pool->pipelines[i], &run_id) != 0)
            return &pool->pipelines[i];
    }
    return NULL;
}

bool rli_pool_collect(rli_pool *pool, int64_t until_ms)
{
    bool more = false;
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        more |= rli_pipeline_collect(&pool->pipelines[i], until_ms);
    return more;
}

void rli_pool_flush(rli_pool *pool)
{
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        rli_pipeline_flush(&pool->pipelines[i]);
}

void rli_pool_watch(rli_pool *pool, int epoll_fd)
{
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        rli_pipeline_watch(&pool->pipelines[i], epoll_fd);
}

void rli_pool_poll(rli_pool *pool, rli_polls *polls)
{
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        rli_polls_add(polls, &pool->pipelines[i]);
}

bool rli_pool_ping_if_idle(rli_pool *pool, rli_operation *op, int64_t idle_ms)
{
    bool alive = true;
    for (int i = 0; i < atomic_load(&pool->in_use) && alive; i++)
        alive = rli_pipeline_ping_if_idle(&pool->pipelines[i], op, idle_ms);
    return alive;
}

void rli_pool_drop(rli_pool *pool)
{
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        rli_pipeline_drop(&pool->pipelines[i]);
}

void rli_pool_renew(rli_pool *pool)
{
    for (int i = 0; i < atomic_load(&pool->in_use); i++)
        rli_pipeline_renew(&pool->pipelines[i]);
}

void rli_pool_close(rli_pool *pool)
{
    for (int i = 0; i < pool->settings->pool_size; i++)
        rli_pipeline_close(&pool->pipelines[i]);
    rli_receive_timeout_stop(&pool->receive_timeout);
}

void rli_pool_shut(rli_pool *pool)
{
    for (int i = 0; i < pool->settings->pool_size; i++)
        rli_pipeline_shut(&pool->pipelines[i]);
    rli_receive_timeout_stop(&pool->receive_timeout);
}

void rli_pool_reopen(rli_pool *pool)
{
    rli_receive_timeout_reopen(&pool->receive_timeout);
    for (int i = 0; i < pool->settings->pool_size; i++)
        rli_pipeline_reopen(&pool->pipelines[i]);
}

void rli_pool_destroy(rli_pool *pool)
{
    for (int i = 0; pool->pipelines && i < pool->settings->pool_size; i++)
        rli_pipeline_destroy(&pool->pipelines[i]);
    rli_receive_timeout_destroy(&pool->receive_timeout);
    free(pool->pipelines);
    pool->pipelines = NULL;
}
