/* Multi lock, Redisson's RedissonMultiLock: takes all of its members one by one, or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "locks/composite_machine.h"
#include "locks/round.h"
#include "locks/sweep.h"

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

static int64_t valid_for(rlock *handle, const rli_owner *owner)
{
    const rli_composite *set = rli_composite_of(handle);
    int64_t least_ms = RLI_NEVER;
    for (size_t i = 0; i < set->count && least_ms > 0; i++)
        least_ms = rli_earlier(least_ms, set->members[i]->methods->valid_for(set->members[i], owner));
    return least_ms;
}

/* The member whose fencing tokens are those of the multi lock: the first fenced one in the order that all multi locks of
 * these members agree on. NULL: none is fenced. */
static rlock *fenced_member(const rli_composite *set)
{
    rlock *const *sorted = rli_composite_sorted(set);
    size_t i = 0;
    while (i < set->count && !sorted[i]->methods->get_token)
        i++;
    return i < set->count ? sorted[i] : NULL;
}

static rlock_status get_token(rlock *handle, const rli_owner *owner, uint64_t *token)
{
    rlock *member = fenced_member(rli_composite_of(handle));
    return member->methods->get_token(member, owner, token);
}

/* --- acquiring --- */

/* One acquire under way. An attempt takes the members in a row: first the member with index `lead`, then the
 * others in their order. */
typedef struct gathering {
    rli_composite_machine on; /* first */
    int64_t deadline_ms;
    rlock *const *order;
    size_t lead;         /* index in `order` */
    int64_t patience_ms; /* longest wait for a member while others are held */
    size_t taken;        /* members 0 to taken-1 of the row are taken */
    size_t extended;     /* of these, the first ones were extended if that was due */
    size_t refused;      /* position in the row of the member that was refused */
    /* All that is taken is valid until then, as seen at checked_ms, or when a member was taken since. */
    int64_t valid_until_ms, checked_ms;
    int attempts;  /* how often it has started over */
    bool in_vain;  /* taken members expired before all were taken */
    int vain;      /* number of such attempts in a row */
    rlock_status status; /* why this attempt has failed, and the message */
    char why[512];
} gathering;

static gathering *gathering_of(rli_composite_machine *on)
{
    return (gathering *)(void *)on;
}

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

/* Asking each member anew each time would make the costs grow with the square of their number: members that were
 * asked so recently are not asked again. A hold that was lost meanwhile is seen at the end. */
#define RECENT_MS 10

/* Asks all that is taken how long it is valid. */
static void check_all(gathering *all)
{
    int64_t least_ms = RLI_NEVER;
    for (size_t i = 0; i < all->taken && least_ms > 0; i++)
        least_ms = rli_earlier(least_ms, rli_composite_valid_for(&all->on, row(all, i)));
    all->checked_ms = rli_now_ms();
    all->valid_until_ms = least_ms == RLI_NEVER ? RLI_NEVER : all->checked_ms + least_ms;
}

/* The shortest time for which a taken member is still valid. */
static int64_t least_valid(gathering *all)
{
    int64_t now_ms = rli_now_ms();
    if (now_ms - all->checked_ms >= RECENT_MS || all->valid_until_ms <= now_ms) {
        check_all(all);
        now_ms = all->checked_ms;
    }
    return all->valid_until_ms == RLI_NEVER ? RLI_NEVER : all->valid_until_ms - now_ms;
}

/* How long to wait for a member. While nothing is held, the wait may use all the time that is left. While
 * members are held, it must be short, so that others get their turn; and once the first member has expired,
 * the next one is useless. */
static int64_t member_wait(gathering *all, size_t i, int64_t least_ms)
{
    if (all->on.job->wait_ms <= 0)
        return 0;
    int64_t left_ms = all->deadline_ms == RLI_NEVER ? RLOCK_FOREVER : all->deadline_ms - rli_now_ms();
    return i == 0 ? left_ms : rli_earlier(rli_earlier(left_ms, all->patience_ms), least_ms);
}

/* How long to wait for a member's answer. While other members are held, a silent server is not waited for
 * longer than necessary, if enough time is left to ask it first in another attempt. */
static int64_t member_answer(const gathering *all, size_t i)
{
    bool comes_again = all->on.job->wait_ms > 0 && all->deadline_ms - rli_now_ms() > RLI_COMPOSITE_ANSWER_MS;
    int64_t answer_ms = all->on.job->answer_ms;
    return i > 0 && comes_again ? rli_earlier(answer_ms, RLI_COMPOSITE_ANSWER_MS) : answer_ms;
}

static rlock_status ran_out(gathering *all)
{
    all->in_vain = true;
    return rli_fail(RLOCK_TIMEOUT,
                    "a multi lock of %zu: a member expired or was lost before the last member was acquired; use a "
                    "longer lease",
                    all->on.set->count);
}

static rlock_status take(gathering *all, size_t i)
{
    rli_job job = *all->on.job;
    if (job.token && row(all, i) != fenced_member(all->on.set))
        job.token = NULL;
    int64_t least_ms = least_valid(all);
    all->refused = i;
    if (least_ms <= 0)
        return ran_out(all);
    job.wait_ms = member_wait(all, i, least_ms);
    if (all->on.job->wait_ms > 0 && job.wait_ms <= 0) {
        if (all->attempts > 0)
            return rli_fail(RLOCK_TIMEOUT, "the wait has ended");
        job.wait_ms = 1; /* every member is asked at least once, however short the wait */
    }
    job.answer_ms = member_answer(all, i);
    return rli_composite_begin_part(&all->on, row(all, i), &job);
}

/* The attempt has failed: what it has taken is given back. */
static rlock_status fail(gathering *all, rlock_status status)
{
    all->status = status;
    snprintf(all->why, sizeof all->why, "%s", rlock_last_error());
    return rli_composite_next(&all->on, RLI_COMPOSITE_GIVES_BACK, RLOCK_OK);
}

static rlock_status ask(rli_composite_machine *on)
{
    gathering *all = gathering_of(on);
    rlock_status status = on->part ? rli_composite_go_on_part(on) : take(all, all->taken);
    if (status == RLI_WAITING)
        return status;
    if (status != RLOCK_OK)
        return fail(all, status);
    int64_t until_ms = rli_after_ms(rli_composite_valid_for(on, row(all, all->taken)));
    all->valid_until_ms = rli_earlier(all->valid_until_ms, until_ms);
    all->taken++;
    return rli_composite_next(on, all->taken < on->set->count ? RLI_COMPOSITE_ASKS : RLI_COMPOSITE_EXTENDS, RLOCK_OK);
}

/* All members are taken: renews the leases of those that were taken some time ago, and checks that all are still
 * valid. */
static rlock_status extend_aged(rli_composite_machine *on)
{
    gathering *all = gathering_of(on);
    int64_t lease_ms = on->job->lease_ms;
    for (; lease_ms != RLOCK_WATCHDOG && all->extended < all->taken; all->extended++) {
        rlock_status status = on->part ? rli_composite_go_on_part(on)
                                       : rli_composite_extend_if_aged(on, row(all, all->extended), lease_ms);
        if (status == RLI_WAITING)
            return status;
    }
    check_all(all);
    if (all->valid_until_ms <= all->checked_ms)
        return fail(all, ran_out(all));
    return rli_composite_next(on, RLI_COMPOSITE_DONE, RLOCK_OK);
}

/* Whether to start over: there is time left, and another attempt may succeed. */
static bool worth_another(const gathering *all)
{
    if (all->on.job->wait_ms <= 0 || rli_now_ms() >= all->deadline_ms || all->vain >= IN_VAIN)
        return false;
    /* If the first of the row was refused or did not answer, it had all the time, or all the attempts. */
    return all->status == RLOCK_TIMEOUT || (all->status == RLOCK_UNAVAILABLE && all->refused > 0);
}

static rlock_status say(const gathering *all)
{
    char shown[RLI_MEMBER_SHOWN];
    int64_t wait_ms = all->on.job->wait_ms;
    if (all->status != RLOCK_TIMEOUT || all->in_vain)
        return rli_fail_text(all->status, all->why);
    rli_composite_format_member(row(all, all->refused), shown);
    if (wait_ms <= 0)
        return rli_fail(all->status,
                        "a multi lock of %zu: lock %s is held by another owner, or other waiters come first",
                        all->on.set->count, shown);
    return rli_fail(all->status, "could not acquire a multi lock of %zu within %lld ms; lock %s was the last to refuse",
                    all->on.set->count, (long long)wait_ms, shown);
}

/* Releases all that is taken, without long waits for the answers of a server in trouble. */
static rlock_status give_back(rli_composite_machine *on)
{
    gathering *all = gathering_of(on);
    while (all->taken > 0) {
        rli_job job = rli_composite_job(on, RLI_JOB_RELEASE, RLI_COMPOSITE_ANSWER_MS);
        rlock_status status = on->part ? rli_composite_go_on_part(on)
                                       : rli_composite_begin_part(on, row(all, all->taken - 1), &job);
        if (status == RLI_WAITING)
            return status;
        all->taken--;
    }
    all->vain = all->in_vain ? all->vain + 1 : 0;
    if (!worth_another(all))
        return rli_composite_next(on, RLI_COMPOSITE_DONE, say(all));
    return rli_composite_next(on, RLI_COMPOSITE_PAUSES, RLOCK_OK);
}

/* Begins an attempt, which takes all members or none. */
static void begin_attempt(gathering *all)
{
    const rli_job *job = all->on.job;
    bool ends = job->wait_ms != RLOCK_FOREVER;
    all->patience_ms = rli_patience_ms(all->attempts,
                                       ends ? job->wait_ms : rli_round_ms(all->on.set->count, job->lease_ms));
    all->taken = all->extended = 0;
    all->in_vain = false;
    all->valid_until_ms = RLI_NEVER;
    all->checked_ms = rli_now_ms();
}

static rlock_status pause(rli_composite_machine *on)
{
    gathering *all = gathering_of(on);
    rlock_status status = rli_composite_pause(on, rli_random_up_to(PAUSE_MS), all->deadline_ms);
    if (status == RLI_WAITING)
        return status;
    if (status != RLOCK_OK)
        return rli_composite_next(on, RLI_COMPOSITE_DONE, status);
    if (rli_now_ms() >= all->deadline_ms)
        return rli_composite_next(on, RLI_COMPOSITE_DONE, say(all));
    /* A server that did not answer within the short time is asked first in the next attempt, with all the
     * time that is left. A member that was refused may be held by an owner that waits for those that this
     * attempt released: from now on use the sorted order, which all owners that met such a refusal use. */
    all->lead = all->status == RLOCK_UNAVAILABLE ? index_in_order(all, all->refused) : 0;
    if (all->status == RLOCK_TIMEOUT)
        all->order = rli_composite_sorted(on->set);
    all->attempts++;
    begin_attempt(all);
    return rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
}

static rli_composite_step *const acquiring[RLI_COMPOSITE_STAGES] = {[RLI_COMPOSITE_ASKS] = ask,
                                                                    [RLI_COMPOSITE_EXTENDS] = extend_aged,
                                                                    [RLI_COMPOSITE_GIVES_BACK] = give_back,
                                                                    [RLI_COMPOSITE_PAUSES] = pause};

static rli_machine *begin_acquiring(rlock *handle, const rli_job *job, rli_operation *whole, gathering *all)
{
    rli_composite_prepare(&all->on, handle, job, whole, RLI_MACHINE_SIZE(gathering), acquiring);
    all->deadline_ms = rli_after_ms(job->wait_ms);
    all->order = all->on.set->members;
    all->lead = 0;
    all->attempts = all->vain = 0;
    begin_attempt(all);
    return &all->on.base;
}

/* --- releasing, extending, asking --- */

/* All members are released, even if one fails. */
static rli_swept count_released(rli_sweep *sweep, rlock_status status)
{
    rli_sweep_keep_first(sweep, status);
    return RLI_SWEEP_ON;
}

static rli_swept count_extended(rli_sweep *sweep, rlock_status status)
{
    rli_sweep_keep_first(sweep, status);
    return status == RLOCK_OK ? RLI_SWEEP_ON : RLI_SWEEP_ENOUGH;
}

/* One member that is not held decides. */
static rli_swept count_held(rli_sweep *sweep, rlock_status status)
{
    rli_sweep_keep_first(sweep, status);
    sweep->on.base.answer = status == RLOCK_OK && sweep->on.part_answer;
    return sweep->on.base.answer ? RLI_SWEEP_ON : RLI_SWEEP_ENOUGH;
}

static const rli_sweep_rules rules[RLI_JOB_KINDS] = {
    [RLI_JOB_RELEASE] = {.count = count_released, .judge = rli_sweep_judge},
    [RLI_JOB_EXTEND] = {.count = count_extended, .judge = rli_sweep_judge},
    [RLI_JOB_IS_HELD] = {.count = count_held, .judge = rli_sweep_judge},
};

/* --- the handle --- */

static size_t room(const rlock *handle, rli_job_kind kind)
{
    size_t own = kind == RLI_JOB_ACQUIRE ? RLI_MACHINE_SIZE(gathering) : RLI_MACHINE_SIZE(rli_sweep);
    return own + rli_composite_members_room(handle, kind);
}

static rli_machine *begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory)
{
    if (job->kind == RLI_JOB_ACQUIRE)
        return begin_acquiring(handle, job, whole, memory);
    return &rli_sweep_begin(handle, job, whole, memory, &rules[job->kind])->on.base;
}

static rlock_status run(rlock *handle, const rli_job *job, int64_t *answer)
{
    union {
        rli_composite_machine any;
        gathering acquire;
        rli_sweep sweep;
    } memory;
    begin(handle, job, NULL, &memory);
    return rli_composite_run(&memory.any, answer);
}

#define METHODS                                                                                                        \
    RLI_COMPOSITE_METHODS, .check = check, .jobs = RLI_COMPOSITE_JOBS, .run = run, .room = room, .begin = begin,       \
    .valid_for = valid_for
static const rli_methods plain = {METHODS};
static const rli_methods fenced = {METHODS, .get_token = get_token};

rlock *rlock_get_multi_lock(rlock *const *locks, size_t n)
{
    rlock *lock = rli_composite_make(&plain, "multi lock", locks, n);
    if (lock && fenced_member(rli_composite_of(lock)))
        lock->methods = &fenced;
    return lock;
}
