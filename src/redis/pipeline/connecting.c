/* Connecting: one thread opens the connection of a pipeline, the others wait for its result. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/connecting.h"

#include "base/clock.h"
#include "base/error.h"
#include "redis/pipeline/pipe.h"
#include "redis/pipeline/pipeline.h"

#include <stdio.h>

void rli_connecting_end(rli_pipeline *pipeline, rlock_status status, const char *why)
{
    pipeline->connecting.ended++;
    pipeline->connecting.status = status;
    snprintf(pipeline->connecting.message, sizeof pipeline->connecting.message, "%s", why);
    rli_turn_wake_all(pipeline->connecting.waiters);
}

/* Fails because the pipeline was dropped while the connection was set up. The server may be a replica by now, or
 * another one may be at its address, so the caller has to check again which server to use. */
static rlock_status dropped(const rli_pipeline *pipeline)
{
    return rli_fail(RLOCK_UNAVAILABLE,
                    "the connection to Redis at %s was dropped during setup: the server is changing roles",
                    pipeline->address->text);
}

/* Makes the pipe the pipeline's. */
static void install(rli_pipeline *pipeline, rli_pipe *pipe)
{
    pipeline->pipe = pipe;
    pipeline->serial++;
}

static rlock_status connect_pipeline(rli_pipeline *pipeline, const rli_operation *op, int64_t deadline_ms)
{
    rli_patience patience = {.deadline_ms = deadline_ms,
                             .cancel = op->cancel,
                             .closed = &op->gate->closed,
                             .drops = &pipeline->drops,
                             .drops_before = atomic_load(&pipeline->drops)};
    pipeline->connecting.under_way = true;
    pthread_mutex_unlock(&pipeline->mutex);
    rli_pipe *pipe = NULL;
    rlock_status status = rli_pipe_open(&pipe, pipeline->settings, pipeline->address, pipeline->receive_timeout,
                                        pipeline->replicas, &patience);
    pthread_mutex_lock(&pipeline->mutex);
    pipeline->connecting.under_way = false;
    bool is_dropped = atomic_load(&pipeline->drops) != patience.drops_before;
    if (status == RLOCK_OK && !pipeline->closed && !is_dropped)
        install(pipeline, pipe);
    else if (status == RLOCK_OK)
        rli_pipe_unref(pipe);
    if (status == RLOCK_OK && pipeline->closed)
        status = rli_fail(RLOCK_CLOSED, "the client was closed");
    else if (is_dropped && (status == RLOCK_OK || status == RLOCK_UNAVAILABLE))
        status = dropped(pipeline);
    /* If only this caller's own patience ended, the others try for themselves. */
    bool own_end = status == RLOCK_UNAVAILABLE && (rli_cancel_fired(op->cancel) || rli_now_ms() >= op->deadline_ms);
    rli_connecting_end(pipeline, own_end ? RLOCK_OK : status, rlock_last_error());
    return status;
}

rlock_status rli_connecting_not_in_time(const rli_pipeline *pipeline)
{
    return rli_fail(RLOCK_UNAVAILABLE, "could not connect to Redis at %s in the time given", pipeline->address->text);
}

static rlock_status await_connection(rli_pipeline *pipeline, rli_operation *op, int64_t deadline_ms)
{
    unsigned before = pipeline->connecting.ended;
    rlock_status status = RLOCK_OK;
    rli_turn_join(&pipeline->connecting.waiters, &op->turn);
    while (pipeline->connecting.ended == before && status == RLOCK_OK) {
        pthread_mutex_unlock(&pipeline->mutex);
        rli_park(op->parker, deadline_ms);
        status = rli_operation_check(op);
        if (status == RLOCK_OK && rli_now_ms() >= deadline_ms)
            status = rli_connecting_not_in_time(pipeline);
        pthread_mutex_lock(&pipeline->mutex);
    }
    rli_turn_leave(&pipeline->connecting.waiters, &op->turn);
    if (pipeline->connecting.ended == before)
        return status;
    return pipeline->connecting.status == RLOCK_OK
               ? RLOCK_OK
               : rli_fail_text(pipeline->connecting.status, pipeline->connecting.message);
}

rlock_status rli_connecting_check(const rli_pipeline *pipeline, const rli_operation *op)
{
    if (pipeline->closed)
        return rli_fail(RLOCK_CLOSED, "the client is closed");
    if (pipeline->shut)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s is no longer one of the servers", pipeline->address->text);
    return op->connects ? RLOCK_OK : rli_connecting_not_in_time(pipeline);
}

int64_t rli_connecting_until(const rli_pipeline *pipeline, const rli_operation *op, int64_t timeout_ms)
{
    return rli_earlier(rli_after_ms(timeout_ms + pipeline->settings->connect_timeout_ms), op->deadline_ms);
}

rlock_status rli_connecting_await(rli_pipeline *pipeline, rli_operation *op, int64_t timeout_ms)
{
    if (pipeline->pipe)
        return RLOCK_OK;
    int64_t deadline_ms = rli_connecting_until(pipeline, op, timeout_ms);
    rlock_status status = rli_connecting_check(pipeline, op);
    while (status == RLOCK_OK && !pipeline->pipe) {
        status = pipeline->connecting.under_way ? await_connection(pipeline, op, deadline_ms)
                                                : connect_pipeline(pipeline, op, deadline_ms);
        if (status == RLOCK_OK && !pipeline->pipe)
            status = rli_connecting_check(pipeline, op);
    }
    return status;
}
