/* Composite machine: a job on a lock made of others, one member after the other. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_COMPOSITE_MACHINE_H
#define RLI_COMPOSITE_MACHINE_H

#include "locks/composite.h"

/* How far a job is. composite_machine.c has the table of the legal transitions. Jobs other than an acquire only ask. */
typedef enum rli_composite_stage {
    RLI_COMPOSITE_ASKS,       /* does the job on one member after the other, or on several together */
    RLI_COMPOSITE_RETURNS,    /* a multi lock: releases members that it has taken behind one that was refused */
    RLI_COMPOSITE_EXTENDS,    /* enough members are taken: extends those that were taken some time ago */
    RLI_COMPOSITE_RAISES,     /* a red lock over fenced locks: raises the token counters of its members */
    RLI_COMPOSITE_GIVES_BACK, /* releases what it has taken */
    RLI_COMPOSITE_PAUSES,     /* holds nothing, until it starts over */
    RLI_COMPOSITE_DONE,
    RLI_COMPOSITE_STAGES
} rli_composite_stage;

typedef struct rli_composite_machine rli_composite_machine;

/* Goes on with one stage, and ends with rli_composite_next; RLI_WAITING: it is called again. */
typedef rlock_status rli_composite_step(rli_composite_machine *machine);

struct rli_composite_machine {
    rli_machine base; /* first */
    rli_composite *set;
    const rli_job *job;
    rli_composite_stage stage;
    rli_composite_step *const *steps; /* of each stage but RLI_COMPOSITE_DONE */
    rli_operation *whole;             /* NULL: it has a thread */
    void *room;                       /* for the machine of a member, which `whole` needs */
    /* The job on a member that is under way; NULL: none. */
    rli_machine *part;
    rli_job part_job;
    int64_t part_answer; /* of the latest job on a member */
    /* The pause under way; `pausing`: its operation has begun. */
    bool pausing;
    int64_t pause_until_ms;
    rli_operation pause;
};

/* Prepares a machine of `size` bytes (RLI_MACHINE_SIZE) in `memory`; behind it is the room of its members if there is a
 * `whole`. */
void rli_composite_prepare(rli_composite_machine *machine, rlock *handle, const rli_job *job, rli_operation *whole,
                           size_t size, rli_composite_step *const *steps);
/* How many bytes behind the machine its members need for a job of that kind. */
size_t rli_composite_members_room(const rlock *handle, rli_job_kind kind);
/* Runs a machine with a thread to its end, as rli_methods.run. */
rlock_status rli_composite_run(rli_composite_machine *machine, int64_t *answer);

/* The stage ends. The status is that of the job if the next stage is RLI_COMPOSITE_DONE; else RLOCK_OK. */
rlock_status rli_composite_next(rli_composite_machine *machine, rli_composite_stage stage, rlock_status status);

/* Does a job for the owner on a member. RLI_WAITING: call rli_composite_go_on_part; else the status of the job. The
 * member's job is copied. */
rlock_status rli_composite_begin_part(rli_composite_machine *machine, rlock *member, const rli_job *job);
rlock_status rli_composite_go_on_part(rli_composite_machine *machine);

/* A job of that kind for the owner of the machine's. */
rli_job rli_composite_job(const rli_composite_machine *machine, rli_job_kind kind, int64_t answer_ms);
/* The owner that the job names; NULL: none. */
const rli_owner *rli_composite_owner(const rli_composite_machine *machine);
/* For how long the owner may still rely on its hold of a member. */
int64_t rli_composite_valid_for(const rli_composite_machine *machine, rlock *member);
/* The same of its hold in the session with that number and in no other; 0: a member without a session of its own. */
int64_t rli_composite_valid_in(const rli_composite_machine *machine, rlock *member, uint64_t session);
/* Whether a member that was acquired with lease_ms, in the session with that number or, for 0, in any, has lost more
 * than a tenth of the lease, but not all; then *job is the one that extends it. A failure of that job need not be
 * reported: the member's valid_for shows the result. */
bool rli_composite_is_aged(const rli_composite_machine *machine, rlock *member, uint64_t session, int64_t lease_ms,
                           rli_job *job);
/* Extends the member if it is aged. RLI_WAITING: rli_composite_go_on_part. */
rlock_status rli_composite_extend_if_aged(rli_composite_machine *machine, rlock *member, uint64_t session,
                                          int64_t lease_ms);

/* Sleeps for pause_ms, but not longer than to deadline_ms. RLI_WAITING: call it again. RLOCK_OK; or
 * the token, a fork, or the closing of the first client that is still open ended the wait: RLOCK_CANCELLED,
 * RLOCK_FORKED, RLOCK_CLOSED. */
rlock_status rli_composite_pause(rli_composite_machine *machine, int64_t pause_ms, int64_t deadline_ms);

#endif
