/* Sweep: a job other than an acquire on each member of a composite in turn. */
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

static rlock_status ask(rli_sweep *sweep, rlock *member)
{
    rlock_status status = RLOCK_OK;
    if (sweep->rules->skips && sweep->rules->skips(sweep, member, &status))
        return status;
    rli_job job = rli_composite_job(&sweep->on, sweep->on.job->kind, answer_ms(sweep->on.job, member));
    job.lease_ms = sweep->on.job->lease_ms;
    return rli_composite_begin_part(&sweep->on, member, &job);
}

static rlock_status step(rli_composite_machine *on)
{
    rli_sweep *sweep = (rli_sweep *)(void *)on;
    on->part_answer = on->part ? on->part_answer : 0;
    rlock_status status = on->part ? rli_composite_go_on_part(on) : ask(sweep, on->set->members[sweep->done]);
    if (status == RLI_WAITING)
        return status;
    sweep->done++;
    if (sweep->rules->count(sweep, status) == RLI_SWEEP_ON && sweep->done < on->set->count)
        return rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
    return rli_composite_next(on, RLI_COMPOSITE_DONE, sweep->rules->judge(sweep));
}

rli_sweep *rli_sweep_begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory,
                           const rli_sweep_rules *rules)
{
    static rli_composite_step *const steps[RLI_COMPOSITE_STAGES] = {[RLI_COMPOSITE_ASKS] = step};
    rli_sweep *sweep = memory;
    rli_composite_prepare(&sweep->on, handle, job, whole, RLI_MACHINE_SIZE(rli_sweep), steps);
    sweep->rules = rules;
    sweep->done = sweep->good = sweep->bad = 0;
    sweep->failed = RLOCK_OK;
    return sweep;
}

void rli_sweep_keep(rli_sweep *sweep, rlock_status failed)
{
    sweep->failed = failed;
    snprintf(sweep->why, sizeof sweep->why, "%.399s", rlock_last_error());
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

bool rli_sweep_cannot_extend(rli_sweep *sweep, rlock *member, rlock_status *status)
{
    bool skips = rli_sweep_skips_unheld(sweep, member, status);
    *status = RLOCK_NOT_OWNER;
    return skips;
}
