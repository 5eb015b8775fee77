/* Red lock, Redisson's RedissonRedLock: held while more than half of its members are held, each on a server
 * of its own, so that it survives the loss of the others. This is Redis's "Redlock" algorithm. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "locks/composite.h"
#include "locks/round.h"

#include <stdio.h>
#include <stdlib.h>

/* Longest pause between two passes: owners that have each won a minority come back at different times. */
#define PAUSE_MS 50
/* After this many passes in a row in which the lease ended before a majority was taken, the lease is too
 * short, and the call ends. */
#define IN_VAIN 32
/* Allowed clock drift, in addition to the 1 % by which each member's deadline is shorter than its lease. */
#define DRIFT_MS 2

static size_t majority(const rli_composite *set)
{
    return set->count / 2 + 1;
}

/* --- asking --- */

/* A closed client counts as a server that is down. */
static rlock_status check(const rlock *handle)
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
    return usable >= majority(set) ? RLOCK_OK : failed;
}

static int descending(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

static int64_t valid_for(rlock *handle)
{
    const rli_composite *set = rli_composite_of(handle);
    int64_t left_ms[RLI_MEMBERS_MAX];
    for (size_t i = 0; i < set->count; i++)
        left_ms[i] = set->members[i]->methods->valid_for(set->members[i]);
    qsort(left_ms, set->count, sizeof *left_ms, descending);
    int64_t least_ms = left_ms[majority(set) - 1] - DRIFT_MS;
    return least_ms > 0 ? least_ms : 0;
}

static size_t count_valid(const rli_composite *set)
{
    size_t valid = 0;
    for (size_t i = 0; i < set->count; i++)
        valid += set->members[i]->methods->valid_for(set->members[i]) > 0;
    return valid;
}

/* Asks members until the result is decided. Does not ask for members that this process knows it does not hold. */
static rlock_status is_held(rlock *handle, bool *held)
{
    const rli_composite *set = rli_composite_of(handle);
    rlock_status failed = RLOCK_OK;
    size_t yes = 0, no = 0, need = majority(set);
    for (size_t i = 0; i < set->count && yes < need && no <= set->count - need; i++) {
        rlock *member = set->members[i];
        bool one = false;
        rlock_status status = member->methods->valid_for(member) > 0 ? member->methods->is_held(member, &one)
                                                                     : RLOCK_OK;
        yes += status == RLOCK_OK && one;
        no += status == RLOCK_OK && !one;
        if (status != RLOCK_OK)
            failed = status;
    }
    if (yes < need && no <= set->count - need)
        return failed; /* the members that did not answer would decide */
    *held = yes >= need;
    return RLOCK_OK;
}

/* --- acquiring --- */

typedef struct voting {
    rli_composite *set;
    rlock_lock_options options; /* for the acquire of a member */
    int64_t wait_ms, deadline_ms;
    rlock *const *order;
    int64_t member_wait_ms; /* longest wait for a member while none is held */
    int64_t patience_ms;    /* the same while some are held, in this pass */
    bool again;             /* the owner holds the red lock already */
    bool taken[RLI_MEMBERS_MAX];
    size_t granted, refused, failed;
    bool in_vain; /* the majority was granted, but not for long enough */
    /* The most important failure of a member in this pass, and its message. */
    rlock_status failure;
    char why[512];
} voting;

/* Whether a status ends the whole call. */
static bool is_final(rlock_status status)
{
    return status == RLOCK_CANCELLED || status == RLOCK_FORKED || status == RLOCK_NO_MEMORY;
}

static int64_t wait_for_member(const voting *votes)
{
    /* With a majority the lock is held; the remaining members are taken only if they are free. Ask them once,
     * but not for as long as a server that is down would take. */
    if (votes->wait_ms <= 0 || votes->granted >= majority(votes->set))
        return 1;
    int64_t left_ms = votes->deadline_ms - rli_now_ms();
    /* An owner that holds a minority may be the one that others wait for. */
    int64_t wait_ms = rli_earlier(left_ms, votes->granted > 0 ? votes->patience_ms : votes->member_wait_ms);
    return wait_ms > 1 ? wait_ms : 1;
}

/* Keeps the first status that waiting cannot change; RLOCK_UNAVAILABLE gives way to any other status. */
static void note_failure(voting *votes, rlock_status status)
{
    votes->failed++;
    if (votes->failure != RLOCK_OK && votes->failure != RLOCK_UNAVAILABLE)
        return;
    votes->failure = status;
    snprintf(votes->why, sizeof votes->why, "%s", rlock_last_error());
}

static rlock_status ask(voting *votes, size_t i)
{
    rlock *member = votes->order[i];
    /* A re-entry takes only members that are held already. Otherwise the inner hold's majority could differ
     * from the outer one's, and releasing the inner hold would end both. */
    if (votes->again && member->methods->valid_for(member) <= 0) {
        votes->refused++;
        return RLOCK_TIMEOUT;
    }
    votes->options.wait_ms = wait_for_member(votes);
    rlock_status status = member->methods->acquire(member, &votes->options, RLI_COMPOSITE_ANSWER_MS, NULL);
    votes->taken[i] = status == RLOCK_OK;
    if (status == RLOCK_OK)
        votes->granted++;
    else if (status == RLOCK_TIMEOUT)
        votes->refused++;
    else
        note_failure(votes, status);
    return status;
}

static void give_back(voting *votes)
{
    for (size_t i = 0; i < votes->set->count; i++) {
        rlock *member = votes->order[i];
        if (votes->taken[i])
            member->methods->release(member, RLI_COMPOSITE_ANSWER_MS);
    }
}

/* The majority is taken: extends the leases, and returns whether the lock is valid. */
static bool complete(voting *votes)
{
    int64_t lease_ms = votes->options.lease_ms;
    for (size_t i = 0; i < votes->set->count && lease_ms != RLOCK_WATCHDOG; i++) {
        if (votes->taken[i])
            rli_composite_extend_if_aged(votes->order[i], lease_ms);
    }
    return valid_for(&votes->set->base) > 0;
}

/* The holds of one owner need not have the same members: tells each held member that this hold was acquired
 * without it. */
static void note_missed(const voting *votes)
{
    for (size_t i = 0; votes->again && i < votes->set->count; i++) {
        if (!votes->taken[i])
            votes->order[i]->methods->miss(votes->order[i]);
    }
}

static rlock_status say(const voting *votes)
{
    size_t count = votes->set->count, need = majority(votes->set);
    if (votes->in_vain)
        return rli_fail(RLOCK_TIMEOUT,
                        "a red lock of %zu: the lease of %lld ms had ended before %zu of them were "
                        "taken",
                        count, (long long)votes->options.lease_ms, need);
    /* A member that was lost counts as refused while the others still make a majority. */
    bool fails = votes->failure != RLOCK_OK && (votes->failure != RLOCK_LOST || count_valid(votes->set) < need);
    /* The members that failed could have made a majority. */
    if (fails && votes->refused <= count - need)
        return rli_fail(votes->failure, "a red lock: %zu of %zu taken, %zu needed; %.400s", votes->granted, count, need,
                        votes->why);
    return rli_fail(RLOCK_TIMEOUT, "a red lock: %zu of %zu taken, %zu needed; %zu are held by other owners",
                    votes->granted, count, need, votes->refused);
}

/* Asks the members one after the other; then holds a majority, or nothing. */
static rlock_status pass(voting *votes)
{
    size_t count = votes->set->count, need = majority(votes->set);
    rlock_status status = RLOCK_OK;
    votes->granted = votes->refused = votes->failed = 0;
    votes->failure = RLOCK_OK;
    votes->again = count_valid(votes->set) >= need;
    for (size_t i = 0; i < count; i++)
        votes->taken[i] = false;
    for (size_t i = 0; i < count && votes->refused + votes->failed <= count - need; i++) {
        if (i > 0 && votes->granted < need && votes->wait_ms > 0 && rli_now_ms() >= votes->deadline_ms)
            break;
        status = ask(votes, i);
        if (is_final(status))
            break;
    }
    votes->in_vain = votes->granted >= need;
    if (votes->in_vain && complete(votes)) {
        votes->in_vain = false;
        note_missed(votes);
        return RLOCK_OK;
    }
    bool ended = is_final(status) && !votes->in_vain;
    if (ended)
        snprintf(votes->why, sizeof votes->why, "%s", rlock_last_error());
    give_back(votes);
    return ended ? rli_fail_text(status, votes->why) : say(votes);
}

/* How many passes in a row may fail without an answer: as many as the client has attempts. */
static int attempts_of(const rli_composite *set)
{
    rli_identity place = rli_composite_identity(&set->base);
    return place.client->settings.retry_attempts + 1;
}

static rlock_status acquire(rlock *handle, const rlock_lock_options *options, int64_t answer_ms, uint64_t *token)
{
    (void)token; /* red locks have no token */
    if (options->named_owner)
        return rli_composite_acquire_for(handle, options, answer_ms);
    rli_composite *set = rli_composite_of(handle);
    voting votes = {.set = set,
                    .options = *options,
                    .wait_ms = options->wait_ms,
                    .order = set->members,
                    .deadline_ms = rli_after_ms(options->wait_ms)};
    for (int i = 0, unheard = 0, in_vain = 0;; i++) {
        int64_t round_ms = rli_round_ms(set->count, options->lease_ms);
        if (options->lease_ms == RLOCK_WATCHDOG && options->wait_ms != RLOCK_FOREVER)
            round_ms = options->wait_ms;
        else if (options->wait_ms < round_ms)
            round_ms = options->wait_ms;
        votes.member_wait_ms = round_ms / (int64_t)set->count;
        votes.patience_ms = rli_patience_ms(i, votes.member_wait_ms);
        rlock_status status = pass(&votes);
        unheard = status == RLOCK_UNAVAILABLE ? unheard + 1 : 0;
        in_vain = votes.in_vain ? in_vain + 1 : 0;
        bool may_change = (status == RLOCK_TIMEOUT && in_vain < IN_VAIN) ||
                          (status == RLOCK_UNAVAILABLE && unheard < attempts_of(set));
        if (!may_change || options->wait_ms <= 0 || rli_now_ms() >= votes.deadline_ms)
            return status;
        /* rivals then meet at the first member, instead of each taking a part */
        votes.order = rli_composite_sorted(set);
        if (!rli_composite_pause(set, options->cancel, PAUSE_MS, votes.deadline_ms, &status))
            return status;
    }
}

/* --- releasing --- */

/* Which failure to report: a lost hold first, then one that may still be held. */
static int weight(rlock_status status)
{
    if (status == RLOCK_LOST)
        return 3;
    return status == RLOCK_NOT_OWNER ? 1 : 2;
}

/* Releases all members. Failures of fewer than half of them are not reported. */
static rlock_status release(rlock *handle, int64_t answer_ms)
{
    const rli_composite *set = rli_composite_of(handle);
    rlock_status worst = RLOCK_OK;
    char why[400];
    size_t released = 0;
    for (size_t i = 0; i < set->count; i++) {
        rlock *member = set->members[i];
        rlock_status status = RLOCK_OK;
        if (!member->methods->drop_missed(member))
            status = rli_composite_release(member, answer_ms);
        released += status == RLOCK_OK;
        if (status == RLOCK_OK || (worst != RLOCK_OK && weight(status) <= weight(worst)))
            continue;
        worst = status;
        snprintf(why, sizeof why, "%.399s", rlock_last_error());
    }
    if (released >= majority(set))
        return RLOCK_OK;
    return rli_fail(worst, "a red lock: %zu of %zu released, %zu needed; %s", released, set->count, majority(set), why);
}

/* Extends the members that are held. */
static rlock_status extend(rlock *handle, int64_t lease_ms, int64_t answer_ms)
{
    const rli_composite *set = rli_composite_of(handle);
    rlock_status failed = RLOCK_NOT_OWNER;
    size_t extended = 0;
    for (size_t i = 0; i < set->count; i++) {
        rlock *member = set->members[i];
        if (member->methods->valid_for(member) <= 0)
            continue;
        rlock_status status = member->methods->extend(member, lease_ms, answer_ms);
        extended += status == RLOCK_OK;
        if (status != RLOCK_OK)
            failed = status;
    }
    return extended >= majority(set)
               ? RLOCK_OK
               : rli_fail(failed, "a red lock: %zu of %zu extended, %zu needed", extended, set->count, majority(set));
}

static const rli_methods methods = {
    .check = check,
    .acquire = acquire,
    .release = release,
    .is_held = is_held,
    .valid_for = valid_for,
    .extend = extend,
    .copy = rli_composite_copy,
    .for_owner = rli_composite_for_owner,
    .place = rli_composite_identity,
    .name = rli_composite_name,
    .free = rli_composite_free,
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

rlock *rlock_get_red_lock(rlock *const *locks, size_t n)
{
    rlock *lock = rli_composite_make(&methods, "red lock", locks, n);
    if (lock && !check_votes(rli_composite_of(lock))) {
        rli_composite_free(lock);
        return NULL;
    }
    return lock;
}
