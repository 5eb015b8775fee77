/* Steps on what is no lock: semaphores, permits, latches. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/objects.h"

#include "tests/sim/check/calls.h"
#include "tests/sim/check/counted.h"
#include "tests/sim/check/permits.h"
#include "tests/sim/program/firing.h"
#include "tests/sim/program/flights.h"
#include "tests/sim/program/guarded.h"
#include "tests/sim/program/moment.h"
#include "tests/sim/program/objects_parts.h"
#include "tests/sim/world/finding.h"

#include <string.h>

static const char *name_of(const worker *self, int object)
{
    return self->of->plan->objects[object].name;
}

void object_set_timeout(const process *of, rlock_object *object)
{
    rlock_call_options options = RLOCK_CALL_OPTIONS_INIT;
    options.timeout_ms = run_hasty_ms(of);
    if (object && rlock_object_set_call_options(object, &options) == RLOCK_INVALID)
        finding("%s", rlock_last_error());
}

/* --- plain semaphores --- */

static rlock_semaphore *semaphore_of(worker *self, int object)
{
    rlock_semaphore **handle = &self->semaphores[object];
    if (!*handle)
        *handle = rlock_get_semaphore(self->of->client, name_of(self, object));
    object_set_timeout(self->of, rlock_semaphore_object(*handle));
    return *handle;
}

void object_waits(worker *self, const plan_step *step, int count)
{
    self->waits_for = step->wait_ms != 0 ? run_resource(self->of->plan, step->object) : -1;
    self->wants = count;
    self->waits_since_ns = self->could_since_ns = world_now_ns();
}

static rlock_status acquire(worker *self, rlock_semaphore *semaphore, const plan_step *step, int count, call *of)
{
    firing cancel;
    rlock_semaphore_options options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    firing_begin(&cancel, self, step);
    options.wait_ms = step->wait_ms;
    options.cancel = cancel.token;
    object_waits(self, step, count);
    rlock_status status = rlock_semaphore_acquire_with(semaphore, count, &options);
    self->waits_for = -1;
    of->cancelled = cancel.fired;
    of->cancelled_ns = cancel.fired_ns;
    firing_end(&cancel);
    return status;
}

int semaphore_count(const worker *self, const plan_step *step)
{
    int most = self->taken[step->object];
    return step->kind == SEM_RELEASE && most < step->count ? most : step->count;
}

static bool makes(const plan_step *step)
{
    return step->kind == SEM_SET || step->kind == SEM_ADD;
}

void semaphore_begins(const worker *self, const plan_step *step, int count)
{
    int resource = run_resource(self->of->plan, step->object);
    if (makes(step)) /* others may take them before this thread hears of it */
        counted_make(resource, count);
    if (step->kind == SEM_ACQUIRE)
        counted_want(resource, count);
    if (step->kind == SEM_RELEASE)
        counted_give(resource, count);
    if (step->kind == SEM_ACQUIRE || step->kind == SEM_RELEASE)
        moment_comes(step->kind == SEM_ACQUIRE ? CALL_TAKES : CALL_GIVES_BACK, NULL);
}

void semaphore_ended(const worker *self, const plan_step *step, int count, rlock_status status, int64_t number)
{
    static const int signs[STEP_KINDS] = {[SEM_SET] = 1, [SEM_ADD] = 1, [SEM_RELEASE] = 1, [SEM_ACQUIRE] = -1};
    int resource = run_resource(self->of->plan, step->object);
    bool doubtful = status == RLOCK_UNKNOWN || status == RLOCK_CLOSED;
    bool made = doubtful || (status == RLOCK_OK && (number || step->kind == SEM_ADD));
    bool unset = step->kind == SEM_SET && status == RLOCK_OK && !number;
    if (makes(step) && !made)
        counted_make(resource, -count);
    if (step->kind == SEM_DRAIN)
        counted_drained(resource, (int)number, status);
    else if (!unset)
        counted_change(resource, signs[step->kind] * count, status);
    if (step->kind == SEM_ACQUIRE && status == RLOCK_OK)
        counted_take(resource, count, thread_title(self->thread));
    if (step->kind == SEM_ACQUIRE)
        counted_want(resource, -count);
}

static void semaphore_step(worker *self, const plan_step *step)
{
    call own;
    bool set = false;
    int number = 0, count = semaphore_count(self, step);
    rlock_status status;
    rlock_semaphore *semaphore = semaphore_of(self, step->object);
    if (!semaphore || (step->kind == SEM_RELEASE && count == 0))
        return;
    call_begin(&own, self, step, NULL);
    semaphore_begins(self, step, count);
    self->taken[step->object] -= step->kind == SEM_RELEASE ? count : 0;
    switch (step->kind) {
    case SEM_SET: status = rlock_semaphore_try_set_permits(semaphore, count, &set); break;
    case SEM_ACQUIRE: status = acquire(self, semaphore, step, count, &own); break;
    case SEM_RELEASE: status = rlock_semaphore_release(semaphore, count); break;
    case SEM_ADD: status = rlock_semaphore_add_permits(semaphore, count); break;
    case SEM_DRAIN: status = rlock_semaphore_drain_permits(semaphore, &number); break;
    default: status = rlock_semaphore_available_permits(semaphore, &number); break;
    }
    call_end(&own, status);
    judge_object(&own);
    semaphore_ended(self, step, count, status, step->kind == SEM_SET ? set : number);
    if (step->kind == SEM_ACQUIRE && status == RLOCK_OK)
        self->taken[step->object] += count;
}

/* --- permits --- */

static rlock_permit_semaphore *permits_of(worker *self, int object)
{
    rlock_permit_semaphore **handle = &self->permit_semaphores[object];
    if (!*handle)
        *handle = rlock_get_permit_expirable_semaphore(self->of->client, name_of(self, object));
    object_set_timeout(self->of, rlock_permit_semaphore_object(*handle));
    return *handle;
}

int64_t permit_lease(const plan_step *step)
{
    if (step->kind == PERMIT_ACQUIRE && step->lease_ms == LEASE_RENEWED)
        return RLOCK_PERMIT_WATCHDOG;
    return step->lease_ms < 0 ? RLOCK_PERMIT_FOREVER : step->lease_ms;
}

void permit_relied(const worker *self, const rlock_permit_semaphore *semaphore, int object, const rlock_permit *permit)
{
    int64_t valid_ms = rlock_permit_semaphore_valid_for(semaphore, permit->id);
    if (valid_ms > 0)
        permits_rely(run_resource(self->of->plan, object), permit->id, valid_ms);
}

void permits_taken(const worker *self, const plan_step *step, const rlock_permit *permits, int64_t began_ns)
{
    int64_t lease_ms = step->lease_ms == LEASE_RENEWED ? run_watchdog_ms(self->of) : step->lease_ms;
    for (int i = 0; i < step->count; i++)
        permits_take(run_resource(self->of->plan, step->object), permits[i].id, began_ns, lease_ms,
                     thread_title(self->thread));
}

static rlock_status acquire_permits(worker *self, rlock_permit_semaphore *semaphore, const plan_step *step, call *of)
{
    firing cancel;
    rlock_permit_options options = RLOCK_PERMIT_OPTIONS_INIT;
    rlock_permit *to = self->permits[step->object] + self->permit_count[step->object];
    firing_begin(&cancel, self, step);
    options.wait_ms = step->wait_ms;
    options.lease_ms = permit_lease(step);
    options.cancel = cancel.token;
    object_waits(self, step, step->count);
    moment_comes(CALL_TAKES, NULL);
    rlock_status status = rlock_permit_semaphore_acquire_with(semaphore, step->count, &options, to);
    self->waits_for = -1;
    of->cancelled = cancel.fired;
    of->cancelled_ns = cancel.fired_ns;
    firing_end(&cancel);
    if (status != RLOCK_OK)
        return status;
    self->permit_count[step->object] += step->count;
    permits_taken(self, step, to, of->began_ns);
    return status;
}

void permit_given(const worker *self, int object, int64_t began_ns, int64_t until_ns, rlock_status status, bool released)
{
    int resource = run_resource(self->of->plan, object);
    if (status == RLOCK_OK && !released && until_ns > world_now_ns())
        permits_missing(resource, began_ns, thread_title(self->thread));
    if (status != RLOCK_OK)
        permits_abandon(resource);
}

static rlock_status release_permit(worker *self, rlock_permit_semaphore *semaphore, int object)
{
    bool released = false;
    const rlock_permit *last = &self->permits[object][--self->permit_count[object]];
    int resource = run_resource(self->of->plan, object);
    permit_relied(self, semaphore, object, last);
    int64_t began_ns = world_now_ns(), until_ns = permits_give(resource, last->id, true);
    moment_comes(CALL_GIVES_BACK, NULL);
    rlock_status status = rlock_permit_semaphore_try_release(semaphore, last->id, &released);
    permit_given(self, object, began_ns, until_ns, status, released);
    return status;
}

/* All of the thread's at once: all or none, and none if one has expired. */
static rlock_status release_permits(worker *self, rlock_permit_semaphore *semaphore, int object)
{
    int64_t until_ns[PERMITS_HELD], began_ns = world_now_ns();
    int count = self->permit_count[object], released = 0;
    const rlock_permit *first = self->permits[object];
    bool all_last = true;
    self->permit_count[object] = 0;
    for (int i = 0; i < count; i++) {
        permit_relied(self, semaphore, object, &first[i]);
        until_ns[i] = permits_give(run_resource(self->of->plan, object), first[i].id, true);
    }
    moment_comes(CALL_GIVES_BACK, NULL);
    rlock_status status = rlock_permit_semaphore_try_release_many(semaphore, count, first, &released);
    for (int i = 0; i < count; i++)
        all_last &= until_ns[i] > world_now_ns();
    if (status == RLOCK_OK && released != 0 && released != count)
        finding("of %d permits %d were released", count, released);
    for (int i = 0; i < count; i++) {
        bool none = status == RLOCK_OK && released == 0 && !all_last;
        permit_given(self, object, began_ns, until_ns[i], none ? RLOCK_UNKNOWN : status, released > 0);
    }
    return status;
}

static rlock_status update_permit(worker *self, rlock_permit_semaphore *semaphore, const plan_step *step)
{
    bool updated = false;
    int resource = run_resource(self->of->plan, step->object);
    int64_t began_ns = world_now_ns();
    const rlock_permit *last = &self->permits[step->object][self->permit_count[step->object] - 1];
    permits_give(resource, last->id, false); /* nobody knows which of both leases it has, until it is known */
    rlock_status status = rlock_permit_semaphore_update_lease_time(semaphore, last->id, permit_lease(step), &updated);
    if (status == RLOCK_OK && updated)
        permits_take(resource, last->id, began_ns, step->lease_ms, thread_title(self->thread));
    return status;
}

static void permit_step(worker *self, const plan_step *step)
{
    call own;
    bool answer = false;
    int number = 0;
    rlock_status status;
    rlock_permit_semaphore *semaphore = permits_of(self, step->object);
    int have = self->permit_count[step->object];
    bool needs_one = step->kind == PERMIT_RELEASE || step->kind == PERMIT_UPDATE;
    if (!semaphore || (needs_one && have == 0) || (step->kind == PERMIT_ACQUIRE && have + step->count > PERMITS_HELD))
        return;
    call_begin(&own, self, step, NULL);
    switch (step->kind) {
    case PERMIT_SET: status = rlock_permit_semaphore_try_set_permits(semaphore, step->count, &answer); break;
    case PERMIT_ACQUIRE: status = acquire_permits(self, semaphore, step, &own); break;
    case PERMIT_RELEASE:
        status = step->count > 1 ? release_permits(self, semaphore, step->object)
                                 : release_permit(self, semaphore, step->object);
        break;
    case PERMIT_UPDATE: status = update_permit(self, semaphore, step); break;
    default:
        for (int i = 0; i < have; i++)
            permit_relied(self, semaphore, step->object, &self->permits[step->object][i]);
        status = rlock_permit_semaphore_available_permits(semaphore, &number);
        break;
    }
    call_end(&own, status);
    judge_object(&own);
}

/* --- latches --- */

static rlock_status await(worker *self, rlock_count_down_latch *latch, const plan_step *step, call *of)
{
    firing cancel;
    rlock_await_options options = RLOCK_AWAIT_OPTIONS_INIT;
    firing_begin(&cancel, self, step);
    options.wait_ms = step->wait_ms;
    options.cancel = cancel.token;
    object_waits(self, step, 1);
    rlock_status status = rlock_count_down_latch_await_with(latch, &options);
    self->waits_for = -1;
    of->cancelled = cancel.fired;
    of->cancelled_ns = cancel.fired_ns;
    firing_end(&cancel);
    return status;
}

void latch_begins(const worker *self, const plan_step *step)
{
    if (step->kind != LATCH_DOWN)
        return;
    latch_goes_down(run_resource(self->of->plan, step->object));
    moment_comes(CALL_GIVES_BACK, NULL);
}

void latch_ended(const call *of, rlock_status status, bool set)
{
    const plan_step *step = of->step;
    int resource = run_resource(of->worker->of->plan, step->object);
    if (step->kind == LATCH_SET && (status != RLOCK_OK || set))
        latch_is_set(resource, step->count, status);
    if (step->kind == LATCH_DOWN)
        latch_went_down(resource, of->began_ns, status);
    if (step->kind == LATCH_AWAIT && status == RLOCK_OK)
        latch_is_open(resource, of->began_ns, thread_title(of->worker->thread));
}

static rlock_count_down_latch *latch_of(worker *self, int object)
{
    rlock_count_down_latch **handle = &self->latches[object];
    if (!*handle)
        *handle = rlock_get_count_down_latch(self->of->client, name_of(self, object));
    return *handle;
}

static void latch_step(worker *self, const plan_step *step)
{
    call own;
    bool set = false;
    int64_t count = 0;
    rlock_status status;
    rlock_count_down_latch *latch = latch_of(self, step->object);
    if (!latch)
        return;
    latch_begins(self, step);
    call_begin(&own, self, step, NULL);
    switch (step->kind) {
    case LATCH_SET: status = rlock_count_down_latch_try_set_count(latch, step->count, &set); break;
    case LATCH_DOWN: status = rlock_count_down_latch_count_down(latch); break;
    case LATCH_AWAIT: status = await(self, latch, step, &own); break;
    default: status = rlock_count_down_latch_get_count(latch, &count); break;
    }
    call_end(&own, status);
    judge_object(&own);
    latch_ended(&own, status, set);
}

/* --- */

rlock_object *worker_object(worker *self, int object)
{
    switch (self->of->plan->objects[object].kind) {
    case SEMAPHORE: return rlock_semaphore_object(semaphore_of(self, object));
    case PERMITS: return rlock_permit_semaphore_object(permits_of(self, object));
    default: return rlock_count_down_latch_object(latch_of(self, object));
    }
}

void object_step(worker *self, const plan_step *step)
{
    object_kind kind = self->of->plan->objects[step->object].kind;
    if (kind == SEMAPHORE && step->kind >= SEM_SET && step->kind <= SEM_AVAILABLE)
        semaphore_step(self, step);
    else if (kind == PERMITS && step->kind >= PERMIT_SET && step->kind <= PERMIT_STATE)
        permit_step(self, step);
    else if (kind == LATCH && step->kind >= LATCH_SET && step->kind <= LATCH_COUNT)
        latch_step(self, step);
    else if (kind == GUARDED && step->kind == GUARDED_SET)
        guarded_step(self, step);
    else if (kind == FLIGHT && step->kind == FLIGHT_DO)
        flight_step(self, step);
}

static void give_all_back(worker *self)
{
    for (int i = 0; i < PLAN_OBJECTS && !self->left && !self->of->closed; i++) {
        plan_step step = {.kind = SEM_RELEASE, .object = i, .count = self->taken[i], .wait_ms = -1, .lease_ms = -1};
        if (self->taken[i] > 0)
            object_step(self, &step);
        step.kind = PERMIT_RELEASE;
        step.count = 1;
        while (self->permit_count[i] > 0 && !self->of->closed)
            object_step(self, &step);
    }
}

void objects_end(worker *self)
{
    give_all_back(self);
    for (int i = 0; i < PLAN_OBJECTS; i++) {
        for (; self->permit_count[i] > 0; self->permit_count[i]--)
            permits_abandon(run_resource(self->of->plan, i));
    }
    for (int i = 0; i < PLAN_OBJECTS; i++) {
        rlock_semaphore_free(self->semaphores[i]);
        rlock_permit_semaphore_free(self->permit_semaphores[i]);
        rlock_count_down_latch_free(self->latches[i]);
    }
}
