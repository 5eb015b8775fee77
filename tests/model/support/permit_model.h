/* A model of the permit-expirable semaphore: a counter, and permits by label, which may expire. Expired
 * ones stay until a call takes them back. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERMIT_MODEL_H
#define PERMIT_MODEL_H

#include "tests/model/support/permit_subject.h"

#define MODEL_PERMITS 256

typedef struct model_permit {
    char id[33];
    bool there;       /* in the set */
    span end;
    int64_t score_ms; /* its expiry as the server has it: says the order of those that have expired */
} model_permit;

typedef struct permit_model {
    bool exists;
    int64_t available;
    model_permit permits[MODEL_PERMITS]; /* all that were ever taken; the index is the label */
    int count;
} permit_model;

/* `which`: the permits that the step is about, -1: one that never was; their number is `count`. */
outcome permit_model_play(permit_model *model, const move *step, const int *which, int count, span when);
/* One more, taken by the step just played. */
void permit_model_take(permit_model *model, const char *id, int64_t lease_ms, int64_t score_ms, span when);
void permit_model_expect(const permit_model *model, const char *name, expected *keys);
span permit_model_next_end(const permit_model *model, int64_t since_ms);

#endif
