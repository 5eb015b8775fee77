/* Async request: a request on a pipeline whose operation has no thread (base/operation.h).
 *
 * Nobody leads the pipeline for it. Its answer is read by threads that wait on the same pipeline, by the program's
 * event loop, or by the watchdog. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ASYNC_REQUEST_H
#define RLI_ASYNC_REQUEST_H

#include "base/ready.h"
#include "redis/pipeline/pending.h"

/* How far a request is. async_request.c has the table of the legal transitions. */
typedef enum rli_async_stage {
    RLI_REQUEST_NEW,        /* nothing was done for it */
    RLI_REQUEST_CONNECTING, /* it waits for a connection */
    RLI_REQUEST_QUEUED,     /* it is on the pipe */
    RLI_REQUEST_STAGES
} rli_async_stage;

/* All zero at first. It must stay where it is while it is under way. */
typedef struct rli_async_request {
    rli_async_stage stage;
    struct rli_pipe *pipe;
    unsigned connects; /* pipeline->connecting.ended when it began to wait for a connection */
    int64_t until_ms;  /* of the present stage */
    bool impatient;    /* as in rli_command */
    rli_pending pending;
} rli_async_request;

/* Begins the request, or goes on with it; call it again with the same arguments when the operation was woken, until it
 * returns an outcome other than RLI_UNDER_WAY. While the request is RLI_REQUEST_CONNECTING, the caller must have a
 * thread connect the pipeline (connector.h). *answer as in rli_pipeline_call. */
rli_outcome rli_async_request_step(rli_async_request *request, rli_pipeline *pipeline, rli_operation *op,
                                   const rli_command *command, int64_t timeout_ms, rli_answer *answer);

/* Ends a request that is RLI_REQUEST_CONNECTING and has no outcome: nothing will connect the pipeline. */
void rli_async_request_withdraw(rli_async_request *request, rli_pipeline *pipeline, rli_operation *op);

/* From now on, requests that this thread begins for operations of that list are only queued: send them with
 * rli_pipeline_flush. NULL: none are. Returns the list of before. */
const rli_ready *rli_async_request_gather(const rli_ready *ready);

#endif
