/* Connector: a thread that connects pipelines for requests whose operations have no thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/connector.h"

#include "base/error.h"
#include "base/list.h"
#include "base/thread.h"

#include <stdlib.h>

/* A pipeline that is to be connected. The first one in the list is being connected. */
typedef struct rli_connection_wanted {
    struct rli_connection_wanted *next, *previous;
    rli_node *node; /* referenced */
    rli_pipeline *pipeline;
    /* The pipeline's count of attempts to connect (`connects`), as the latest operation to begin its wait saw it. */
    unsigned connects;
    int64_t patience_ms; /* how long one attempt may take */
    bool again;          /* an operation has asked since the present attempt began, or perhaps after it ended */
} rli_connection_wanted;

void rli_connector_init(rli_connector *connector, rli_gate *gate)
{
    *connector = (rli_connector){.gate = gate};
    pthread_mutex_init(&connector->mutex, NULL);
    pthread_cond_init(&connector->called, NULL);
}

/* The operations that wait for the connection learn the result from the pipeline. */
static void connect_one(rli_connector *connector, const rli_connection_wanted *wanted)
{
    rli_operation op;
    if (rli_operation_begin(&op, connector->gate, NULL) != RLOCK_OK)
        return;
    op.deadline_ms = rli_after_ms(wanted->patience_ms);
    (void)rli_pipeline_connect(wanted->pipeline, &op);
    rli_operation_end(&op);
}

static void drop_first(rli_connector *connector)
{
    rli_connection_wanted *wanted = connector->first;
    RLI_QUEUE_REMOVE(connector, wanted);
    rli_node_unref(wanted->node);
    free(wanted);
}

/* Connects the first pipeline of the list, and removes it unless an operation asked after the attempt had ended: the
 * result of that attempt did not wake it. Mutex held on entry and return, not meanwhile. */
static void connect_first(rli_connector *connector)
{
    rli_connection_wanted *wanted = connector->first;
    wanted->again = false;
    pthread_mutex_unlock(&connector->mutex);
    connect_one(connector, wanted);
    unsigned connects = rli_pipeline_connects(wanted->pipeline);
    pthread_mutex_lock(&connector->mutex);
    if (!wanted->again || wanted->connects != connects)
        drop_first(connector);
}

static void *run(void *argument)
{
    rli_connector *connector = argument;
    pthread_mutex_lock(&connector->mutex);
    while (!connector->stopping) {
        if (connector->first)
            connect_first(connector);
        else
            pthread_cond_wait(&connector->called, &connector->mutex);
    }
    pthread_mutex_unlock(&connector->mutex);
    return NULL;
}

static rli_connection_wanted *find(const rli_connector *connector, const rli_pipeline *pipeline)
{
    rli_connection_wanted *wanted = connector->first;
    while (wanted && wanted->pipeline != pipeline)
        wanted = wanted->next;
    return wanted;
}

static rlock_status add(rli_connector *connector, rli_node *node, rli_pipeline *pipeline, unsigned connects,
                        int64_t patience_ms)
{
    if (connector->stopping)
        return rli_fail(RLOCK_CLOSED, "the client was closed");
    rli_connection_wanted *wanted = malloc(sizeof *wanted);
    if (!wanted)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a connection");
    rlock_status status = connector->running ? RLOCK_OK
                                             : rli_thread_start(&connector->thread, "rlock-connect", run, connector);
    if (status != RLOCK_OK) {
        free(wanted);
        return status;
    }
    connector->running = true;
    *wanted = (rli_connection_wanted){
        .node = node, .pipeline = pipeline, .connects = connects, .patience_ms = patience_ms};
    rli_node_ref(node);
    RLI_QUEUE_APPEND(connector, wanted);
    pthread_cond_signal(&connector->called);
    return RLOCK_OK;
}

rlock_status rli_connector_connect(rli_connector *connector, rli_node *node, rli_pipeline *pipeline, unsigned connects,
                                   int64_t patience_ms)
{
    rlock_status status = RLOCK_OK;
    pthread_mutex_lock(&connector->mutex);
    rli_connection_wanted *wanted = find(connector, pipeline);
    if (wanted) {
        if ((int)(connects - wanted->connects) > 0) /* operations may come in another order than they began to wait */
            wanted->connects = connects;
        wanted->again = true;
    } else {
        status = add(connector, node, pipeline, connects, patience_ms);
    }
    pthread_mutex_unlock(&connector->mutex);
    return status;
}

void rli_connector_stop(rli_connector *connector)
{
    pthread_mutex_lock(&connector->mutex);
    bool running = connector->running;
    connector->stopping = true;
    connector->running = false;
    pthread_cond_signal(&connector->called);
    pthread_mutex_unlock(&connector->mutex);
    if (running)
        pthread_join(connector->thread, NULL);
    while (connector->first)
        drop_first(connector);
}

void rli_connector_destroy(rli_connector *connector)
{
    pthread_cond_destroy(&connector->called);
    pthread_mutex_destroy(&connector->mutex);
}
