/* Ballot: a job on many members of a composite at the same time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_BALLOT_H
#define RLI_BALLOT_H

#include "base/parts.h"
#include "locks/composite.h"

/* The question to one member, and its answer. */
typedef struct rli_vote {
    /* a part of the whole, which the member's machine is a part of; begun while `machine` is set */
    rli_operation op;
    rli_machine *machine; /* NULL: none is under way */
    rli_job job;
    rlock_status status; /* with which it has ended */
    int64_t answer;
    uint64_t took; /* of an acquire that ended with RLOCK_OK: the number of its session */
    char why[512]; /* the message of the status */
} rli_vote;

typedef struct rli_ballot {
    rli_operation *whole; /* has no thread */
    bool looped;          /* an event loop goes on with the whole; else a thread that polls for all members (drive.h) */
    rli_parts parts;
    size_t under_way;
    size_t count; /* of the votes */
    rli_vote *votes;
    char *rooms; /* for their machines, `room` bytes each */
    size_t room;
} rli_ballot;

/* How many bytes a ballot of so many votes needs for jobs of these kinds (RLI_JOB_BIT of each). */
size_t rli_ballot_room(const rlock *handle, size_t votes, unsigned kinds);
/* Prepares a ballot in such memory, aligned to RLI_MACHINE_ALIGN. End it with rli_ballot_end. */
rli_ballot *rli_ballot_begin(rlock *handle, size_t votes, unsigned kinds, rli_operation *whole, void *memory);
/* None of its votes may be under way. */
void rli_ballot_end(rli_ballot *ballot);

/* Asks a member of the handle for a vote that is not under way. */
void rli_ballot_ask(rli_ballot *ballot, size_t vote, rlock *member, const rli_job *job);
/* Sets a vote without asking; the message is the thread's last error. */
void rli_ballot_set(rli_ballot *ballot, size_t vote, rlock_status status);
/* Goes on with the votes that are under way. RLI_WAITING: the whole must wait, and call it again; RLOCK_OK: all have
 * ended. */
rlock_status rli_ballot_go_on(rli_ballot *ballot);
/* Returns a vote's status, with its message as the thread's last error. */
rlock_status rli_vote_status(const rli_vote *vote);

#endif
