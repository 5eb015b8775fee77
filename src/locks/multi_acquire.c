/* Multi acquire: takes all members of a multi lock, or none.
 *
 * An attempt takes the members in a row. It asks for many together, without a wait. Members behind the first one that
 * was refused are released at once, so that what is held is always the beginning of the row, and then that one is
 * waited for. Whoever uses the same order therefore never waits in a circle. From there on it asks for a few together,
 * then for more: where many members are contended, what is asked for in vain stays in proportion to what is taken.
 *
 * The first member is asked alone if others probably hold it, and if there is no wait: of those who try the same
 * members at the same time, the one that gets the first must not be refused another because the rest ask for all in
 * vain. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/multi_acquire.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "locks/batch.h"
#include "locks/composite_machine.h"
#include "locks/round.h"
#include "locks/row.h"
#include "locks/taken.h"

#include <stdio.h>
#include <stdlib.h>

/* Longest pause between two attempts, in which nothing is held: other waiters get the chance to take what was
 * released. */
#define PAUSE_MS 10
/* After this many attempts in a row in which the first members expired before the last one was taken, the
 * lease is too short, and the call ends. */
#define IN_VAIN 32
/* How many members are asked together first. */
#define WINDOW RLI_BATCH_SENT
/* By how much that grows when all were granted. */
#define GROWTH 8
/* For so many acquires the first member is asked alone after it was refused among others. */
#define CONTENDED 16

#define JOBS (RLI_JOB_BIT(RLI_JOB_ACQUIRE) | RLI_JOB_BIT(RLI_JOB_EXTEND) | RLI_JOB_BIT(RLI_JOB_RELEASE))

/* One acquire under way. */
typedef struct gathering {
    rli_composite_machine on; /* first */
    rli_batch batch;
    int64_t deadline_ms;
    rli_row row;
    int64_t patience_ms; /* longest wait for a member while others are held */
    size_t window;       /* how many members to ask together, 1: to wait for that one */
    rli_taken taken;
    uint64_t session_number; /* in which the member that is waited for was taken; 0: a multi or red lock */
    size_t extended;         /* of these, the first ones were extended if that was due */
    size_t refused;          /* position in the row of the member that was refused */
    rlock *refuser;          /* the member that has refused last, for the message */
    bool careful;            /* a member was refused in this attempt, so the window grows slowly */
    size_t good;             /* of a batch in which a member was refused: the votes before it */
    bool together;           /* that member was asked in a batch: it had no time */
    int attempts;            /* how often it has started over */
    bool in_vain;            /* taken members expired before all were taken */
    int vain;                /* number of such attempts in a row */
    rlock_status status;     /* why this attempt has failed, and the message; RLOCK_OK: it has not */
    char why[512];
} gathering;

static gathering *gathering_of(rli_composite_machine *on)
{
    return (gathering *)(void *)on;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The acquire ends with that status. */
static rlock_status done(gathering *all, rlock_status status)
{
    rli_batch_end(&all->batch);
    return rli_composite_next(&all->on, RLI_COMPOSITE_DONE, status);
}

/* --- one member, which is waited for --- */

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

/* How long to wait for a member's answer. While other members are held, or asked for at the same time, a silent server
 * is not waited for longer than necessary, if enough time is left to ask it first in another attempt. */
static int64_t member_answer(const gathering *all, bool first)
{
    bool comes_again = all->on.job->wait_ms > 0 && all->deadline_ms - rli_now_ms() > RLI_COMPOSITE_ANSWER_MS;
    int64_t answer_ms = all->on.job->answer_ms;
    return !first && comes_again ? rli_earlier(answer_ms, RLI_COMPOSITE_ANSWER_MS) : answer_ms;
}

static rlock_status ran_out(gathering *all)
{
    all->in_vain = true;
    return rli_fail(RLOCK_TIMEOUT,
                    "a multi lock of %zu: a member expired or was lost before the last member was acquired; use a "
                    "longer lease",
                    all->on.set->count);
}

static rli_job job_for(const gathering *all, size_t i)
{
    rli_job job = *all->on.job;
    if (job.token && rli_row_at(&all->row, i) != rli_multi_fenced(all->on.set))
        job.token = NULL;
    return job;
}

/* A shorter wait may end before the member has refused; then the message names the member that refused before. */
#define REFUSED_MS 10

static rlock_status take(gathering *all, size_t i)
{
    rli_job job = job_for(all, i);
    int64_t least_ms = rli_taken_valid_ms(&all->taken, all->patience_ms);
    bool denied = all->together; /* a moment ago */
    all->refused = i;
    all->together = false;
    if (least_ms <= 0)
        return ran_out(all);
    job.wait_ms = member_wait(all, i, least_ms);
    if (all->on.job->wait_ms > 0 && job.wait_ms <= 0) {
        if (all->attempts > 0 || denied)
            return rli_fail(RLOCK_TIMEOUT, "the wait has ended");
        job.wait_ms = 1; /* every member is asked at least once, however short the wait */
    }
    job.answer_ms = member_answer(all, i == 0);
    if (!all->refuser || all->on.job->wait_ms <= 0 || job.wait_ms >= REFUSED_MS)
        all->refuser = rli_row_at(&all->row, i);
    all->session_number = 0;
    job.took = &all->session_number;
    return rli_composite_begin_part(&all->on, rli_row_at(&all->row, i), &job);
}

/* The attempt has failed: what it has taken is given back, in that stage. */
static rlock_status fail(gathering *all, rlock_status status)
{
    all->status = status;
    snprintf(all->why, sizeof all->why, "%s", rlock_last_error());
    return rli_composite_next(&all->on, RLI_COMPOSITE_GIVES_BACK, RLOCK_OK);
}

static rlock_status go_on(gathering *all)
{
    bool more = all->taken.count < all->on.set->count;
    all->window = least(all->window * GROWTH, all->on.set->count);
    if (!all->careful && all->window < WINDOW)
        all->window = WINDOW;
    return rli_composite_next(&all->on, more ? RLI_COMPOSITE_ASKS : RLI_COMPOSITE_EXTENDS, RLOCK_OK);
}

static rlock_status ask_one(gathering *all)
{
    rlock_status status = all->on.part ? rli_composite_go_on_part(&all->on) : take(all, all->taken.count);
    if (status == RLI_WAITING)
        return status;
    if (status != RLOCK_OK)
        return fail(all, status);
    rli_taken_add(&all->taken, all->session_number);
    return go_on(all);
}

/* --- several together --- */

/* How many members to ask together: of one client, since what is taken too early is given back, and a program may close
 * a client when it has seen that its members' turn has not come. */
static size_t next_count(const gathering *all)
{
    size_t most = least(least(all->window, all->batch.most), all->on.set->count - all->taken.count);
    return all->batch.ballot ? rli_row_reach(&all->row, all->taken.count, most, 1) : 1;
}

/* Returns RLOCK_OK, or why it asks no one. */
static rlock_status ask_several(gathering *all)
{
    int64_t answer_ms = member_answer(all, false);
    all->refused = all->taken.count;
    all->together = false;
    if (rli_taken_valid_ms(&all->taken, all->patience_ms) <= 0)
        return ran_out(all);
    if (all->attempts > 0 && rli_now_ms() >= all->deadline_ms)
        return rli_fail(RLOCK_TIMEOUT, "the wait has ended");
    rli_batch_open(&all->batch, next_count(all));
    for (size_t i = 0; i < all->batch.count; i++) {
        rli_job job = job_for(all, all->taken.count + i);
        job.wait_ms = 0;
        job.answer_ms = answer_ms;
        rli_batch_ask(&all->batch, i, rli_row_at(&all->row, all->taken.count + i), &job);
    }
    return RLOCK_OK;
}

/* The vote after the good ones was none: releases what was granted behind it, if anything was. */
static rlock_status refuse(gathering *all)
{
    const rli_vote *votes = all->batch.ballot->votes;
    rlock_status status = rli_vote_status(&votes[all->good]);
    size_t behind = all->good + 1;
    while (behind < all->batch.count && votes[behind].status != RLOCK_OK)
        behind++;
    bool returns = behind < all->batch.count, waits = status == RLOCK_TIMEOUT && all->on.job->wait_ms > 0;
    all->refuser = rli_row_at(&all->row, all->taken.count);
    all->refused = all->taken.count;
    all->together = all->careful = true;
    all->window = 1;
    if (all->taken.count == 0)
        atomic_store_explicit(&all->on.set->contended, CONTENDED, memory_order_relaxed);
    if (!waits) {
        all->status = status;
        snprintf(all->why, sizeof all->why, "%s", rlock_last_error());
    }
    rli_composite_stage stage = waits ? RLI_COMPOSITE_ASKS : RLI_COMPOSITE_GIVES_BACK;
    return rli_composite_next(&all->on, returns ? RLI_COMPOSITE_RETURNS : stage, RLOCK_OK);
}

static rlock_status ask(rli_composite_machine *on)
{
    gathering *all = gathering_of(on);
    if (!all->batch.asked && (on->part || next_count(all) < 2))
        return ask_one(all);
    rlock_status status = all->batch.asked ? RLOCK_OK : ask_several(all);
    if (status != RLOCK_OK)
        return fail(all, status);
    if (rli_batch_go_on(&all->batch) == RLI_WAITING)
        return RLI_WAITING;
    const rli_vote *votes = all->batch.ballot->votes;
    for (all->good = 0; all->good < all->batch.count && votes[all->good].status == RLOCK_OK; all->good++)
        rli_taken_add(&all->taken, votes[all->good].took);
    return all->good == all->batch.count ? go_on(all) : refuse(all);
}

static rlock_status return_surplus(rli_composite_machine *on)
{
    gathering *all = gathering_of(on);
    rli_ballot *ballot = all->batch.ballot;
    if (!all->batch.asked) {
        rli_job job = rli_composite_job(on, RLI_JOB_RELEASE, RLI_COMPOSITE_ANSWER_MS);
        rli_batch_open(&all->batch, all->batch.count);
        for (size_t i = all->batch.count; --i > all->good;) {
            job.only = ballot->votes[i].took;
            if (ballot->votes[i].status == RLOCK_OK)
                rli_batch_ask(&all->batch, i, rli_row_at(&all->row, all->taken.count + i - all->good), &job);
        }
    }
    if (rli_batch_go_on(&all->batch) == RLI_WAITING)
        return RLI_WAITING;
    return rli_composite_next(on, all->status == RLOCK_OK ? RLI_COMPOSITE_ASKS : RLI_COMPOSITE_GIVES_BACK, RLOCK_OK);
}

/* --- all are taken --- */

/* Asks for the extension of aged members from all->extended on. Returns whether there were any. */
static bool extend_several(gathering *all)
{
    size_t count = 0;
    rli_batch_open(&all->batch, all->batch.most);
    for (; all->extended < all->taken.count && count < all->batch.most; all->extended++) {
        rli_job job;
        rlock *member = rli_row_at(&all->row, all->extended);
        uint64_t session = rli_taken_session(&all->taken, all->extended);
        if (!rli_composite_is_aged(&all->on, member, session, all->on.job->lease_ms, &job))
            continue;
        rli_batch_ask(&all->batch, count++, member, &job);
    }
    return count > 0;
}

/* Extends members that were taken some time ago. */
static rlock_status extend_aged(gathering *all)
{
    while (all->batch.ballot) {
        bool any = all->batch.asked || extend_several(all);
        if (rli_batch_go_on(&all->batch) == RLI_WAITING)
            return RLI_WAITING;
        if (!any)
            return RLOCK_OK;
    }
    for (; all->extended < all->taken.count; all->extended++) {
        rlock *member = rli_row_at(&all->row, all->extended);
        uint64_t session = rli_taken_session(&all->taken, all->extended);
        rlock_status status = all->on.part
                                  ? rli_composite_go_on_part(&all->on)
                                  : rli_composite_extend_if_aged(&all->on, member, session, all->on.job->lease_ms);
        if (status == RLI_WAITING)
            return status;
    }
    return RLOCK_OK;
}

/* All members are taken: renews the leases of those that were taken some time ago, and checks that all are still
 * valid. */
static rlock_status finish(rli_composite_machine *on)
{
    gathering *all = gathering_of(on);
    if (on->job->lease_ms != RLOCK_WATCHDOG && extend_aged(all) == RLI_WAITING)
        return RLI_WAITING;
    if (rli_taken_check(&all->taken) <= 0)
        return fail(all, ran_out(all));
    return done(all, RLOCK_OK);
}

/* --- after a failed attempt --- */

/* Whether to start over: there is time left, and another attempt may succeed. */
static bool worth_another(const gathering *all)
{
    if (all->on.job->wait_ms <= 0 || rli_now_ms() >= all->deadline_ms || all->vain >= IN_VAIN)
        return false;
    /* If the first of the row was refused or did not answer, it had all the time, or all the attempts; but not in a
     * batch. */
    return all->status == RLOCK_TIMEOUT || (all->status == RLOCK_UNAVAILABLE && (all->refused > 0 || all->together));
}

static rlock_status say(const gathering *all)
{
    char shown[RLI_MEMBER_SHOWN];
    int64_t wait_ms = all->on.job->wait_ms;
    if (all->status != RLOCK_TIMEOUT || all->in_vain)
        return rli_fail_text(all->status, all->why);
    rli_composite_format_member(all->refuser ? all->refuser : rli_row_at(&all->row, all->refused), shown);
    if (wait_ms <= 0)
        return rli_fail(all->status,
                        "a multi lock of %zu: lock %s is held by another owner, or other waiters come first",
                        all->on.set->count, shown);
    return rli_fail(all->status, "could not acquire a multi lock of %zu within %lld ms; lock %s was the last to refuse",
                    all->on.set->count, (long long)wait_ms, shown);
}

/* Releases the last members that are taken. */
static rlock_status release_some(gathering *all)
{
    rli_composite_machine *on = &all->on;
    rli_job job = rli_taken_release(&all->taken, all->taken.count - 1);
    if (!all->batch.ballot) {
        rlock *last = rli_row_at(&all->row, all->taken.count - 1);
        rlock_status status = on->part ? rli_composite_go_on_part(on) : rli_composite_begin_part(on, last, &job);
        all->taken.count -= status != RLI_WAITING;
        return status;
    }
    if (!all->batch.asked) {
        size_t most = least(all->taken.count, all->batch.most);
        rli_batch_open(&all->batch, rli_row_reach(&all->row, all->taken.count - 1, most, -1));
        for (size_t i = 0; i < all->batch.count; i++) {
            job = rli_taken_release(&all->taken, all->taken.count - 1 - i);
            rli_batch_ask(&all->batch, i, rli_row_at(&all->row, all->taken.count - 1 - i), &job);
        }
    }
    if (rli_batch_go_on(&all->batch) == RLI_WAITING)
        return RLI_WAITING;
    all->taken.count -= all->batch.count;
    return RLOCK_OK;
}

/* Releases all that is taken, without long waits for the answers of a server in trouble. */
static rlock_status give_back(rli_composite_machine *on)
{
    gathering *all = gathering_of(on);
    while (all->taken.count > 0) {
        if (release_some(all) == RLI_WAITING)
            return RLI_WAITING;
    }
    all->vain = all->in_vain ? all->vain + 1 : 0;
    if (!worth_another(all))
        return done(all, say(all));
    return rli_composite_next(on, RLI_COMPOSITE_PAUSES, RLOCK_OK);
}

/* --- attempts --- */

static bool asks_first_alone(const gathering *all)
{
    atomic_int *contended = &all->on.set->contended;
    if (all->attempts > 0 || all->on.job->wait_ms <= 0)
        return true;
    int left = atomic_load_explicit(contended, memory_order_relaxed);
    if (left > 0)
        atomic_store_explicit(contended, left - 1, memory_order_relaxed);
    return left > 0;
}

/* Begins an attempt, which takes all members or none. */
static void begin_attempt(gathering *all)
{
    const rli_job *job = all->on.job;
    bool ends = job->wait_ms != RLOCK_FOREVER;
    all->patience_ms = rli_patience_ms(all->attempts,
                                       ends ? job->wait_ms : rli_round_ms(all->on.set->count, job->lease_ms));
    all->window = asks_first_alone(all) ? 1 : WINDOW;
    rli_taken_begin(&all->taken);
    all->extended = 0;
    all->in_vain = all->together = all->careful = false;
    all->status = RLOCK_OK;
}

static rlock_status pause(rli_composite_machine *on)
{
    gathering *all = gathering_of(on);
    rlock_status status = rli_composite_pause(on, rli_random_up_to(PAUSE_MS), all->deadline_ms);
    if (status == RLI_WAITING)
        return status;
    if (status != RLOCK_OK)
        return done(all, status);
    if (rli_now_ms() >= all->deadline_ms)
        return done(all, say(all));
    /* A server that did not answer within the short time is asked first in the next attempt, with all the
     * time that is left. A member that was refused may be held by an owner that waits for those that this
     * attempt released: from now on use the sorted order, which all owners that met such a refusal use. */
    all->row.lead = all->status == RLOCK_UNAVAILABLE ? rli_row_index(&all->row, all->refused) : 0;
    if (all->status == RLOCK_TIMEOUT)
        all->row.order = rli_composite_sorted(on->set);
    all->attempts++;
    begin_attempt(all);
    return rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
}

/* --- beginning --- */

static rli_machine *begin(rlock *handle, const rli_job *job, rli_operation *whole, uint64_t *took, gathering *all)
{
    static rli_composite_step *const steps[RLI_COMPOSITE_STAGES] = {[RLI_COMPOSITE_ASKS] = ask,
                                                                    [RLI_COMPOSITE_RETURNS] = return_surplus,
                                                                    [RLI_COMPOSITE_EXTENDS] = finish,
                                                                    [RLI_COMPOSITE_GIVES_BACK] = give_back,
                                                                    [RLI_COMPOSITE_PAUSES] = pause};
    rli_composite_prepare(&all->on, handle, job, whole, RLI_MACHINE_SIZE(gathering), steps);
    all->deadline_ms = rli_after_ms(job->wait_ms);
    all->row = (rli_row){.order = all->on.set->members, .lead = 0};
    all->attempts = all->vain = 0;
    all->refuser = NULL;
    all->taken = (rli_taken){.on = &all->on, .row = &all->row, .sessions = took};
    begin_attempt(all);
    return &all->on.base;
}

size_t rli_multi_acquire_room(const rlock *handle)
{
    return RLI_MACHINE_SIZE(gathering) + rli_composite_members_room(handle, RLI_JOB_ACQUIRE) +
           rli_batch_room(handle, JOBS) + RLI_MACHINE_ROOM(rli_composite_of(handle)->count * sizeof(uint64_t));
}

rli_machine *rli_multi_acquire_begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory)
{
    gathering *all = memory;
    char *behind = (char *)memory + RLI_MACHINE_SIZE(gathering) + rli_composite_members_room(handle, RLI_JOB_ACQUIRE);
    uint64_t *took = (uint64_t *)(void *)(behind + rli_batch_room(handle, JOBS));
    rli_machine *machine = begin(handle, job, whole, took, all);
    rli_batch_begin(&all->batch, handle, JOBS, whole, NULL, behind);
    return machine;
}

rlock_status rli_multi_acquire_run(rlock *handle, const rli_job *job)
{
    gathering all;
    rli_batch_thread thread;
    size_t count = rli_composite_of(handle)->count;
    uint64_t *sessions = malloc(count * sizeof *sessions);
    if (!sessions)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a multi lock of %zu", count);
    rli_batch_thread_begin(&thread, handle, JOBS, job->cancel);
    begin(handle, job, NULL, sessions, &all);
    rli_batch_begin(&all.batch, handle, JOBS, NULL, &thread.drive, thread.memory);
    rlock_status status = rli_composite_run(&all.on, NULL);
    rli_batch_thread_end(&thread);
    free(sessions);
    return status;
}
