/* The calls that semaphores and latches share, and those that each kind has beside acquire, release and await. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/expirable.h"

#include "tests/sim/check/calls.h"
#include "tests/sim/program/objects.h"
#include "tests/sim/program/servers.h"

#include <stdio.h>

/* Without an object, or if two names are in different slots, it is the program's mistake. */
static rlock_status forgive(rlock_status status)
{
    return status == RLOCK_INVALID ? RLOCK_OK : status;
}

/* --- questions --- */

static rlock_status ask_any(rlock_object *of, int which)
{
    bool exists;
    int64_t ms;
    switch (which % 3) {
    case 0: return rlock_object_exists(of, &exists);
    case 1: return rlock_object_remain_time_to_live(of, &ms);
    default: return rlock_object_get_expire_time(of, &ms);
    }
}

static rlock_status ask_permits(const worker *self, int object, int which)
{
    int number, have = self->permit_count[object];
    int64_t ms;
    rlock_permit_semaphore *of = self->permit_semaphores[object];
    switch (which % 3) {
    case 0: return rlock_permit_semaphore_acquired_permits(of, &number);
    case 1: return rlock_permit_semaphore_get_permits(of, &number);
    default:
        if (have == 0)
            return RLOCK_OK;
        return forgive(rlock_permit_semaphore_get_lease_time(of, self->permits[object][have - 1].id, &ms));
    }
}

/* --- changes --- */

static rlock_status rename_it(rlock_object *of, const char *name, bool only_new)
{
    char other[24];
    snprintf(other, sizeof other, "%s.new", name);
    return forgive(only_new ? rlock_object_rename_if_absent(of, other, NULL) : rlock_object_rename(of, other));
}

static rlock_status change_any(rlock_object *of, const plan_step *step)
{
    rlock_expire_when when = (rlock_expire_when)(step->count / 10 % 5);
    switch (step->count % 5) {
    case 0: return rlock_object_expire(of, 1 + step->pause_ms, when, NULL);
    case 1: return rlock_object_expire_at(of, servers_wall_ms(servers_host(step->object)) + step->pause_ms, when, NULL);
    case 2: return rlock_object_clear_expire(of, NULL);
    default: return rename_it(of, run_of->objects[step->object].name, step->count % 5 == 3);
    }
}

static rlock_status change_semaphore(rlock_semaphore *of, const plan_step *step)
{
    switch (step->count % 3) {
    case 0: return rlock_semaphore_delete(of, NULL);
    case 1: return rlock_semaphore_try_set_permits_ttl(of, 2, 1 + step->pause_ms, NULL);
    default: return rlock_semaphore_release_if_exists(of, 1, NULL);
    }
}

static rlock_status change_permits(rlock_permit_semaphore *of, const plan_step *step)
{
    switch (step->count % 3) {
    case 0: return rlock_permit_semaphore_delete(of, NULL);
    case 1: return rlock_permit_semaphore_set_permits(of, 1 + step->count % 4);
    default: return rlock_permit_semaphore_add_permits(of, step->count % 2 ? 1 : -1);
    }
}

static rlock_status change_own(const worker *self, const plan_step *step)
{
    int object = step->object;
    switch (run_of->objects[object].kind) {
    case SEMAPHORE: return change_semaphore(self->semaphores[object], step);
    case PERMITS: return change_permits(self->permit_semaphores[object], step);
    default: return rlock_count_down_latch_delete(self->latches[object], NULL);
    }
}

/* --- */

static rlock_status do_it(const worker *self, rlock_object *of, const plan_step *step)
{
    bool own = step->count / 5 % 2;
    if (step->kind == OBJECT_CHANGE)
        return own ? change_own(self, step) : change_any(of, step);
    if (own && run_of->objects[step->object].kind == PERMITS)
        return ask_permits(self, step->object, step->count);
    return ask_any(of, step->count);
}

void expirable_step(worker *self, const plan_step *step)
{
    call own;
    object_kind kind = run_of->objects[step->object].kind;
    rlock_object *of = object_is_expirable(kind) ? worker_object(self, step->object) : NULL;
    if (!of)
        return;
    if (step->kind == OBJECT_CHANGE)
        run_void(step->object, "its client changes its time, its name or its number");
    call_begin(&own, self, step, NULL);
    call_end(&own, do_it(self, of, step));
    judge_object(&own);
}
