/* Multi lock, Redisson's RedissonMultiLock: takes all of its members one by one, or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "locks/composite.h"
#include "locks/round.h"

#include <stdio.h>

/* Longest pause between two attempts, in which nothing is held: other waiters get the chance to take what was
 * released. */
#define PAUSE_MS 10
/* After this many attempts in a row in which the first members expired before the last one was taken, the
 * lease is too short, and the call ends. */
#define IN_VAIN 32

/* --- asking --- */

static rlock_status check(const rlock *handle)
{
    const rli_composite *set = rli_composite_of(handle);
    rlock_status status = RLOCK_OK;
    for (size_t i = 0; i < set->count && status == RLOCK_OK; i++)
        status = set->members[i]->methods->check(set->members[i]);
    return status;
}

static int64_t valid_for(rlock *handle)
{
    const rli_composite *set = rli_composite_of(handle);
    int64_t least_ms = RLI_NEVER;
    for (size_t i = 0; i < set->count && least_ms > 0; i++)
        least_ms = rli_earlier(least_ms, set->members[i]->methods->valid_for(set->members[i]));
    return least_ms;
}

static rlock_status is_held(rlock *handle, bool *held)
{
    const rli_composite *set = rli_composite_of(handle);
    rlock_status status = RLOCK_OK;
    bool all = true;
    for (size_t i = 0; i < set->count && status == RLOCK_OK && all; i++)
        status = set->members[i]->methods->is_held(set->members[i], &all);
    if (status == RLOCK_OK)
        *held = all;
    return status;
}

/* --- acquiring --- */

/* One acquire under way. An attempt takes the members in a row: first the member with index `lead`, then the
 * others in their order. */
typedef struct gathering {
    rli_composite *set;
    rlock_lock_options options; /* for the acquire of a member */
    int64_t wait_ms, deadline_ms;
    rlock *const *order;
    size_t lead;         /* index in `order` */
    int64_t patience_ms; /* longest wait for a member while others are held */
    int64_t answer_ms;   /* the caller's */
    size_t taken;        /* members 0 to taken-1 of the row are taken */
    size_t refused;      /* position in the row of the member that was refused */
    bool first;          /* this is the first attempt */
    bool in_vain;        /* taken members expired before all were taken */
} gathering;

static size_t index_in_order(const gathering *all, size_t i)
{
    if (i == 0)
        return all->lead;
    return i <= all->lead ? i - 1 : i;
}

static rlock *row(const gathering *all, size_t i)
{
    return all->order[index_in_order(all, i)];
}

/* The shortest time for which a taken member is still valid. */
static int64_t least_valid(const gathering *all)
{
    int64_t least_ms = RLI_NEVER;
    for (size_t i = 0; i < all->taken; i++)
        least_ms = rli_earlier(least_ms, row(all, i)->methods->valid_for(row(all, i)));
    return least_ms;
}

/* How long to wait for a member. While nothing is held, the wait may use all the time that is left. While
 * members are held, it must be short, so that others get their turn; and once the first member has expired,
 * the next one is useless. */
static int64_t member_wait(const gathering *all, size_t i)
{
    if (all->wait_ms <= 0)
        return 0;
    int64_t left_ms = all->deadline_ms == RLI_NEVER ? RLOCK_FOREVER : all->deadline_ms - rli_now_ms();
    return i == 0 ? left_ms : rli_earlier(rli_earlier(left_ms, all->patience_ms), least_valid(all));
}

/* How long to wait for a member's answer. While other members are held, a silent server is not waited for
 * longer than necessary, if enough time is left to ask it first in another attempt. */
static int64_t member_answer(const gathering *all, size_t i)
{
    bool comes_again = all->wait_ms > 0 && all->deadline_ms - rli_now_ms() > RLI_COMPOSITE_ANSWER_MS;
    return i > 0 && comes_again ? rli_earlier(all->answer_ms, RLI_COMPOSITE_ANSWER_MS) : all->answer_ms;
}

static rlock_status ran_out(gathering *all)
{
    all->in_vain = true;
    return rli_fail(RLOCK_TIMEOUT,
                    "a multi lock of %zu: a lock that was taken first had run out, or was lost, "
                    "before the last was taken",
                    all->set->count);
}

static rlock_status take(gathering *all, size_t i)
{
    rlock *member = row(all, i);
    all->refused = i;
    if (least_valid(all) <= 0)
        return ran_out(all);
    all->options.wait_ms = member_wait(all, i);
    if (all->wait_ms > 0 && all->options.wait_ms <= 0) {
        if (!all->first)
            return rli_fail(RLOCK_TIMEOUT, "no time is left");
        all->options.wait_ms = 1; /* every member is asked at least once, however short the wait */
    }
    rlock_status status = member->methods->acquire(member, &all->options, member_answer(all, i), NULL);
    if (status == RLOCK_OK)
        all->taken = i + 1;
    return status;
}

/* Releases all that is taken, without long waits for the answers of a server in trouble. */
static void give_back(gathering *all)
{
    while (all->taken > 0) {
        all->taken--;
        row(all, all->taken)->methods->release(row(all, all->taken), RLI_COMPOSITE_ANSWER_MS);
    }
}

/* All members are taken: checks that they are still valid. Renews the leases of those that were taken some time ago. */
static rlock_status complete(gathering *all)
{
    int64_t lease_ms = all->options.lease_ms;
    for (size_t i = 0; i < all->taken && lease_ms != RLOCK_WATCHDOG; i++)
        rli_composite_extend_if_aged(row(all, i), lease_ms);
    return least_valid(all) > 0 ? RLOCK_OK : ran_out(all);
}

static rlock_status say(const gathering *all, rlock_status status, const char *why)
{
    char shown[RLI_MEMBER_SHOWN];
    rlock *member = row(all, all->refused);
    if (status != RLOCK_TIMEOUT || all->in_vain)
        return rli_fail_text(status, why);
    rli_composite_format_member(member, shown);
    if (all->wait_ms <= 0)
        return rli_fail(status,
                        "a multi lock of %zu: lock %s is held by another owner, or others wait for it before this one",
                        all->set->count, shown);
    return rli_fail(status, "could not acquire a multi lock of %zu within %lld ms; lock %s was the last to refuse",
                    all->set->count, (long long)all->wait_ms, shown);
}

/* Takes all members, or none. */
static rlock_status attempt(gathering *all)
{
    rlock_status status = RLOCK_OK;
    all->taken = 0;
    all->in_vain = false;
    for (size_t i = 0; i < all->set->count && status == RLOCK_OK; i++)
        status = take(all, i);
    if (status == RLOCK_OK)
        status = complete(all);
    if (status == RLOCK_OK)
        return RLOCK_OK;
    char why[512];
    snprintf(why, sizeof why, "%s", rlock_last_error());
    give_back(all);
    return say(all, status, why);
}

/* Whether to start over: there is time left, and another attempt may succeed. */
static bool worth_another(const gathering *all, rlock_status status, int in_vain)
{
    if (all->wait_ms <= 0 || rli_now_ms() >= all->deadline_ms || in_vain >= IN_VAIN)
        return false;
    /* If the first of the row was refused or did not answer, it had all the time, or all the attempts. */
    return status == RLOCK_TIMEOUT || (status == RLOCK_UNAVAILABLE && all->refused > 0);
}

static rlock_status acquire(rlock *handle, const rlock_lock_options *options, int64_t answer_ms, uint64_t *token)
{
    (void)token; /* multi locks have no token */
    if (options->named_owner)
        return rli_composite_acquire_for(handle, options, answer_ms);
    rli_composite *set = rli_composite_of(handle);
    gathering all = {.set = set,
                     .options = *options,
                     .wait_ms = options->wait_ms,
                     .order = set->members,
                     .deadline_ms = rli_after_ms(options->wait_ms),
                     .answer_ms = answer_ms};
    bool ends = options->wait_ms != RLOCK_FOREVER;
    for (int i = 0, in_vain = 0;; i++) {
        all.patience_ms = rli_patience_ms(i, ends ? options->wait_ms : rli_round_ms(set->count, options->lease_ms));
        all.first = i == 0;
        rlock_status status = attempt(&all);
        in_vain = all.in_vain ? in_vain + 1 : 0;
        if (status == RLOCK_OK || !worth_another(&all, status, in_vain))
            return status;
        /* A server that did not answer within the short time is asked first in the next attempt, with all the
         * time that is left. A member that was refused may be held by an owner that waits for those that this
         * attempt released: from now on use the sorted order, which all owners that met such a refusal use. */
        size_t lead = status == RLOCK_UNAVAILABLE ? index_in_order(&all, all.refused) : 0;
        if (status == RLOCK_TIMEOUT)
            all.order = rli_composite_sorted(set);
        all.lead = lead;
        if (!rli_composite_pause(set, options->cancel, PAUSE_MS, all.deadline_ms, &status))
            return status;
    }
}

/* --- releasing --- */

/* Releases all members, even if one fails. */
static rlock_status release(rlock *handle, int64_t answer_ms)
{
    const rli_composite *set = rli_composite_of(handle);
    rlock_status first = RLOCK_OK;
    char why[512];
    for (size_t i = 0; i < set->count; i++) {
        rlock_status status = rli_composite_release(set->members[i], answer_ms);
        if (status == RLOCK_OK || first != RLOCK_OK)
            continue;
        first = status;
        snprintf(why, sizeof why, "%s", rlock_last_error());
    }
    return first == RLOCK_OK ? RLOCK_OK : rli_fail_text(first, why);
}

static rlock_status extend(rlock *handle, int64_t lease_ms, int64_t answer_ms)
{
    const rli_composite *set = rli_composite_of(handle);
    rlock_status status = RLOCK_OK;
    for (size_t i = 0; i < set->count && status == RLOCK_OK; i++)
        status = set->members[i]->methods->extend(set->members[i], lease_ms, answer_ms);
    return status;
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

rlock *rlock_get_multi_lock(rlock *const *locks, size_t n)
{
    return rli_composite_make(&methods, "multi lock", locks, n);
}
