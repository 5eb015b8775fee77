/* Red lock whose members are asked one after the other, and waited for, as Redisson does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "client/client.h"
#include "locks/red.h"
#include "locks/round.h"
#include "locks/tally.h"

/* Longest pause between two passes: owners that have each won a minority come back at different times. */
#define PAUSE_MS 50
/* One acquire under way. A pass asks the members one after the other; then it holds a majority, or nothing. */
typedef struct voting {
    rli_composite_machine on; /* first */
    int64_t deadline_ms;
    rlock *const *order;
    int64_t member_wait_ms;         /* longest wait for a member while none is held */
    int64_t patience_ms;            /* the same while some are held, in this pass */
    bool again;                     /* the owner holds the red lock already */
    size_t next;                    /* index of the member that the present stage is at */
    uint64_t token;                 /* of a red lock over fenced locks; 0: not known yet */
    size_t raised;                  /* how many members have it */
    uint64_t took[RLI_MEMBERS_MAX]; /* in which session each member was acquired; 0: it was not */
    rli_tally tally;                /* of this pass */
    int pass;                       /* its number, from 0 */
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
    job.token = NULL;
    job.took = &votes->took[votes->next];
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
    if (status != RLOCK_OK)
        votes->took[votes->next] = 0;
    votes->next++;
    if (goes_on(votes))
        return rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
    votes->next = 0;
    votes->tally.in_vain = rli_tally_has_won(&votes->tally);
    return rli_composite_next(on, votes->tally.in_vain ? RLI_COMPOSITE_EXTENDS : RLI_COMPOSITE_GIVES_BACK, RLOCK_OK);
}

/* The lock is acquired. The holds of one owner need not have the same members: tells each held member that this hold
 * was acquired without it. */
static rlock_status win(voting *votes)
{
    for (size_t i = 0; votes->again && i < votes->on.set->count; i++) {
        if (!votes->took[i])
            votes->order[i]->methods->miss(votes->order[i], rli_composite_owner(&votes->on));
    }
    return rli_composite_next(&votes->on, RLI_COMPOSITE_DONE, RLOCK_OK);
}

static bool has_tokens(const rli_composite *set)
{
    return set->base.methods->get_token;
}

/* The majority is taken: extends the leases, and checks that the lock is valid. */
static rlock_status extend_aged(rli_composite_machine *on)
{
    voting *votes = voting_of(on);
    int64_t lease_ms = on->job->lease_ms;
    for (; votes->next < on->set->count && lease_ms != RLOCK_WATCHDOG; votes->next++) {
        uint64_t session = votes->took[votes->next];
        rlock_status status = RLOCK_OK;
        if (on->part)
            status = rli_composite_go_on_part(on);
        else if (session)
            status = rli_composite_extend_if_aged(on, votes->order[votes->next], session, lease_ms);
        if (status == RLI_WAITING)
            return status;
    }
    votes->next = 0;
    if (!rli_red_is_valid(on, votes->order, votes->took))
        return rli_composite_next(on, RLI_COMPOSITE_GIVES_BACK, RLOCK_OK);
    return has_tokens(on->set) ? rli_composite_next(on, RLI_COMPOSITE_RAISES, RLOCK_OK) : win(votes);
}

static void count_raised(voting *votes, rlock_status status)
{
    bool ended = status == RLOCK_LOST && !votes->again; /* this pass's own hold of that member, already */
    votes->raised += status == RLOCK_OK;
    if (status == RLOCK_OK || status == RLOCK_NOT_OWNER || ended)
        return;
    rli_tally_count(&votes->tally, status);
    votes->tally.in_vain = false;
}

/* Raises the members' counters to the greatest of their tokens, which is the lock's. It counts where a majority has it:
 * every later majority has one of these members, and so a greater token. */
static rlock_status raise_tokens(rli_composite_machine *on)
{
    voting *votes = voting_of(on);
    const rli_owner *owner = rli_composite_owner(on);
    if (votes->token == 0)
        votes->token = rli_red_greatest_token(on->set, owner);
    for (; votes->next < on->set->count; votes->next++) {
        rlock *member = votes->order[votes->next];
        uint64_t own = 0;
        bool held = votes->took[votes->next] && member->methods->get_token(member, owner, &own) == RLOCK_OK;
        rli_job job = rli_composite_job(on, RLI_JOB_RAISE, RLI_COMPOSITE_ANSWER_MS);
        job.raised = votes->token;
        rlock_status status = on->part                     ? rli_composite_go_on_part(on)
                              : held && own < votes->token ? rli_composite_begin_part(on, member, &job)
                              : held                       ? RLOCK_OK
                                                           : RLOCK_NOT_OWNER;
        if (status == RLI_WAITING)
            return status;
        count_raised(votes, status);
    }
    votes->next = 0;
    if (votes->raised < rli_red_majority(on->set) || !rli_red_is_valid(on, votes->order, votes->took))
        return rli_composite_next(on, RLI_COMPOSITE_GIVES_BACK, RLOCK_OK);
    if (on->job->token)
        *on->job->token = votes->token;
    return win(votes);
}

/* A pass has failed, and what it took is given back. */
static rlock_status end_pass(voting *votes)
{
    const rli_job *job = votes->on.job;
    bool may_change = rli_passes_end(&votes->passes, &votes->tally, rli_red_count_valid(&votes->on),
                                     rli_red_lease_ms(&votes->on), rli_red_attempts(votes->on.set));
    bool starts_over = may_change && job->wait_ms > 0 && rli_now_ms() < votes->deadline_ms;
    return rli_composite_next(&votes->on, starts_over ? RLI_COMPOSITE_PAUSES : RLI_COMPOSITE_DONE,
                              starts_over ? RLOCK_OK : votes->passes.status);
}

static rlock_status give_back(rli_composite_machine *on)
{
    voting *votes = voting_of(on);
    for (; votes->next < on->set->count; votes->next++) {
        if (!votes->took[votes->next])
            continue;
        rli_job job = rli_composite_job(on, RLI_JOB_RELEASE, RLI_COMPOSITE_ANSWER_MS);
        job.only = votes->took[votes->next]; /* it may be lost by now, and another call have taken the member again */
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
    votes->patience_ms = rli_patience_ms(votes->pass, votes->member_wait_ms);
    votes->next = votes->raised = 0;
    votes->token = 0;
    rli_tally_begin(&votes->tally, members, rli_red_majority(votes->on.set));
    votes->again = rli_red_count_valid(&votes->on) >= rli_red_majority(votes->on.set);
    for (size_t i = 0; i < members; i++)
        votes->took[i] = 0;
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
    votes->pass++;
    begin_pass(votes);
    return rli_composite_next(on, RLI_COMPOSITE_ASKS, RLOCK_OK);
}

static rli_composite_step *const acquiring[RLI_COMPOSITE_STAGES] = {[RLI_COMPOSITE_ASKS] = ask,
                                                                    [RLI_COMPOSITE_EXTENDS] = extend_aged,
                                                                    [RLI_COMPOSITE_RAISES] = raise_tokens,
                                                                    [RLI_COMPOSITE_GIVES_BACK] = give_back,
                                                                    [RLI_COMPOSITE_PAUSES] = pause};

static rli_machine *begin_acquiring(rlock *handle, const rli_job *job, rli_operation *whole, voting *votes)
{
    rli_composite_prepare(&votes->on, handle, job, whole, RLI_MACHINE_SIZE(voting), acquiring);
    votes->deadline_ms = rli_after_ms(job->wait_ms);
    votes->order = votes->on.set->members;
    votes->pass = 0;
    votes->passes = (rli_passes){.status = RLOCK_OK};
    begin_pass(votes);
    return &votes->on.base;
}

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

#define METHODS                                                                                                        \
    .check = rli_red_check, .jobs = RLI_COMPOSITE_JOBS, .run = run, .room = room, .begin = begin,                      \
    .valid_for = rli_red_valid_for, RLI_COMPOSITE_METHODS
const rli_methods rli_red_in_turn = {METHODS};
const rli_methods rli_red_fenced = {METHODS, .get_token = rli_red_get_token};
