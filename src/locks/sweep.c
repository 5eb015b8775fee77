/* Sweep: a job other than an acquire on each member of a composite, in turn or at the same time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/sweep.h"

#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"

#include <stdio.h>

/* Waits for a silent server no longer than the client's `timeout` (not for all attempts), because other members are
 * still to be released. */
static int64_t answer_ms(const rli_job *job, const rlock *member)
{
    return job->kind == RLI_JOB_RELEASE
               ? rli_earlier(job->answer_ms, member->methods->place(member).client->settings.timeout_ms)
               : job->answer_ms;
}

/* Returns whether the member is to be asked; else *status is what it would have returned. */
static bool needs(rli_sweep *sweep, rlock *member, rlock_status *status)
{
    *status = RLOCK_OK;
    return !sweep->rules->skips || !sweep->rules->skips(sweep, member, status);
}

static rli_job job_for(const rli_sweep *sweep, const rlock *member)
{
    rli_job job = rli_composite_job(&sweep->on, sweep->on.job->kind, answer_ms(sweep->on.job, member));
    job.lease_ms = sweep->on.job->lease_ms;
    job.sharded = sweep->rules->sharded;
    job.only = sweep->on.job->only;
    return job;
}

static rlock_status ask(rli_sweep *sweep, rlock *member)
{
    rlock_status status;
    if (!needs(sweep, member, &status))
        return status;
    rli_job job = job_for(sweep, member);
    return rli_composite_begin_part(&sweep->on, member, &job);
}

static rlock *next_member(const rli_sweep *sweep)
{
    const rli_composite *set = sweep->on.set;
    return set->members[(sweep->first + sweep->done) % set->count];
}

static rlock_status step(rli_composite_machine *on)
{
    rli_sweep *sweep = (rli_sweep *)(void *)on;
    on->part_answer = on->part ? on->part_answer : 0;
    rlock_status status = on->part ? rli_composite_go_on_part(on) : ask(sweep, next_member(sweep));
    if (status == RLI_WAITING)
        return status;
    sweep->done++;
    if (sweep->rules->count(sweep, status) == RLI_SWEEP_ON && sweep->done < on->set->count)
        return rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
    return rli_composite_next(on, RLI_COMPOSITE_DONE, sweep->rules->judge(sweep));
}

/* --- at the same time --- */

static void ask_all(rli_sweep *sweep)
{
    const rli_composite *set = sweep->on.set;
    for (size_t i = 0; i < set->count; i++) {
        rlock_status status;
        if (needs(sweep, set->members[i], &status)) {
            rli_job job = job_for(sweep, set->members[i]);
            rli_ballot_ask(sweep->ballot, i, set->members[i], &job);
        } else {
            rli_ballot_set(sweep->ballot, i, status);
        }
    }
}

static rlock_status step_at_once(rli_composite_machine *on)
{
    rli_sweep *sweep = (rli_sweep *)(void *)on;
    if (sweep->done++ == 0)
        ask_all(sweep);
    if (rli_ballot_go_on(sweep->ballot) == RLI_WAITING)
        return RLI_WAITING;
    for (size_t i = 0; i < on->set->count; i++) {
        on->part_answer = sweep->ballot->votes[i].answer;
        sweep->rules->count(sweep, rli_vote_status(&sweep->ballot->votes[i]));
    }
    rli_ballot_end(sweep->ballot);
    return rli_composite_next(on, RLI_COMPOSITE_DONE, sweep->rules->judge(sweep));
}

/* --- in batches --- */

/* How many members at `first`, of `most`, are of one client. */
static size_t of_one_client(rlock *const *first, size_t most)
{
    size_t count = 1;
    while (count < most && rli_composite_client_of(first[count]) == rli_composite_client_of(first[0]))
        count++;
    return count;
}

static void ask_batch(rli_sweep *sweep)
{
    const rli_composite *set = sweep->on.set;
    rli_batch *batch = &sweep->batch;
    size_t left = set->count - sweep->done, most = left < batch->most ? left : batch->most;
    rlock *const *first = set->one_client ? rli_composite_sorted(set) + (left - most) : set->members + sweep->done;
    rli_batch_open(batch, of_one_client(first, most));
    rlock *const *last = first + batch->count - 1;
    for (size_t i = 0; i < batch->count; i++) {
        rlock *member = last[-(ptrdiff_t)i];
        rlock_status status;
        if (needs(sweep, member, &status)) {
            rli_job job = job_for(sweep, member);
            rli_batch_ask(batch, i, member, &job);
        } else {
            rli_ballot_set(batch->ballot, i, status);
        }
    }
}

static rlock_status step_in_batches(rli_composite_machine *on)
{
    rli_sweep *sweep = (rli_sweep *)(void *)on;
    rli_batch *batch = &sweep->batch;
    if (!batch->asked)
        ask_batch(sweep);
    if (rli_batch_go_on(batch) == RLI_WAITING)
        return RLI_WAITING;
    rli_swept swept = RLI_SWEEP_ON;
    for (size_t i = 0; i < batch->count && swept == RLI_SWEEP_ON; i++) {
        on->part_answer = batch->ballot->votes[i].answer;
        swept = sweep->rules->count(sweep, rli_vote_status(&batch->ballot->votes[i]));
    }
    sweep->done += batch->count;
    if (swept == RLI_SWEEP_ON && sweep->done < on->set->count)
        return rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
    rli_batch_end(batch);
    return rli_composite_next(on, RLI_COMPOSITE_DONE, sweep->rules->judge(sweep));
}

void rli_sweep_in_batches(rli_sweep *sweep)
{
    static rli_composite_step *const steps[RLI_COMPOSITE_STAGES] = {[RLI_COMPOSITE_ASKS] = step_in_batches};
    sweep->on.steps = steps;
}

/* --- beginning --- */

static rli_sweep *begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory,
                        const rli_sweep_rules *rules, rli_composite_step *const *steps)
{
    rli_sweep *sweep = memory;
    rli_composite_prepare(&sweep->on, handle, job, whole, RLI_MACHINE_SIZE(rli_sweep), steps);
    sweep->rules = rules;
    sweep->done = sweep->first = sweep->good = sweep->bad = sweep->lost = 0;
    sweep->told = 0;
    sweep->failed = RLOCK_OK;
    sweep->ballot = NULL;
    sweep->batch = (rli_batch){.ballot = NULL};
    return sweep;
}

rli_sweep *rli_sweep_begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory,
                           const rli_sweep_rules *rules)
{
    static rli_composite_step *const steps[RLI_COMPOSITE_STAGES] = {[RLI_COMPOSITE_ASKS] = step};
    return begin(handle, job, whole, memory, rules, steps);
}

rli_sweep *rli_sweep_begin_at_once(rlock *handle, const rli_job *job, rli_operation *whole, void *memory,
                                   const rli_sweep_rules *rules)
{
    static rli_composite_step *const steps[RLI_COMPOSITE_STAGES] = {[RLI_COMPOSITE_ASKS] = step_at_once};
    rli_sweep *sweep = begin(handle, job, whole, memory, rules, steps);
    sweep->ballot = rli_ballot_begin(handle, sweep->on.set->count, RLI_JOB_BIT(job->kind), whole, sweep->on.room);
    return sweep;
}

size_t rli_sweep_room_at_once(const rlock *handle, rli_job_kind kind)
{
    return RLI_MACHINE_SIZE(rli_sweep) + rli_ballot_room(handle, rli_composite_of(handle)->count, RLI_JOB_BIT(kind));
}

void rli_sweep_keep(rli_sweep *sweep, rlock_status failed)
{
    sweep->failed = failed;
    snprintf(sweep->why, sizeof sweep->why, "%s", rlock_last_error());
}

void rli_sweep_keep_first(rli_sweep *sweep, rlock_status status)
{
    if (status != RLOCK_OK && sweep->failed == RLOCK_OK)
        rli_sweep_keep(sweep, status);
}

rlock_status rli_sweep_judge(rli_sweep *sweep)
{
    return sweep->failed == RLOCK_OK ? RLOCK_OK : rli_fail_text(sweep->failed, sweep->why);
}

bool rli_sweep_skips_unheld(rli_sweep *sweep, rlock *member, rlock_status *status)
{
    *status = RLOCK_OK;
    return rli_composite_valid_for(&sweep->on, member) <= 0;
}
