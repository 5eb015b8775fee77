/* Async expirable: the async forms of the calls in expirable.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/async_expirable.h"

#include "tests/sim/program/run.h"
#include "tests/sim/program/servers.h"

#include <stdio.h>

/* A call about to begin, and where it ends. */
typedef struct beginning {
    const expirable *of;
    const plan_step *step;
    rlock_result_fn *fn;
    void *argument;
} beginning;

/* --- questions --- */

static rlock_status ask_any(const beginning *self)
{
    switch (self->step->count % 3) {
    case 0: return rlock_object_exists_async(self->of->object, self->fn, self->argument);
    case 1: return rlock_object_remain_time_to_live_async(self->of->object, self->fn, self->argument);
    default: return rlock_object_get_expire_time_async(self->of->object, self->fn, self->argument);
    }
}

static rlock_status ask_permits(const beginning *self)
{
    rlock_permit_semaphore *permits = self->of->permits;
    if (self->step->count % 3 == 2 && *self->of->id)
        return rlock_permit_semaphore_get_lease_time_async(permits, self->of->id, self->fn, self->argument);
    if (self->step->count % 3 == 1)
        return rlock_permit_semaphore_get_permits_async(permits, self->fn, self->argument);
    return rlock_permit_semaphore_acquired_permits_async(permits, self->fn, self->argument);
}

/* --- changes --- */

static rlock_status rename_it(const beginning *self, bool only_new)
{
    char other[24];
    snprintf(other, sizeof other, "%s.new", run_of->objects[self->step->object].name);
    return only_new ? rlock_object_rename_if_absent_async(self->of->object, other, self->fn, self->argument)
                    : rlock_object_rename_async(self->of->object, other, self->fn, self->argument);
}

static rlock_status change_any(const beginning *self)
{
    const plan_step *step = self->step;
    rlock_expire_when when = (rlock_expire_when)(step->count / 10 % 5);
    int64_t at_ms = servers_wall_ms(servers_host(step->object)) + step->pause_ms;
    switch (step->count % 5) {
    case 0: return rlock_object_expire_async(self->of->object, 1 + step->pause_ms, when, self->fn, self->argument);
    case 1: return rlock_object_expire_at_async(self->of->object, at_ms, when, self->fn, self->argument);
    case 2: return rlock_object_clear_expire_async(self->of->object, self->fn, self->argument);
    default: return rename_it(self, step->count % 5 == 3);
    }
}

static rlock_status change_semaphore(const beginning *self)
{
    rlock_semaphore *of = self->of->semaphore;
    switch (self->step->count % 3) {
    case 0: return rlock_semaphore_delete_async(of, self->fn, self->argument);
    case 1: return rlock_semaphore_try_set_permits_ttl_async(of, 2, 1 + self->step->pause_ms, self->fn, self->argument);
    default: return rlock_semaphore_release_if_exists_async(of, 1, self->fn, self->argument);
    }
}

static rlock_status change_permits(const beginning *self)
{
    rlock_permit_semaphore *of = self->of->permits;
    int count = self->step->count;
    switch (count % 3) {
    case 0: return rlock_permit_semaphore_delete_async(of, self->fn, self->argument);
    case 1: return rlock_permit_semaphore_set_permits_async(of, 1 + count % 4, self->fn, self->argument);
    default: return rlock_permit_semaphore_add_permits_async(of, count % 2 ? 1 : -1, self->fn, self->argument);
    }
}

static rlock_status change_own(const beginning *self)
{
    if (self->of->semaphore)
        return change_semaphore(self);
    if (self->of->permits)
        return change_permits(self);
    return rlock_count_down_latch_delete_async(self->of->latch, self->fn, self->argument);
}

/* --- */

rlock_status expirable_begin(const expirable *of, const plan_step *step, rlock_result_fn *fn, void *argument)
{
    beginning self = {.of = of, .step = step, .fn = fn, .argument = argument};
    bool own = step->count / 5 % 2;
    if (step->kind == OBJECT_CHANGE)
        return own ? change_own(&self) : change_any(&self);
    return own && of->permits ? ask_permits(&self) : ask_any(&self);
}
