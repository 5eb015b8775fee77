/* Async operation: a public call that no thread waits for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "client/async.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

rlock_status rli_async_new(void **out, size_t size, rlock_client *client, rlock_cancel *cancel, rlock_result_fn *fn,
                           void *arg)
{
    rlock_status status = rli_client_check(client);
    if (status == RLOCK_OK)
        status = rli_loop_open(&client->loop);
    if (status != RLOCK_OK)
        return status;
    rli_async *async = calloc(1, size);
    if (!async)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for an async call");
    async->client = client;
    async->fn = fn;
    async->arg = arg;
    status = rli_operation_begin_async(&async->op, &client->gate, cancel, &client->loop.ready);
    if (status != RLOCK_OK) {
        free(async);
        return status;
    }
    rli_gate_ref(&client->gate); /* until its function has been called */
    status = rli_loop_add(&client->loop, async);
    if (status == RLOCK_OK) {
        *out = async;
        return RLOCK_OK;
    }
    rli_operation_end(&async->op);
    rli_gate_unref(&client->gate);
    free(async);
    return status;
}

void rli_async_forget(rli_async *async)
{
    rlock_client *client = async->client;
    rli_loop_remove(&client->loop, async);
    rli_operation_end(&async->op);
    free(async);
    rli_gate_unref(&client->gate);
}

static void end(rli_async *async, rlock_status status)
{
    async->status = status;
    /* One that has no function need not wait for the program to call it. */
    if (!async->fn) {
        rli_operation_end(&async->op);
        rli_loop_remove(&async->client->loop, async);
        (void)rli_async_complete(async);
        return;
    }
    if (status != RLOCK_OK)
        async->error = strdup(rlock_last_error());
    rli_operation_end(&async->op);
    rli_loop_end(&async->client->loop, async);
}

/* The caller carries it out. */
static void go_on(rli_async *async)
{
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    for (;;) {
        rlock_status status = async->go_on(async);
        if (status != RLI_WAITING) {
            end(async, status);
            break;
        }
        rli_loop_set_timer(&async->client->loop, async, async->op.own.wake_ms);
        if (rli_parker_rest(&async->op.own))
            break; /* it may be gone by now */
    }
    pthread_setcancelstate(cancel_state, NULL);
}

/* Has the watchdog look after operations, in case that the program does not. */
static void have_tended(rlock_client *client)
{
    if (atomic_exchange(&client->loop.tended, true))
        return;
    rli_engine_lock(&client->engine);
    if (client->engine.attend(&client->engine) == RLOCK_OK)
        rli_engine_collect_soon(&client->engine);
    else
        atomic_store(&client->loop.tended, false); /* the next operation tries again */
    rli_engine_unlock(&client->engine);
}

void rli_async_start(rli_async *async)
{
    rlock_client *client = async->client;
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    rli_gate_ref(&client->gate);
    go_on(async);
    have_tended(client);
    rli_ready_tell(&client->loop.ready);
    rli_gate_unref(&client->gate);
    pthread_setcancelstate(cancel_state, NULL);
}

rlock_status rli_async_visit(rlock_client *client)
{
    rlock_status status = rli_loop_open(&client->loop);
    if (status == RLOCK_OK)
        status = rli_loop_visit(&client->loop);
    if (status != RLOCK_OK)
        return status;
    have_tended(client);
    return RLOCK_OK;
}

void rli_async_entrust(rlock_client *client)
{
    rli_topology_flush(&client->topology);
    rli_ready_tell(&client->loop.ready);
}

void rli_async_leave(rlock_client *client)
{
    rli_loop_leave(&client->loop);
}

rli_async *rli_async_of(rli_parker *parker)
{
    return RLI_ITEM(rli_async, parker, op.own);
}

void rli_async_resume(rli_async *async)
{
    rli_parker_resume(&async->op.own);
    go_on(async);
}

bool rli_async_complete(rli_async *async)
{
    rlock_client *client = async->client;
    const char *error = async->error ? async->error : "out of memory for the message";
    const rlock_result result = {.size = sizeof result,
                                 .status = async->status,
                                 .error = async->status == RLOCK_OK ? "" : error,
                                 .answer = async->status == RLOCK_OK ? async->answer : 0,
                                 .token = async->status == RLOCK_OK ? async->token : 0,
                                 .permits = async->status == RLOCK_OK ? async->permits : NULL,
                                 .permit_count = async->status == RLOCK_OK ? async->permit_count : 0};
    if (async->fn)
        async->fn(&result, async->arg);
    if (rli_gate_is_forked(&client->gate))
        return false;
    free(async->error);
    async->discard(async);
    rli_gate_unref(&client->gate);
    return true;
}
