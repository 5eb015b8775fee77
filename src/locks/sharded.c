/* Sharded lock: a hot resource in parts, each with its own lock; an owner takes any part that is free. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "client/client.h"
#include "engine/back_off.h"
#include "engine/extend.h"
#include "locks/composite_machine.h"
#include "locks/shard_choice.h"
#include "locks/silent_servers.h"
#include "locks/single.h"
#include "locks/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long it waits for one part before it looks for another. */
static const rlock_back_off slices = {sizeof slices, 20, 200, 2, 50};
/* It asks, subscribes, asks again and leaves. */
#define REQUESTS 4

/* --- asking --- */

static rlock_status check(const rlock *handle)
{
    const rlock *first = rli_composite_of(handle)->members[0]; /* all are of one client */
    return first->methods->check(first);
}

static int64_t valid_for(rlock *handle, const rli_owner *owner)
{
    size_t number;
    rlock *part = rli_shard_held(rli_composite_of(handle), owner, &number);
    return part ? part->methods->valid_for(part, owner) : 0;
}

static int64_t valid_in(rlock *handle, const rli_owner *owner, uint64_t session)
{
    return rli_shard_valid_in(rli_composite_of(handle), owner, session);
}

static rlock_status get_shard(rlock *handle, int *shard)
{
    size_t number;
    if (!rli_shard_held(rli_composite_of(handle), NULL, &number))
        return rli_fail(RLOCK_NOT_OWNER, "no part of the sharded lock is held by this owner");
    *shard = (int)number;
    return RLOCK_OK;
}

/* --- acquiring --- */

/* One acquire under way. A pass asks each part once, then waits for the last one. */
typedef struct seeking {
    rli_composite_machine on; /* first */
    int64_t deadline_ms;
    rlock *held;               /* the part that the owner holds already; NULL: none */
    rlock *taken;              /* the part that was acquired; to be given back if the owner holds another one */
    uint64_t number;           /* of the session in which it was */
    size_t from, stride;       /* the order of this pass: from, from + stride, … around */
    size_t asked, refused;     /* of this pass */
    rlock *busy;               /* the last that was refused in it */
    size_t unanswered;         /* the place of the last part whose server did not answer; `count`: all did */
    rli_silent_servers silent; /* in this pass */
    bool patient;              /* this pass asks one part alone, and waits for its answer */
    bool waits;                /* for `busy`, at the end of the pass */
    int64_t began_ms, took_ms; /* when the latest part was asked; how long the latest refusal took to come */
    int passes, unheard;       /* unheard: those with patience, one after the other, in which nothing answered */
    rlock_status failure;      /* of a part that could not be asked in this pass, and its message; RLOCK_OK: none */
    char why[512];
} seeking;

static seeking *seeking_of(rli_composite_machine *on)
{
    return (seeking *)(void *)on;
}

static size_t common(size_t a, size_t b)
{
    while (b > 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void begin_pass(seeking *self)
{
    size_t count = self->on.set->count;
    self->from = (size_t)rli_random_up_to((int64_t)count - 1);
    self->stride = 1 + (size_t)rli_random_up_to((int64_t)count - 1);
    while (common(self->stride, count) > 1)
        self->stride = self->stride % count + 1;
    self->asked = self->refused = 0;
    self->busy = NULL;
    self->unanswered = count;
    self->silent = (rli_silent_servers){0};
    self->waits = false;
    self->failure = RLOCK_OK;
}

static size_t place_asked(const seeking *self)
{
    return (self->from + self->asked * self->stride) % self->on.set->count;
}

static rlock *part_asked(const seeking *self)
{
    return self->waits ? self->busy : self->on.set->members[place_asked(self)];
}

/* Goes on to a part whose server may answer. */
static void pass_over_silent(seeking *self)
{
    while (self->failure != RLOCK_OK && self->asked < self->on.set->count &&
           rli_silent_servers_has(&self->silent, part_asked(self)))
        self->asked++;
}

/* --- a pass --- */

static int64_t left_ms(const seeking *self)
{
    return self->deadline_ms == RLI_NEVER ? RLOCK_FOREVER : self->deadline_ms - rli_now_ms();
}

/* How long to wait for a part that others hold. Where there is no other, as long as the caller does. Over a slow link a
 * short wait would end before its requests are answered, and leave them in doubt. A refusal that took longer than parts
 * are given was heard with patience, as those of the wait will be; or something stood still, which is over. */
static int64_t slice_ms(const seeking *self)
{
    int64_t ms = rli_back_off_ms(&slices, self->passes);
    int64_t least_ms = REQUESTS * rli_earlier(self->took_ms, RLI_COMPOSITE_ANSWER_MS);
    return self->on.set->count == 1 ? left_ms(self) : rli_earlier(left_ms(self), ms > least_ms ? ms : least_ms);
}

static rlock_status begin_asking(seeking *self)
{
    rli_job job = *self->on.job;
    self->began_ms = rli_now_ms();
    /* By the time it is asked for, another owner may have that part. Then any other is as good, so it waits for
     * none. */
    job.asks_once = self->held;
    job.wait_ms = left_ms(self);
    job.took = &self->number;
    if (self->held)
        return rli_composite_begin_part(&self->on, self->held, &job);
    job.wait_ms = self->waits ? slice_ms(self) : 0;
    if (!self->patient) /* other parts stand in for one whose server is silent */
        job.answer_ms = RLI_COMPOSITE_ANSWER_MS;
    return rli_composite_begin_part(&self->on, part_asked(self), &job);
}

static rlock_status say(const seeking *self)
{
    size_t count = self->on.set->count;
    if (self->failure != RLOCK_OK && self->refused == 0)
        return rli_fail(self->failure, "a sharded lock: none of %zu parts could be asked; %.400s", count, self->why);
    return rli_fail(RLOCK_TIMEOUT, "a sharded lock: none of %zu parts is free; %zu are held by other owners", count,
                    self->refused);
}

/* No part could be asked. One of them is then asked with patience, and again as often as a lock of one name would be if
 * the caller waits. */
static bool is_worth_another(const seeking *self)
{
    bool waits = self->on.job->wait_ms > 0 && left_ms(self) > 0 && self->failure == RLOCK_UNAVAILABLE;
    int attempts = rli_single_attempts(rli_single_of(self->on.set->members[0]));
    return self->unheard < (waits ? attempts : 1);
}

/* The pass has found nothing. */
static rlock_status end_pass(seeking *self)
{
    bool all_fail = self->failure != RLOCK_OK && self->refused == 0;
    self->unheard = all_fail ? self->unheard + self->patient : 0;
    bool again = all_fail ? is_worth_another(self) : self->on.job->wait_ms > 0 && left_ms(self) > 0;
    if (!again)
        return rli_composite_next(&self->on, RLI_COMPOSITE_DONE, say(self));
    size_t unanswered = self->unanswered;
    self->patient = all_fail || self->on.set->count == 1;
    self->passes++;
    begin_pass(self);
    if (self->patient && unanswered < self->on.set->count)
        self->from = unanswered; /* it may answer yet, where others have refused */
    return rli_composite_next(&self->on, RLI_COMPOSITE_ASKS, RLOCK_OK);
}

/* Other parts stand in for one that could not be asked. */
static bool may_be_replaced(rlock_status status)
{
    return status == RLOCK_TIMEOUT || status == RLOCK_UNAVAILABLE || status == RLOCK_SERVER ||
           status == RLOCK_NOT_SYNCED;
}

static void note(seeking *self, rlock_status status)
{
    if (status == RLOCK_TIMEOUT && !self->waits) {
        self->took_ms = rli_now_ms() - self->began_ms;
        self->refused++;
        self->busy = part_asked(self);
    }
    bool is_silence = status == RLOCK_UNAVAILABLE || status == RLOCK_NOT_SYNCED;
    if (is_silence) {
        rli_silent_servers_note(&self->silent, part_asked(self));
        self->unanswered = place_asked(self);
    }
    if (status == RLOCK_TIMEOUT || (!is_silence && self->unanswered < self->on.set->count))
        return;
    self->failure = status;
    snprintf(self->why, sizeof self->why, "%s", rlock_last_error());
}

/* A part was acquired. Another call of the same owner may have acquired another one meanwhile. */
static rlock_status choose(seeking *self)
{
    self->taken = self->held ? self->held : part_asked(self);
    self->held = rli_shard_choose(self->on.set, rli_composite_owner(&self->on), self->taken, self->number);
    if (self->held != self->taken)
        return rli_composite_next(&self->on, RLI_COMPOSITE_RETURNS, RLOCK_OK);
    if (self->on.job->took)
        *self->on.job->took = self->number;
    return rli_composite_next(&self->on, RLI_COMPOSITE_DONE, RLOCK_OK);
}

/* Gives back the part that was acquired beside the one that the owner holds, and takes that one again. */
static rlock_status give_back(rli_composite_machine *on)
{
    seeking *self = seeking_of(on);
    rli_job job = rli_composite_job(on, RLI_JOB_RELEASE, RLI_COMPOSITE_ANSWER_MS);
    job.only = self->number; /* it may be lost by now, and another call of the owner have taken the part again */
    rlock_status status = on->part ? rli_composite_go_on_part(on) : rli_composite_begin_part(on, self->taken, &job);
    return status == RLI_WAITING ? status : rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
}

/* The owner's own part was refused. Then its hold has ended meanwhile: it seeks another part, unless another call of
 * the same owner has one again. */
static rlock_status end_held(seeking *self, rlock_status status)
{
    size_t number;
    if (status != RLOCK_TIMEOUT)
        return rli_composite_next(&self->on, RLI_COMPOSITE_DONE, status);
    rlock *held = rli_shard_held(self->on.set, rli_composite_owner(&self->on), &number);
    bool again = self->on.job->wait_ms > 0 ? left_ms(self) > 0 : !held;
    if (!again)
        return rli_composite_next(&self->on, RLI_COMPOSITE_DONE, status);
    self->held = held;
    begin_pass(self);
    return rli_composite_next(&self->on, RLI_COMPOSITE_ASKS, RLOCK_OK);
}

static rlock_status ask(rli_composite_machine *on)
{
    seeking *self = seeking_of(on);
    rlock_status status = on->part ? rli_composite_go_on_part(on) : begin_asking(self);
    if (status == RLI_WAITING)
        return status;
    if (status == RLOCK_OK)
        return choose(self);
    if (self->held)
        return end_held(self, status);
    /* The owner had the part by its name: that hold is over, and was not this lock's. The part is asked anew. */
    if (status == RLOCK_LOST)
        return rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
    if (!may_be_replaced(status))
        return rli_composite_next(on, RLI_COMPOSITE_DONE, status);
    note(self, status);
    if (self->waits)
        return end_pass(self);
    self->asked = self->patient ? on->set->count : self->asked + 1;
    pass_over_silent(self);
    if (self->asked < on->set->count)
        return rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
    self->waits = self->busy && on->job->wait_ms > 0 && left_ms(self) > 0;
    return self->waits ? rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK) : end_pass(self);
}

static rli_composite_step *const acquiring[RLI_COMPOSITE_STAGES] = {
    [RLI_COMPOSITE_ASKS] = ask, [RLI_COMPOSITE_RETURNS] = give_back};

static rli_machine *begin_acquiring(rlock *handle, const rli_job *job, rli_operation *whole, seeking *self)
{
    size_t number;
    rli_composite_prepare(&self->on, handle, job, whole, RLI_MACHINE_SIZE(seeking), acquiring);
    self->deadline_ms = rli_after_ms(job->wait_ms);
    self->held = rli_shard_held(self->on.set, rli_composite_owner(&self->on), &number);
    self->passes = self->unheard = 0;
    self->took_ms = 0;
    self->patient = self->on.set->count == 1;
    begin_pass(self);
    return &self->on.base;
}

/* --- other jobs --- */

static int count_of(const rli_sweep *sweep, rlock *part)
{
    return rli_shard_count(sweep->on.set, rli_composite_owner(&sweep->on), part);
}

/* A part that the owner holds by its name is none of the sharded lock's. */
static bool is_of_others(rli_sweep *sweep, rlock *part, rlock_status *status)
{
    *status = RLOCK_NOT_OWNER;
    return !rli_shard_is_owed(sweep->on.set, rli_composite_owner(&sweep->on), part);
}

/* One that it has lost, and holds by its name, is not extended either. */
static bool is_not_extended(rli_sweep *sweep, rlock *part, rlock_status *status)
{
    if (is_of_others(sweep, part, status))
        return true;
    if (rli_composite_valid_for(&sweep->on, part) <= 0 || count_of(sweep, part) > 0)
        return false;
    *status = rli_extend_was_lost(&rli_single_of(part)->names);
    return true;
}

static bool is_unheld(rli_sweep *sweep, rlock *part, rlock_status *status)
{
    return rli_sweep_skips_unheld(sweep, part, status) || count_of(sweep, part) == 0;
}

/* One part is the owner's at most: the others answer that they are not, without a request. */
static rli_swept count_own(rli_sweep *sweep, rlock_status status)
{
    if (status == RLOCK_NOT_OWNER)
        return RLI_SWEEP_ON;
    sweep->good += status == RLOCK_OK;
    if (status != RLOCK_OK)
        rli_sweep_keep(sweep, status);
    return RLI_SWEEP_ENOUGH;
}

static rlock_status judge_own(rli_sweep *sweep)
{
    if (sweep->good > 0)
        return RLOCK_OK;
    if (sweep->failed != RLOCK_OK)
        return rli_fail_text(sweep->failed, sweep->why);
    return rli_fail(RLOCK_NOT_OWNER, "none of the %zu parts of the sharded lock is held by this owner",
                    sweep->on.set->count);
}

/* Whether it is held, and how often. The part does not tell its holds by its name from the others. */
static rli_swept add_up(rli_sweep *sweep, rlock_status status)
{
    const rli_composite *set = sweep->on.set;
    int count = count_of(sweep, set->members[(sweep->first + sweep->done - 1) % set->count]);
    rli_sweep_keep_first(sweep, status);
    sweep->on.base.answer += status == RLOCK_OK ? rli_earlier(sweep->on.part_answer, count) : 0;
    return status == RLOCK_OK ? RLI_SWEEP_ON : RLI_SWEEP_ENOUGH;
}

/* Whether any was locked. */
static rli_swept count_forced(rli_sweep *sweep, rlock_status status)
{
    rli_sweep_keep_first(sweep, status);
    sweep->on.base.answer |= status == RLOCK_OK && sweep->on.part_answer;
    return RLI_SWEEP_ON;
}

/* It is locked while none is free. */
static rli_swept count_locked(rli_sweep *sweep, rlock_status status)
{
    rli_sweep_keep_first(sweep, status);
    sweep->on.base.answer = status == RLOCK_OK && sweep->on.part_answer;
    return sweep->on.base.answer ? RLI_SWEEP_ON : RLI_SWEEP_ENOUGH;
}

/* How long until one is free at the latest: -2, one is free; -1, none has an expiry. */
static rli_swept count_left(rli_sweep *sweep, rlock_status status)
{
    int64_t left = sweep->on.part_answer, *least = &sweep->on.base.answer;
    rli_sweep_keep_first(sweep, status);
    if (status != RLOCK_OK)
        return RLI_SWEEP_ENOUGH;
    if (sweep->good++ == 0 || left == -2 || *least == -1 || (left >= 0 && left < *least))
        *least = left;
    return left == -2 ? RLI_SWEEP_ENOUGH : RLI_SWEEP_ON;
}

static const rli_sweep_rules rules[RLI_JOB_KINDS] = {
    [RLI_JOB_RELEASE] = {.sharded = true, .skips = is_of_others, .count = count_own, .judge = judge_own},
    [RLI_JOB_EXTEND] = {.sharded = true, .skips = is_not_extended, .count = count_own, .judge = judge_own},
    [RLI_JOB_IS_HELD] = {.skips = is_unheld, .count = add_up, .judge = rli_sweep_judge},
    [RLI_JOB_HOLD_COUNT] = {.skips = is_unheld, .count = add_up, .judge = rli_sweep_judge},
    [RLI_JOB_FORCE] = {.count = count_forced, .judge = rli_sweep_judge},
    [RLI_JOB_IS_LOCKED] = {.count = count_locked, .judge = rli_sweep_judge},
    [RLI_JOB_TTL] = {.count = count_left, .judge = rli_sweep_judge},
};

/* --- the handle --- */

static size_t room(const rlock *handle, rli_job_kind kind)
{
    size_t own = kind == RLI_JOB_ACQUIRE ? RLI_MACHINE_SIZE(seeking) : RLI_MACHINE_SIZE(rli_sweep);
    return own + rli_composite_members_room(handle, kind);
}

/* Whether the job is about the part that the owner holds. */
static bool is_owners(rli_job_kind kind)
{
    return kind == RLI_JOB_RELEASE || kind == RLI_JOB_EXTEND || kind == RLI_JOB_IS_HELD || kind == RLI_JOB_HOLD_COUNT;
}

static rli_machine *begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory)
{
    if (job->kind == RLI_JOB_ACQUIRE)
        return begin_acquiring(handle, job, whole, memory);
    rli_sweep *sweep = rli_sweep_begin(handle, job, whole, memory, &rules[job->kind]);
    size_t number;
    /* It is asked first: of a part that was lost before, an unlock answers later. The others follow, as another thread
     * of the owner may release it first. */
    if (is_owners(job->kind) && rli_shard_held(sweep->on.set, rli_composite_owner(&sweep->on), &number))
        sweep->first = number;
    return &sweep->on.base;
}

static rlock_status run(rlock *handle, const rli_job *job, int64_t *answer)
{
    union {
        rli_composite_machine any;
        seeking acquire;
        rli_sweep sweep;
    } memory;
    begin(handle, job, NULL, &memory);
    return rli_composite_run(&memory.any, answer);
}

static const rli_methods methods = {
    .check = check,
    .jobs = RLI_JOB_BIT(RLI_JOB_KINDS) - 1,
    .run = run,
    .room = room,
    .begin = begin,
    .valid_for = valid_for,
    .valid_in = valid_in,
    .get_shard = get_shard,
    RLI_COMPOSITE_METHODS,
};

/* Each part has another name, NAME:number, so that a cluster spreads the parts over its masters. */
static rlock *make_part(rlock_client *client, const char *name, size_t number)
{
    size_t size = strlen(name) + 8;
    char *text = malloc(size);
    if (!text) {
        rli_fail(RLOCK_NO_MEMORY, "out of memory for the name of a part");
        return NULL;
    }
    snprintf(text, size, "%s:%zu", name, number);
    rlock *part = rlock_get_lock(client, text);
    free(text);
    return part;
}

rlock *rlock_get_sharded_lock(rlock_client *client, const char *name, int shards)
{
    rlock *parts[RLI_MEMBERS_MAX] = {NULL}, *lock = NULL;
    if (!name || !*name || shards < 1 || shards > RLI_MEMBERS_MAX) {
        rli_fail(RLOCK_INVALID,
                 !name           ? "the sharded lock's name is NULL"
                 : *name == '\0' ? "the sharded lock's name is empty"
                                 : "a sharded lock has 1 to %d parts, not %d",
                 RLI_MEMBERS_MAX, shards);
        return NULL;
    }
    int made = 0;
    while (made < shards && (parts[made] = make_part(client, name, (size_t)made)))
        made++;
    if (made == shards)
        lock = rli_composite_make(&methods, "sharded lock", parts, (size_t)shards, RLI_MEMBERS_MAX);
    while (made > 0)
        rlock_free(parts[--made]);
    return lock;
}
