/* Sequences: random steps carried out on an object and on a model of it, side by side. After each step
 * the answers and the keyspace must agree. A sequence that fails is shortened until no step can be left
 * out of it any more, and shown with the seed that repeats it: RLOCK_MODEL_SEED=<seed>. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "tests/model/support/keyspace.h"
#include "tests/model/support/span.h"
#include "tests/support/dice.h"

#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One step. Its numbers mean what the subject makes of them; none depends on the steps before it, so
 * that each can be left out. */
typedef struct move {
    int operation, client, owner, object;
    int64_t number, lease_ms;
} move;

/* What an operation answered: its status and, where that is RLOCK_OK, a number. A model gives bounds. */
typedef struct outcome {
    rlock_status status;
    int64_t least, most;
} outcome;

typedef struct subject {
    const char *name;
    /* A random step; `timed`: it may be one that something ends soon after, else nothing may. */
    move (*draw)(dice *rolled, bool timed);
    void (*say)(FILE *out, const move *step);
    void (*begin)(void); /* the object, the model and the keyspace, all anew */
    void (*end)(void);
    bool (*fits)(const move *step); /* false: left out, as it would wait for ever; NULL: all fit */
    outcome (*act)(const move *step);                  /* the object's answer */
    outcome (*predict)(const move *step, span when);   /* the model's; the step was carried out then */
    void (*expect)(expected *keys);                    /* what the model has the server keep */
    span (*next_end)(int64_t now_ms);                  /* when the next thing ends by itself, or SPAN_NEVER */
    void (*pass)(int64_t now_ms);                      /* what has ended, has ended */
} subject;

/* The step of a subject that waits until what ends soon has ended: this operation. */
#define MOVE_PASS 0

/* Runs `count` sequences of `length` steps, the one half from seeds that are always the same, the
 * other from the clock; every fourth is timed. Fails the test at the first that differs. */
void assert_as_modelled(const subject *subject, int count, int length);

#define OUTCOME(status_) ((outcome){status_, 0, 0})
#define OUTCOME_OF(number_) ((outcome){RLOCK_OK, number_, number_})

#endif
