/* Operations: async calls under way. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/operations.h"

#include "tests/sim/world/finding.h"

#include <stdlib.h>

static int under_way[PLAN_CLIENTS];

void *operation_make(size_t size, worker *who, const plan_step *step, void (*start)(operation *of))
{
    operation *self = calloc(1, size);
    if (!self)
        abort();
    self->worker = who;
    self->step = *step;
    self->start = start;
    under_way[who->of->index]++;
    return self;
}

static void start_as_task(task *begun)
{
    operation *self = (operation *)(void *)begun;
    self->start(self);
}

void operation_run(operation *self)
{
    if (self->step.async & ASYNC_IN_LOOP) {
        self->begin.act = start_as_task;
        loop_post(self->worker->of, &self->begin);
    } else {
        self->start(self);
    }
    while (!self->over && !(self->step.async & ASYNC_GOES_ON))
        thread_sleep(self, WORLD_NEVER, ~0u, "its function to be called");
}

void operation_begins(operation *self, hold *held)
{
    worker *who = self->worker;
    firing_begin(&self->cancel, who, &self->step);
    call_begin(&self->call, who, &self->step, held);
    self->call.is_async = true;
    self->call.forgotten_ns = loop_forgotten_ns(who->of);
}

static void end(operation *self, rlock_status status, const char *error)
{
    self->call.cancelled = self->cancel.fired;
    self->call.cancelled_ns = self->cancel.fired_ns;
    call_end_with(&self->call, status, error);
    firing_end(&self->cancel);
}

void operation_told(operation *self, const rlock_result *result)
{
    if (self->called)
        finding("the function of %s was called twice", self->call.title);
    self->called = true;
    if (result->size != sizeof *result || !result->error || (result->status == RLOCK_OK && *result->error))
        finding("%s was told a result that is none", self->call.title);
    bool answers = result->answer || result->token || result->permits || result->permit_count;
    if (result->status != RLOCK_OK && answers)
        finding("%s was told an answer, and %s", self->call.title, rlock_strstatus(result->status));
    end(self, result->status, result->error);
}

void operation_refused(operation *self, rlock_status status)
{
    self->call.not_begun = true;
    end(self, status, rlock_last_error());
}

void operation_is_over(operation *self)
{
    self->over = true;
    under_way[self->worker->of->index]--;
    threads_wake(self, 1, ~0u);
    threads_wake(&under_way[self->worker->of->index], 1000, ~0u);
}

void operations_await_all(const process *of)
{
    while (under_way[of->index] > 0)
        thread_sleep(&under_way[of->index], WORLD_NEVER, ~0u, "all functions to be called");
}

void operations_check(const process *of)
{
    if (under_way[of->index] > 0)
        finding("%s is closed, and the functions of %d operations were not called", of->machine->name, under_way[of->index]);
}
