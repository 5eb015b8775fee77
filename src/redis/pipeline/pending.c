/* Pending requests: the requests of a pipe, in the order in which they were queued and are answered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/pending.h"

#include "base/list.h"

#include <stdlib.h>

void rli_pending_append(rli_pending_list *pending_list, rli_pending *pending)
{
    RLI_QUEUE_APPEND(pending_list, pending);
    pending_list->count++;
}

void rli_pending_remove(rli_pending_list *pending_list, rli_pending *pending)
{
    RLI_QUEUE_REMOVE(pending_list, pending);
    pending_list->count--;
}

rli_pending *rli_pending_pop(rli_pending_list *pending_list)
{
    rli_pending *pending = pending_list->first;
    if (pending) {
        rli_pending_remove(pending_list, pending);
        pending->popped = true;
        pending->next = NULL;
    }
    return pending;
}

rli_pending *rli_pending_replace(rli_pending_list *pending_list, const rli_pending *pending)
{
    rli_pending *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *pending;
    copy->parker = NULL;
    copy->witness = NULL;
    RLI_QUEUE_REPLACE(pending_list, copy);
    return copy;
}

bool rli_pending_is_threadless(const rli_pending *pending)
{
    return pending->parker && pending->parker->ready;
}

bool rli_pending_finished(const rli_pending *pending)
{
    return rli_parker_has(pending->parker, RLI_FINISHED);
}

void rli_pending_finish(rli_pending *pending, rli_outcome outcome, rli_wake_batch *batch)
{
    rli_parker *parker = pending->parker;
    if (((!parker && !pending->done) || outcome != RLI_ANSWERED) && pending->reply) {
        freeReplyObject(pending->reply);
        pending->reply = NULL;
    }
    if (pending->done) {
        pending->outcome = outcome;
        pending->done(pending);
        return;
    }
    if (!parker) {
        free(pending);
        return;
    }
    pending->outcome = outcome;
    if (pending->witness)
        pending->witness->tell(pending->witness, pending);
    rli_unpark_batched(parker, RLI_FINISHED, batch);
}
