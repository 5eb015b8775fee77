/* Batch: a job on several members of a composite whose requests leave together. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/batch.h"

#include "redis/pipeline/pool.h"

#include <stdlib.h>

/* Memory is the limit: each vote needs some two kilobytes while the call lasts. */
#define MOST 256

static size_t most_of(const rlock *handle)
{
    const rli_composite *set = rli_composite_of(handle);
    if (!set->singles || set->count < 2)
        return 0;
    return set->count < MOST ? set->count : MOST;
}

size_t rli_batch_room(const rlock *handle, unsigned kinds)
{
    size_t most = most_of(handle);
    return most ? rli_ballot_room(handle, most, kinds) : 0;
}

void rli_batch_begin(rli_batch *batch, rlock *handle, unsigned kinds, rli_operation *whole, rli_drive *drive,
                     void *memory)
{
    *batch = (rli_batch){.most = memory ? most_of(handle) : 0};
    if (!batch->most)
        return;
    batch->drive = whole ? NULL : drive;
    batch->ballot = rli_ballot_begin(handle, batch->most, kinds, whole ? whole : &drive->whole, memory);
}

void rli_batch_end(rli_batch *batch)
{
    if (batch->ballot)
        rli_ballot_end(batch->ballot);
    batch->ballot = NULL;
}

void rli_batch_thread_begin(rli_batch_thread *thread, rlock *handle, unsigned kinds, rlock_cancel *cancel)
{
    size_t room = rli_batch_room(handle, kinds);
    thread->memory = room ? malloc(room) : NULL;
    if (thread->memory && rli_drive_begin(&thread->drive, handle, cancel) != RLOCK_OK) {
        free(thread->memory);
        thread->memory = NULL;
    }
}

void rli_batch_thread_end(rli_batch_thread *thread)
{
    if (thread->memory)
        rli_drive_end(&thread->drive);
    free(thread->memory);
}

void rli_batch_open(rli_batch *batch, size_t count)
{
    batch->count = count;
    batch->asked = true;
    rli_pool_gather();
}

void rli_batch_ask(rli_batch *batch, size_t vote, rlock *member, const rli_job *job)
{
    /* The server works on these while the thread prepares the next ones. */
    if (vote > 0 && vote % RLI_BATCH_SENT == 0 && batch->drive)
        rli_drive_send(batch->drive);
    rli_ballot_ask(batch->ballot, vote, member, job);
}

rlock_status rli_batch_go_on(rli_batch *batch)
{
    rli_pool_scatter();
    if (batch->drive)
        rli_drive_ballot(batch->drive, batch->ballot);
    else if (rli_ballot_go_on(batch->ballot) == RLI_WAITING)
        return RLI_WAITING;
    batch->asked = false;
    return RLOCK_OK;
}
