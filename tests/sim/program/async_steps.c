/* Async steps: the async calls of a thread of the plan on locks, and its close in the loop. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/async_steps.h"

#include "tests/sim/check/ends.h"
#include "tests/sim/check/members.h"
#include "tests/sim/program/async_objects.h"
#include "tests/sim/program/lock_of.h"
#include "tests/sim/program/moment.h"
#include "tests/sim/program/operations.h"
#include "tests/sim/program/steps_parts.h"
#include "tests/sim/world/finding.h"

#include <rlock/async.h>
#include <stdlib.h>

typedef struct lock_operation {
    operation base; /* first */
    rlock *lock;    /* of its own, for that owner: the worker may have ended */
    rlock *members[PLAN_MEMBERS]; /* those of a lock of several, too */
} lock_operation;

static void start(operation *base);

static void free_handles(lock_operation *self)
{
    rlock_free(self->lock);
    for (int i = 0; i < PLAN_MEMBERS; i++)
        rlock_free(self->members[i]);
}

static bool copy_handles(lock_operation *self, worker *who, rlock *lock, rlock *const *members, int64_t of_owner)
{
    const plan_object *of = &who->of->plan->objects[self->base.step.object];
    self->lock = rlock_for_owner(lock, of_owner);
    bool all = self->lock != NULL;
    for (int i = 0; i < of->member_count && all; i++) {
        self->members[i] = rlock_for_owner(members[i], of_owner);
        all = self->members[i] != NULL;
    }
    return all;
}

/* NULL: there was no memory for its handles. */
static lock_operation *make(worker *who, const plan_step *step, rlock *lock, rlock *const *members)
{
    lock_operation *self = operation_make(sizeof *self, who, step, start);
    if (copy_handles(self, who, lock, members, step_owner(who, step->owner)))
        return self;
    free_handles(self);
    operation_is_over(&self->base);
    return NULL;
}

static void is_over(lock_operation *self)
{
    free_handles(self);
    operation_is_over(&self->base);
}

/* --- its end --- */

static void give_back(lock_operation *taken)
{
    plan_step step = {.kind = UNLOCK, .object = taken->base.step.object, .owner = taken->base.step.owner, .wait_ms = -1,
                      .lease_ms = -1, .cancel_ms = -1, .async = ASYNC | ASYNC_GOES_ON};
    lock_operation *self = make(taken->base.worker, &step, taken->lock, taken->members);
    if (self)
        start(&self->base);
    else
        ends_left_for_good(step.object);
}

static void judge(lock_operation *self, uint64_t token)
{
    operation *base = &self->base;
    call *own = &base->call;
    switch (base->step.kind) {
    case LOCK:
        base->worker->waits_for = base->step.async & ASYNC_GOES_ON ? base->worker->waits_for : -1;
        judge_acquire(own, step_validity(base->worker, self->lock));
        if (own->status == RLOCK_OK && token) {
            judge_token(own, token);
            base->worker->token = token;
        }
        break;
    case UNLOCK: judge_unlock(own, step_validity(base->worker, self->lock)); break;
    case EXTEND: judge_extend(own, step_validity(base->worker, self->lock)); break;
    case FORCE: judge_force(own); break;
    default: judge_question(own); break;
    }
    if (base->step.kind == LOCK || base->step.kind == UNLOCK)
        members_check(own, self->lock, self->members);
}

static void has_ended(const rlock_result *result, void *argument)
{
    lock_operation *self = argument;
    operation_told(&self->base, result);
    judge(self, result->token);
    if (result->status == RLOCK_OK && self->base.step.kind == LOCK && self->base.step.async & ASYNC_GIVES_BACK)
        give_back(self);
    is_over(self);
}

/* --- its beginning --- */

static rlock_status begin_acquire(lock_operation *self, rlock *lock)
{
    const plan_step *step = &self->base.step;
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = step->wait_ms < 0 ? RLOCK_FOREVER : step->wait_ms;
    options.lease_ms = step->lease_ms < 0 ? RLOCK_WATCHDOG : step->lease_ms;
    options.cancel = self->base.cancel.token;
    return rlock_lock_async(lock, &options, has_ended, self);
}

static rlock_status begin(lock_operation *self, rlock *lock)
{
    const rlock_owner by = {step_owner(self->base.worker, self->base.step.owner)};
    switch (self->base.step.kind) {
    case LOCK: return begin_acquire(self, lock);
    case UNLOCK: return rlock_unlock_async(lock, &by, has_ended, self);
    case EXTEND: return rlock_extend_async(lock, self->base.step.lease_ms, &by, has_ended, self);
    case FORCE: return rlock_force_unlock_async(lock, has_ended, self);
    case IS_HELD: return rlock_is_held_async(lock, &by, has_ended, self);
    case COUNT: return rlock_get_hold_count_async(lock, NULL, has_ended, self);
    case TTL: return rlock_remain_time_to_live_async(lock, has_ended, self);
    default: return rlock_is_locked_async(lock, has_ended, self);
    }
}

static void note_begin(lock_operation *self)
{
    worker *who = self->base.worker;
    const plan_step *step = &self->base.step;
    hold *held = step_hold(who, step);
    validity before = step_validity(who, self->lock);
    judge_validity(held, before);
    operation_begins(&self->base, held);
    call_valid_before(&self->base.call, before);
    members_before(&self->base.call, self->members);
    if (step->kind == UNLOCK && (held->count <= 1 || held->side == READ_SIDE || held->unsure || held->to_tell > 0))
        ledger_drop(held);
    /* The background may give its holds back before the program hears what became of it. */
    if (step->kind == FORCE)
        run_void(step->object, "its client has begun to force it open");
    if (step->kind == LOCK && !(step->async & ASYNC_GOES_ON) && !loop_forgets(who->of->index))
        step_waits(who, step, &self->base.call);
    if (step->kind == LOCK || step->kind == UNLOCK)
        moment_comes(step->kind == LOCK ? CALL_TAKES : CALL_GIVES_BACK, NULL);
}

/* Through a handle of its own, which is freed at once, or one that stays. */
static void start(operation *base)
{
    lock_operation *self = (lock_operation *)(void *)base;
    note_begin(self);
    rlock *own = base->step.async & ASYNC_FREES ? rlock_for_owner(self->lock, step_owner(base->worker, base->step.owner))
                                                : NULL;
    rlock_status status = begin(self, own ? own : self->lock);
    if (status != RLOCK_OK) {
        operation_refused(base, status);
        judge(self, 0);
    }
    rlock_free(own);
    if (status != RLOCK_OK)
        is_over(self);
}

/* --- what a lock of several does not have --- */

static void must_not_be_called(const rlock_result *result, void *argument)
{
    (void)result;
    finding("%s: the function of a call that did not begin was called", (const char *)argument);
}

/* Its members are asked and forced open one by one. */
static void ask_in_vain(worker *who, const plan_step *step, rlock *lock)
{
    static char title[] = "an async call that locks of several do not have";
    rlock_status status;
    switch (step->kind) {
    case FORCE: status = rlock_force_unlock_async(lock, must_not_be_called, title); break;
    case COUNT: status = rlock_get_hold_count_async(lock, NULL, must_not_be_called, title); break;
    case TTL: status = rlock_remain_time_to_live_async(lock, must_not_be_called, title); break;
    default: status = rlock_is_locked_async(lock, must_not_be_called, title); break;
    }
    timeline(thread_title(who->thread), "%s of a lock of several → %s", step_word(step->kind), rlock_strstatus(status));
    if (status != RLOCK_UNSUPPORTED && !(status == RLOCK_CLOSED && who->of->closed))
        finding("%s of a lock of several answered %s", step_word(step->kind), rlock_strstatus(status));
    run_count_call();
}

/* --- */

static bool is_known(step_kind kind)
{
    return kind == LOCK || kind == UNLOCK || kind == EXTEND || kind == FORCE || kind == IS_LOCKED || kind == IS_HELD || kind == COUNT ||
           kind == TTL;
}

static bool has(const plan_object *of, step_kind kind)
{
    return !object_is_composite(of->kind) || kind == LOCK || kind == UNLOCK || kind == IS_HELD;
}

static void lock_step(worker *who, const plan_step *planned)
{
    const plan_object *of = &who->of->plan->objects[planned->object];
    plan_step step = *planned;
    rlock *members[PLAN_MEMBERS] = {NULL}, *lock = worker_lock(who, step.object, step.owner);
    bool all = lock != NULL;
    for (int i = 0; i < of->member_count && all; i++) {
        members[i] = worker_lock(who, of->members[i], step.owner);
        all = members[i] != NULL;
    }
    if (!all)
        return;
    if (!has(of, step.kind)) {
        ask_in_vain(who, &step, lock);
        return;
    }
    step.wait_ms = step_wait_ms(who, planned, step_hold(who, planned));
    lock_operation *self = make(who, &step, lock, members);
    if (self)
        operation_run(&self->base);
}

bool async_step(worker *who, const plan_step *step)
{
    if (!step->async)
        return false;
    if (!object_is_lock(who->of->plan->objects[step->object].kind))
        return async_object_step(who, step);
    bool of_several = object_is_composite(who->of->plan->objects[step->object].kind);
    if (!is_known(step->kind) || step->owner == 0 || (step->kind == EXTEND && (of_several || step->lease_ms < 0)))
        return false;
    lock_step(who, step);
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
