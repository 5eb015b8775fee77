/* Async operation: a public call that no thread waits for, from its beginning until its function has been called.
 *
 * It is carried out by one thread at a time: first by the one that began it, later by whichever takes it from the ready
 * list of its loop (loop.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ASYNC_H
#define RLI_ASYNC_H

#include "client/client.h"

#include <rlock/async.h>

typedef struct rli_async {
    rli_operation op; /* first, because its parker leads to it */
    rlock_client *client;
    /* Goes on with it. RLI_WAITING, or the status with which it has ended; then it fills in `result`. */
    rlock_status (*go_on)(struct rli_async *async);
    void (*discard)(struct rli_async *async); /* frees it, after its function was called */
    rlock_result_fn *fn;                      /* NULL: none */
    void *arg;
    rli_timer timer;        /* when it is to go on if nothing wakes it before */
    struct rli_async *next; /* among those that have ended */
    char *error;            /* on the heap; NULL: none, or out of memory for it */
    rlock_status status;
    int64_t answer;
    uint64_t token;
    const rlock_permit *permits; /* of an acquire of permits; they live as long as the operation */
    int permit_count;
} rli_async;

/* Allocates an async operation of `size` bytes, which begins with an rli_async and is zero otherwise. The caller then
 * prepares what go_on needs, and calls rli_async_start, or rli_async_forget.
 * RLOCK_OK with *async set; RLOCK_NO_MEMORY, RLOCK_CLOSED, RLOCK_FORKED. */
rlock_status rli_async_new(void **async, size_t size, rlock_client *client, rlock_cancel *cancel, rlock_result_fn *fn,
                           void *arg);
/* Begins it: from here on it may end, and be freed, at any time. */
void rli_async_start(rli_async *async);
/* Frees an operation that was not started. */
void rli_async_forget(rli_async *async);

/* --- parts that use another client than that of their whole --- */

/* A part begins to use `client`, until rli_async_leave. RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED. */
rlock_status rli_async_visit(rlock_client *client);
/* The part must wait: sends what it asks `client` for, and has the thread that processes `client` read the answer. */
void rli_async_entrust(rlock_client *client);
void rli_async_leave(rlock_client *client);

/* --- for the loop --- */

/* The operation whose own parker was on the ready list. */
rli_async *rli_async_of(rli_parker *parker);
/* Goes on with it until it must wait or has ended. The caller has taken it from the ready list. */
void rli_async_resume(rli_async *async);
/* Calls its function and frees it. False: the function has forked, and this is the child, in which nothing of the
 * client may be touched. */
bool rli_async_complete(rli_async *async);

#endif
