/* Red keeper: takes members anew for a red lock that is held under the watchdog. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/red_keeper.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/table.h"
#include "client/async.h"
#include "locks/red.h"
#include "locks/single.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define JOBS (RLI_JOB_BIT(RLI_JOB_ACQUIRE) | RLI_JOB_BIT(RLI_JOB_RELEASE))

typedef enum stage { SLEEPS, TAKES, GIVES_BACK, ENDED, STAGES } stage;

static const bool legal[STAGES][STAGES] = {
    [SLEEPS] = {[TAKES] = true, [ENDED] = true},
    [TAKES] = {[SLEEPS] = true, [GIVES_BACK] = true},
    [GIVES_BACK] = {[SLEEPS] = true},
};

/* One owner of the lock, by whatever handles. It is an async operation that nobody waits for. */
typedef struct rli_red_keeper {
    rli_async async; /* first */
    rlock *lock;     /* referenced */
    rli_job job;     /* names the owner, whose life is counted */
    stage stage;
    int64_t until_ms;
    rli_ballot *ballot;
    unsigned began; /* `calls` when the present ballot began */
    unsigned seen;  /* `wanted` when it last looked whether the lock is held */

    /* The mutex of the keepers guards the rest. */
    struct rli_red_keeper *next; /* in its bucket */
    unsigned wanted;             /* how often the owner has taken the lock since there is a keeper */
    unsigned calls;              /* how often it has begun to acquire or to release it */
    unsigned calling;            /* how many of these calls are under way */
    rli_levels
        own; /* its holds of this lock since there is a keeper; members may have others, by their names or through
                     * another lock */
} rli_red_keeper;

static rli_red_keeper *keeper_of(rli_async *async)
{
    return (rli_red_keeper *)(void *)async;
}

static rli_composite *set_of(const rli_red_keeper *self)
{
    return rli_composite_of(self->lock);
}

static const rli_owner *owner_of(const rli_red_keeper *self)
{
    return self->job.has_owner ? &self->job.owner : NULL;
}

static void become(rli_red_keeper *self, stage next)
{
    rli_check(legal[self->stage][next]);
    self->stage = next;
}

/* --- owners --- */

static bool handles_name_owner(const rli_composite *set)
{
    size_t i = 0;
    while (i < set->count && rli_single_of(set->members[i])->named_owner)
        i++;
    return i == set->count;
}

/* Says whom the job acts for, in any thread: nobody else than the handles name, or this one. False: out of memory. */
static bool name_owner(const rli_composite *set, const rli_job *job, rli_job *named)
{
    *named = (rli_job){.has_owner = job->has_owner, .owner = job->owner};
    if (job->has_owner || handles_name_owner(set))
        return true;
    named->has_owner = true;
    return rli_owner_thread(&named->owner) == RLOCK_OK;
}

/* Whether both are made of the same locks, held by the same owners. */
static bool is_for(const rli_red_keeper *self, const rli_composite *set, const rli_job *named)
{
    rlock *const *own = rli_composite_sorted(set_of(self)), *const *other = rli_composite_sorted(set);
    for (size_t i = 0; i < set->count && set->count == set_of(self)->count; i++) {
        const rli_single *a = rli_single_of(own[i]), *b = rli_single_of(other[i]);
        rli_owner left, right;
        if (a->client != b->client || a->names.length != b->names.length ||
            memcmp(a->names.name, b->names.name, a->names.length) != 0 ||
            rli_single_owner(a, owner_of(self), &left) != RLOCK_OK ||
            rli_single_owner(b, named->has_owner ? &named->owner : NULL, &right) != RLOCK_OK ||
            left.named != right.named || left.number != right.number)
            return false;
    }
    return set->count == set_of(self)->count;
}

static rli_keepers *keepers_of(const rli_composite *set)
{
    return &rli_single_of(rli_composite_sorted(set)[0])->client->keepers;
}

static rli_red_keeper **bucket_of(const rli_composite *set)
{
    const rli_single *first = rli_single_of(rli_composite_sorted(set)[0]);
    uint32_t hash = rli_hash(first->names.name, first->names.length, 0);
    return &first->client->keepers.buckets[hash % RLI_KEEPER_BUCKETS];
}

/* Locks the keepers of the clients of such locks, until unlock_keepers. */
static void lock_keepers(const rli_composite *set)
{
    pthread_mutex_lock(&keepers_of(set)->mutex);
}

static void unlock_keepers(const rli_composite *set)
{
    pthread_mutex_unlock(&keepers_of(set)->mutex);
}

/* Mutex held. */
static rli_red_keeper *find(const rli_composite *set, const rli_job *named)
{
    rli_red_keeper *keeper = *bucket_of(set);
    while (keeper && !is_for(keeper, set, named))
        keeper = keeper->next;
    return keeper;
}

/* --- looking --- */

static bool is_valid(const rli_red_keeper *self, size_t member)
{
    rlock *of = set_of(self)->members[member];
    return of->methods->valid_for(of, owner_of(self)) > 0;
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
    const rli_thread_life *life = self->job.owner.life;
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
    return self->own.renewed > 0 && has_majority(self);
}

/* Mutex held. */
static void remove_from_bucket(rli_red_keeper *self)
{
    rli_red_keeper **at = bucket_of(set_of(self));
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    atomic_fetch_sub(&keepers_of(set_of(self))->count, 1);
}

/* Leaves its bucket, but with a client that is open not if the owner has taken the lock since it looked. */
static bool leave(rli_red_keeper *self, bool open)
{
    lock_keepers(set_of(self));
    bool leaves = !open || self->wanted == self->seen;
    if (leaves)
        remove_from_bucket(self);
    unlock_keepers(set_of(self));
    return leaves;
}

/* Whether a call of the owner's was under way at any time since the ballot began: it may have passed a member by, which
 * was not taken yet. Mutex held. */
static bool met_call(const rli_red_keeper *self)
{
    return self->calling > 0 || self->calls != self->began;
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
    rli_levels like = self->own;
    for (size_t i = 0; i < set_of(self)->count; i++) {
        rli_levels levels = levels_of(self, i);
        if (levels.renewed > 0 && rli_levels_depth(&levels) < rli_levels_depth(&like))
            like = levels;
    }
    for (size_t i = 0; i < set_of(self)->count; i++) {
        rlock *of = set_of(self)->members[i];
        if (was_taken(self, i))
            of->methods->deepen(of, owner_of(self), self->ballot->votes[i].took, &like);
    }
}

/* Returns whether the owner keeps what the ballot has taken. */
static bool keep_taken(rli_red_keeper *self)
{
    lock_keepers(set_of(self));
    bool keeps = !met_call(self) && is_held(self);
    if (keeps)
        deepen_taken(self);
    unlock_keepers(set_of(self));
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
    self->ballot = rli_ballot_begin(self->lock, set_of(self)->count, JOBS, &self->async.op, memory);
    for (size_t i = 0; i < set_of(self)->count; i++)
        rli_ballot_set(self->ballot, i, RLOCK_NOT_OWNER);
}

/* Returns the most holds that this lock can have. Holds with a lease may be older than the keeper, which did not count
 * them; but each member that is held has them, too. */
static int holds_most(const rli_red_keeper *self)
{
    int own = rli_levels_depth(&self->own), least = INT_MAX;
    for (size_t i = 0; i < set_of(self)->count; i++) {
        rli_levels levels = levels_of(self, i);
        if (levels.renewed > 0 && rli_levels_depth(&levels) < least)
            least = rli_levels_depth(&levels);
    }
    return least < INT_MAX && least > own ? least : own;
}

static void ask_missing(rli_red_keeper *self)
{
    rli_job job = self->job;
    int most = holds_most(self);
    job.kind = RLI_JOB_ACQUIRE;
    job.non_reentrant = true; /* the keeper of another handle on the same members may be faster */
    job.lease_ms = RLOCK_WATCHDOG;
    job.answer_ms = RLI_COMPOSITE_ANSWER_MS;
    self->began = self->calls;
    begin_ballot(self);
    for (size_t i = 0; i < set_of(self)->count; i++) {
        rlock *member = set_of(self)->members[i];
        if (is_valid(self, i) || member->methods->check(member) != RLOCK_OK)
            continue;
        if (member->methods->forgive(member, owner_of(self), most))
            rli_ballot_ask(self->ballot, i, member, &job);
    }
}

/* Returns whether it has asked. It asks while no call of the owner's is under way, and none begins before it has asked:
 * an unlock would leave it members to take that the owner has just given back. */
static bool take_missing(rli_red_keeper *self)
{
    lock_keepers(set_of(self));
    bool may_take = self->calling == 0 && is_held(self);
    if (may_take)
        ask_missing(self);
    unlock_keepers(set_of(self));
    return may_take;
}

/* RLI_WAITING, or RLOCK_OK: goes on with the next stage. */
static rlock_status sleep_on(rli_red_keeper *self)
{
    bool open = rli_operation_check(&self->async.op) == RLOCK_OK;
    lock_keepers(set_of(self));
    self->seen = self->wanted;
    bool held = is_held(self);
    unlock_keepers(set_of(self));
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
    rli_job job = self->job;
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
    rli_thread_life_unref(self->job.owner.life);
    self->lock->methods->free(self->lock);
    free(self);
}

/* --- beginning and ending --- */

static rli_red_keeper *make(rli_composite *set, const rli_job *named)
{
    void *made;
    size_t size = RLI_MACHINE_SIZE(rli_red_keeper) + rli_ballot_room(&set->base, set->count, JOBS);
    if (rli_async_new(&made, size, rli_composite_home(&set->base), NULL, NULL, NULL) != RLOCK_OK)
        return NULL;
    rli_red_keeper *self = made;
    self->async.go_on = go_on;
    self->async.discard = discard;
    self->lock = &set->base;
    rli_composite_ref(self->lock);
    self->job = *named;
    rli_thread_life_ref(self->job.owner.life);
    plan(self);
    return self;
}

static void forget(rli_red_keeper *self)
{
    rlock *lock = self->lock;
    rli_thread_life_unref(self->job.owner.life);
    rli_async_forget(&self->async);
    lock->methods->free(lock);
}

/* --- calls of the owner's --- */

bool rli_red_call_begins(rli_composite *set, const rli_job *job)
{
    rli_job named;
    if (atomic_load(&keepers_of(set)->count) == 0 || !name_owner(set, job, &named))
        return false;
    lock_keepers(set);
    rli_red_keeper *keeper = find(set, &named);
    if (keeper) {
        keeper->calls++;
        keeper->calling++;
    }
    unlock_keepers(set);
    return keeper;
}

/* Whether the owner has that hold no longer, whatever the servers said or did not say. */
static bool is_over(rlock_status released)
{
    return released != RLOCK_FORKED && released != RLOCK_INVALID;
}

/* Mutex held. */
static void note_end(rli_red_keeper *keeper, const rli_job *job, rlock_status status)
{
    if (job->kind == RLI_JOB_ACQUIRE && status == RLOCK_OK) {
        keeper->wanted++;
        rli_levels_add(&keeper->own, job->lease_ms == RLOCK_WATCHDOG);
    } else if (job->kind == RLI_JOB_RELEASE && is_over(status)) {
        rli_levels_remove(&keeper->own);
    }
    rli_unpark(&keeper->async.op.own);
}

/* Returns whether there is a keeper. */
static bool end_call(const rli_composite *set, const rli_job *named, const rli_job *job, bool told, rlock_status status)
{
    lock_keepers(set);
    rli_red_keeper *keeper = find(set, named);
    if (keeper) {
        keeper->calling -= told && keeper->calling > 0; /* the one that was told may be gone */
        note_end(keeper, job, status);
    }
    unlock_keepers(set);
    return keeper;
}

/* Begins to keep the lock, unless another thread that acts for the same owner has done so meanwhile. */
static void begin_to_keep(rli_composite *set, const rli_job *named, const rli_job *job)
{
    rli_red_keeper *fresh = make(set, named);
    if (!fresh)
        return;
    rli_levels_add(&fresh->own, true);
    lock_keepers(set);
    rli_red_keeper *other = find(set, named);
    if (other) {
        note_end(other, job, RLOCK_OK);
    } else {
        fresh->next = *bucket_of(set);
        *bucket_of(set) = fresh;
        atomic_fetch_add(&keepers_of(set)->count, 1);
    }
    unlock_keepers(set);
    if (other)
        forget(fresh);
    else
        rli_async_start(&fresh->async);
}

void rli_red_call_ended(rli_composite *set, const rli_job *job, bool told, rlock_status status)
{
    rli_job named;
    bool keeps = job->kind == RLI_JOB_ACQUIRE && status == RLOCK_OK && job->lease_ms == RLOCK_WATCHDOG;
    if ((!keeps && atomic_load(&keepers_of(set)->count) == 0) || !name_owner(set, job, &named))
        return;
    if (!end_call(set, &named, job, told, status) && keeps)
        begin_to_keep(set, &named, job);
}
