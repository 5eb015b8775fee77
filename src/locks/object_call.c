/* Object call: one request to a semaphore or latch, described once for its blocking and its async call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/object_call.h"

#include "base/error.h"
#include "client/async.h"
#include "client/client.h"
#include "net/reply.h"

#include <limits.h>
#include <stdlib.h>

/* --- what a reply says --- */

rlock_status rli_object_check_int(const rli_object *object, int64_t number)
{
    char shown[RLI_NAME_SHOWN];
    if (number < INT_MIN || number > INT_MAX)
        return rli_fail(RLOCK_SERVER, "%s \"%s\" has %lld permits, which do not fit into an int; nothing was changed",
                        object->what, rli_show_name(object->names.name, shown), (long long)number);
    return RLOCK_OK;
}

rlock_status rli_object_read_number(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t number = 0;
    if (!rli_reply_integer(call->reply, &number))
        return rli_reply_unexpected(call->reply, asked->object->names.name);
    *answer = number;
    return RLOCK_OK;
}

rlock_status rli_object_read_int(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t number = 0;
    rlock_status status = rli_object_read_number(asked, call, &number);
    if (status == RLOCK_OK)
        status = rli_object_check_int(asked->object, number);
    if (status == RLOCK_OK)
        *answer = number;
    return status;
}

rlock_status rli_object_read_flag(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t number = 0;
    rlock_status status = rli_object_read_number(asked, call, &number);
    if (status == RLOCK_OK)
        *answer = number == 1;
    return status;
}

rlock_status rli_object_read_nothing(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t number = 0;
    rlock_status status = rli_object_read_number(asked, call, &number);
    if (status == RLOCK_OK)
        *answer = 0;
    return status;
}

/* --- running it --- */

void rli_object_put_numbers(rli_call *call, const rli_object_call *asked)
{
    for (int i = 0; i < asked->number_count; i++)
        rli_call_add_number(call, asked->numbers[i]);
}

static void begin(rli_call *call, const rli_object_call *asked)
{
    asked->put(call, asked);
    call->once = asked->once;
    call->synced = asked->synced;
}

/* RLI_WAITING: call it again. Otherwise the call is cleared. */
static rlock_status go_on(rli_call *call, const rli_object_call *asked, rli_operation *op, int64_t *answer)
{
    rlock_status status = rli_call_run(call, &asked->object->client->topology, op, NULL);
    if (status == RLI_WAITING)
        return status;
    status = status == RLOCK_OK ? asked->read(asked, call, answer) : rli_object_told(asked->object, status);
    rli_call_clear(call);
    return status;
}

static rlock_status run(const rli_object_call *asked, int64_t *answer)
{
    rli_operation op;
    rli_call call;
    rlock_status status = rli_operation_begin(&op, &asked->object->client->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    op.call_options = &asked->object->call_options;
    begin(&call, asked);
    status = go_on(&call, asked, &op, answer);
    rli_operation_end(&op);
    return status;
}

rlock_status rli_object_call_run(rli_object_call *asked, int64_t *answer)
{
    int64_t number = 0;
    rlock_status status = asked->nothing ? RLOCK_OK : run(asked, &number);
    free(asked->ids);
    if (status == RLOCK_OK && answer)
        *answer = number;
    return status;
}

rlock_status rli_object_call_run_int(rli_object_call *asked, int *answer)
{
    int64_t number = 0;
    rlock_status status = rli_object_call_run(asked, &number);
    if (status == RLOCK_OK && answer)
        *answer = (int)number;
    return status;
}

rlock_status rli_object_call_run_flag(rli_object_call *asked, bool *answer)
{
    int64_t number = 0;
    rlock_status status = rli_object_call_run(asked, &number);
    if (status == RLOCK_OK && answer)
        *answer = number == 1;
    return status;
}

/* --- without a thread --- */

typedef struct async_call {
    rli_async async; /* first */
    rli_object_call asked;
    rli_call call;
} async_call;

static rlock_status go_on_async(rli_async *async)
{
    async_call *self = (async_call *)(void *)async;
    return self->asked.nothing ? RLOCK_OK : go_on(&self->call, &self->asked, &async->op, &async->answer);
}

static void discard(rli_async *async)
{
    async_call *self = (async_call *)(void *)async;
    rli_object_unref(self->asked.object);
    free(self->asked.ids);
    free(self);
}

rlock_status rli_object_call_async(rli_object_call *asked, rlock_result_fn *fn, void *arg)
{
    void *made;
    rlock_status status = rli_async_new(&made, sizeof(async_call), asked->object->client, NULL, fn, arg);
    if (status != RLOCK_OK) {
        free(asked->ids);
        return status;
    }
    async_call *self = made;
    self->async.op.call_options = &asked->object->call_options;
    self->async.go_on = go_on_async;
    self->async.discard = discard;
    self->asked = *asked;
    rli_object_ref(asked->object);
    if (!asked->nothing)
        begin(&self->call, &self->asked);
    rli_async_start(&self->async);
    return RLOCK_OK;
}
