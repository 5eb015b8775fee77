/* Red lock, Redisson's RedissonRedLock: held while more than half of its members are held, each on a server
 * of its own, so that it survives the loss of the others. This is Redis's "Redlock" algorithm. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "base/sized.h"
#include "client/client.h"
#include "locks/composite_machine.h"
#include "locks/red.h"
#include "locks/red_keeper.h"
#include "locks/round.h"
#include "locks/single.h"
#include "locks/sweep.h"
#include "locks/tally.h"

#include <stdio.h>
#include <stdlib.h>

/* Longest pause between two passes: owners that have each won a minority come back at different times. */
#define PAUSE_MS 50
/* Allowed clock drift, in addition to the 1 % by which each member's deadline is shorter than its lease. */
#define DRIFT_MS 2

size_t rli_red_majority(const rli_composite *set)
{
    return set->count / 2 + 1;
}

/* --- asking --- */

/* A closed client counts as a server that is down. */
rlock_status rli_red_check(const rlock *handle)
{
    const rli_composite *set = rli_composite_of(handle);
    rlock_status failed = RLOCK_OK;
    size_t usable = 0;
    for (size_t i = 0; i < set->count; i++) {
        rlock_status status = set->members[i]->methods->check(set->members[i]);
        usable += status == RLOCK_OK;
        if (status != RLOCK_OK)
            failed = status;
    }
    return usable >= rli_red_majority(set) ? RLOCK_OK : failed;
}

static int descending(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

int64_t rli_red_valid_for(rlock *handle, const rli_owner *owner)
{
    const rli_composite *set = rli_composite_of(handle);
    int64_t left_ms[RLI_MEMBERS_MAX];
    for (size_t i = 0; i < set->count; i++)
        left_ms[i] = set->members[i]->methods->valid_for(set->members[i], owner);
    qsort(left_ms, set->count, sizeof *left_ms, descending);
    int64_t least_ms = left_ms[rli_red_majority(set) - 1] - DRIFT_MS;
    return least_ms > 0 ? least_ms : 0;
}

bool rli_red_is_valid(const rli_composite_machine *on)
{
    rlock *handle = &on->set->base;
    int64_t left_ms = rli_red_valid_for(handle, rli_composite_owner(on)), lease_ms = on->job->lease_ms;
    if (lease_ms == RLOCK_WATCHDOG)
        lease_ms = rli_composite_home(handle)->settings.watchdog_timeout_ms;
    /* of two numbers that may be large: rounded down, in a lease of less than 100 ms exactly */
    int64_t least_ms = lease_ms < 100 ? lease_ms * on->set->least_valid_percent / 100
                                      : lease_ms / 100 * on->set->least_valid_percent;
    return left_ms > 0 && left_ms >= least_ms;
}

size_t rli_red_count_valid(const rli_composite_machine *on)
{
    size_t valid = 0;
    for (size_t i = 0; i < on->set->count; i++)
        valid += rli_composite_valid_for(on, on->set->members[i]) > 0;
    return valid;
}

/* --- acquiring --- */

/* One acquire under way. A pass asks the members one after the other; then it holds a majority, or nothing. */
typedef struct voting {
    rli_composite_machine on; /* first */
    int64_t deadline_ms;
    rlock *const *order;
    int64_t member_wait_ms; /* longest wait for a member while none is held */
    int64_t patience_ms;    /* the same while some are held, in this pass */
    bool again;             /* the owner holds the red lock already */
    size_t next;            /* index of the member that the present stage is at */
    bool taken[RLI_MEMBERS_MAX];
    rli_tally tally; /* of this pass */
    int rounds;
    rli_passes passes;
} voting;

static voting *voting_of(rli_composite_machine *on)
{
    return (voting *)(void *)on;
}

static int64_t wait_for_member(const voting *votes)
{
    /* With a majority the lock is held; the remaining members are taken only if they are free. Ask them once,
     * but not for as long as a server that is down would take. */
    if (votes->on.job->wait_ms <= 0 || rli_tally_has_won(&votes->tally))
        return 1;
    int64_t left_ms = votes->deadline_ms - rli_now_ms();
    /* An owner that holds a minority may be the one that others wait for. */
    int64_t wait_ms = rli_earlier(left_ms, votes->tally.granted > 0 ? votes->patience_ms : votes->member_wait_ms);
    return wait_ms > 1 ? wait_ms : 1;
}

/* Asks the next member. RLI_WAITING: rli_composite_go_on_part. */
static rlock_status begin_asking(voting *votes)
{
    rlock *member = votes->order[votes->next];
    /* A re-entry takes only members that are held already. Otherwise the inner hold's majority could differ
     * from the outer one's, and releasing the inner hold would end both. */
    if (votes->again && rli_composite_valid_for(&votes->on, member) <= 0)
        return RLOCK_TIMEOUT;
    rli_job job = *votes->on.job;
    job.wait_ms = wait_for_member(votes);
    job.answer_ms = RLI_COMPOSITE_ANSWER_MS;
    return rli_composite_begin_part(&votes->on, member, &job);
}

/* Whether to ask the next member, after the first. */
static bool goes_on(const voting *votes)
{
    if (votes->next >= votes->on.set->count || !rli_tally_can_win(&votes->tally))
        return false;
    return rli_tally_has_won(&votes->tally) || votes->on.job->wait_ms <= 0 || rli_now_ms() < votes->deadline_ms;
}

static rlock_status ask(rli_composite_machine *on)
{
    voting *votes = voting_of(on);
    rlock_status status = on->part ? rli_composite_go_on_part(on) : begin_asking(votes);
    if (status == RLI_WAITING)
        return status;
    rli_tally_count(&votes->tally, status);
    votes->taken[votes->next] = status == RLOCK_OK;
    votes->next++;
    if (goes_on(votes))
        return rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
    votes->next = 0;
    votes->tally.in_vain = rli_tally_has_won(&votes->tally);
    return rli_composite_next(on, votes->tally.in_vain ? RLI_COMPOSITE_EXTENDS : RLI_COMPOSITE_GIVES_BACK, RLOCK_OK);
}

/* The majority is taken: extends the leases, and checks that the lock is valid. */
static rlock_status extend_aged(rli_composite_machine *on)
{
    voting *votes = voting_of(on);
    int64_t lease_ms = on->job->lease_ms;
    for (; votes->next < on->set->count && lease_ms != RLOCK_WATCHDOG; votes->next++) {
        rlock_status status = on->part                    ? rli_composite_go_on_part(on)
                              : votes->taken[votes->next] ? rli_composite_extend_if_aged(on, votes->order[votes->next],
                                                                                         lease_ms)
                                                          : RLOCK_OK;
        if (status == RLI_WAITING)
            return status;
    }
    votes->next = 0;
    if (!rli_red_is_valid(on))
        return rli_composite_next(on, RLI_COMPOSITE_GIVES_BACK, RLOCK_OK);
    /* The holds of one owner need not have the same members: tells each held member that this hold was acquired
     * without it. */
    for (size_t i = 0; votes->again && i < on->set->count; i++) {
        if (!votes->taken[i])
            votes->order[i]->methods->miss(votes->order[i], rli_composite_owner(on));
    }
    return rli_composite_next(on, RLI_COMPOSITE_DONE, RLOCK_OK);
}

int rli_red_attempts(const rli_composite *set)
{
    rli_identity place = rli_composite_identity(&set->base);
    return place.client->settings.retry_attempts + 1;
}

/* A pass has failed, and what it took is given back. */
static rlock_status end_pass(voting *votes)
{
    const rli_job *job = votes->on.job;
    bool may_change = rli_passes_end(&votes->passes, &votes->tally, rli_red_count_valid(&votes->on), job->lease_ms,
                                     rli_red_attempts(votes->on.set));
    bool starts_over = may_change && job->wait_ms > 0 && rli_now_ms() < votes->deadline_ms;
    return rli_composite_next(&votes->on, starts_over ? RLI_COMPOSITE_PAUSES : RLI_COMPOSITE_DONE,
                              starts_over ? RLOCK_OK : votes->passes.status);
}

static rlock_status give_back(rli_composite_machine *on)
{
    voting *votes = voting_of(on);
    for (; votes->next < on->set->count; votes->next++) {
        if (!votes->taken[votes->next])
            continue;
        rli_job job = rli_composite_job(on, RLI_JOB_RELEASE, RLI_COMPOSITE_ANSWER_MS);
        rlock_status status = on->part ? rli_composite_go_on_part(on)
                                       : rli_composite_begin_part(on, votes->order[votes->next], &job);
        if (status == RLI_WAITING)
            return status;
    }
    return end_pass(votes);
}

static void begin_pass(voting *votes)
{
    const rli_job *job = votes->on.job;
    size_t members = votes->on.set->count;
    int64_t round_ms = rli_round_ms(members, job->lease_ms);
    if (job->lease_ms == RLOCK_WATCHDOG && job->wait_ms != RLOCK_FOREVER)
        round_ms = job->wait_ms;
    else if (job->wait_ms < round_ms)
        round_ms = job->wait_ms;
    votes->member_wait_ms = round_ms / (int64_t)members;
    votes->patience_ms = rli_patience_ms(votes->rounds, votes->member_wait_ms);
    votes->next = 0;
    rli_tally_begin(&votes->tally, members, rli_red_majority(votes->on.set));
    votes->again = rli_red_count_valid(&votes->on) >= rli_red_majority(votes->on.set);
    for (size_t i = 0; i < members; i++)
        votes->taken[i] = false;
}

static rlock_status pause(rli_composite_machine *on)
{
    voting *votes = voting_of(on);
    rlock_status status = rli_composite_pause(on, rli_random_up_to(PAUSE_MS), votes->deadline_ms);
    if (status == RLI_WAITING)
        return status;
    if (status != RLOCK_OK)
        return rli_composite_next(on, RLI_COMPOSITE_DONE, status);
    if (rli_now_ms() >= votes->deadline_ms)
        return rli_composite_next(on, RLI_COMPOSITE_DONE, rli_fail_text(votes->passes.status, votes->passes.said));
    /* rivals then meet at the first member, instead of each taking a part */
    votes->order = rli_composite_sorted(on->set);
    votes->rounds++;
    begin_pass(votes);
    return rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
}

static rli_composite_step *const acquiring[RLI_COMPOSITE_STAGES] = {[RLI_COMPOSITE_ASKS] = ask,
                                                                    [RLI_COMPOSITE_EXTENDS] = extend_aged,
                                                                    [RLI_COMPOSITE_GIVES_BACK] = give_back,
                                                                    [RLI_COMPOSITE_PAUSES] = pause};

static rli_machine *begin_acquiring(rlock *handle, const rli_job *job, rli_operation *whole, voting *votes)
{
    rli_composite_prepare(&votes->on, handle, job, whole, RLI_MACHINE_SIZE(voting), acquiring);
    votes->deadline_ms = rli_after_ms(job->wait_ms);
    votes->order = votes->on.set->members;
    votes->rounds = 0;
    votes->passes = (rli_passes){.status = RLOCK_OK};
    begin_pass(votes);
    return &votes->on.base;
}

/* --- releasing --- */

/* Which failure to report: a lost hold first, then one that may still be held. */
static int weight(rlock_status status)
{
    if (status == RLOCK_LOST)
        return 3;
    return status == RLOCK_NOT_OWNER ? 1 : 2;
}

/* An inner hold that was acquired without this member is released without it. */
static bool was_missed(rli_sweep *sweep, rlock *member, rlock_status *status)
{
    *status = RLOCK_OK;
    return member->methods->drop_missed(member, rli_composite_owner(&sweep->on));
}

/* All members are released. Failures of fewer than half of them are not reported. */
static rli_swept count_released(rli_sweep *sweep, rlock_status status)
{
    sweep->good += status == RLOCK_OK;
    if (status != RLOCK_OK && (sweep->failed == RLOCK_OK || weight(status) > weight(sweep->failed)))
        rli_sweep_keep(sweep, status);
    return RLI_SWEEP_ON;
}

static rlock_status judge_released(rli_sweep *sweep)
{
    rli_red_release_ended(sweep->on.set, sweep->on.job);
    size_t members = sweep->on.set->count, need = rli_red_majority(sweep->on.set);
    if (sweep->good >= need)
        return RLOCK_OK;
    /* What one member released was held, by too few. */
    if (sweep->good > 0 && sweep->failed == RLOCK_NOT_OWNER)
        sweep->failed = RLOCK_LOST;
    return rli_fail(sweep->failed, "a red lock: %zu of %zu released, %zu needed; %s", sweep->good, members, need,
                    sweep->why);
}

/* --- extending and asking --- */

static rli_swept count_extended(rli_sweep *sweep, rlock_status status)
{
    sweep->good += status == RLOCK_OK;
    if (status != RLOCK_OK && (sweep->failed == RLOCK_OK || status != RLOCK_NOT_OWNER))
        sweep->failed = status;
    return RLI_SWEEP_ON;
}

static rlock_status judge_extended(rli_sweep *sweep)
{
    size_t members = sweep->on.set->count, need = rli_red_majority(sweep->on.set);
    if (sweep->good >= need)
        return RLOCK_OK;
    return rli_fail(sweep->failed, "a red lock: %zu of %zu extended, %zu needed", sweep->good, members, need);
}

/* Asks until the result is decided. */
static rli_swept count_held(rli_sweep *sweep, rlock_status status)
{
    size_t members = sweep->on.set->count, need = rli_red_majority(sweep->on.set);
    bool held = status == RLOCK_OK && sweep->on.part_answer;
    sweep->good += held;
    sweep->bad += status == RLOCK_OK && !held;
    if (status != RLOCK_OK)
        rli_sweep_keep(sweep, status);
    sweep->on.base.answer = sweep->good >= need;
    return sweep->good < need && sweep->bad <= members - need ? RLI_SWEEP_ON : RLI_SWEEP_ENOUGH;
}

static rlock_status judge_held(rli_sweep *sweep)
{
    size_t members = sweep->on.set->count, need = rli_red_majority(sweep->on.set);
    if (sweep->good >= need || sweep->bad > members - need)
        return RLOCK_OK;
    return rli_fail_text(sweep->failed, sweep->why); /* the members that did not answer would decide */
}

const rli_sweep_rules rli_red_rules[RLI_JOB_KINDS] = {
    [RLI_JOB_RELEASE] = {.skips = was_missed, .count = count_released, .judge = judge_released},
    [RLI_JOB_EXTEND] = {.skips = rli_sweep_cannot_extend, .count = count_extended, .judge = judge_extended},
    [RLI_JOB_IS_HELD] = {.skips = rli_sweep_skips_unheld, .count = count_held, .judge = judge_held},
};

/* --- the handle --- */

static size_t room(const rlock *handle, rli_job_kind kind)
{
    size_t own = kind == RLI_JOB_ACQUIRE ? RLI_MACHINE_SIZE(voting) : RLI_MACHINE_SIZE(rli_sweep);
    return own + rli_composite_members_room(handle, kind);
}

static rli_machine *begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory)
{
    if (job->kind == RLI_JOB_ACQUIRE)
        return begin_acquiring(handle, job, whole, memory);
    return &rli_sweep_begin(handle, job, whole, memory, &rli_red_rules[job->kind])->on.base;
}

static rlock_status run(rlock *handle, const rli_job *job, int64_t *answer)
{
    union {
        rli_composite_machine any;
        voting acquire;
        rli_sweep sweep;
    } memory;
    begin(handle, job, NULL, &memory);
    return rli_composite_run(&memory.any, answer);
}

static const rli_methods methods = {
    .check = rli_red_check,
    .jobs = RLI_COMPOSITE_JOBS,
    .run = run,
    .room = room,
    .begin = begin,
    .valid_for = rli_red_valid_for,
    RLI_COMPOSITE_METHODS,
};

/* Checks that each member is a single lock, and that no lock is given twice: each vote must be a server's own. */
static bool check_votes(const rli_composite *set)
{
    char shown[RLI_MEMBER_SHOWN];
    for (size_t i = 0; i < set->count; i++) {
        const rlock *member = set->members[i];
        if (member->methods->place(member).several) {
            rli_fail(RLOCK_INVALID, "locks[%zu] of a red lock is itself made of several; its members are single locks",
                     i);
            return false;
        }
        /* In the sorted order, equal locks are neighbours. */
        rlock *const *settled = rli_composite_sorted(set);
        if (i > 0 && rli_composite_same_identity(settled[i - 1], settled[i])) {
            rli_fail(RLOCK_INVALID,
                     "lock %s is twice among the locks of a red lock, on the same server; each must be "
                     "on a server, or of a name, of its own",
                     rli_composite_format_member(settled[i], shown));
            return false;
        }
    }
    return true;
}

/* Whether all are token locks, which are not waited for. */
static bool are_tokens(rlock *const *locks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!locks[i] || locks[i]->methods->place(locks[i]).several ||
            rli_single_of(locks[i])->kind != &rli_kind_token)
            return false;
    }
    return true;
}

rlock *rlock_get_red_lock(rlock *const *locks, size_t n)
{
    return rlock_get_red_lock_with(locks, n, NULL);
}

static rlock_status read_options(rlock_red_options *full, const rlock_red_options *given)
{
    static const rli_sized sized = RLI_SIZED(rlock_red_options, min_valid_percent, "options", "RLOCK_RED_OPTIONS_INIT");
    rlock_status status = given ? rli_sized_read(full, given, &sized) : RLOCK_OK;
    if (status != RLOCK_OK || (full->min_valid_percent >= 0 && full->min_valid_percent <= 100))
        return status;
    return rli_fail(RLOCK_INVALID, "min_valid_percent is %lld; it must be from 0 to 100",
                    (long long)full->min_valid_percent);
}

rlock *rlock_get_red_lock_with(rlock *const *locks, size_t n, const rlock_red_options *options)
{
    rlock_red_options full = RLOCK_RED_OPTIONS_INIT;
    if (read_options(&full, options) != RLOCK_OK)
        return NULL;
    bool at_once = locks && are_tokens(locks, n);
    rlock *lock = rli_composite_make(at_once ? &rli_red_at_once : &methods, "red lock", locks, n);
    if (lock && !check_votes(rli_composite_of(lock))) {
        rli_composite_free(lock);
        return NULL;
    }
    if (lock)
        rli_composite_of(lock)->least_valid_percent = (int)full.min_valid_percent;
    return lock;
}
