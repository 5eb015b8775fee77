/* Slots: the requests under way on a wire, in the order in which they were queued and are answered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/slots.h"

#include <stdlib.h>

void rli_slots_append(rli_slots *slots, rli_slot *slot)
{
    slot->previous = slots->tail;
    slot->next = NULL;
    if (slots->tail)
        slots->tail->next = slot;
    else
        slots->head = slot;
    slots->tail = slot;
    slots->count++;
}

/* Makes the neighbours of `slot` those of `other`, or each other's. */
static void relink(rli_slots *slots, const rli_slot *slot, rli_slot *other)
{
    if (slot->previous)
        slot->previous->next = other ? other : slot->next;
    else
        slots->head = other ? other : slot->next;
    if (slot->next)
        slot->next->previous = other ? other : slot->previous;
    else
        slots->tail = other ? other : slot->previous;
}

void rli_slots_remove(rli_slots *slots, rli_slot *slot)
{
    relink(slots, slot, NULL);
    slots->count--;
}

rli_slot *rli_slots_pop(rli_slots *slots)
{
    rli_slot *slot = slots->head;
    if (slot) {
        rli_slots_remove(slots, slot);
        slot->popped = true;
        slot->next = NULL;
    }
    return slot;
}

rli_slot *rli_slots_replace(rli_slots *slots, const rli_slot *slot)
{
    rli_slot *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *slot;
    copy->parker = NULL;
    copy->witness = NULL;
    relink(slots, slot, copy);
    return copy;
}

bool rli_slot_finished(const rli_slot *slot)
{
    return rli_parker_has(slot->parker, RLI_FINISHED);
}

void rli_slot_finish(rli_slot *slot, rli_outcome outcome, rli_ring *ring)
{
    rli_parker *parker = slot->parker;
    if (((!parker && !slot->done) || outcome != RLI_ANSWERED) && slot->reply) {
        freeReplyObject(slot->reply);
        slot->reply = NULL;
    }
    if (slot->done) {
        slot->outcome = outcome;
        slot->done(slot);
        return;
    }
    if (!parker) {
        free(slot);
        return;
    }
    slot->outcome = outcome;
    if (slot->witness)
        slot->witness->tell(slot->witness, slot);
    rli_unpark_later(parker, RLI_FINISHED, ring);
}
