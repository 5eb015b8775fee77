/* Async request: a request on a pipeline whose operation has no thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/async_request.h"

#include "base/checked.h"
#include "base/error.h"
#include "redis/pipeline/pipe.h"
#include "redis/pipeline/pipeline_parts.h"

/* The list of the operations whose requests this thread only queues. */
static _Thread_local const rli_ready *gathers;

const rli_ready *rli_async_request_gather(const rli_ready *ready)
{
    const rli_ready *before = gathers;
    gathers = ready;
    return before;
}

static const bool legal[RLI_REQUEST_STAGES][RLI_REQUEST_STAGES] = {
    [RLI_REQUEST_NEW] = {[RLI_REQUEST_NEW] = true, [RLI_REQUEST_CONNECTING] = true, [RLI_REQUEST_QUEUED] = true},
    [RLI_REQUEST_CONNECTING] = {[RLI_REQUEST_CONNECTING] = true, [RLI_REQUEST_QUEUED] = true, [RLI_REQUEST_NEW] = true},
    [RLI_REQUEST_QUEUED] = {[RLI_REQUEST_NEW] = true},
};

static void become(rli_async_request *request, rli_async_stage stage)
{
    rli_check(legal[request->stage][stage]);
    request->stage = stage;
}

/* --- waiting for a connection --- */

/* Returns whether it must wait on. Otherwise there is a connection, or *status says why there is none. */
static bool must_connect(rli_async_request *request, rli_pipeline *pipeline, rli_operation *op, int64_t timeout_ms,
                         rlock_status *status)
{
    *status = RLOCK_OK;
    if (pipeline->pipe)
        return false;
    if (request->stage == RLI_REQUEST_NEW)
        request->until_ms = rli_connecting_until(pipeline, op, timeout_ms);
    bool tried = request->stage == RLI_REQUEST_CONNECTING && request->connects != pipeline->connecting.ended;
    *status = rli_connecting_check(pipeline, op);
    if (*status == RLOCK_OK)
        *status = rli_operation_check(op);
    if (*status == RLOCK_OK && tried && pipeline->connecting.status != RLOCK_OK)
        *status = rli_fail_text(pipeline->connecting.status, pipeline->connecting.message);
    if (*status == RLOCK_OK && rli_now_ms() >= request->until_ms)
        *status = rli_connecting_not_in_time(pipeline);
    return *status == RLOCK_OK;
}

static void wait_for_connection(rli_async_request *request, rli_pipeline *pipeline, rli_operation *op)
{
    become(request, RLI_REQUEST_CONNECTING);
    request->connects = pipeline->connecting.ended;
    rli_turn_join(&pipeline->connecting.waiters, &op->turn);
    rli_operation_sleep(op, request->until_ms);
}

/* --- on the pipe --- */

/* Returns false when out of memory. */
static bool queue(rli_async_request *request, rli_pipeline *pipeline, rli_operation *op, const rli_command *command,
                  int64_t timeout_ms, rli_answer *answer)
{
    rli_pipe *pipe = pipeline->pipe;
    if (!rli_pipe_queue(pipe, &request->pending, op->parker, command))
        return false;
    become(request, RLI_REQUEST_QUEUED);
    request->pipe = pipe;
    request->until_ms = request->pending.since_ms + timeout_ms;
    request->impatient = command->impatient;
    answer->run_id = rli_pipe_run_id(pipe);
    answer->sent_ms = request->pending.queued_ms;
    bool sends = op->parker->ready == gathers ? rli_pipe_has_gathered_many(pipe)
                                              : !rli_pipe_is_led(pipe) || rli_pipe_wants_flush(pipe);
    if (sends) {
        rli_pipe_ref(pipe);
        if (!rli_pipe_flush(pipe, &pipeline->mutex))
            rli_pipeline_drop_pipe(pipeline, pipe, RLI_DISCONNECTED);
        rli_pipe_unref(pipe);
    }
    return true;
}

/* Returns the outcome, or RLI_UNDER_WAY. */
static rli_outcome look(rli_async_request *request, rli_pipeline *pipeline, rli_operation *op)
{
    rli_pending *pending = &request->pending;
    if (rli_pending_finished(pending))
        return pending->outcome;
    bool timed = request->until_ms <= op->deadline_ms;
    int64_t until_ms = timed ? request->until_ms : op->deadline_ms;
    bool over = rli_now_ms() >= until_ms;
    /* a reply that a thread is delivering right now takes precedence */
    if (!pending->popped && (over || rli_operation_is_abandoned(op))) {
        rli_pipeline_give_up(pipeline, request->pipe, pending, over && timed && !request->impatient);
        return over && timed ? RLI_TIMED_OUT : RLI_ABANDONED;
    }
    rli_operation_sleep(op, pending->popped ? RLI_NEVER : until_ms);
    return RLI_UNDER_WAY;
}

static void fill(const rli_async_request *request, rli_outcome outcome, rli_answer *answer)
{
    const rli_pending *pending = &request->pending;
    answer->left = pending->left;
    answer->garbled = pending->garbled;
    if (outcome != RLI_ANSWERED)
        return;
    answer->reply = pending->reply;
    answer->asked = pending->asked;
    answer->synced = pending->synced;
}

/* The part of a step in which the pipeline's mutex is held. */
static rli_outcome step(rli_async_request *request, rli_pipeline *pipeline, rli_operation *op,
                        const rli_command *command, int64_t timeout_ms, rli_answer *answer)
{
    if (request->stage != RLI_REQUEST_QUEUED) {
        rli_pipeline_drop_stale(pipeline, RLI_PIPELINE_IDLE_MS);
        if (must_connect(request, pipeline, op, timeout_ms, &answer->status)) {
            wait_for_connection(request, pipeline, op);
            return RLI_UNDER_WAY;
        }
        rli_turn_leave(&pipeline->connecting.waiters, &op->turn);
        if (answer->status == RLOCK_OK)
            answer->status = rli_pipeline_check_run_id(pipeline->pipe, command);
        if (answer->status == RLOCK_OK && !queue(request, pipeline, op, command, timeout_ms, answer))
            answer->status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
        if (answer->status != RLOCK_OK)
            return RLI_UNSENT;
    }
    rli_outcome outcome = look(request, pipeline, op);
    if (outcome != RLI_UNDER_WAY)
        fill(request, outcome, answer);
    return outcome;
}

rli_outcome rli_async_request_step(rli_async_request *request, rli_pipeline *pipeline, rli_operation *op,
                                   const rli_command *command, int64_t timeout_ms, rli_answer *answer)
{
    if (request->stage == RLI_REQUEST_NEW)
        atomic_fetch_add_explicit(&pipeline->load, 1, memory_order_relaxed);
    pthread_mutex_lock(&pipeline->mutex);
    rli_outcome outcome = step(request, pipeline, op, command, timeout_ms, answer);
    pthread_mutex_unlock(&pipeline->mutex);
    if (outcome != RLI_UNDER_WAY) {
        atomic_fetch_sub_explicit(&pipeline->load, 1, memory_order_relaxed);
        become(request, RLI_REQUEST_NEW);
    }
    return outcome;
}

void rli_async_request_withdraw(rli_async_request *request, rli_pipeline *pipeline, rli_operation *op)
{
    pthread_mutex_lock(&pipeline->mutex);
    rli_turn_leave(&pipeline->connecting.waiters, &op->turn);
    pthread_mutex_unlock(&pipeline->mutex);
    atomic_fetch_sub_explicit(&pipeline->load, 1, memory_order_relaxed);
    become(request, RLI_REQUEST_NEW);
}

/* --- sending and waiting for many --- */

void rli_pipeline_flush(rli_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    rli_pipe *pipe = pipeline->pipe;
    if (pipe && rli_pipe_is_unattended(pipe) && rli_pipe_has_unsent(pipe)) {
        rli_pipe_ref(pipe);
        if (!rli_pipe_flush(pipe, &pipeline->mutex))
            rli_pipeline_drop_pipe(pipeline, pipe, RLI_DISCONNECTED);
        rli_pipe_unref(pipe);
    }
    pthread_mutex_unlock(&pipeline->mutex);
}

void rli_pipeline_watch(rli_pipeline *pipeline, int epoll_fd)
{
    pthread_mutex_lock(&pipeline->mutex);
    if (pipeline->pipe)
        rli_pipe_watch(pipeline->pipe, epoll_fd);
    if (pipeline->dropped)
        rli_pipe_watch(pipeline->dropped, epoll_fd);
    pthread_mutex_unlock(&pipeline->mutex);
}
