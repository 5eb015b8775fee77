/* Ballot: a job on many members of a composite at the same time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/ballot.h"

#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"

#include <stdio.h>

static size_t room_of_one(const rlock *handle, unsigned kinds)
{
    const rli_composite *set = rli_composite_of(handle);
    size_t most = 0;
    for (size_t i = 0; i < set->count; i++) {
        for (int kind = 0; kind < RLI_JOB_KINDS; kind++) {
            rli_job_kind of = (rli_job_kind)kind;
            size_t room = kinds & RLI_JOB_BIT(kind) ? set->members[i]->methods->room(set->members[i], of) : 0;
            most = room > most ? room : most;
        }
    }
    return most;
}

size_t rli_ballot_room(const rlock *handle, size_t votes, unsigned kinds)
{
    size_t each = RLI_MACHINE_SIZE(rli_vote) + room_of_one(handle, kinds);
    return RLI_MACHINE_SIZE(rli_ballot) + votes * each;
}

rli_ballot *rli_ballot_begin(rlock *handle, size_t votes, unsigned kinds, rli_operation *whole, void *memory)
{
    rli_ballot *ballot = memory;
    *ballot = (rli_ballot){.whole = whole, .count = votes, .room = room_of_one(handle, kinds)};
    ballot->looped = whole->parker->ready == &RLI_ITEM(rlock_client, whole->gate, gate)->loop.ready;
    rli_parts_init(&ballot->parts, whole->parker);
    ballot->rooms = (char *)memory + RLI_MACHINE_SIZE(rli_ballot);
    ballot->votes = (void *)(ballot->rooms + votes * ballot->room);
    for (size_t i = 0; i < votes; i++)
        ballot->votes[i] = (rli_vote){.machine = NULL};
    return ballot;
}

void rli_ballot_end(rli_ballot *ballot)
{
    rli_parts_destroy(&ballot->parts);
}

void rli_ballot_set(rli_ballot *ballot, size_t at, rlock_status status)
{
    rli_vote *vote = &ballot->votes[at];
    vote->status = status;
    if (status != RLOCK_OK)
        snprintf(vote->why, sizeof vote->why, "%s", rlock_last_error());
}

rlock_status rli_vote_status(const rli_vote *vote)
{
    return vote->status == RLOCK_OK ? RLOCK_OK : rli_fail_text(vote->status, vote->why);
}

/* The caller carries the vote out. */
static void go_on(rli_ballot *ballot, rli_vote *vote)
{
    for (;;) {
        rlock_status status = vote->machine->go_on(vote->machine);
        if (status != RLI_WAITING) {
            vote->answer = vote->machine->answer;
            vote->machine = NULL;
            rli_operation_end(&vote->op);
            ballot->under_way--;
            rli_ballot_set(ballot, (size_t)(vote - ballot->votes), status);
            return;
        }
        if (rli_parker_rest(&vote->op.own))
            return;
    }
}

void rli_ballot_ask(rli_ballot *ballot, size_t at, rlock *asked, const rli_job *job)
{
    rli_vote *vote = &ballot->votes[at];
    /* A member that has another gate than its vote uses the loop of its client, too. */
    rli_gate *gate = ballot->looped ? ballot->whole->gate : &asked->methods->place(asked).client->gate;
    rli_operation_begin_among(&vote->op, gate, ballot->whole, &ballot->parts);
    vote->job = *job;
    vote->job.took = job->kind == RLI_JOB_ACQUIRE ? &vote->took : NULL;
    vote->answer = 0;
    vote->took = job->kind == RLI_JOB_ACQUIRE ? 0 : vote->took;
    vote->machine = asked->methods->begin(asked, &vote->job, &vote->op, ballot->rooms + at * ballot->room);
    ballot->under_way++;
    go_on(ballot, vote);
}

/* Wakes the votes whose time has come, and returns when the next one's comes. */
static int64_t wake_due(rli_ballot *ballot)
{
    int64_t now_ms = rli_now_ms(), next_ms = RLI_NEVER;
    for (size_t i = 0; i < ballot->count; i++) {
        rli_vote *vote = &ballot->votes[i];
        if (!vote->machine)
            continue;
        if (vote->op.own.wake_ms <= now_ms)
            rli_unpark(&vote->op.own);
        next_ms = rli_earlier(next_ms, vote->op.own.wake_ms);
    }
    return next_ms;
}

rlock_status rli_ballot_go_on(rli_ballot *ballot)
{
    int64_t next_ms = wake_due(ballot);
    for (rli_parker *parker; ballot->under_way > 0 && (parker = rli_parts_take(&ballot->parts));) {
        while (parker) {
            rli_parker *next = parker->next;
            rli_vote *vote = RLI_ITEM(rli_vote, parker, op.own);
            rli_parker_resume(parker);
            go_on(ballot, vote);
            parker = next;
        }
        next_ms = wake_due(ballot);
    }
    ballot->whole->parker->wake_ms = next_ms;
    return ballot->under_way > 0 ? RLI_WAITING : RLOCK_OK;
}
