/* The guard: ends waits for answers that take too long. A leader that blocks in recv() without a limit, and followers
 * that sleep without one, save the kernel a timer for each request, which is 3 % of a round trip over a unix
 * socket. One thread a server keeps the limit, and looks at the lanes now and then while they are busy: at the receive that
 * is under way, and at the connection as a whole, since the leader may be kept from it by a signal handler. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_GUARD_H
#define RLI_GUARD_H

#include <pthread.h>
#include <rlock/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct rli_guard {
    /* Ends waits that are overdue. Whether anything is under way. */
    bool (*look)(void *lanes);
    void *lanes;
    int64_t pace_ms;
    pthread_mutex_t mutex;
    pthread_cond_t called;   /* CLOCK_MONOTONIC */
    atomic_bool asleep;      /* nothing was under way: must be called */
    pthread_t thread;
    bool running, stopping;  /* guarded by mutex */
} rli_guard;

/* `timeout_ms`: of the requests; a receive is ended at most a sixteenth of it late, and a connection that nobody
 * receives on, another. */
void rli_guard_init(rli_guard *guard, int64_t timeout_ms, bool (*look)(void *lanes), void *lanes);
/* Called by a thread that is about to wait without a limit, and whose request can be seen by `look`. False: there is no
 * guard; the thread has to keep its own limit. */
bool rli_guard_call(rli_guard *guard);
void rli_guard_stop(rli_guard *guard); /* joins the thread */
void rli_guard_reopen(rli_guard *guard); /* after that: it may be called again */
void rli_guard_destroy(rli_guard *guard);

#endif
