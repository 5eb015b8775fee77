/* Object wait: a wait for a semaphore or latch, as a blocking or as an async call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/object_wait.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"

#include <stdlib.h>

static const bool legal[RLI_WAITING_STAGES][RLI_WAITING_STAGES] = {
    [RLI_WAITING_BEGINS] = {[RLI_WAITING_ASKS] = true},
    [RLI_WAITING_ASKS] = {[RLI_WAITING_LISTENS] = true},
};

static void become(rli_waiting *waiting, rli_waiting_stage stage)
{
    rli_check(legal[waiting->stage][stage]);
    waiting->stage = stage;
}

static rlock_status begin(rli_waiting *waiting, rli_operation *op)
{
    rli_wait *wait = &waiting->wait;
    wait->op = op;
    wait->topology = &waiting->object->client->topology;
    wait->deadline_ms = waiting->wait_ms > 0 ? rli_after_ms(waiting->wait_ms) : RLI_NEVER;
    become(waiting, RLI_WAITING_ASKS);
    return rli_operation_check(op);
}

static rlock_status listen(rli_waiting *waiting)
{
    rli_wait *wait = &waiting->wait;
    const rli_names *names = &waiting->object->names;
    const rli_source source = {.name = names->channel, .length = names->channel_length};
    rlock_status status = rli_wait_join(wait, names->name, names->length, &source);
    wait->asked = status == RLOCK_OK;
    become(waiting, RLI_WAITING_LISTENS);
    return status;
}

/* Carries it out as far as possible. */
static rlock_status step(rli_waiting *waiting, rli_operation *op)
{
    rli_wait *wait = &waiting->wait;
    rlock_status status = RLOCK_OK;
    if (waiting->nothing)
        return RLOCK_OK;
    if (waiting->stage == RLI_WAITING_BEGINS)
        status = begin(waiting, op);
    if (status == RLOCK_OK && waiting->stage == RLI_WAITING_ASKS) {
        status = wait->ask(wait, &wait->again_ms);
        if (status != RLOCK_TIMEOUT || waiting->wait_ms <= 0)
            return status;
        status = listen(waiting);
    }
    if (status != RLOCK_OK)
        return status;
    status = rli_wait_run(wait);
    if (status != RLI_WAITING)
        rli_wait_leave(wait);
    return status;
}

/* RLI_WAITING: call it again. Otherwise it has ended. */
static rlock_status go_on(rli_waiting *waiting, rli_operation *op)
{
    rlock_status status = step(waiting, op);
    if (status == RLI_WAITING)
        return status;
    if (status == RLOCK_TIMEOUT)
        status = waiting->denied(waiting);
    status = rli_object_told(waiting->object, status);
    if (waiting->end)
        waiting->end(waiting, status);
    return status;
}

rlock_status rli_object_wait(rli_waiting *waiting, rlock_cancel *cancel)
{
    rli_operation op;
    rlock_status status = rli_operation_begin(&op, &waiting->object->client->gate, cancel);
    if (status == RLOCK_OK) {
        op.call_options = &waiting->object->call_options;
        status = go_on(waiting, &op);
        rli_operation_end(&op);
    } else if (waiting->end) {
        waiting->end(waiting, status);
    }
    return status;
}

rlock_status rli_object_wait_missing(const rli_waiting *waiting, rlock_status status, const char *maker)
{
    char name[RLI_NAME_SHOWN];
    const char *what = waiting->object->what, *shown = rli_show_name(waiting->object->names.name, name);
    return waiting->was_there
               ? rli_fail(status, "%s \"%s\" was deleted during the wait; %s makes it anew", what, shown, maker)
               : rli_fail(status, "%s \"%s\" does not exist; %s makes it", what, shown, maker);
}

/* --- without a thread --- */

static rlock_status go_on_async(rli_async *async)
{
    return go_on(((rli_async_waiting *)(void *)async)->waiting, &async->op);
}

static void discard(rli_async *async)
{
    rli_async_waiting *self = (rli_async_waiting *)(void *)async;
    rli_object_unref(self->waiting->object);
    free(self);
}

rlock_status rli_object_wait_new(void **made, size_t size, const rli_object *object, rlock_cancel *cancel,
                                 rlock_result_fn *fn, void *arg)
{
    rlock_status status = rli_async_new(made, size, object->client, cancel, fn, arg);
    if (status != RLOCK_OK)
        return status;
    rli_async_waiting *self = *made;
    self->async.op.call_options = &object->call_options;
    self->async.go_on = go_on_async;
    self->async.discard = discard;
    return RLOCK_OK;
}

void rli_object_wait_start(rli_async_waiting *self, rli_waiting *waiting)
{
    self->waiting = waiting;
    rli_object_ref(waiting->object);
    rli_async_start(&self->async);
}
