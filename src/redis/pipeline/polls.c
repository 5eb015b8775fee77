/* Polls: what a thread polls that waits for answers to async requests, on any number of pipelines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/polls.h"

#include "redis/pipeline/pipe.h"
#include "redis/pipeline/pipeline_parts.h"

void rli_polls_begin(rli_polls *polls, int fd)
{
    polls->polled[0] = (struct pollfd){.fd = fd, .events = POLLIN};
    polls->of[0].pipe = NULL;
    polls->count = 1;
    polls->lacks = false;
}

/* Mutex held. */
static void add(rli_polls *polls, rli_pipeline *pipeline, rli_pipe *pipe)
{
    short events = rli_pipe_wants(pipe);
    if (!events)
        return;
    if (rli_pipe_is_led(pipe) || polls->count == RLI_POLLS_MAX) {
        polls->lacks = true;
        return;
    }
    rli_pipe_ref(pipe);
    polls->polled[polls->count] = (struct pollfd){.fd = rli_pipe_fd(pipe), .events = events};
    polls->of[polls->count].pipeline = pipeline;
    polls->of[polls->count++].pipe = pipe;
}

void rli_polls_add(rli_polls *polls, rli_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    if (pipeline->pipe)
        add(polls, pipeline, pipeline->pipe);
    if (pipeline->dropped)
        add(polls, pipeline, pipeline->dropped);
    pthread_mutex_unlock(&pipeline->mutex);
}

void rli_polls_end(rli_polls *polls)
{
    for (size_t i = 0; i < polls->count; i++) {
        rli_pipeline *pipeline = polls->of[i].pipeline;
        if (!polls->of[i].pipe)
            continue;
        pthread_mutex_lock(&pipeline->mutex);
        rli_pipe_unref(polls->of[i].pipe);
        rli_pipeline_drop_left(pipeline);
        pthread_mutex_unlock(&pipeline->mutex);
    }
    polls->count = 0;
}
