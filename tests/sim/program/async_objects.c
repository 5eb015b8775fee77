/* Async objects: the async calls of a thread of the plan on semaphores, permits and latches. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/async_objects.h"

#include "tests/sim/check/permits.h"
#include "tests/sim/program/async_expirable.h"
#include "tests/sim/program/moment.h"
#include "tests/sim/program/objects_parts.h"
#include "tests/sim/program/operations.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <string.h>

typedef struct object_operation {
    operation base; /* first */
    int count;      /* of permits */
    /* Those that are given back, or the one that is asked about or gets another lease. */
    rlock_permit given[PERMITS_HELD];
    int64_t until_ns[PERMITS_HELD]; /* they could be relied on until then, when its call began */
    /* One of them, of its own: the worker may have ended. */
    rlock_semaphore *semaphore;
    rlock_permit_semaphore *permits;
    rlock_count_down_latch *latch;
} object_operation;

static void start(operation *base);
static void has_ended(const rlock_result *result, void *argument);

static object_operation *make(worker *who, const plan_step *step, int count)
{
    object_operation *self = operation_make(sizeof *self, who, step, start);
    self->count = count;
    return self;
}

/* --- handles --- */

static rlock_object *object_of(const object_operation *self)
{
    return self->semaphore ? rlock_semaphore_object(self->semaphore)
           : self->permits ? rlock_permit_semaphore_object(self->permits)
                           : rlock_count_down_latch_object(self->latch);
}

static bool open_handle(object_operation *self)
{
    const worker *who = self->base.worker;
    const plan_object *of = &who->of->plan->objects[self->base.step.object];
    rlock_client *client = who->of->client;
    if (of->kind == SEMAPHORE)
        self->semaphore = rlock_get_semaphore(client, of->name);
    else if (of->kind == PERMITS)
        self->permits = rlock_get_permit_expirable_semaphore(client, of->name);
    else
        self->latch = rlock_get_count_down_latch(client, of->name);
    object_set_timeout(who->of, object_of(self));
    return self->semaphore || self->permits || self->latch;
}

/* By two threads, perhaps: the one that began the call, and the loop, in which it has ended meanwhile. */
static void free_handle(object_operation *self)
{
    const object_operation of = *self;
    self->semaphore = NULL;
    self->permits = NULL;
    self->latch = NULL;
    rlock_semaphore_free(of.semaphore);
    rlock_permit_semaphore_free(of.permits);
    rlock_count_down_latch_free(of.latch);
}

/* --- its beginning --- */

/* Each of the calls that acquire: without an end, with one, or with options. */
static rlock_status begin_acquire(object_operation *self)
{
    const plan_step *step = &self->base.step;
    rlock_semaphore_options options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    options.wait_ms = step->wait_ms;
    options.cancel = self->base.cancel.token;
    if (step->cancel_ms >= 0)
        return rlock_semaphore_acquire_with_async(self->semaphore, self->count, &options, has_ended, self);
    if (step->wait_ms < 0)
        return rlock_semaphore_acquire_async(self->semaphore, self->count, has_ended, self);
    return rlock_semaphore_try_acquire_async(self->semaphore, self->count, step->wait_ms, has_ended, self);
}

static rlock_status begin_semaphore(object_operation *self)
{
    switch (self->base.step.kind) {
    case SEM_SET: return rlock_semaphore_try_set_permits_async(self->semaphore, self->count, has_ended, self);
    case SEM_ACQUIRE: return begin_acquire(self);
    case SEM_RELEASE: return rlock_semaphore_release_async(self->semaphore, self->count, has_ended, self);
    case SEM_ADD: return rlock_semaphore_add_permits_async(self->semaphore, self->count, has_ended, self);
    case SEM_DRAIN: return rlock_semaphore_drain_permits_async(self->semaphore, has_ended, self);
    default: return rlock_semaphore_available_permits_async(self->semaphore, has_ended, self);
    }
}

static rlock_status begin_acquire_permits(object_operation *self)
{
    const plan_step *step = &self->base.step;
    rlock_permit_options options = RLOCK_PERMIT_OPTIONS_INIT;
    options.wait_ms = step->wait_ms;
    options.lease_ms = permit_lease(step);
    options.cancel = self->base.cancel.token;
    if (step->cancel_ms >= 0)
        return rlock_permit_semaphore_acquire_with_async(self->permits, step->count, &options, has_ended, self);
    if (step->wait_ms < 0)
        return rlock_permit_semaphore_acquire_many_async(self->permits, step->count, permit_lease(step), has_ended, self);
    if (step->count > 1)
        return rlock_permit_semaphore_try_acquire_many_async(self->permits, step->count, step->wait_ms, permit_lease(step),
                                                             has_ended, self);
    return rlock_permit_semaphore_try_acquire_async(self->permits, step->wait_ms, permit_lease(step), has_ended, self);
}

/* Each of the calls that release: those that answer whether they did, and those that fail if they did not. */
static rlock_status begin_release_permits(object_operation *self)
{
    bool asks = self->base.step.pause_ms == 0;
    rlock_permit_semaphore *of = self->permits;
    const rlock_permit *given = self->given;
    if (self->count > 1 && asks)
        return rlock_permit_semaphore_try_release_many_async(of, self->count, given, has_ended, self);
    if (self->count > 1)
        return rlock_permit_semaphore_release_many_async(of, self->count, given, has_ended, self);
    if (asks)
        return rlock_permit_semaphore_try_release_async(of, given->id, has_ended, self);
    return rlock_permit_semaphore_release_async(of, given->id, has_ended, self);
}

static rlock_status begin_permits(object_operation *self)
{
    const plan_step *step = &self->base.step;
    const char *id = self->given->id;
    switch (step->kind) {
    case PERMIT_SET: return rlock_permit_semaphore_try_set_permits_async(self->permits, step->count, has_ended, self);
    case PERMIT_ACQUIRE: return begin_acquire_permits(self);
    case PERMIT_RELEASE: return begin_release_permits(self);
    case PERMIT_UPDATE:
        return rlock_permit_semaphore_update_lease_time_async(self->permits, id, permit_lease(step), has_ended, self);
    default: return rlock_permit_semaphore_available_permits_async(self->permits, has_ended, self);
    }
}

static rlock_status begin_await(object_operation *self)
{
    const plan_step *step = &self->base.step;
    rlock_await_options options = RLOCK_AWAIT_OPTIONS_INIT;
    options.wait_ms = step->wait_ms;
    options.cancel = self->base.cancel.token;
    if (step->cancel_ms >= 0)
        return rlock_count_down_latch_await_with_async(self->latch, &options, has_ended, self);
    if (step->wait_ms < 0)
        return rlock_count_down_latch_await_async(self->latch, has_ended, self);
    return rlock_count_down_latch_try_await_async(self->latch, step->wait_ms, has_ended, self);
}

static rlock_status begin_latch(object_operation *self)
{
    switch (self->base.step.kind) {
    case LATCH_SET: return rlock_count_down_latch_try_set_count_async(self->latch, self->base.step.count, has_ended, self);
    case LATCH_DOWN: return rlock_count_down_latch_count_down_async(self->latch, has_ended, self);
    case LATCH_AWAIT: return begin_await(self);
    default: return rlock_count_down_latch_get_count_async(self->latch, has_ended, self);
    }
}

static bool waits(const plan_step *step)
{
    return step->kind == SEM_ACQUIRE || step->kind == PERMIT_ACQUIRE || step->kind == LATCH_AWAIT;
}

static const char changed[] = "its client changes its time, its name or its number";

static void note_begin(object_operation *self)
{
    worker *who = self->base.worker;
    const plan_step *step = &self->base.step;
    if (step->kind == OBJECT_CHANGE)
        run_void(step->object, changed);
    if (self->latch)
        latch_begins(who, step);
    operation_begins(&self->base, NULL);
    if (self->semaphore && !step_is_expirable(step->kind))
        semaphore_begins(who, step, self->count);
    if (waits(step) && !(step->async & ASYNC_GOES_ON) && !loop_forgets(who->of->index))
        object_waits(who, step, step->kind == LATCH_AWAIT ? 1 : self->count);
    if (step->kind == PERMIT_ACQUIRE || step->kind == PERMIT_RELEASE)
        moment_comes(step->kind == PERMIT_ACQUIRE ? CALL_TAKES : CALL_GIVES_BACK, NULL);
}

/* --- its end --- */

/* One of those given is about to be given back, or to get another lease. */
static void give(object_operation *self, int which, bool back)
{
    const worker *who = self->base.worker;
    const rlock_permit *permit = &self->given[which];
    permit_relied(who, self->permits, self->base.step.object, permit);
    self->until_ns[which] = permits_give(run_resource(who->of->plan, self->base.step.object), permit->id, back);
}

/* What was taken, by a thread that may have ended. A permit that cannot be given back, for want of memory or of an open
 * client, is left to its lease. */
static void give_back(object_operation *taken, const rlock_permit *permit)
{
    const plan_step *by = &taken->base.step;
    worker *who = taken->base.worker;
    plan_step step = {.kind = permit ? PERMIT_RELEASE : SEM_RELEASE, .object = by->object, .count = taken->count,
                      .wait_ms = -1, .lease_ms = -1, .cancel_ms = -1, .async = ASYNC | ASYNC_GOES_ON};
    object_operation *self = make(who, &step, permit ? 1 : taken->count);
    if (permit)
        self->given[0] = *permit;
    if (!open_handle(self)) {
        if (permit)
            permits_abandon(run_resource(who->of->plan, by->object));
        operation_is_over(&self->base);
        return;
    }
    if (permit)
        give(self, 0, true);
    start(&self->base);
}

/* For the thread that waits, or to be given back. */
static void keep(object_operation *self, const rlock_permit *permits)
{
    const plan_step *step = &self->base.step;
    worker *who = self->base.worker;
    int of = step->object;
    if (step->async & ASYNC_GIVES_BACK) {
        for (int i = 0; i < (permits ? self->count : 1); i++)
            give_back(self, permits ? &permits[i] : NULL);
    } else if (permits) {
        memcpy(who->permits[of] + who->permit_count[of], permits, (size_t)self->count * sizeof *permits);
        who->permit_count[of] += self->count;
    } else {
        who->taken[of] += self->count;
    }
}

/* All or none, and none if one has expired. */
static void released_ended(object_operation *self, rlock_status status, int64_t released)
{
    const operation *base = &self->base;
    bool fails = status == RLOCK_INVALID && !base->call.not_begun; /* as if it had answered that there is none */
    bool told = status == RLOCK_OK || fails, all_last = true;
    bool any = status == RLOCK_OK && (base->step.pause_ms || released);
    for (int i = 0; i < self->count; i++)
        all_last &= self->until_ns[i] > world_now_ns();
    if (told && !base->step.pause_ms && released != 0 && released != self->count)
        finding("of %d permits %" PRId64 " were released", self->count, released);
    for (int i = 0; i < self->count; i++)
        permit_given(base->worker, base->step.object, base->call.began_ns, self->until_ns[i],
                     told && (any || all_last) ? RLOCK_OK : RLOCK_UNKNOWN, any);
}

static void permits_ended(object_operation *self, rlock_status status, const rlock_result *result)
{
    const plan_step *step = &self->base.step;
    const worker *who = self->base.worker;
    int64_t began_ns = self->base.call.began_ns;
    bool ok = status == RLOCK_OK;
    if (ok && step->kind == PERMIT_ACQUIRE && (!result->permits || result->permit_count != step->count))
        finding("%s was told %d permits", self->base.call.title, result->permit_count);
    if (ok && step->kind == PERMIT_ACQUIRE)
        permits_taken(who, step, result->permits, began_ns);
    if (step->kind == PERMIT_RELEASE)
        released_ended(self, status, result ? result->answer : 0);
    if (ok && step->kind == PERMIT_UPDATE && result->answer)
        permits_take(run_resource(who->of->plan, step->object), self->given->id, began_ns, step->lease_ms,
                     thread_title(who->thread));
}

/* A permit that is gone is not released; nor is one asked about, or an object renamed, that is not there, or to where
 * another server serves. */
static bool is_own_mistake(const object_operation *self, rlock_status status)
{
    step_kind kind = self->base.step.kind;
    bool may_be = step_is_expirable(kind) || (kind == PERMIT_RELEASE && self->base.step.pause_ms);
    return may_be && status == RLOCK_INVALID && self->base.call.status == RLOCK_INVALID;
}

/* `result`: NULL when its call did not begin, and so changed nothing. */
static void judge(object_operation *self, const rlock_result *result)
{
    operation *base = &self->base;
    const plan_step *step = &base->step;
    object_kind kind = base->worker->of->plan->objects[step->object].kind;
    rlock_status status = result ? result->status : RLOCK_INVALID;
    int64_t answer = result ? result->answer : 0;
    if (!(step->async & ASYNC_GOES_ON))
        base->worker->waits_for = -1;
    if (!is_own_mistake(self, status))
        judge_object(&base->call);
    if (step->kind == OBJECT_CHANGE)
        run_void(step->object, changed); /* while it was under way, too */
    if (step_is_expirable(step->kind))
        return;
    if (kind == SEMAPHORE)
        semaphore_ended(base->worker, step, self->count, status, answer);
    else if (kind == PERMITS)
        permits_ended(self, status, result);
    else
        latch_ended(&base->call, status, answer != 0);
    if (status == RLOCK_OK && (step->kind == SEM_ACQUIRE || step->kind == PERMIT_ACQUIRE))
        keep(self, result->permits);
}

static void has_ended(const rlock_result *result, void *argument)
{
    object_operation *self = argument;
    operation_told(&self->base, result);
    judge(self, result);
    free_handle(self);
    operation_is_over(&self->base);
}

static rlock_status begin(object_operation *self)
{
    if (step_is_expirable(self->base.step.kind)) {
        const expirable of = {object_of(self), self->semaphore, self->permits, self->latch, self->given->id};
        return expirable_begin(&of, &self->base.step, has_ended, self);
    }
    return self->semaphore ? begin_semaphore(self) : self->permits ? begin_permits(self) : begin_latch(self);
}

static void start(operation *base)
{
    object_operation *self = (object_operation *)(void *)base;
    note_begin(self);
    rlock_status status = begin(self);
    bool refused = status != RLOCK_OK;
    if (refused) {
        operation_refused(base, status);
        judge(self, NULL);
    }
    if (refused || base->step.async & ASYNC_FREES)
        free_handle(self);
    if (refused)
        operation_is_over(base);
}

/* --- */

static bool is_known(object_kind kind, step_kind step)
{
    return (object_is_expirable(kind) && step_is_expirable(step)) || (kind == SEMAPHORE && step >= SEM_SET && step <= SEM_AVAILABLE) ||
           (kind == PERMITS && step >= PERMIT_SET && step <= PERMIT_STATE) ||
           (kind == LATCH && step >= LATCH_SET && step <= LATCH_COUNT);
}

/* Whether the thread has what the step is about, or room for what it gets. */
static bool can_be(const worker *who, const plan_step *step)
{
    int have = who->permit_count[step->object];
    bool needs_one = step->kind == PERMIT_RELEASE || step->kind == PERMIT_UPDATE;
    return !(needs_one && have == 0) && !(step->kind == PERMIT_ACQUIRE && have + step->count > PERMITS_HELD);
}

/* What the thread has is another's from now on, or in doubt. */
static void hand_over(object_operation *self)
{
    const plan_step *step = &self->base.step;
    worker *who = self->base.worker;
    int *have = &who->permit_count[step->object];
    if (step->kind == SEM_RELEASE)
        who->taken[step->object] -= self->count;
    if (step->kind == OBJECT_ASK && self->permits && *have > 0)
        self->given[0] = who->permits[step->object][*have - 1];
    if (step->kind != PERMIT_RELEASE && step->kind != PERMIT_UPDATE)
        return;
    self->count = step->kind == PERMIT_RELEASE && step->count > 1 ? *have : 1;
    memcpy(self->given, who->permits[step->object] + *have - self->count, (size_t)self->count * sizeof *self->given);
    for (int i = 0; i < self->count; i++)
        give(self, i, step->kind == PERMIT_RELEASE);
    *have -= step->kind == PERMIT_RELEASE ? self->count : 0;
}

bool async_object_step(worker *who, const plan_step *planned)
{
    plan_step step = *planned;
    bool takes = step.kind == SEM_ACQUIRE || step.kind == PERMIT_ACQUIRE;
    if (!is_known(who->of->plan->objects[step.object].kind, step.kind))
        return false;
    int count = step.kind <= SEM_AVAILABLE ? semaphore_count(who, &step) : step.count;
    if (!can_be(who, &step) || (step.kind == SEM_RELEASE && count == 0))
        return true;
    /* What a thread keeps, it waits for. */
    if ((takes && !(step.async & ASYNC_GIVES_BACK)) || step.kind == PERMIT_UPDATE)
        step.async &= ~ASYNC_GOES_ON;
    object_operation *self = make(who, &step, count);
    if (!open_handle(self)) {
        operation_is_over(&self->base);
        return true;
    }
    hand_over(self);
    operation_run(&self->base);
    return true;
}
