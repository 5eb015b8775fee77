/* Sweep: a job other than an acquire on each member of a composite, in turn or at the same time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SWEEP_H
#define RLI_SWEEP_H

#include "locks/batch.h"
#include "locks/composite_machine.h"

typedef struct rli_sweep rli_sweep;

typedef enum rli_swept { RLI_SWEEP_ON, RLI_SWEEP_ENOUGH } rli_swept;

/* The rules by which it is a job of a multi lock, or of a red lock. */
typedef struct rli_sweep_rules {
    bool sharded; /* it is a sharded lock's (rli_job) */
    /* Whether the job is not needed on the member; *status is what it would have returned. NULL: it is always. */
    bool (*skips)(rli_sweep *sweep, rlock *member, rlock_status *status);
    /* Counts a member's status. RLI_SWEEP_ENOUGH: the members after it do not matter. */
    rli_swept (*count)(rli_sweep *sweep, rlock_status status);
    /* The status of the job; the message is set. It sets the answer. */
    rlock_status (*judge)(rli_sweep *sweep);
} rli_sweep_rules;

struct rli_sweep {
    rli_composite_machine on; /* first */
    const rli_sweep_rules *rules;
    size_t done;         /* this many members were asked */
    size_t first;        /* the member with which it begins, one after the other; it goes around */
    size_t good, bad;    /* as the rules count them */
    size_t lost;         /* of a red lock's members, those that were lost before */
    uint64_t told;       /* the number of the red lock's keeper that knows of this release; 0 */
    rlock_status failed; /* the failure to report, and its message; RLOCK_OK: none */
    char why[512];
    rli_ballot *ballot; /* asks all members at the same time; NULL: one after the other, or in batches */
    rli_batch batch;    /* asks them in batches */
};

/* Prepares it in `memory`, for rli_methods.begin; `whole` NULL: for rli_composite_run. */
rli_sweep *rli_sweep_begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory,
                           const rli_sweep_rules *rules);
/* The same, for a sweep that asks the members at the same time: `memory` has rli_sweep_room_at_once bytes, and there is
 * a `whole`. All members are asked, whatever the rules say of enough. */
rli_sweep *rli_sweep_begin_at_once(rlock *handle, const rli_job *job, rli_operation *whole, void *memory,
                                   const rli_sweep_rules *rules);
/* The same, in batches, which rli_batch_begin has prepared in sweep->batch. Of the members of one client, the last in
 * the sorted order comes first: locks that are wanted together are asked for in that order, so those who wait for the
 * first find the rest free. */
void rli_sweep_in_batches(rli_sweep *sweep);
size_t rli_sweep_room_at_once(const rlock *handle, rli_job_kind kind);
/* Keeps a failure, with the thread's last error. */
void rli_sweep_keep(rli_sweep *sweep, rlock_status failed);
/* Keeps the status if it is a failure and none was kept before. */
void rli_sweep_keep_first(rli_sweep *sweep, rlock_status status);

/* Rules that several composites have.
 * judge: the job has failed if a failure was kept. */
rlock_status rli_sweep_judge(rli_sweep *sweep);
/* skips: members that this process knows it does not hold are not asked. */
bool rli_sweep_skips_unheld(rli_sweep *sweep, rlock *member, rlock_status *status);

#endif
