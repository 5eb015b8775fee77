/* A pool: the pipelines to one server, no more than the load needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_POOL_H
#define RLI_POOL_H

#include "redis/pipeline/pipeline.h"
#include "redis/pipeline/polls.h"

typedef struct rli_pool {
    const rli_settings *settings;
    rli_pipeline *pipelines; /* settings->pool_size of them */
    atomic_int in_use;       /* only the first in_use are in use; only grows */
    rli_receive_timeout receive_timeout;
} rli_pool;

/* Makes a pool that connects at the first request. `settings` and `address` must live as long. RLOCK_OK,
 * RLOCK_NO_MEMORY. */
rlock_status rli_pool_init(rli_pool *pool, const rli_settings *settings, const rli_address *address);
/* Chooses the pipeline for a name that has none yet: the least busy one, or a new one if all are busy. */
rli_pipeline *rli_pool_pick(rli_pool *pool);
/* Chooses a pipeline that is connected, in place of `failed`, which cannot connect; NULL: there is none. */
rli_pipeline *rli_pool_pick_connected(rli_pool *pool, const rli_pipeline *failed);
/* Until rli_pool_scatter, names that this thread chooses a pipeline for get the same one in each pool: their requests
 * leave together, and the server runs them in their order. */
void rli_pool_gather(void);
void rli_pool_scatter(void);
/* Calls rli_pipeline_collect on all pipelines in use. Returns whether answers are still missing. */
bool rli_pool_collect(rli_pool *pool, int64_t until_ms);
/* Likewise rli_pipeline_flush, rli_pipeline_watch and rli_polls_add. */
void rli_pool_flush(rli_pool *pool);
void rli_pool_watch(rli_pool *pool, int epoll_fd);
void rli_pool_poll(rli_pool *pool, struct rli_polls *polls);
/* Calls rli_pipeline_ping_if_idle on the pipelines in use until one is dead. False: one was. */
bool rli_pool_ping_if_idle(rli_pool *pool, rli_operation *op, int64_t idle_ms);
/* Calls rli_pipeline_drop on all pipelines in use. */
void rli_pool_drop(rli_pool *pool);
void rli_pool_renew(rli_pool *pool); /* likewise rli_pipeline_renew */
/* Calls rli_pipeline_close on all pipelines, and joins the receive-timeout thread. */
void rli_pool_close(rli_pool *pool);
void rli_pool_shut(rli_pool *pool);   /* likewise rli_pipeline_shut; joins the thread, too */
void rli_pool_reopen(rli_pool *pool); /* undoes rli_pool_shut */
void rli_pool_destroy(rli_pool *pool);

#endif
