/* Single lock: its jobs, with or without a thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "base/error.h"
#include "client/async.h"
#include "engine/acquire.h"
#include "engine/attempt.h"
#include "engine/extend.h"
#include "engine/force.h"
#include "engine/raise.h"
#include "engine/release.h"
#include "locks/single.h"

/* --- before a job --- */

rlock_status rli_single_check(const rlock *lock)
{
    return rli_gate_check(&rli_single_of(lock)->client->gate);
}

rlock_status rli_single_check_owner(const rlock *handle)
{
    const rli_single *lock = rli_single_of(handle);
    char shown[RLI_NAME_SHOWN];
    if (lock->named_owner)
        return RLOCK_OK;
    return rli_fail(RLOCK_INVALID,
                    "an async call on lock \"%s\" names no owner; make the handle with rlock_for_owner(), or set the "
                    "owner in the options",
                    rli_show_name(lock->names.name, shown));
}

const rli_owner *rli_job_owner(const rli_job *job)
{
    return job->has_owner ? &job->owner : NULL;
}

rlock_status rli_single_owner(const rli_single *lock, const rli_owner *given, rli_owner *owner)
{
    if (!lock->named_owner && !given)
        return rli_owner_thread(owner);
    *owner = given && (given->named || !lock->named_owner) ? *given : rli_owner_named(lock->owner);
    return RLOCK_OK;
}

/* --- machines --- */

/* How far the machine is. The engine's own machines, below it, have the stages of the job itself. */
typedef enum stage {
    BEGINS,
    UNDER_WAY, /* its operation has begun */
    ENDED,
    STAGES
} stage;

static const bool legal[STAGES][STAGES] = {
    [BEGINS] = {[UNDER_WAY] = true, [ENDED] = true},
    [UNDER_WAY] = {[ENDED] = true},
};

/* The state that all jobs have. */
typedef struct single_machine {
    rli_machine base; /* first */
    rli_single *lock;
    const rli_job *job;
    rli_operation *whole; /* NULL: it has a thread */
    stage stage;
    bool visits; /* the loop of another client goes on with it */
    rli_owner owner;
    rli_operation op;
} single_machine;

typedef struct acquiring {
    single_machine on;
    rli_acquire asked;
    rli_lead lead;
    rli_attempt attempt;
} acquiring;

typedef struct releasing {
    single_machine on;
    rli_release asked;
    rli_releasing release;
} releasing;

typedef struct extending {
    single_machine on;
    rli_extend asked;
    rli_extending extend;
} extending;

typedef struct raising {
    single_machine on;
    rli_raise asked;
    rli_raising raise;
} raising;

typedef struct forcing {
    single_machine on;
    rli_forcing force;
} forcing;

typedef struct asking {
    single_machine on;
    rli_single_asking asking;
} asking;

/* --- the jobs: each begins with RLOCK_OK or the status with which it ends, before or after its operation begins --- */

static rlock_status begin_acquiring(single_machine *on)
{
    acquiring *self = (acquiring *)(void *)on;
    const rli_job *job = on->job;
    self->asked = (rli_acquire){
        .engine = &on->lock->client->engine,
        .kind = on->lock->kind,
        .names = &on->lock->names,
        .owner = on->owner,
        .wait_ms = job->wait_ms,
        .asks_once = job->asks_once,
        .answer_ms = job->answer_ms,
        .lease_ms = job->lease_ms,
        .non_reentrant = job->non_reentrant,
        .back_off = &on->lock->back_off,
        .token = job->token,
        .took = job->took,
    };
    rlock_status status = rli_acquire_begin(&self->attempt, &self->asked, &on->op);
    self->lead = (rli_lead){.pipe = NULL};
    if (!on->whole)
        self->attempt.waiter.lead = &self->lead;
    return status;
}

static rlock_status go_on_acquiring(single_machine *on)
{
    return rli_acquire_go_on(&((acquiring *)(void *)on)->attempt);
}

static rlock_status begin_releasing(single_machine *on)
{
    releasing *self = (releasing *)(void *)on;
    self->asked = (rli_release){.engine = &on->lock->client->engine,
                                .kind = on->lock->kind,
                                .names = &on->lock->names,
                                .owner = on->owner,
                                .answer_ms = on->job->answer_ms,
                                .only = on->job->only,
                                .sharded = on->job->sharded};
    rli_release_begin(&self->release, &self->asked, &on->op);
    return RLOCK_OK;
}

static rlock_status go_on_releasing(single_machine *on)
{
    return rli_release_go_on(&((releasing *)(void *)on)->release);
}

static rlock_status begin_extending(single_machine *on)
{
    extending *self = (extending *)(void *)on;
    self->asked = (rli_extend){.engine = &on->lock->client->engine,
                               .kind = on->lock->kind,
                               .names = &on->lock->names,
                               .owner = on->owner,
                               .lease_ms = on->job->lease_ms,
                               .answer_ms = on->job->answer_ms,
                               .sharded = on->job->sharded};
    rli_extend_begin(&self->extend, &self->asked, &on->op);
    return RLOCK_OK;
}

static rlock_status go_on_extending(single_machine *on)
{
    return rli_extend_go_on(&((extending *)(void *)on)->extend);
}

static rlock_status begin_raising(single_machine *on)
{
    raising *self = (raising *)(void *)on;
    self->asked = (rli_raise){.engine = &on->lock->client->engine,
                              .kind = on->lock->kind,
                              .names = &on->lock->names,
                              .owner = on->owner,
                              .token = on->job->raised,
                              .answer_ms = on->job->answer_ms};
    rli_raise_begin(&self->raise, &self->asked, &on->op);
    return RLOCK_OK;
}

static rlock_status go_on_raising(single_machine *on)
{
    return rli_raise_go_on(&((raising *)(void *)on)->raise);
}

static rlock_status begin_forcing(single_machine *on)
{
    forcing *self = (forcing *)(void *)on;
    rli_single *lock = on->lock;
    return rli_force_begin(&self->force, &lock->client->engine, lock->kind, &lock->names, &on->op);
}

static rlock_status go_on_forcing(single_machine *on)
{
    forcing *self = (forcing *)(void *)on;
    rlock_status status = rli_force_go_on(&self->force);
    on->base.answer = self->force.was_locked;
    return status;
}

static rlock_status begin_asking(single_machine *on)
{
    asking *self = (asking *)(void *)on;
    self->asking = (rli_single_asking){.lock = on->lock, .op = &on->op, .owner = on->owner};
    return RLOCK_OK;
}

static rlock_status go_on_asking(single_machine *on)
{
    asking *self = (asking *)(void *)on;
    rli_job_kind kind = on->job->kind;
    int64_t pttl_ms = 0;
    int count = 0;
    rlock_status status = rli_single_ask(&self->asking, &pttl_ms, &count);
    on->base.answer = kind == RLI_JOB_IS_LOCKED ? pttl_ms != -2
                      : kind == RLI_JOB_TTL     ? pttl_ms
                      : kind == RLI_JOB_IS_HELD ? count > 0
                                                : count;
    return status;
}

static const struct {
    size_t size;
    rlock_status (*begin)(single_machine *on);
    rlock_status (*go_on)(single_machine *on); /* RLI_WAITING, or the status with which it ends */
} jobs[RLI_JOB_KINDS] = {
    [RLI_JOB_ACQUIRE] = {sizeof(acquiring), begin_acquiring, go_on_acquiring},
    [RLI_JOB_RELEASE] = {sizeof(releasing), begin_releasing, go_on_releasing},
    [RLI_JOB_EXTEND] = {sizeof(extending), begin_extending, go_on_extending},
    [RLI_JOB_RAISE] = {sizeof(raising), begin_raising, go_on_raising},
    [RLI_JOB_FORCE] = {sizeof(forcing), begin_forcing, go_on_forcing},
    [RLI_JOB_IS_LOCKED] = {sizeof(asking), begin_asking, go_on_asking},
    [RLI_JOB_TTL] = {sizeof(asking), begin_asking, go_on_asking},
    [RLI_JOB_IS_HELD] = {sizeof(asking), begin_asking, go_on_asking},
    [RLI_JOB_HOLD_COUNT] = {sizeof(asking), begin_asking, go_on_asking},
};

/* --- the whole --- */

static void become(single_machine *on, stage next)
{
    rli_check(legal[on->stage][next]);
    on->stage = next;
}

/* The operation ends with the job, unless it could not begin. */
static void end_operation(single_machine *on)
{
    if (on->visits)
        rli_async_leave(on->lock->client);
    rli_operation_end(&on->op);
}

static rlock_status begin_operation(single_machine *on)
{
    rlock_client *client = on->lock->client;
    const rli_owner *given = rli_job_owner(on->job);
    rlock_status status = rli_single_owner(on->lock, given, &on->owner);
    if (status == RLOCK_OK)
        status = rli_operation_begin_part(&on->op, &client->gate, on->job->cancel, on->whole);
    if (status != RLOCK_OK)
        return status;
    on->op.call_options = &on->lock->call_options;
    bool visits = on->whole && on->whole->gate != &client->gate;
    if (visits)
        status = rli_async_visit(client);
    on->visits = visits && status == RLOCK_OK;
    if (status == RLOCK_OK)
        status = jobs[on->job->kind].begin(on);
    if (status != RLOCK_OK)
        end_operation(on);
    return status;
}

static rlock_status go_on(rli_machine *machine)
{
    single_machine *on = (single_machine *)(void *)machine;
    if (on->stage == BEGINS) {
        rlock_status begun = begin_operation(on);
        become(on, begun == RLOCK_OK ? UNDER_WAY : ENDED);
        if (begun != RLOCK_OK)
            return begun;
    }
    rlock_status status = jobs[on->job->kind].go_on(on);
    if (status == RLI_WAITING) {
        if (on->visits)
            rli_async_entrust(on->lock->client);
        return status;
    }
    become(on, ENDED);
    end_operation(on);
    return status;
}

size_t rli_single_room(const rlock *handle, rli_job_kind kind)
{
    (void)handle;
    return (jobs[kind].size + RLI_MACHINE_ALIGN - 1) / RLI_MACHINE_ALIGN * RLI_MACHINE_ALIGN;
}

rli_machine *rli_single_begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory)
{
    single_machine *on = memory;
    on->base.go_on = go_on;
    on->base.answer = 0;
    on->lock = rli_single_of(handle);
    on->job = job;
    on->whole = whole;
    on->stage = BEGINS;
    on->visits = false;
    return &on->base;
}

rlock_status rli_single_run(rlock *handle, const rli_job *job, int64_t *answer)
{
    union {
        acquiring acquire;
        releasing release;
        extending extend;
        raising raise;
        forcing force;
        asking ask;
    } memory;
    rli_machine *machine = rli_single_begin(handle, job, NULL, &memory);
    rlock_status status = go_on(machine);
    if (answer)
        *answer = machine->answer;
    return status;
}
