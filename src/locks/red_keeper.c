/* Red keeper: takes members anew for a red lock that is held under the watchdog. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/red_keeper.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "client/async.h"
#include "locks/red.h"
#include "locks/red_kept.h"
#include "locks/single.h"

#include <limits.h>
#include <stdlib.h>

#define JOBS (RLI_JOB_BIT(RLI_JOB_ACQUIRE) | RLI_JOB_BIT(RLI_JOB_RELEASE))

typedef enum stage { SLEEPS, TAKES, GIVES_BACK, ENDED, STAGES } stage;

static const bool legal[STAGES][STAGES] = {
    [SLEEPS] = {[TAKES] = true, [ENDED] = true},
    [TAKES] = {[SLEEPS] = true, [GIVES_BACK] = true},
    [GIVES_BACK] = {[SLEEPS] = true},
};

/* An async operation that nobody waits for. */
typedef struct rli_red_keeper {
    rli_async async; /* first */
    rli_red_kept kept;
    stage stage;
    int64_t until_ms;
    rli_ballot *ballot;
    unsigned began; /* `calls` when the present ballot began */
    unsigned seen;  /* `wanted` when it last looked whether the lock is held */
} rli_red_keeper;

static rli_red_keeper *keeper_of(rli_async *async)
{
    return (rli_red_keeper *)(void *)async;
}

static rli_composite *set_of(const rli_red_keeper *self)
{
    return rli_composite_of(self->kept.lock);
}

static const rli_owner *owner_of(const rli_red_keeper *self)
{
    return rli_job_owner(&self->kept.job);
}

static void become(rli_red_keeper *self, stage next)
{
    rli_check(legal[self->stage][next]);
    self->stage = next;
}

/* --- looking --- */

static bool is_valid(const rli_red_kept *kept, size_t member)
{
    rlock *of = rli_composite_of(kept->lock)->members[member];
    return of->methods->valid_for(of, rli_job_owner(&kept->job)) > 0;
}

/* The members that the owner holds now are, as far as known, held by this lock's innermost hold, which is new. Mutex
 * held. */
static void note_had(rli_red_kept *kept)
{
    for (size_t i = 0; i < rli_composite_of(kept->lock)->count; i++)
        kept->had[i] = kept->had[i] << 1 | is_valid(kept, i);
}

/* Whether the owner holds it under the watchdog, at least once. */
static bool is_renewed(const rli_red_keeper *self, size_t member)
{
    rlock *of = set_of(self)->members[member];
    rli_levels levels;
    return of->methods->levels(of, owner_of(self), &levels) && levels.renewed > 0;
}

static bool was_taken(const rli_red_keeper *self, size_t member)
{
    return self->ballot && self->ballot->votes[member].job.kind == RLI_JOB_ACQUIRE &&
           self->ballot->votes[member].status == RLOCK_OK;
}

/* Returns whether a majority is held under the watchdog, without counting those that the ballot, if there is one, has
 * just taken: then the owner has never been without one. */
static bool has_majority(const rli_red_keeper *self)
{
    const rli_thread_life *life = self->kept.job.owner.life;
    size_t valid = 0;
    if (life && rli_thread_life_has_ended(life)) /* the watchdog will find out */
        return false;
    for (size_t i = 0; i < set_of(self)->count; i++)
        valid += !was_taken(self, i) && is_renewed(self, i);
    return valid >= rli_red_majority(set_of(self));
}

/* Returns whether the owner holds this lock under the watchdog. Mutex held. */
static bool is_held(const rli_red_keeper *self)
{
    return self->kept.own.renewed > 0 && has_majority(self);
}

/* Leaves its bucket, but with a client that is open not if the owner has taken the lock since it looked. */
static bool leave(rli_red_keeper *self, bool open)
{
    rli_red_lock_kept(set_of(self));
    bool leaves = !open || self->kept.wanted == self->seen;
    if (leaves)
        rli_red_remove_kept(&self->kept);
    rli_red_unlock_kept(set_of(self));
    return leaves;
}

/* Whether a call of the owner's was under way at any time since the ballot began: it may have passed a member by, which
 * was not taken yet. Mutex held. */
static bool met_call(const rli_red_keeper *self)
{
    return self->kept.calling > 0 || self->kept.calls != self->began;
}

/* --- holds within holds --- */

/* The member's holds; of none if it was lost, or taken in this ballot. */
static rli_levels levels_of(const rli_red_keeper *self, size_t member)
{
    rlock *of = set_of(self)->members[member];
    rli_levels levels = {0};
    if (was_taken(self, member) || !of->methods->levels(of, owner_of(self), &levels) || levels.renewed == 0)
        return (rli_levels){0};
    return levels;
}

/* The holds of this lock that are renewed are also of each member that was taken: else the release of an inner one
 * would give back what the outer one needs. No more than any member has that was never lost: some of these holds may
 * have been lost, and the lock been taken again since. Mutex held: no call of the owner's begins meanwhile. */
static void deepen_taken(rli_red_keeper *self)
{
    rli_levels like = self->kept.own;
    for (size_t i = 0; i < set_of(self)->count; i++) {
        rli_levels levels = levels_of(self, i);
        if (levels.renewed > 0 && rli_levels_depth(&levels) < rli_levels_depth(&like))
            like = levels;
    }
    for (size_t i = 0; i < set_of(self)->count; i++) {
        rlock *of = set_of(self)->members[i];
        if (!was_taken(self, i))
            continue;
        of->methods->deepen(of, owner_of(self), self->ballot->votes[i].took, &like);
        self->kept.had[i] = self->kept.own.renewed_bits;
    }
}

/* Returns whether the owner keeps what the ballot has taken. */
static bool keep_taken(rli_red_keeper *self)
{
    rli_red_lock_kept(set_of(self));
    bool keeps = !met_call(self) && is_held(self);
    if (keeps)
        deepen_taken(self);
    rli_red_unlock_kept(set_of(self));
    return keeps;
}

/* --- stages --- */

static int64_t period_ms(const rli_red_keeper *self)
{
    return rli_renewal_period_ms(&self->async.client->settings);
}

static void plan(rli_red_keeper *self)
{
    self->until_ms = rli_after_ms(period_ms(self));
}

static void begin_ballot(rli_red_keeper *self)
{
    void *memory = (char *)self + RLI_MACHINE_SIZE(rli_red_keeper);
    self->ballot = rli_ballot_begin(self->kept.lock, set_of(self)->count, JOBS, &self->async.op, memory);
    for (size_t i = 0; i < set_of(self)->count; i++)
        rli_ballot_set(self->ballot, i, RLOCK_NOT_OWNER);
}

/* Returns the most holds that this lock can have. Holds with a lease may be older than the keeper, which did not count
 * them; but each member that is held has them, too. */
static int holds_most(const rli_red_keeper *self)
{
    int own = rli_levels_depth(&self->kept.own), least = INT_MAX;
    for (size_t i = 0; i < set_of(self)->count; i++) {
        rli_levels levels = levels_of(self, i);
        if (levels.renewed > 0 && rli_levels_depth(&levels) < least)
            least = rli_levels_depth(&levels);
    }
    return least < INT_MAX && least > own ? least : own;
}

static void note_missing(const rli_red_keeper *self, bool missing[RLI_MEMBERS_MAX])
{
    for (size_t i = 0; i < set_of(self)->count; i++)
        missing[i] = !is_valid(&self->kept, i);
}

static void ask_missing(rli_red_keeper *self, const bool missing[RLI_MEMBERS_MAX])
{
    rli_job job = self->kept.job;
    int most = holds_most(self), older = most - rli_levels_depth(&self->kept.own);
    job.kind = RLI_JOB_ACQUIRE;
    job.non_reentrant = true; /* the keeper of another handle on the same members may be faster */
    job.lease_ms = RLOCK_WATCHDOG;
    job.answer_ms = RLI_COMPOSITE_ANSWER_MS;
    self->began = self->kept.calls;
    begin_ballot(self);
    for (size_t i = 0; i < set_of(self)->count; i++) {
        rlock *member = set_of(self)->members[i];
        if (!missing[i] || member->methods->check(member) != RLOCK_OK)
            continue;
        /* Holds that are older than the keeper may have had it. */
        if (!member->methods->forgive(member, owner_of(self), older + __builtin_popcountll(self->kept.had[i])))
            continue;
        self->kept.had[i] = 0; /* whatever it had of this one is forgiven */
        rli_ballot_ask(self->ballot, i, member, &job);
    }
}

/* Returns whether it has asked. It asks while no call of the owner's is under way, and none begins before it has asked:
 * an unlock would leave it members to take that the owner has just given back. What is missing is noted before it looks
 * for a majority: a member that is lost between the two belongs to that majority, and its loss must not be forgiven. */
static bool take_missing(rli_red_keeper *self)
{
    bool missing[RLI_MEMBERS_MAX];
    rli_red_lock_kept(set_of(self));
    note_missing(self, missing);
    bool may_take = self->kept.calling == 0 && is_held(self);
    if (may_take)
        ask_missing(self, missing);
    rli_red_unlock_kept(set_of(self));
    return may_take;
}

/* RLI_WAITING, or RLOCK_OK: goes on with the next stage. */
static rlock_status sleep_on(rli_red_keeper *self)
{
    bool open = rli_operation_check(&self->async.op) == RLOCK_OK;
    rli_red_lock_kept(set_of(self));
    self->seen = self->kept.wanted;
    bool held = is_held(self);
    rli_red_unlock_kept(set_of(self));
    if (!open || !held) {
        if (leave(self, open))
            become(self, ENDED);
        return RLOCK_OK;
    }
    bool due = rli_now_ms() >= self->until_ms;
    if (due && take_missing(self)) {
        become(self, TAKES);
        return RLOCK_OK;
    }
    /* The end of the owner's call, if that is why it could not ask, wakes it. */
    rli_operation_sleep(&self->async.op, due ? rli_after_ms(period_ms(self)) : self->until_ms);
    return RLI_WAITING;
}

static void end_ballot(rli_red_keeper *self)
{
    rli_ballot_end(self->ballot);
    self->ballot = NULL;
    plan(self);
    become(self, SLEEPS);
}

static rlock_status take(rli_red_keeper *self)
{
    if (rli_ballot_go_on(self->ballot) == RLI_WAITING)
        return RLI_WAITING;
    if (keep_taken(self)) {
        end_ballot(self);
        return RLOCK_OK;
    }
    rli_job job = self->kept.job;
    job.kind = RLI_JOB_RELEASE;
    job.answer_ms = RLI_COMPOSITE_ANSWER_MS;
    for (size_t i = 0; i < set_of(self)->count; i++) {
        if (self->ballot->votes[i].status != RLOCK_OK)
            continue;
        /* A release may have given it back, and the owner have taken the lock again: that hold is another. */
        job.only = self->ballot->votes[i].took;
        rli_ballot_ask(self->ballot, i, set_of(self)->members[i], &job);
    }
    become(self, GIVES_BACK);
    return RLOCK_OK;
}

static rlock_status give_back(rli_red_keeper *self)
{
    if (rli_ballot_go_on(self->ballot) == RLI_WAITING)
        return RLI_WAITING;
    end_ballot(self);
    return RLOCK_OK;
}

static rlock_status go_on(rli_async *async)
{
    static rlock_status (*const steps[STAGES])(rli_red_keeper *) = {
        [SLEEPS] = sleep_on, [TAKES] = take, [GIVES_BACK] = give_back};
    rli_red_keeper *self = keeper_of(async);
    rlock_status status = RLOCK_OK;
    while (status == RLOCK_OK && self->stage != ENDED)
        status = steps[self->stage](self);
    return status;
}

static void discard(rli_async *async)
{
    rli_red_keeper *self = keeper_of(async);
    rli_thread_life_unref(self->kept.job.owner.life);
    self->kept.lock->methods->free(self->kept.lock);
    free(self);
}

/* --- beginning and ending --- */

static rli_red_keeper *make(rli_composite *set, const rli_job *named)
{
    void *made;
    size_t had = RLI_MACHINE_SIZE(rli_red_keeper) + rli_ballot_room(&set->base, set->count, JOBS);
    size_t size = had + set->count * sizeof(uint64_t);
    if (rli_async_new(&made, size, rli_composite_home(&set->base), NULL, NULL, NULL) != RLOCK_OK)
        return NULL;
    rli_red_keeper *self = made;
    self->async.go_on = go_on;
    self->async.discard = discard;
    self->kept.lock = &set->base;
    rli_composite_ref(self->kept.lock);
    self->kept.job = *named;
    self->kept.op = &self->async.op;
    self->kept.had = (uint64_t *)(void *)((char *)made + had);
    rli_thread_life_ref(self->kept.job.owner.life);
    plan(self);
    return self;
}

static void forget(rli_red_keeper *self)
{
    rlock *lock = self->kept.lock;
    rli_thread_life_unref(self->kept.job.owner.life);
    rli_async_forget(&self->async);
    lock->methods->free(lock);
}

/* --- calls of the owner's --- */

uint64_t rli_red_call_begins(rli_composite *set, const rli_job *job)
{
    rli_job named;
    if (!rli_red_any_kept(set) || !rli_red_name_owner(set, job, &named))
        return 0;
    rli_red_lock_kept(set);
    rli_red_kept *kept = rli_red_find_kept(set, &named);
    uint64_t told = kept ? kept->number : 0;
    if (kept) {
        kept->calls++;
        kept->calling++;
    }
    rli_red_unlock_kept(set);
    return told;
}

/* Whether the owner has that hold no longer, whatever the servers said or did not say. */
static bool is_over(rlock_status released)
{
    return released != RLOCK_FORKED && released != RLOCK_INVALID;
}

/* The lock has one hold more, which may be the first that is kept. Mutex held. */
static void note_hold(rli_red_kept *kept, bool renewed)
{
    kept->wanted++;
    rli_levels_add(&kept->own, renewed);
    note_had(kept);
}

/* It has one hold less. Mutex held. */
static void note_released(rli_red_kept *kept)
{
    rli_levels_remove(&kept->own);
    for (size_t i = 0; i < rli_composite_of(kept->lock)->count; i++) {
        /* A hold without a member that was lost has told the loss of another one. */
        if (!(kept->had[i] & 1) && !is_valid(kept, i))
            kept->had[i] &= kept->had[i] - 1;
        kept->had[i] >>= 1;
    }
}

/* Mutex held. */
static void note_end(rli_red_kept *kept, const rli_job *job, uint64_t told, rlock_status status)
{
    if (job->kind == RLI_JOB_ACQUIRE && status == RLOCK_OK)
        note_hold(kept, job->lease_ms == RLOCK_WATCHDOG);
    else if (job->kind == RLI_JOB_RELEASE && is_over(status) && told == kept->number)
        note_released(kept); /* else it is one of a hold that is older than the keeper */
    rli_unpark(&kept->op->own);
}

/* Returns whether there is a keeper. */
static bool end_call(const rli_composite *set, const rli_job *named, const rli_job *job, uint64_t told,
                     rlock_status status)
{
    rli_red_lock_kept(set);
    rli_red_kept *kept = rli_red_find_kept(set, named);
    if (kept) {
        kept->calling -= told == kept->number; /* else the one that was told has gone */
        note_end(kept, job, told, status);
    }
    rli_red_unlock_kept(set);
    return kept;
}

/* Begins to keep the lock, unless another thread that acts for the same owner has done so meanwhile. */
static void begin_to_keep(rli_composite *set, const rli_job *named, const rli_job *job)
{
    rli_red_keeper *fresh = make(set, named);
    if (!fresh)
        return;
    rli_red_lock_kept(set);
    rli_red_kept *other = rli_red_find_kept(set, named);
    if (other) {
        note_end(other, job, 0, RLOCK_OK);
    } else {
        note_hold(&fresh->kept, true);
        rli_red_add_kept(&fresh->kept);
    }
    rli_red_unlock_kept(set);
    if (other)
        forget(fresh);
    else
        rli_async_start(&fresh->async);
}

void rli_red_call_ended(rli_composite *set, const rli_job *job, uint64_t told, rlock_status status)
{
    rli_job named;
    bool keeps = job->kind == RLI_JOB_ACQUIRE && status == RLOCK_OK && job->lease_ms == RLOCK_WATCHDOG;
    if ((!keeps && !rli_red_any_kept(set)) || !rli_red_name_owner(set, job, &named))
        return;
    if (!end_call(set, &named, job, told, status) && keeps)
        begin_to_keep(set, &named, job);
}
