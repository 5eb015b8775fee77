/* Connecting: one thread opens the connection of a pipeline, the others wait for its result.
 *
 * The pipeline's mutex is held when these functions are called. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CONNECTING_H
#define RLI_CONNECTING_H

#include "base/operation.h"

#include <rlock/status.h>
#include <stdbool.h>
#include <stdint.h>

struct rli_pipeline;

typedef struct rli_connecting {
    bool under_way;      /* a thread is connecting */
    rli_turn *waiters;   /* operations that wait for that thread */
    unsigned ended;      /* incremented when a connection attempt has ended */
    rlock_status status; /* result of that attempt; RLOCK_OK: check again */
    char message[256];
} rli_connecting;

/* Connects if the pipeline has no connection, for at most `timeout_ms` plus connectTimeout. Releases the mutex in
 * between. RLOCK_OK: pipeline->pipe is set; otherwise the reasons of rli_pipeline_connect. */
rlock_status rli_connecting_await(struct rli_pipeline *pipeline, rli_operation *op, int64_t timeout_ms);
/* Whether the operation may wait for a connection. RLOCK_OK; RLOCK_CLOSED: the client is; RLOCK_UNAVAILABLE: the server
 * must not be used any more, or the operation waits for no connection. */
rlock_status rli_connecting_check(const struct rli_pipeline *pipeline, const rli_operation *op);
/* Returns until when a request with that timeout waits for a connection. */
int64_t rli_connecting_until(const struct rli_pipeline *pipeline, const rli_operation *op, int64_t timeout_ms);
/* Returns RLOCK_UNAVAILABLE: that instant has come. */
rlock_status rli_connecting_not_in_time(const struct rli_pipeline *pipeline);
/* Ends the wait of all waiters with `status` and the message `why`; RLOCK_OK: they check again for themselves. */
void rli_connecting_end(struct rli_pipeline *pipeline, rlock_status status, const char *why);

#endif
