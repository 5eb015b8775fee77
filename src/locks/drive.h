/* Drive: has the calling thread carry out what is written for operations without one, because its parts wait at the
 * same time. The thread polls the connections of all members. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_DRIVE_H
#define RLI_DRIVE_H

#include "base/ready.h"
#include "locks/ballot.h"

/* Clients that a drive keeps apart; for more it looks through all members each time. */
#define RLI_DRIVE_CLIENTS 8

typedef struct rli_drive {
    rli_operation whole; /* without a thread: the ballots are its parts */
    rli_ready ready;
    rli_composite *set;
    rlock_client *clients[RLI_DRIVE_CLIENTS]; /* of the members, each once, if `many` is not set */
    size_t count;
    bool many;
    /* The thread's own, which it gets back at the end. */
    int cancel_state;
    const rli_ready *gathered;
} rli_drive;

/* Begins to drive, until rli_drive_end on the same thread; a thread drives one at a time. RLOCK_OK; else nothing has
 * begun:
 * RLOCK_NO_MEMORY: no descriptor is left; RLOCK_CLOSED: all clients are closed; RLOCK_FORKED. */
rlock_status rli_drive_begin(rli_drive *drive, rlock *handle, rlock_cancel *cancel);
void rli_drive_end(rli_drive *drive);
/* Sends what is queued. (rli_drive_ballot does that, too.) */
void rli_drive_send(const rli_drive *drive);
/* Waits until all votes of a ballot have ended, whose whole is the drive's. */
void rli_drive_ballot(rli_drive *drive, rli_ballot *ballot);

/* As rli_methods.run, for a composite. *begun false: nothing was done, for want of memory or descriptors, or because
 * all clients are closed. */
rlock_status rli_drive_job(rlock *handle, const rli_job *job, int64_t *answer, bool *begun);

#endif
