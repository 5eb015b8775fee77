/* Async steps: the async calls of a thread of the plan. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/async_steps.h"

#include "tests/sim/program/firing.h"
#include "tests/sim/program/lock_of.h"
#include "tests/sim/program/loops.h"
#include "tests/sim/program/run.h"
#include "tests/sim/program/steps_parts.h"
#include "tests/sim/world/finding.h"

#include <rlock/async.h>
#include <stdlib.h>

/* One operation. Never freed before the run ends, so that a function that is called twice is noticed. */
typedef struct operation {
    task begin; /* first, because the loop leads to it */
    worker *worker;
    plan_step step;
    rlock *lock; /* of its own, for that owner: the worker may have ended */
    call call;
    firing cancel;
    bool called, over;
} operation;

static int under_way[PLAN_CLIENTS];

static void start(operation *self);

/* NULL: there was no memory for its handle. */
static operation *make(worker *who, const plan_step *step, rlock *lock)
{
    rlock *own = rlock_for_owner(lock, step_owner(who, step->owner));
    if (!own)
        return NULL;
    operation *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->worker = who;
    self->step = *step;
    self->lock = own;
    under_way[who->of->index]++;
    return self;
}

static void is_over(operation *self)
{
    self->over = true;
    rlock_free(self->lock);
    under_way[self->worker->of->index]--;
    threads_wake(self, 1, ~0u);
    threads_wake(&under_way[self->worker->of->index], 1000, ~0u);
}

/* --- its end --- */

static void give_back(worker *who, const plan_step *taken, rlock *lock)
{
    plan_step step = {.kind = UNLOCK, .object = taken->object, .owner = taken->owner, .wait_ms = -1, .lease_ms = -1,
                      .cancel_ms = -1, .async = ASYNC | ASYNC_GOES_ON};
    operation *self = make(who, &step, lock);
    if (self)
        start(self);
}

static void judge(operation *self, rlock_status status, const char *error, uint64_t token)
{
    call *own = &self->call;
    own->cancelled = self->cancel.fired;
    own->cancelled_ns = self->cancel.fired_ns;
    call_end_with(own, status, error);
    switch (self->step.kind) {
    case LOCK:
        self->worker->waits_for = self->step.async & ASYNC_GOES_ON ? self->worker->waits_for : -1;
        judge_acquire(own, step_validity(self->worker, self->lock));
        if (status == RLOCK_OK && token)
            judge_token(own, token);
        break;
    case UNLOCK: judge_unlock(own, step_validity(self->worker, self->lock)); break;
    case FORCE: judge_force(own); break;
    default: judge_question(own); break;
    }
    firing_end(&self->cancel);
}

static void has_ended(const rlock_result *result, void *argument)
{
    operation *self = argument;
    worker *who = self->worker;
    if (self->called)
        finding("the function of %s was called twice", self->call.title);
    self->called = true;
    if (result->size != sizeof *result || !result->error || (result->status == RLOCK_OK && *result->error))
        finding("%s was told a result that is none", self->call.title);
    judge(self, result->status, result->error, result->token);
    if (result->status == RLOCK_OK && self->step.kind == LOCK && self->step.async & ASYNC_GIVES_BACK)
        give_back(who, &self->step, self->lock);
    is_over(self);
}

/* --- its beginning --- */

static rlock_status begin_acquire(operation *self, rlock *lock)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = self->step.wait_ms < 0 ? RLOCK_FOREVER : self->step.wait_ms;
    options.lease_ms = self->step.lease_ms < 0 ? RLOCK_WATCHDOG : self->step.lease_ms;
    options.cancel = self->cancel.token;
    return rlock_lock_async(lock, &options, has_ended, self);
}

static rlock_status begin(operation *self, rlock *lock)
{
    const rlock_owner by = {step_owner(self->worker, self->step.owner)};
    switch (self->step.kind) {
    case LOCK: return begin_acquire(self, lock);
    case UNLOCK: return rlock_unlock_async(lock, &by, has_ended, self);
    case FORCE: return rlock_force_unlock_async(lock, has_ended, self);
    case IS_HELD: return rlock_is_held_async(lock, &by, has_ended, self);
    case COUNT: return rlock_get_hold_count_async(lock, NULL, has_ended, self);
    case TTL: return rlock_remain_time_to_live_async(lock, has_ended, self);
    default: return rlock_is_locked_async(lock, has_ended, self);
    }
}

static void note_begin(operation *self)
{
    worker *who = self->worker;
    hold *held = step_hold(who, &self->step);
    validity before = step_validity(who, self->lock);
    judge_validity(held, before);
    firing_begin(&self->cancel, who, &self->step);
    call_begin(&self->call, who, &self->step, held);
    call_valid_before(&self->call, before);
    self->call.is_async = true;
    self->call.forgotten_ns = loop_forgotten_ns(who->of);
    if (self->step.kind == UNLOCK &&
        (held->count <= 1 || held->side == READ_SIDE || held->unsure || held->to_tell > 0))
        ledger_drop(held);
    /* The background may give its holds back before the program hears what became of it. */
    if (self->step.kind == FORCE)
        run_void(self->step.object, "its client has begun to force it open");
    if (self->step.kind == LOCK && !(self->step.async & ASYNC_GOES_ON) && !loop_forgets(who->of->index))
        step_waits(who, &self->step, &self->call);
}

/* Through a handle of its own, which is freed at once, or one that stays. */
static void start(operation *self)
{
    note_begin(self);
    rlock *own = self->step.async & ASYNC_FREES
                     ? rlock_for_owner(self->lock, step_owner(self->worker, self->step.owner))
                     : NULL;
    rlock_status status = begin(self, own ? own : self->lock);
    self->call.not_begun = status != RLOCK_OK;
    if (status != RLOCK_OK)
        judge(self, status, rlock_last_error(), 0);
    rlock_free(own);
    if (status != RLOCK_OK)
        is_over(self);
}

static void start_as_task(task *begun)
{
    start((operation *)(void *)begun);
}

static void await(operation *self)
{
    while (!self->over)
        thread_sleep(self, WORLD_NEVER, ~0u, "its function to be called");
}

bool async_step(worker *who, const plan_step *planned)
{
    plan_step step = *planned;
    bool composite = object_is_composite(who->of->plan->objects[step.object].kind);
    bool known = step.kind == LOCK || step.kind == UNLOCK || step.kind == FORCE || step.kind == IS_LOCKED ||
                 step.kind == IS_HELD || step.kind == COUNT || step.kind == TTL;
    if (!step.async || !known || composite || step.owner == 0)
        return false;
    rlock *lock = worker_lock(who, step.object, step.owner);
    if (!lock)
        return true;
    step.wait_ms = step_wait_ms(who, planned, step_hold(who, planned));
    operation *self = make(who, &step, lock);
    if (!self)
        return true;
    if (step.async & ASYNC_IN_LOOP) {
        self->begin.act = start_as_task;
        loop_post(who->of, &self->begin);
    } else {
        start(self);
    }
    if (!(step.async & ASYNC_GOES_ON))
        await(self);
    return true;
}

/* --- closing --- */

typedef struct closing {
    task task;
    worker *worker;
    bool over;
} closing;

static void close_as_task(task *begun)
{
    closing *self = (closing *)(void *)begun;
    if (!self->worker->of->closed)
        step_close(self->worker);
    self->over = true;
    threads_wake(self, 1, ~0u);
}

static void close_in_function(const rlock_result *result, void *argument)
{
    (void)result;
    close_as_task(argument);
}

static void ask_and_close(task *begun)
{
    closing *self = (closing *)(void *)begun;
    rlock *lock = rlock_get_lock(self->worker->of->client, "asked at the end");
    bool asked = lock && rlock_is_locked_async(lock, close_in_function, self) == RLOCK_OK;
    rlock_free(lock);
    if (!asked)
        close_as_task(begun);
}

void async_close(worker *who, const plan_step *step)
{
    closing *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->worker = who;
    self->task.act = step->async & ASYNC_IN_LOOP ? ask_and_close : close_as_task;
    loop_post(who->of, &self->task);
    while (!self->over)
        thread_sleep(self, WORLD_NEVER, ~0u, "the client to be closed");
}

void async_await_all(process *of)
{
    while (under_way[of->index] > 0)
        thread_sleep(&under_way[of->index], WORLD_NEVER, ~0u, "all functions to be called");
}

void async_check(const process *of)
{
    if (under_way[of->index] > 0)
        finding("%s is closed, and the functions of %d operations were not called", of->machine->name, under_way[of->index]);
}
