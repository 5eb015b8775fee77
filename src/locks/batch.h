/* Batch: a job on several members of a composite whose requests leave together. Each member of the composite is a lock
 * of one name, and those of a batch are of one client. With a thread, that waits for the answers; an operation without
 * one goes on when they have come. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_BATCH_H
#define RLI_BATCH_H

#include "locks/drive.h"

typedef struct rli_batch {
    rli_ballot *ballot; /* NULL: there is no memory for batches, or no use */
    rli_drive *drive;   /* carries them out with a thread; NULL: it has none */
    size_t most;        /* members that one batch may have */
    size_t count;       /* members of the present batch */
    bool asked;         /* it is under way */
} rli_batch;

/* How many bytes batches need for jobs of these kinds (RLI_JOB_BIT of each); 0: the handle's members are asked one by
 * one. */
size_t rli_batch_room(const rlock *handle, unsigned kinds);
/* Prepares batches in such memory, aligned to RLI_MACHINE_ALIGN; NULL: without batches. `whole` is the operation
 * without a thread; NULL: `drive` carries them out. End with rli_batch_end, while no batch is under way. */
void rli_batch_begin(rli_batch *batch, rlock *handle, unsigned kinds, rli_operation *whole, rli_drive *drive,
                     void *memory);
void rli_batch_end(rli_batch *batch);

/* What a thread needs for batches. */
typedef struct rli_batch_thread {
    rli_drive drive;
    void *memory; /* NULL: it could not be prepared, or is of no use */
} rli_batch_thread;

/* Prepares it for rli_batch_begin, as far as there is memory and a descriptor. End it with rli_batch_thread_end. */
void rli_batch_thread_begin(rli_batch_thread *thread, rlock *handle, unsigned kinds, rlock_cancel *cancel);
void rli_batch_thread_end(rli_batch_thread *thread);

/* At least this many requests leave together. The server runs them in one go, as far as it is up to the client, so of
 * two clients that ask for the same members in the same order, one gets them all. */
#define RLI_BATCH_SENT 64

/* A batch begins, which asks members for the first `count` votes in their order, until rli_batch_go_on is called. */
void rli_batch_open(rli_batch *batch, size_t count);
void rli_batch_ask(rli_batch *batch, size_t vote, rlock *member, const rli_job *job);
/* RLI_WAITING: call it again; RLOCK_OK: all votes have ended. */
rlock_status rli_batch_go_on(rli_batch *batch);

#endif
