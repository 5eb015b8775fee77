/* A pool: the pipelines to one server, no more of them than load needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_POOL_H
#define RLI_POOL_H

#include "redis/pipeline/pipeline.h"

typedef struct rli_pool {
    const rli_settings *settings;
    rli_pipeline *pipelines; /* settings->pool_size of them */
    atomic_int in_use;       /* the first so many; only grows */
    rli_receive_timeout receive_timeout;
} rli_pool;

rlock_status rli_pool_init(rli_pool *pool, const rli_settings *settings, const rli_address *address);
/* The pipeline for a name that has none: the least busy; another one when all are busy. */
rli_pipeline *rli_pool_pick(rli_pool *pool);
/* On its pipelines: rli_pipeline_collect. Whether there is more to come. */
bool rli_pool_collect(rli_pool *pool, int64_t until_ms);
/* On its pipelines: rli_pipeline_ping_if_idle, until one does not answer. False: one did not. */
bool rli_pool_ping_if_idle(rli_pool *pool, rli_operation *op, int64_t idle_ms);
/* On all of its pipelines: rli_pipeline_drop. */
void rli_pool_drop(rli_pool *pool);
void rli_pool_renew(rli_pool *pool); /* rli_pipeline_renew */
void rli_pool_close(rli_pool *pool);
void rli_pool_shut(rli_pool *pool);   /* rli_pipeline_shut, and joins its thread; */
void rli_pool_reopen(rli_pool *pool); /* takes that back */
void rli_pool_destroy(rli_pool *pool);

#endif
