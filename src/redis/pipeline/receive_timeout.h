/* The guard: ends waits for answers that take too long. A leader that blocks in recv() without a limit, and followers
 * that sleep without one, save the kernel a timer for each request, which is 3 % of a round trip over a unix
 * socket. One thread a server keeps the limit, and looks at the pipelines now and then while they are busy: at the receive that
 * is under way, and at the connection as a whole, since the leader may be kept from it by a signal handler. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RECEIVE_TIMEOUT_H
#define RLI_RECEIVE_TIMEOUT_H

#include <pthread.h>
#include <rlock/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct rli_receive_timeout {
    /* Ends waits that are overdue. Whether anything is under way. */
    bool (*look)(void *pipelines);
    void *pipelines;
    int64_t pace_ms;
    pthread_mutex_t mutex;
    pthread_cond_t called; /* CLOCK_MONOTONIC */
    atomic_bool asleep;    /* nothing was under way: must be called */
    pthread_t thread;
    bool running, stopping; /* guarded by mutex */
} rli_receive_timeout;

/* `timeout_ms`: of the requests; a receive is ended at most a sixteenth of it late, and a connection that nobody
 * receives on, another. */
void rli_receive_timeout_init(rli_receive_timeout *receive_timeout, int64_t timeout_ms, bool (*look)(void *pipelines),
                              void *pipelines);
/* Called by a thread that is about to wait without a limit, and whose request can be seen by `look`. False: there is no
 * guard; the thread has to keep its own limit. */
bool rli_receive_timeout_call(rli_receive_timeout *receive_timeout);
void rli_receive_timeout_stop(rli_receive_timeout *receive_timeout);   /* joins the thread */
void rli_receive_timeout_reopen(rli_receive_timeout *receive_timeout); /* after that: it may be called again */
void rli_receive_timeout_destroy(rli_receive_timeout *receive_timeout);

#endif
