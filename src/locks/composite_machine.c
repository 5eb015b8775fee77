/* Composite machine: a job on a lock made of others, one member after the other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/composite_machine.h"

#include "base/checked.h"
#include "base/clock.h"
#include "client/client.h"
#include "locks/single.h"

static const bool legal[RLI_COMPOSITE_STAGES][RLI_COMPOSITE_STAGES] = {
    [RLI_COMPOSITE_ASKS] = {[RLI_COMPOSITE_ASKS] = true, /* the next members */
                            [RLI_COMPOSITE_RETURNS] = true,
                            [RLI_COMPOSITE_EXTENDS] = true,
                            [RLI_COMPOSITE_GIVES_BACK] = true,
                            [RLI_COMPOSITE_DONE] = true},   /* not of an acquire, which gives back first */
    [RLI_COMPOSITE_RETURNS] = {[RLI_COMPOSITE_ASKS] = true, /* the one that was refused, and waits for it */
                               [RLI_COMPOSITE_GIVES_BACK] = true},
    [RLI_COMPOSITE_EXTENDS] = {[RLI_COMPOSITE_EXTENDS] = true,
                               [RLI_COMPOSITE_RAISES] = true,
                               [RLI_COMPOSITE_GIVES_BACK] = true, /* one has ended meanwhile */
                               [RLI_COMPOSITE_DONE] = true},
    [RLI_COMPOSITE_RAISES] = {[RLI_COMPOSITE_GIVES_BACK] = true, /* too few could be raised */
                              [RLI_COMPOSITE_DONE] = true},
    [RLI_COMPOSITE_GIVES_BACK] =
        {[RLI_COMPOSITE_GIVES_BACK] = true, [RLI_COMPOSITE_PAUSES] = true, [RLI_COMPOSITE_DONE] = true},
    [RLI_COMPOSITE_PAUSES] = {[RLI_COMPOSITE_ASKS] = true, [RLI_COMPOSITE_DONE] = true},
};

rlock_status rli_composite_next(rli_composite_machine *machine, rli_composite_stage stage, rlock_status status)
{
    rli_check(legal[machine->stage][stage]);
    machine->stage = stage;
    return status;
}

static rlock_status go_on(rli_machine *base)
{
    rli_composite_machine *machine = (rli_composite_machine *)(void *)base;
    rlock_status status = RLOCK_OK;
    while (status != RLI_WAITING && machine->stage != RLI_COMPOSITE_DONE)
        status = machine->steps[machine->stage](machine);
    return status;
}

void rli_composite_prepare(rli_composite_machine *machine, rlock *handle, const rli_job *job, rli_operation *whole,
                           size_t size, rli_composite_step *const *steps)
{
    machine->base.go_on = go_on;
    machine->base.answer = 0;
    machine->set = rli_composite_of(handle);
    machine->job = job;
    machine->stage = RLI_COMPOSITE_ASKS;
    machine->steps = steps;
    machine->whole = whole;
    machine->room = whole ? (char *)machine + size : NULL;
    machine->part = NULL;
    machine->pausing = false;
}

size_t rli_composite_members_room(const rlock *handle, rli_job_kind kind)
{
    static const rli_job_kind in_acquire[] = {RLI_JOB_ACQUIRE, RLI_JOB_EXTEND, RLI_JOB_RAISE, RLI_JOB_RELEASE};
    const rli_composite *set = rli_composite_of(handle);
    size_t count = kind == RLI_JOB_ACQUIRE ? sizeof in_acquire / sizeof *in_acquire : 1, most = 0;
    for (size_t i = 0; i < set->count * count; i++) {
        const rlock *member = set->members[i / count];
        size_t room = member->methods->room(member, count > 1 ? in_acquire[i % count] : kind);
        most = room > most ? room : most;
    }
    return most;
}

rlock_status rli_composite_run(rli_composite_machine *machine, int64_t *answer)
{
    rlock_status status = go_on(&machine->base);
    if (answer)
        *answer = machine->base.answer;
    return status;
}

/* --- parts --- */

rlock_status rli_composite_go_on_part(rli_composite_machine *machine)
{
    rlock_status status = machine->part->go_on(machine->part);
    if (status == RLI_WAITING)
        return status;
    machine->part_answer = machine->part->answer;
    machine->part = NULL;
    return status;
}

rlock_status rli_composite_begin_part(rli_composite_machine *machine, rlock *member, const rli_job *job)
{
    if (!machine->whole)
        return member->methods->run(member, job, &machine->part_answer);
    machine->part_job = *job;
    machine->part = member->methods->begin(member, &machine->part_job, machine->whole, machine->room);
    return rli_composite_go_on_part(machine);
}

rli_job rli_composite_job(const rli_composite_machine *machine, rli_job_kind kind, int64_t answer_ms)
{
    return (rli_job){
        .kind = kind, .has_owner = machine->job->has_owner, .owner = machine->job->owner, .answer_ms = answer_ms};
}

const rli_owner *rli_composite_owner(const rli_composite_machine *machine)
{
    return rli_job_owner(machine->job);
}

int64_t rli_composite_valid_for(const rli_composite_machine *machine, rlock *member)
{
    return member->methods->valid_for(member, rli_composite_owner(machine));
}

int64_t rli_composite_valid_in(const rli_composite_machine *machine, rlock *member, uint64_t session)
{
    if (session == 0)
        return rli_composite_valid_for(machine, member);
    return member->methods->valid_in(member, rli_composite_owner(machine), session);
}

bool rli_composite_is_aged(const rli_composite_machine *machine, rlock *member, uint64_t session, int64_t lease_ms,
                           rli_job *job)
{
    int64_t left_ms = rli_composite_valid_in(machine, member, session);
    *job = rli_composite_job(machine, RLI_JOB_EXTEND, rli_earlier(left_ms, RLI_COMPOSITE_ANSWER_MS));
    job->lease_ms = lease_ms;
    return left_ms > 0 && left_ms < lease_ms - lease_ms / 10;
}

rlock_status rli_composite_extend_if_aged(rli_composite_machine *machine, rlock *member, uint64_t session,
                                          int64_t lease_ms)
{
    rli_job job;
    if (!rli_composite_is_aged(machine, member, session, lease_ms, &job))
        return RLOCK_OK;
    return rli_composite_begin_part(machine, member, &job);
}

/* --- pauses --- */

static rlock_status begin_pause(rli_composite_machine *machine, int64_t pause_ms, int64_t deadline_ms)
{
    rlock_client *client = rli_composite_home(&machine->set->base);
    rlock_status status = rli_operation_begin_part(&machine->pause, &client->gate, machine->job->cancel,
                                                   machine->whole);
    machine->pausing = status == RLOCK_OK;
    machine->pause_until_ms = rli_earlier(rli_after_ms(pause_ms), deadline_ms);
    return status;
}

rlock_status rli_composite_pause(rli_composite_machine *machine, int64_t pause_ms, int64_t deadline_ms)
{
    rlock_status status = machine->pausing ? RLOCK_OK : begin_pause(machine, pause_ms, deadline_ms);
    if (status != RLOCK_OK)
        return status;
    while ((status = rli_operation_check(&machine->pause)) == RLOCK_OK && rli_now_ms() < machine->pause_until_ms) {
        if (!rli_operation_sleep(&machine->pause, machine->pause_until_ms))
            return RLI_WAITING;
    }
    rli_operation_end(&machine->pause);
    machine->pausing = false;
    return status;
}
