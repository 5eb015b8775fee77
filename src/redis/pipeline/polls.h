/* Polls: what a thread polls that waits for answers to async requests, on any number of pipelines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_POLLS_H
#define RLI_POLLS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

struct rli_pipe;
struct rli_pipeline;

#define RLI_POLLS_MAX 64

typedef struct rli_polls {
    struct pollfd polled[RLI_POLLS_MAX];
    struct {
        struct rli_pipeline *pipeline;
        struct rli_pipe *pipe; /* referenced, so that its descriptor stays open; NULL: the descriptor is another's */
    } of[RLI_POLLS_MAX];
    size_t count;
    /* Not all connections are polled: another thread reads one, which may stop without notice, or there are too
     * many. */
    bool lacks;
} rli_polls;

/* Begins with one descriptor, which is no connection's. */
void rli_polls_begin(rli_polls *polls, int fd);
/* Adds what the pipeline's requests need. */
void rli_polls_add(rli_polls *polls, struct rli_pipeline *pipeline);
/* Drops the references. */
void rli_polls_end(rli_polls *polls);

#endif
