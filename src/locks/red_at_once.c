/* Red lock over token locks, as Redis describes the algorithm "Redlock": all servers are asked at the same time, nobody
 * queues at any of them, and whoever gets no majority gives back what it got and comes back later.
 * https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/ */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "engine/back_off.h"
#include "locks/drive.h"
#include "locks/red.h"
#include "locks/red_keeper.h"
#include "locks/single.h"
#include "locks/tally.h"

#define JOBS (RLI_JOB_BIT(RLI_JOB_ACQUIRE) | RLI_JOB_BIT(RLI_JOB_RELEASE))

/* One acquire under way. */
typedef struct acquiring {
    rli_composite_machine on; /* first */
    rli_ballot *ballot;
    int64_t deadline_ms;
    bool asked;    /* the ballot of the present stage has begun */
    bool again;    /* the owner holds the red lock already */
    uint64_t told; /* the number of the owner's keeper that knows of this call */
    int denied;    /* number of passes so far */
    rli_tally tally;
    rli_passes passes;
} acquiring;

static acquiring *acquiring_of(rli_composite_machine *on)
{
    return (acquiring *)(void *)on;
}

/* --- asking --- */

static rlock_status end(acquiring *self, rlock_status status)
{
    rli_ballot_end(self->ballot);
    rli_red_call_ended(self->on.set, self->on.job, self->told, status);
    return rli_composite_next(&self->on, RLI_COMPOSITE_DONE, status);
}

static void ask_all(acquiring *self)
{
    rli_composite *set = self->on.set;
    rli_job job = *self->on.job;
    job.wait_ms = 0;
    job.answer_ms = RLI_COMPOSITE_ANSWER_MS;
    self->again = rli_red_count_valid(&self->on) >= rli_red_majority(set);
    for (size_t i = 0; i < set->count; i++) {
        /* A re-entry takes only members that are held already, as in red.c. */
        if (!self->again || rli_composite_valid_for(&self->on, set->members[i]) > 0)
            rli_ballot_ask(self->ballot, i, set->members[i], &job);
        else
            rli_ballot_set(self->ballot, i, RLOCK_TIMEOUT);
    }
}

/* The holds of one owner need not have the same members: tells each held member that this hold was acquired without
 * it. */
static void note_missed(const acquiring *self)
{
    const rli_composite *set = self->on.set;
    for (size_t i = 0; self->again && i < set->count; i++) {
        if (self->ballot->votes[i].status != RLOCK_OK)
            set->members[i]->methods->miss(set->members[i], rli_composite_owner(&self->on));
    }
}

static bool is_valid(const acquiring *self)
{
    const rli_composite *set = self->on.set;
    uint64_t took[RLI_MEMBERS_MAX];
    for (size_t i = 0; i < set->count; i++)
        took[i] = self->ballot->votes[i].status == RLOCK_OK ? self->ballot->votes[i].took : 0;
    return rli_red_is_valid(&self->on, set->members, took);
}

static rlock_status ask(rli_composite_machine *on)
{
    acquiring *self = acquiring_of(on);
    if (!self->asked)
        ask_all(self);
    self->asked = true;
    if (rli_ballot_go_on(self->ballot) == RLI_WAITING)
        return RLI_WAITING;
    self->asked = false;
    rli_tally_begin(&self->tally, on->set->count, rli_red_majority(on->set));
    for (size_t i = 0; i < on->set->count; i++)
        rli_tally_count(&self->tally, rli_vote_status(&self->ballot->votes[i]));
    bool won = rli_tally_has_won(&self->tally) && self->tally.final == RLOCK_OK;
    if (!won || !is_valid(self)) {
        self->tally.in_vain = won;
        return rli_composite_next(on, RLI_COMPOSITE_GIVES_BACK, RLOCK_OK);
    }
    note_missed(self);
    return end(self, RLOCK_OK);
}

/* --- giving back --- */

static void release_all(acquiring *self)
{
    const rli_composite *set = self->on.set;
    rli_job job = rli_composite_job(&self->on, RLI_JOB_RELEASE, RLI_COMPOSITE_ANSWER_MS);
    for (size_t i = 0; i < set->count; i++) {
        if (self->ballot->votes[i].status != RLOCK_OK)
            continue;
        /* It may be lost by now, and another call have taken the member again. */
        job.only = self->ballot->votes[i].took;
        rli_ballot_ask(self->ballot, i, set->members[i], &job);
    }
}

/* A member that did not answer may have been taken: the engine gives it back in the background. */
static rlock_status give_back(rli_composite_machine *on)
{
    acquiring *self = acquiring_of(on);
    if (!self->asked)
        release_all(self);
    self->asked = true;
    if (rli_ballot_go_on(self->ballot) == RLI_WAITING)
        return RLI_WAITING;
    self->asked = false;
    const rli_job *job = on->job;
    bool may_change = rli_passes_end(&self->passes, &self->tally, rli_red_count_valid(on), rli_red_lease_ms(on),
                                     rli_red_attempts(on->set));
    if (may_change && job->wait_ms > 0 && rli_now_ms() < self->deadline_ms)
        return rli_composite_next(on, RLI_COMPOSITE_PAUSES, RLOCK_OK);
    return end(self, rli_fail_text(self->passes.status, self->passes.said));
}

static rlock_status pause(rli_composite_machine *on)
{
    acquiring *self = acquiring_of(on);
    int64_t pause_ms = on->pausing ? 0 : rli_back_off_ms(&rli_single_of(on->set->members[0])->back_off, self->denied++);
    rlock_status status = rli_composite_pause(on, pause_ms, self->deadline_ms);
    if (status == RLI_WAITING)
        return status;
    if (status == RLOCK_OK && rli_now_ms() >= self->deadline_ms)
        status = rli_fail_text(self->passes.status, self->passes.said);
    return status == RLOCK_OK ? rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK) : end(self, status);
}

/* --- the handle --- */

static rli_machine *begin_acquiring(rlock *handle, const rli_job *job, rli_operation *whole, acquiring *self)
{
    static rli_composite_step *const steps[RLI_COMPOSITE_STAGES] = {
        [RLI_COMPOSITE_ASKS] = ask, [RLI_COMPOSITE_GIVES_BACK] = give_back, [RLI_COMPOSITE_PAUSES] = pause};
    rli_composite_prepare(&self->on, handle, job, whole, RLI_MACHINE_SIZE(acquiring), steps);
    self->ballot = rli_ballot_begin(handle, self->on.set->count, JOBS, whole, self->on.room);
    self->deadline_ms = rli_after_ms(job->wait_ms);
    self->asked = false;
    self->told = rli_red_call_begins(self->on.set, job);
    self->denied = 0;
    self->passes = (rli_passes){.status = RLOCK_OK};
    return &self->on.base;
}

static size_t room(const rlock *handle, rli_job_kind kind)
{
    return kind == RLI_JOB_ACQUIRE
               ? RLI_MACHINE_SIZE(acquiring) + rli_ballot_room(handle, rli_composite_of(handle)->count, JOBS)
               : rli_sweep_room_at_once(handle, kind);
}

static rli_machine *begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory)
{
    if (job->kind == RLI_JOB_ACQUIRE)
        return begin_acquiring(handle, job, whole, memory);
    rli_sweep *sweep = rli_sweep_begin_at_once(handle, job, whole, memory, &rli_red_rules[job->kind]);
    if (job->kind == RLI_JOB_RELEASE)
        sweep->told = rli_red_call_begins(sweep->on.set, job);
    return &sweep->on.base;
}

/* A release must not fail for want of memory: then it asks one member after the other. */
static rlock_status run(rlock *handle, const rli_job *job, int64_t *answer)
{
    bool begun;
    rlock_status status = rli_drive_job(handle, job, answer, &begun);
    if (begun || job->kind != RLI_JOB_RELEASE)
        return status;
    rli_sweep sweep;
    rli_sweep_begin(handle, job, NULL, &sweep, &rli_red_rules[job->kind]);
    sweep.told = rli_red_call_begins(sweep.on.set, job);
    return rli_composite_run(&sweep.on, answer);
}

const rli_methods rli_red_at_once = {
    .check = rli_red_check,
    .jobs = RLI_COMPOSITE_JOBS,
    .run = run,
    .room = room,
    .begin = begin,
    .valid_for = rli_red_valid_for,
    RLI_COMPOSITE_METHODS,
};
