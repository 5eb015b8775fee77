/* Pending requests: the requests of a pipe, in the order in which they were queued and are answered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/pending.h"

#include <stdlib.h>

void rli_pending_append(rli_pending_list *pending_list, rli_pending *pending)
{
    pending->previous = pending_list->tail;
    pending->next = NULL;
    if (pending_list->tail)
        pending_list->tail->next = pending;
    else
        pending_list->head = pending;
    pending_list->tail = pending;
    pending_list->count++;
}

/* Replaces `pending` in the list by `other`; NULL: only removes it. */
static void relink(rli_pending_list *pending_list, const rli_pending *pending, rli_pending *other)
{
    if (pending->previous)
        pending->previous->next = other ? other : pending->next;
    else
        pending_list->head = other ? other : pending->next;
    if (pending->next)
        pending->next->previous = other ? other : pending->previous;
    else
        pending_list->tail = other ? other : pending->previous;
}

void rli_pending_remove(rli_pending_list *pending_list, rli_pending *pending)
{
    relink(pending_list, pending, NULL);
    pending_list->count--;
}

rli_pending *rli_pending_pop(rli_pending_list *pending_list)
{
    rli_pending *pending = pending_list->head;
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
    relink(pending_list, pending, copy);
    return copy;
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
