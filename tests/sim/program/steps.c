/* Steps: each one a public call, and what becomes of it told to the checker. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/steps.h"

#include "tests/sim/check/ends.h"
#include "tests/sim/check/members.h"
#include "tests/sim/check/parts.h"
#include "tests/sim/program/async_steps.h"
#include "tests/sim/program/expirable.h"
#include "tests/sim/program/firing.h"
#include "tests/sim/program/forked.h"
#include "tests/sim/program/listeners.h"
#include "tests/sim/program/lock_of.h"
#include "tests/sim/program/looks.h"
#include "tests/sim/program/loops.h"
#include "tests/sim/program/moment.h"
#include "tests/sim/program/objects.h"
#include "tests/sim/program/steps_parts.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/memory.h"

#include <inttypes.h>
#include <string.h>

static const plan_object *object_of(const worker *self, const plan_step *step)
{
    return &self->of->plan->objects[step->object];
}

/* --- handles and owners --- */

static rlock *make_lock(worker *self, int object);

static rlock *make_composite(worker *self, const plan_object *of)
{
    rlock *members[PLAN_MEMBERS];
    for (int i = 0; i < of->member_count; i++) {
        members[i] = worker_lock(self, of->members[i], 0);
        if (!members[i])
            return NULL;
    }
    size_t count = (size_t)of->member_count;
    return of->kind == MULTI ? rlock_get_multi_lock(members, count) : rlock_get_red_lock(members, count);
}

static rlock *make_side(worker *self, int object, const plan_object *of)
{
    rlock_read_write_lock **pair = &self->pairs[object];
    if (!*pair)
        *pair = rlock_get_read_write_lock(self->of->client, of->name);
    if (!*pair)
        return NULL;
    return of->kind == READ ? rlock_read_lock(*pair) : rlock_write_lock(*pair);
}

/* All owners want one value in common, so that one of them holds the lock at a time, and other values beside it. An owner always
 * wants the same values: otherwise it might wait for itself. */
static rlock *make_group(worker *self, const plan_object *of, int by)
{
    static const char *const values[] = {"own 0", "own 1", "own 2", "all"};
    int which = (by ? by : self->index) % 3;
    const char *wanted[] = {values[which], values[3], values[(which + 1) % 3]};
    return rlock_get_group_lock_of_strings(self->of->client, of->name, RLOCK_CODEC_STRING, wanted, which ? 2 : 3);
}

static rlock *make_lock(worker *self, int object)
{
    const plan_object *of = &self->of->plan->objects[object];
    rlock_client *client = self->of->client;
    switch (of->kind) {
    case SPIN: return rlock_get_spin_lock(client, of->name);
    case TOKEN_LOCK: return rlock_get_token_lock(client, of->name);
    case SIGNAL_LOCK: return rlock_get_signal_lock(client, object_called(of));
    case FAIR: return rlock_get_fair_lock(client, of->name);
    case FENCED: return rlock_get_fenced_lock(client, of->name);
    case NON_REENTRANT: return rlock_get_non_reentrant_lock(client, of->name);
    case NON_REENTRANT_FAIR: return rlock_get_non_reentrant_fair_lock(client, of->name);
    case GROUP: return make_group(self, of, 0);
    case READ:
    case WRITE: return make_side(self, object, of);
    case MULTI:
    case RED: return make_composite(self, of);
    case SHARDED: return rlock_get_sharded_lock(client, of->name, of->member_count);
    default: return rlock_get_lock(client, of->name);
    }
}

static rlock *set_timeout(const worker *self, rlock *lock)
{
    rlock_call_options options = RLOCK_CALL_OPTIONS_INIT;
    options.timeout_ms = run_hasty_ms(self->of);
    if (lock && rlock_set_call_options(lock, &options) == RLOCK_INVALID)
        finding("%s", rlock_last_error());
    return lock;
}

int64_t step_owner(const worker *self, int number)
{
    return number == PLAN_OWN_NAME ? 10 + self->index : number;
}

static rlock *group_for_owner(worker *self, int object, int number)
{
    rlock *values = set_timeout(self, make_group(self, &self->of->plan->objects[object], number));
    rlock *own = values ? rlock_for_owner(values, step_owner(self, number)) : NULL;
    rlock_free(values);
    return own;
}

rlock *worker_lock(worker *self, int object, int number)
{
    rlock **handle = &self->locks[object][number];
    if (!*handle && number == 0)
        *handle = set_timeout(self, make_lock(self, object));
    else if (!*handle && self->of->plan->objects[object].kind == GROUP)
        *handle = group_for_owner(self, object, number);
    else if (!*handle && worker_lock(self, object, 0))
        *handle = rlock_for_owner(self->locks[object][0], step_owner(self, number));
    return *handle;
}

static owner owner_of(const worker *self, int number)
{
    owner own = {.client = self->of->index, .number = number ? (int)-step_owner(self, number) : self->index};
    if (number)
        snprintf(own.title, sizeof own.title, "%s/owner %d", self->of->machine->name, -own.number);
    else
        snprintf(own.title, sizeof own.title, "%s", thread_title(self->thread));
    return own;
}

hold *step_hold(const worker *self, const plan_step *step)
{
    static const side sides[OBJECT_KINDS] = {[READ] = READ_SIDE, [WRITE] = WRITE_SIDE, [SHARDED] = PART_SIDE};
    const owner own = owner_of(self, step->owner);
    return ledger_hold(run_resource(self->of->plan, step->object), sides[object_of(self, step)->kind], &own);
}

/* --- locks --- */

validity step_validity(const worker *self, rlock *lock)
{
    validity by = {.asked_ns = world_now_ns(), .rate_ppm = self->of->machine->rate_ppm};
    by.ms = rlock_valid_for(lock);
    return by;
}

static void find_members(worker *self, const plan_step *step, rlock *members[static PLAN_MEMBERS])
{
    const plan_object *object = object_of(self, step);
    for (int i = 0; i < PLAN_MEMBERS; i++)
        members[i] = i < object->member_count ? worker_lock(self, object->members[i], step->owner) : NULL;
}

static void check_members(worker *self, const call *of, rlock *lock)
{
    rlock *members[PLAN_MEMBERS];
    find_members(self, of->step, members);
    members_check(of, lock, members);
}

static void note_members(worker *self, call *of)
{
    rlock *members[PLAN_MEMBERS];
    find_members(self, of->step, members);
    members_before(of, members);
}

/* Only who holds nothing else waits without end: others may wait for what it holds. Nor for a lock of several with a lease
 * of its own, which may be too short to take them all in. */
int64_t step_wait_ms(const worker *self, const plan_step *step, const hold *wanted)
{
    if (step->wait_ms >= 0)
        return step->wait_ms;
    if (object_is_composite(object_of(self, step)->kind) && step->lease_ms >= 0)
        return 15000;
    for (const hold *held = ledger_first(); held; held = held->next) {
        bool ours = held->owner.client == self->of->index && (held->owner.number == self->index || held->owner.number < 0);
        if (ours && held != wanted && held->count > 0)
            return 15000;
    }
    return step->wait_ms;
}

void step_waits(worker *self, const plan_step *step, const call *of)
{
    self->waits_for = step->wait_ms != 0 && of->hold->count == 0 ? of->hold->resource : -1;
    self->waits_since_ns = self->could_since_ns = world_now_ns();
    self->waits_as = of->hold->side;
    self->waits_named = step->owner != 0;
    self->waits_with = of->hold;
    self->waits_gains = of->hold->gains;
    bool ends_first = step->cancel_ms >= 0 && (step->wait_ms < 0 || step->cancel_ms < step->wait_ms);
    int64_t wait_ms = !ends_first ? step->wait_ms : step->meets ? 0 : step->cancel_ms;
    self->waits_until_ns = wait_ms < 0 ? WORLD_NEVER : world_now_ns() + wait_ms * 990000; /* clocks differ */
}

static void take(worker *self, const plan_step *planned)
{
    plan_step own_step = *planned, *step = &own_step;
    own_step.wait_ms = step_wait_ms(self, planned, step_hold(self, planned));
    call own;
    firing cancel;
    uint64_t token = 0;
    rlock *lock = worker_lock(self, step->object, step->owner);
    if (!lock)
        return;
    judge_validity(step_hold(self, step), step_validity(self, lock));
    firing_begin(&cancel, self, step);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = step->wait_ms < 0 ? RLOCK_FOREVER : step->wait_ms;
    options.lease_ms = step->lease_ms < 0 ? RLOCK_WATCHDOG : step->lease_ms;
    options.cancel = cancel.token;
    call_begin(&own, self, step, step_hold(self, step));
    step_waits(self, step, &own);
    moment_comes(CALL_TAKES, NULL);
    bool wants_token = step->kind == TOKEN && step->cancel_ms < 0;
    rlock_status status = wants_token ? rlock_try_lock_and_get_token(lock, options.wait_ms, options.lease_ms, &token)
                                      : rlock_lock_with(lock, &options);
    self->waits_for = -1;
    own.cancelled = cancel.fired;
    own.cancelled_ns = cancel.fired_ns;
    call_end(&own, status);
    judge_acquire(&own, step_validity(self, lock));
    if (wants_token && status == RLOCK_OK) {
        judge_token(&own, token);
        self->token = token;
    }
    firing_end(&cancel);
    check_members(self, &own, lock);
}

static void give_back(worker *self, const plan_step *step)
{
    call own;
    rlock *lock = worker_lock(self, step->object, step->owner);
    if (!lock)
        return;
    hold *held = step_hold(self, step);
    validity before = step_validity(self, lock);
    judge_validity(held, before);
    call_begin(&own, self, step, held);
    call_valid_before(&own, before);
    note_members(self, &own);
    /* Of several read holds the inner one may be the longest. */
    if (held->count <= 1 || held->side == READ_SIDE || held->unsure || held->to_tell > 0)
        ledger_drop(held);
    moment_comes(CALL_GIVES_BACK, NULL);
    call_end(&own, rlock_unlock(lock));
    judge_unlock(&own, step_validity(self, lock));
    check_members(self, &own, lock);
}

static void lengthen(worker *self, const plan_step *step)
{
    call own;
    rlock *lock = worker_lock(self, step->object, step->owner);
    if (!lock || object_is_composite(object_of(self, step)->kind) || step->lease_ms < 0)
        return;
    hold *held = step_hold(self, step);
    validity before = step_validity(self, lock);
    judge_validity(held, before);
    call_begin(&own, self, step, held);
    call_valid_before(&own, before);
    call_end(&own, rlock_extend(lock, step->lease_ms));
    judge_extend(&own, step_validity(self, lock));
}

static void force(worker *self, const plan_step *step)
{
    call own;
    bool was_locked = false;
    rlock *lock = worker_lock(self, step->object, 0);
    if (!lock || object_is_composite(object_of(self, step)->kind))
        return;
    if (object_of(self, step)->kind == SHARDED) /* one part may be given up long before the others */
        run_void(step->object, "its client has begun to force it open");
    call_begin(&own, self, step, step_hold(self, step));
    call_end(&own, rlock_force_unlock(lock, &was_locked));
    judge_force(&own);
}

static void within(worker *self, const plan_step *step)
{
    call own;
    rlock_status status = RLOCK_OK;
    rlock *lock = worker_lock(self, step->object, 0);
    if (!lock || step_hold(self, step)->count > 0)
        return;
    plan_step as_lock = *step;
    as_lock.kind = LOCK;
    as_lock.wait_ms = as_lock.lease_ms = -1;
    call_begin(&own, self, &as_lock, step_hold(self, step));
    RLOCK_WITH_STATUS(lock, &status) {
        call_end(&own, status);
        judge_acquire(&own, step_validity(self, lock));
        thread_sleep(self, world_now_ns() + step->pause_ms * 1000000, 0, "a pause");
        validity before = step_validity(self, lock);
        judge_validity(own.hold, before);
        call_resume(&own);
        call_valid_before(&own, before);
        ledger_drop(own.hold);
        moment_comes(CALL_GIVES_BACK, NULL);
    } else {
        call_end(&own, status);
        judge_acquire(&own, (validity){.ms = 0});
        return;
    }
    call_end(&own, status);
    judge_unlock(&own, step_validity(self, lock));
}

/* --- questions --- */

static void ask_members(worker *self, const plan_step *step, rlock *lock, const hold *held)
{
    rlock *members[PLAN_MEMBERS];
    find_members(self, step, members);
    members_ask(held, step->object, lock, members);
}

static void ask(worker *self, const plan_step *step)
{
    call own;
    bool flag = false;
    int number = 0;
    int64_t ms = 0;
    uint64_t token = 0;
    rlock_status status;
    rlock_inspection *inspection = NULL;
    rlock *lock = worker_lock(self, step->object, step->owner);
    object_kind kind = object_of(self, step)->kind;
    if (!lock || (object_is_composite(kind) && step->kind != IS_HELD && step->kind != VALID_FOR))
        return;
    hold *held = step_hold(self, step);
    if (step->kind == GET_TOKEN && kind == SHARDED) {
        rlock *members[PLAN_MEMBERS];
        find_members(self, step, members);
        parts_ask(self, lock, members, held);
        return;
    }
    if (step->kind == GET_TOKEN && kind != FENCED)
        return;
    if (step->kind == VALID_FOR) {
        validity now = step_validity(self, lock);
        timeline(thread_title(self->thread), "valid for %lld ms", (long long)now.ms);
        judge_validity(held, now);
        ask_members(self, step, lock, held);
        return;
    }
    call_begin(&own, self, step, held);
    switch (step->kind) {
    case IS_LOCKED: status = rlock_is_locked(lock, &flag); break;
    case IS_HELD: status = rlock_is_held(lock, &flag); break;
    case COUNT: status = rlock_get_hold_count(lock, &number); break;
    case TTL: status = rlock_remain_time_to_live(lock, &ms); break;
    case GET_TOKEN: status = rlock_get_token(lock, &token); break;
    default: status = rlock_inspect(self->of->client, object_called(object_of(self, step)), &inspection); break;
    }
    rlock_inspection_free(inspection);
    call_end(&own, status);
    judge_question(&own);
    if (step->kind == GET_TOKEN)
        judge_own_token(&own, token, step_validity(self, lock));
    bool sure = held->calls == 0 && !held->unsure;
    if (status == RLOCK_OK && sure && ((step->kind == IS_HELD && flag && held->count == 0) ||
                               (step->kind == COUNT && number > held->count)))
        finding("%s says that this owner holds it more often than it does, %d times", own.title, held->count);
}

/* --- what a thread does --- */

static bool leave(worker *self)
{
    self->left = true;
    timeline(thread_title(self->thread), "ends, whatever it holds");
    return false;
}

void step_close(worker *self)
{
    timeline(thread_title(self->thread), "closes the client");
    self->of->closed = true;
    for (hold *held = ledger_first(); held; held = held->next) {
        if (held->owner.client == self->of->index)
            ledger_drop(held);
    }
    ends_abandon_all(run_watchdog_ms(self->of)); /* leases end by themselves, those too that are just being taken */
    rlock_client_close(self->of->client);
    for (int i = 0; i < PLAN_OBJECTS; i++) {
        if (self->locks[i][0] && rlock_valid_for(self->locks[i][0]) > 0)
            finding("%s may rely on a lock of a client that is closed", thread_title(self->thread));
    }
    timeline(thread_title(self->thread), "has closed the client");
}

static void pause_for(worker *self, const plan_step *step)
{
    int64_t until_ns = world_now_ns() + step->pause_ms * 1000000;
    if (step->meets != NO_MOMENT) {
        moment_await(step->meets, self, until_ns);
        until_ns = world_now_ns() + step->after_us * INT64_C(1000);
    }
    thread_sleep(self, until_ns, 0, "a pause");
}

bool step_take(worker *self, const plan_step *step)
{
    if (async_step(self, step))
        return true;
    switch (step->kind) {
    case PAUSE:
        pause_for(self, step);
        return true;
    case LOCK:
    case TOKEN:
        take(self, step);
        return true;
    case UNLOCK:
        give_back(self, step);
        return true;
    case FORCE:
        force(self, step);
        return true;
    case EXTEND:
        lengthen(self, step);
        return true;
    case WITHIN:
        within(self, step);
        return true;
    case IS_LOCKED:
    case IS_HELD:
    case COUNT:
    case TTL:
    case VALID_FOR:
    case GET_TOKEN:
    case INSPECT:
        ask(self, step);
        return true;
    case LEAVE:
        return leave(self);
    case CLOSE:
        if (!self->of->closed && loop_is_planned(self->of->index))
            async_close(self, step);
        else if (!self->of->closed)
            step_close(self);
        return true;
    case FORGET:
        loop_forget(self->of, step->pause_ms);
        return true;
    case FORK:
        fork_and_call(self, step);
        return true;
    case LISTEN:
        listener_step(self, step);
        return true;
    case OBJECT_ASK:
    case OBJECT_CHANGE:
        expirable_step(self, step);
        return true;
    case LOOK:
        look_step(self, step);
        return true;
    case HEAR_NO_MORE:
        listener_remove_step(self);
        return true;
    case STARVE:
        memory_fails_here(step->count, step->count % 3);
        return true;
    default:
        object_step(self, step);
        return true;
    }
}

/* Gives back what the plan forgot. What is its own a thread that leaves takes with it. */
static void release_all(worker *self)
{
    const plan *of = self->of->plan;
    for (int i = 0; i < of->object_count; i++) {
        for (int number = 0; number < OWNERS && object_is_lock(of->objects[i].kind); number++) {
            if (!self->locks[i][number])
                continue;
            if (self->left && number != PLAN_OWN_NAME)
                continue;
            plan_step step = {.kind = UNLOCK, .object = i, .owner = number, .wait_ms = -1, .lease_ms = -1};
            hold *held = step_hold(self, &step);
            for (int most = 100; held->count + held->to_tell > 0 && !self->of->closed && (number == 0 || number == PLAN_OWN_NAME) && most > 0; most--)
                give_back(self, &step);
        }
    }
}

void steps_end(worker *self)
{
    memory_fails_here(0, 0);
    release_all(self);
    listeners_end(self);
    for (hold *held = ledger_first(); held; held = held->next) {
        if (held->owner.client == self->of->index && held->owner.number == self->index && held->count > 0)
            ends_abandon(held, run_watchdog_ms(self->of));
    }
    objects_end(self);
    for (int i = 0; i < PLAN_OBJECTS; i++) {
        for (int number = OWNERS - 1; number >= 0; number--)
            rlock_free(self->locks[i][number]);
        rlock_read_write_lock_free(self->pairs[i]);
    }
}
