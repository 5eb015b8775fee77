/* Red lock, Redisson's RedissonRedLock: held while more than half of its members are held, each on a server
 * of its own, so that it survives the loss of the others. This is Redis's "Redlock" algorithm. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "base/sized.h"
#include "client/client.h"
#include "engine/session.h"
#include "locks/red.h"
#include "locks/red_keeper.h"
#include "locks/single.h"
#include "locks/sweep.h"

#include <stdlib.h>

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

/* For how long a majority is valid; members_ms: each member. */
static int64_t majority_ms(const rli_composite *set, int64_t *members_ms)
{
    qsort(members_ms, set->count, sizeof *members_ms, descending);
    int64_t least_ms = members_ms[rli_red_majority(set) - 1] - DRIFT_MS;
    return least_ms > 0 ? least_ms : 0;
}

int64_t rli_red_valid_for(rlock *handle, const rli_owner *owner)
{
    const rli_composite *set = rli_composite_of(handle);
    int64_t left_ms[RLI_MEMBERS_MAX];
    for (size_t i = 0; i < set->count; i++)
        left_ms[i] = set->members[i]->methods->valid_for(set->members[i], owner);
    return majority_ms(set, left_ms);
}

int64_t rli_red_lease_ms(const rli_composite_machine *on)
{
    return rli_lease_on_server(&rli_composite_home(&on->set->base)->engine, on->job->lease_ms);
}

bool rli_red_is_valid(const rli_composite_machine *on, rlock *const *members, const uint64_t *took)
{
    int64_t members_ms[RLI_MEMBERS_MAX], lease_ms = rli_red_lease_ms(on);
    for (size_t i = 0; i < on->set->count; i++)
        members_ms[i] = took[i] ? rli_composite_valid_in(on, members[i], took[i]) : 0;
    int64_t left_ms = majority_ms(on->set, members_ms);
    /* A long lease is divided first, since the product may overflow. */
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

int rli_red_attempts(const rli_composite *set)
{
    return rli_single_attempts(rli_single_of(set->members[0]));
}

/* --- releasing --- */

/* Which failure to report: that of a member that may still be held first, then a lost hold. */
static int weight(rlock_status status)
{
    if (status == RLOCK_LOST)
        return 2;
    return status == RLOCK_NOT_OWNER ? 1 : 3;
}

/* Counts a member that has one hold less, or was extended, or why not. */
static rli_swept count_changed(rli_sweep *sweep, rlock_status status)
{
    sweep->good += status == RLOCK_OK;
    sweep->lost += status == RLOCK_LOST;
    /* Nobody renews what a closed client had. */
    sweep->bad += status == RLOCK_LOST || status == RLOCK_NOT_OWNER || status == RLOCK_CLOSED;
    if (status != RLOCK_OK && (sweep->failed == RLOCK_OK || weight(status) > weight(sweep->failed)))
        rli_sweep_keep(sweep, status);
    return RLI_SWEEP_ON;
}

/* Failures of fewer than half of the members are not reported. The lock was lost if those that did not answer, or
 * refused, cannot make a majority of what is left. */
static rlock_status judge_changed(rli_sweep *sweep, const char *done)
{
    size_t members = sweep->on.set->count, need = rli_red_majority(sweep->on.set);
    if (sweep->good >= need)
        return RLOCK_OK;
    bool held_before = sweep->lost > 0 || (sweep->good > 0 && sweep->failed == RLOCK_NOT_OWNER);
    if (held_before && sweep->bad > members - need)
        sweep->failed = RLOCK_LOST;
    return rli_fail(sweep->failed, "a red lock: %zu of %zu %s, %zu needed, %zu lost before; %s", sweep->good, members,
                    done, need, sweep->lost, sweep->why);
}

/* An inner hold that was acquired without this member is released without it. */
static bool was_missed(rli_sweep *sweep, rlock *member, rlock_status *status)
{
    *status = RLOCK_OK;
    return member->methods->drop_missed(member, rli_composite_owner(&sweep->on));
}

static rlock_status judge_released(rli_sweep *sweep)
{
    rlock_status status = judge_changed(sweep, "released");
    rli_red_call_ended(sweep->on.set, sweep->on.job, sweep->told, status);
    return status;
}

/* --- extending and asking --- */

static rlock_status judge_extended(rli_sweep *sweep)
{
    return judge_changed(sweep, "extended");
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
    [RLI_JOB_RELEASE] = {.skips = was_missed, .count = count_changed, .judge = judge_released},
    [RLI_JOB_EXTEND] = {.count = count_changed, .judge = judge_extended},
    [RLI_JOB_IS_HELD] = {.skips = rli_sweep_skips_unheld, .count = count_held, .judge = judge_held},
};

/* --- tokens --- */

uint64_t rli_red_greatest_token(const rli_composite *set, const rli_owner *owner)
{
    uint64_t greatest = 0, token;
    for (size_t i = 0; i < set->count; i++) {
        if (set->members[i]->methods->get_token(set->members[i], owner, &token) == RLOCK_OK && token > greatest)
            greatest = token;
    }
    return greatest;
}

/* A majority of the members has had its counters raised to the token. Some may have gone beyond it since, as their
 * owner has taken them by their names. So the token is the greatest value that at least a majority has reached: the
 * next holder, who needs one of these members, gets a greater one. */
rlock_status rli_red_get_token(rlock *handle, const rli_owner *owner, uint64_t *token)
{
    const rli_composite *set = rli_composite_of(handle);
    size_t held = 0, need = rli_red_majority(set);
    int64_t tokens[RLI_MEMBERS_MAX];
    for (size_t i = 0; i < set->count; i++) {
        uint64_t own;
        if (set->members[i]->methods->get_token(set->members[i], owner, &own) == RLOCK_OK)
            tokens[held++] = (int64_t)own; /* as the server counts */
    }
    if (held < need || rli_red_valid_for(handle, owner) <= 0)
        return rli_fail(RLOCK_NOT_OWNER, "the red lock is not held by this owner, so it has no token");
    qsort(tokens, held, sizeof *tokens, descending);
    *token = (uint64_t)tokens[need - 1];
    return RLOCK_OK;
}

/* --- the handle --- */

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
        rlock *const *sorted = rli_composite_sorted(set);
        if (i > 0 && rli_composite_same_identity(sorted[i - 1], sorted[i])) {
            rli_fail(RLOCK_INVALID,
                     "lock %s occurs twice in a red lock, on the same server; each member must have a different "
                     "server or name",
                     rli_composite_format_member(sorted[i], shown));
            return false;
        }
    }
    return true;
}

/* Whether all are single locks of that kind. */
static bool are_all(const rli_kind *kind, rlock *const *locks, size_t n)
{
    for (size_t i = 0; locks && i < n; i++) {
        if (!locks[i] || locks[i]->methods->place(locks[i]).several || rli_single_of(locks[i])->kind != kind)
            return false;
    }
    return locks;
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
    const rli_methods *methods = are_all(&rli_kind_token, locks, n)    ? &rli_red_at_once
                                 : are_all(&rli_kind_fenced, locks, n) ? &rli_red_fenced
                                                                       : &rli_red_in_turn;
    rlock *lock = rli_composite_make(methods, "red lock", locks, n, RLI_MEMBERS_MAX);
    if (lock && !check_votes(rli_composite_of(lock))) {
        rli_composite_free(lock);
        return NULL;
    }
    if (lock)
        rli_composite_of(lock)->least_valid_percent = (int)full.min_valid_percent;
    return lock;
}
