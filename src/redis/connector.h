/* Connector: a thread that connects pipelines for requests whose operations have no thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CONNECTOR_H
#define RLI_CONNECTOR_H

#include "redis/node.h"

typedef struct rli_connector {
    rli_gate *gate;
    pthread_mutex_t mutex; /* guards everything below */
    pthread_cond_t called; /* something was added, or `stopping` was set */
    struct rli_connection_wanted *first, *last;
    pthread_t thread;
    bool running, stopping;
} rli_connector;

void rli_connector_init(rli_connector *connector, rli_gate *gate);
/* Has the thread connect the node's pipeline. The thread starts with the first call. All operations that wait for the
 * connection are woken when it is there or has failed. patience_ms: how long one
 * attempt may take, beside the configured times; RLI_NEVER: only these. `connects`: the pipeline's `connects` when the
 * operation began to wait; an attempt that had ended by then does not count, and another one follows.
 * RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED. */
rlock_status rli_connector_connect(rli_connector *connector, rli_node *node, rli_pipeline *pipeline, unsigned connects,
                                   int64_t patience_ms);
/* Joins the thread, when the client is being closed. */
void rli_connector_stop(rli_connector *connector);
void rli_connector_destroy(rli_connector *connector);

#endif
