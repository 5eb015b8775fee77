/* Slots: the requests under way on a wire, in the order in which they were queued and are answered. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SLOTS_H
#define RLI_SLOTS_H

#include "base/park.h"
#include "redis/pipeline/lane.h"

/* One request, on its caller's stack, or wherever who posted it keeps it. Guarded by the lane's mutex, except where
 * it says otherwise; once it is popped, the thread that did so alone may touch it, until it has finished it. */
typedef struct rli_slot {
    struct rli_slot *next, *previous;
    rli_parker *parker;  /* NULL: nobody waits for it: it was posted, or its caller has given up */
    /* Posted: is told once that it has its outcome, and has the slot and its reply from then on; by any thread, which
     * may hold the lane's mutex. NULL: its caller is woken, or has given up, and the reply is for nobody. */
    void (*done)(struct rli_slot *slot);
    rli_witness *witness; /* NULL: there is none */
    int64_t queued_ms;   /* before any byte of it left */
    int64_t since_ms;    /* the same, later by what replicas may take to confirm it */
    size_t bytes;        /* of it, among what is queued */
    unsigned place;      /* where its caller sleeps, beside those of its neighbours */
    bool asking;         /* the next answer is that to its ASKING */
    const char *garbled; /* as in rli_answer; known when it is finished */
    bool left;           /* as in rli_answer; known when it is finished or given up */
    bool popped;         /* taken off the queue, its reply is being handed over */
    redisReply *reply;   /* may have come before it is finished */
    int asked, synced;   /* as in rli_answer */
    rli_outcome outcome; /* when it is finished */
} rli_slot;

/* What its caller's parker may be told. */
enum {
    RLI_FINISHED = RLI_NEWS,    /* it has its outcome; nobody touches it any more */
    RLI_LEAD = RLI_NEWS << 1    /* it was handed the lead */
};

typedef struct rli_slots {
    rli_slot *head, *tail; /* the oldest first */
    int count;
} rli_slots;

void rli_slots_append(rli_slots *slots, rli_slot *slot);
void rli_slots_remove(rli_slots *slots, rli_slot *slot);
/* The oldest, popped; NULL: none. */
rli_slot *rli_slots_pop(rli_slots *slots);
/* Puts a copy that is for nobody into the place of `slot`. NULL: out of memory. */
rli_slot *rli_slots_replace(rli_slots *slots, const rli_slot *slot);

bool rli_slot_finished(const rli_slot *slot);
/* Hands its outcome to its caller, who may have returned by the time that this does, or sleeps until the ring ends. */
void rli_slot_finish(rli_slot *slot, rli_outcome outcome, rli_ring *ring);

#endif
