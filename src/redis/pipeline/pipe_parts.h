/* The shared internals of a pipe: requests and their end (pipe.c), and their replies (pipe_receive.c). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PIPE_PARTS_H
#define RLI_PIPE_PARTS_H

#include "net/connection.h"
#include "redis/pipeline/busy_wait.h"
#include "redis/pipeline/outgoing.h"
#include "redis/pipeline/pipe.h"
#include "redis/pipeline/replica_ack.h"

struct rli_pipe {
    rli_receive_timeout *receive_timeout;
    rli_connection connection;
    rli_busy_wait busy_wait; /* the leader's alone */
    /* when the receive-timeout thread ends the present receive; RLI_NEVER: it does not limit that one */
    int64_t guarded_until_ms;
    int64_t guarded_from_ms;  /* a receive with at least this much time left is limited by that thread */
    int64_t overdue_since_ms; /* since_ms of the oldest request at that thread's last check, if it was overdue */
    int64_t used_ms;          /* when a request was last queued */
    /* Unfinished requests: first those that are answered but wait for WAIT, then those sent, then those queued. */
    rli_pending_list pending_list;
    rli_pending *awaited; /* the first one without its reply */
    int sent, answered;   /* how many were sent; how many of these have their reply */
    int posts;            /* posted requests without an outcome */
    int threadless;       /* requests without an outcome whose callers have no thread */
    int abandoned;        /* …whose callers have given up */
    uint32_t watched;     /* what an epoll descriptor watches it for */
    uint64_t popped;      /* how many were removed with their outcome; for numbering requests */
    rli_outgoing outgoing;
    rli_replica_ack ack;
    bool leading;     /* a thread is the leader */
    rli_turn *unsent; /* threads that wait until their requests are sent */
    bool ended;
    const char *garbled; /* describes received bytes that were no valid reply, static text; NULL: none */
    int users;           /* references; see rli_pipe_ref */
    unsigned place;      /* sleeping place of the next request's caller */
};

/* Removes the oldest request, which has its outcome now. NULL: there is none. */
rli_pending *rli_pipe_pop(rli_pipe *pipe);

#endif
