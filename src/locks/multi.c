/* The multi lock, Redisson's RedissonMultiLock: all of its members, taken one by one, or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "locks/composite.h"
#include "locks/round.h"

#include <stdio.h>

/* Between two attempts, holding nothing: who gave way lets those who wait take what it gave back. */
#define PAUSE_MS 10
/* So often in a row the first members may have run out before the last was asked: then the lease is
 * too short, and would be so for ever. */
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

/* One call under way. An attempt takes the members in a row: the one to begin with, then the others
 * in their order. */
typedef struct gathering {
    rli_composite *set;
    rlock_lock_options options; /* of a member's acquire */
    int64_t wait_ms, deadline_ms;
    rlock *const *order;
    size_t lead;         /* in that order */
    int64_t patience_ms; /* for a member while others are held */
    int64_t answer_ms;   /* as of the call */
    size_t taken;        /* the first so many of the row */
    size_t refused;      /* in the row: the one that was refused */
    bool first;          /* the attempt is the first */
    bool in_vain;        /* those that were taken ran out before all were */
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

/* How long those that were taken are still valid. */
static int64_t least_valid(const gathering *all)
{
    int64_t least_ms = RLI_NEVER;
    for (size_t i = 0; i < all->taken; i++)
        least_ms = rli_earlier(least_ms, row(all, i)->methods->valid_for(row(all, i)));
    return least_ms;
}

/* Who holds nothing may wait as long as it likes; who holds others must give way some time, and has
 * no use for the next member once the first has run out. */
static int64_t member_wait(const gathering *all, size_t i)
{
    if (all->wait_ms <= 0)
        return 0;
    int64_t left_ms = all->deadline_ms == RLI_NEVER ? RLOCK_FOREVER : all->deadline_ms - rli_now_ms();
    return i == 0 ? left_ms : rli_earlier(rli_earlier(left_ms, all->patience_ms), least_valid(all));
}

/* A silent server is waited for no longer than needed while others are held, as long as time is left to ask it first. */
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
        all->options.wait_ms = 1; /* each is asked once, however short the wait */
    }
    rlock_status status = member->methods->acquire(member, &all->options, member_answer(all, i), NULL);
    if (status == RLOCK_OK)
        all->taken = i + 1;
    return status;
}

/* Quickly: nobody waits for the answers of a server that is in trouble. */
static void give_back(gathering *all)
{
    while (all->taken > 0) {
        all->taken--;
        row(all, all->taken)->methods->release(row(all, all->taken), RLI_COMPOSITE_ANSWER_MS);
    }
}

/* All are had: whether for long enough. Those that were taken before a wait have their lease from now. */
static rlock_status complete(gathering *all)
{
    int64_t lease_ms = all->options.lease_ms;
    for (size_t i = 0; i < all->taken && lease_ms != RLOCK_WATCHDOG; i++)
        rli_composite_refresh(row(all, i), lease_ms);
    return least_valid(all) > 0 ? RLOCK_OK : ran_out(all);
}

static rlock_status say(const gathering *all, rlock_status status, const char *why)
{
    char shown[RLI_MEMBER_SHOWN];
    rlock *member = row(all, all->refused);
    if (status != RLOCK_TIMEOUT || all->in_vain)
        return rli_fail_as(status, why);
    rli_composite_show(member, shown);
    if (all->wait_ms <= 0)
        return rli_fail(status,
                        "a multi lock of %zu: lock %s is held by another owner, or others wait for it before this one",
                        all->set->count, shown);
    return rli_fail(status, "could not acquire a multi lock of %zu within %lld ms; lock %s was the last to refuse",
                    all->set->count, (long long)all->wait_ms, shown);
}

/* Takes all, or none. */
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

/* Whether time and reason are left to start over. */
static bool worth_another(const gathering *all, rlock_status status, int in_vain)
{
    if (all->wait_ms <= 0 || rli_now_ms() >= all->deadline_ms || in_vain >= IN_VAIN)
        return false;
    /* The first of the row had all the time there is, or all its attempts. */
    return status == RLOCK_TIMEOUT || (status == RLOCK_UNAVAILABLE && all->refused > 0);
}

static rlock_status acquire(rlock *handle, const rlock_lock_options *options, int64_t answer_ms, uint64_t *token)
{
    (void)token; /* not one of its operations */
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
        /* A server that did not answer in so short a time is asked first, with all the time there is.
         * A lock that was refused may be held by one who waits for those that we gave back: from now
         * on, all who met such a refusal take them in the same order. */
        size_t lead = status == RLOCK_UNAVAILABLE ? index_in_order(&all, all.refused) : 0;
        if (status == RLOCK_TIMEOUT)
            all.order = rli_composite_settled(set);
        all.lead = lead;
        if (!rli_composite_pause(set, options->cancel, PAUSE_MS, all.deadline_ms, &status))
            return status;
    }
}

/* --- giving back --- */

/* All of them, whatever becomes of one. */
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
    return first == RLOCK_OK ? RLOCK_OK : rli_fail_as(first, why);
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
    .place = rli_composite_place,
    .name = rli_composite_name,
    .free = rli_composite_free,
};

rlock *rlock_get_multi_lock(rlock *const *locks, size_t n)
{
    return rli_composite_make(&methods, "multi lock", locks, n);
}
