/* The receive timeout: one thread per server that ends receives and connections on which answers are overdue.
 *
 * It lets a leader block in recv(), and its followers sleep, without a timer each. Setting a kernel timer for each
 * request would cost 3 % of a round trip over a unix socket. While the pipelines are busy, the thread checks them at
 * intervals: the receive under way, and the connection as a whole, because a signal handler may keep the leader from
 * reading. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RECEIVE_TIMEOUT_H
#define RLI_RECEIVE_TIMEOUT_H

#include <pthread.h>
#include <rlock/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct rli_receive_timeout {
    /* Ends what is overdue; returns whether any request is unanswered. Called without the mutex. */
    bool (*look)(void *pipelines);
    void *pipelines;
    /* time between two checks */
    int64_t pace_ms;
    pthread_mutex_t mutex;
    pthread_cond_t called; /* wakes the thread; uses CLOCK_MONOTONIC */
    atomic_bool asleep;    /* nothing was unanswered: rli_receive_timeout_call must wake the thread */
    pthread_t thread;
    bool running, stopping; /* guarded by mutex */
} rli_receive_timeout;

/* `timeout_ms`: the timeout of requests. A receive ends at most a sixteenth of it late; a connection on which no
 * thread receives, at most another sixteenth. The thread starts with the first call. */
void rli_receive_timeout_init(rli_receive_timeout *receive_timeout, int64_t timeout_ms, bool (*look)(void *pipelines),
                              void *pipelines);
/* Called by a thread that is about to wait without a timer, after its request has become visible to `look`. False:
 * there is no receive-timeout thread, so the caller must limit its own wait. */
bool rli_receive_timeout_call(rli_receive_timeout *receive_timeout);
void rli_receive_timeout_stop(rli_receive_timeout *receive_timeout);   /* joins the thread */
void rli_receive_timeout_reopen(rli_receive_timeout *receive_timeout); /* undoes the stop */
void rli_receive_timeout_destroy(rli_receive_timeout *receive_timeout);

#endif
