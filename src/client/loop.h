/* Loop: the async operations of one client that wait, are ready to go on, or have ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_LOOP_H
#define RLI_LOOP_H

#include "base/ready.h"
#include "base/timer_heap.h"

#include <pthread.h>
#include <rlock/client.h>
#include <stdatomic.h>
#include <stdbool.h>

struct rli_async;

typedef struct rli_loop {
    rli_ready ready;
    int epoll_fd, timer_fd;
    atomic_bool processing; /* a thread is in rlock_client_process */
    atomic_bool tended;     /* the watchdog goes on with operations, a few times a second */
    pthread_mutex_t mutex;  /* guards everything below */
    bool open;              /* the descriptors are there */
    bool closed;            /* no operation begins any more */
    rli_timer_heap timers;
    int64_t armed_ms; /* when timer_fd becomes readable; RLI_NEVER: it does not */
    int under_way;    /* operations that have not ended */
    int visitors;     /* parts of operations of other clients' loops that use this client */
    struct rli_async *first_ended, *last_ended;
} rli_loop;

void rli_loop_init(rli_loop *loop);
/* Makes the descriptors, unless they are there. RLOCK_OK, RLOCK_NO_MEMORY. Any thread. */
rlock_status rli_loop_open(rli_loop *loop);
/* All operations have ended. */
void rli_loop_destroy(rli_loop *loop);

/* Adds an operation that begins. RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED. */
rlock_status rli_loop_add(rli_loop *loop, struct rli_async *async);
/* It goes on at wake_ms at the latest; RLI_NEVER: only when it is woken. */
void rli_loop_set_timer(rli_loop *loop, struct rli_async *async, int64_t wake_ms);
/* It has ended: its function is to be called. */
void rli_loop_end(rli_loop *loop, struct rli_async *async);
/* It has ended without having been started. */
void rli_loop_remove(rli_loop *loop, struct rli_async *async);

/* A part of an operation of another client's loop begins, or ends, to use this client: until then its connections are
 * looked after. RLOCK_OK, RLOCK_CLOSED. */
rlock_status rli_loop_visit(rli_loop *loop);
void rli_loop_leave(rli_loop *loop);

/* For the watchdog: goes on with what is ready or due, but calls no function. Returns whether operations are under
 * way. */
bool rli_loop_tend(rlock_client *client);
/* The client is being closed, and its operations with it: waits until all have ended, and calls their functions. */
void rli_loop_close(rlock_client *client);

#endif
