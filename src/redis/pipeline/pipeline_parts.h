/* The shared internals of a pipeline: requests with a thread (pipeline.c) and without one (async_request.c). The
 * pipeline's mutex is held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PIPELINE_PARTS_H
#define RLI_PIPELINE_PARTS_H

#include "redis/pipeline/pipe.h"

/* Ends `pipe`, if it still belongs to the pipeline. */
void rli_pipeline_drop_pipe(rli_pipeline *pipeline, rli_pipe *pipe, rli_outcome outcome);
/* RLOCK_OK, or RLOCK_UNKNOWN: the server at the other end is not of the run that the command is for. */
rlock_status rli_pipeline_check_run_id(const rli_pipe *pipe, const rli_command *command);
/* Ends the pipe that is to end when nobody uses it, if that is so. */
void rli_pipeline_drop_left(rli_pipeline *pipeline);
/* Ends a pipe that was unused for idle_ms and that the server has closed. Servers close idle connections. The check is
 * a system call, so requests in quick succession skip it. */
void rli_pipeline_drop_stale(rli_pipeline *pipeline, int64_t idle_ms);
/* The deadline or the token ended the wait, and `pending` has no reply. silent: it had the whole timeout. */
void rli_pipeline_give_up(rli_pipeline *pipeline, rli_pipe *pipe, rli_pending *pending, bool silent);

#endif
