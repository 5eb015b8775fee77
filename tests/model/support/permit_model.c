/* A model of the permit-expirable semaphore: a counter, and permits by label, which may expire. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/support/permit_model.h"

#include "tests/support/test.h"

#include <rlock/semaphore.h>
#include <string.h>

static bool expired(const model_permit *permit, span when)
{
    return span_is_past(permit->end, when.least_ms - SPAN_BLUR_MS);
}

static bool sooner(const model_permit *a, const model_permit *b)
{
    return a->score_ms < b->score_ms || (a->score_ms == b->score_ms && strcmp(a->id, b->id) < 0);
}

/* The expired permits, at most so many, are available again; those that expired first come first. */
static void take_back(permit_model *self, int64_t most, span when)
{
    for (; most > 0; most--) {
        model_permit *first = NULL;
        for (int i = 0; i < self->count; i++) {
            model_permit *permit = &self->permits[i];
            if (permit->there && expired(permit, when) && (!first || sooner(permit, first)))
                first = permit;
        }
        if (!first)
            return;
        first->there = false;
        self->available++;
    }
}

static int64_t taken(const permit_model *self)
{
    int64_t count = 0;
    for (int i = 0; i < self->count; i++)
        count += self->permits[i].there;
    return count;
}

static model_permit *there(permit_model *self, int which)
{
    return which >= 0 && self->permits[which].there ? &self->permits[which] : NULL;
}

static outcome release_one(permit_model *self, int which, bool tries, span when)
{
    model_permit *permit = there(self, which);
    bool in_time = permit && !expired(permit, when);
    if (permit) { /* also one that has expired is given back, though the answer is no */
        permit->there = false;
        self->available++;
    }
    if (tries)
        return OUTCOME_OF(in_time);
    return OUTCOME(in_time ? RLOCK_OK : RLOCK_INVALID);
}

static outcome release_many(permit_model *self, const int *which, int count, bool tries, span when)
{
    bool all = true;
    for (int i = 0; i < count; i++) {
        const model_permit *permit = there(self, which[i]);
        all &= permit && !expired(permit, when);
        for (int j = 0; j < i; j++)
            all &= which[i] != which[j];
    }
    if (!all)
        return tries ? OUTCOME_OF(0) : OUTCOME(RLOCK_INVALID);
    take_back(self, MODEL_PERMITS, when);
    for (int i = 0; i < count; i++)
        self->permits[which[i]].there = false;
    self->available += count;
    return tries ? OUTCOME_OF(count) : OUTCOME(RLOCK_OK);
}

static outcome set(permit_model *self, int64_t number)
{
    self->available = self->exists ? number - taken(self) : number;
    self->exists = true;
    return OUTCOME(RLOCK_OK);
}

static outcome update_lease(permit_model *self, int which, int64_t lease_ms, span when)
{
    model_permit *permit = there(self, which);
    if (permit)
        permit->end = lease_ms == RLOCK_PERMIT_FOREVER ? SPAN_NEVER : span_after(when, lease_ms);
    return OUTCOME_OF(permit != NULL);
}

static outcome get_lease(permit_model *self, int which, span when)
{
    const model_permit *permit = there(self, which);
    if (!permit)
        return OUTCOME(RLOCK_INVALID);
    if (permit->end.least_ms == INT64_MAX)
        return OUTCOME_OF(RLOCK_PERMIT_FOREVER);
    return (outcome){RLOCK_OK, permit->end.least_ms - when.most_ms - SPAN_BLUR_MS,
                     permit->end.most_ms - when.least_ms + SPAN_BLUR_MS};
}

static outcome acquire(permit_model *self, int64_t number, span when)
{
    take_back(self, number, when);
    if (!self->exists || self->available < number)
        return OUTCOME(RLOCK_TIMEOUT);
    self->available -= number;
    return OUTCOME(RLOCK_OK);
}

static outcome delete_all(permit_model *self)
{
    bool existed = self->exists || taken(self) > 0;
    self->exists = false;
    self->available = 0;
    for (int i = 0; i < self->count; i++)
        self->permits[i].there = false;
    return OUTCOME_OF(existed);
}

/* The calls that leave expired permits to others, or take back as many as they want. */
static bool takes_back_first(permit_operation operation)
{
    return operation == PERMIT_UPDATE_LEASE || operation == PERMIT_GET_LEASE || operation == PERMIT_AVAILABLE ||
           operation == PERMIT_ACQUIRED || operation == PERMIT_TOTAL;
}

outcome permit_model_play(permit_model *self, const move *step, const int *which, int count, span when)
{
    permit_operation operation = (permit_operation)step->operation;
    bool existed = self->exists;
    if (takes_back_first(operation))
        take_back(self, MODEL_PERMITS, when);
    switch (operation) {
    case PERMIT_TRY_SET:
        if (!existed)
            set(self, step->number);
        return OUTCOME_OF(!existed);
    case PERMIT_SET:
        return set(self, step->number);
    case PERMIT_ADD:
        self->available += step->number;
        self->exists = true;
        return OUTCOME(RLOCK_OK);
    case PERMIT_TRY:
        return acquire(self, count, when);
    case PERMIT_RELEASE:
    case PERMIT_TRY_RELEASE:
        return release_one(self, which[0], operation == PERMIT_TRY_RELEASE, when);
    case PERMIT_RELEASE_MANY:
    case PERMIT_TRY_RELEASE_MANY:
        return release_many(self, which, count, operation == PERMIT_TRY_RELEASE_MANY, when);
    case PERMIT_UPDATE_LEASE:
        return update_lease(self, which[0], step->lease_ms, when);
    case PERMIT_GET_LEASE:
        return get_lease(self, which[0], when);
    case PERMIT_AVAILABLE:
        return OUTCOME_OF(self->available);
    case PERMIT_ACQUIRED:
        return OUTCOME_OF(taken(self));
    case PERMIT_TOTAL:
        return OUTCOME_OF(existed ? self->available + taken(self) : 0);
    case PERMIT_DELETE:
        return delete_all(self);
    default:
        return OUTCOME(RLOCK_OK);
    }
}

void permit_model_take(permit_model *self, const char *id, int64_t lease_ms, int64_t score_ms, span when)
{
    cr_assert(self->count < MODEL_PERMITS, "too many permits in a model");
    model_permit *permit = &self->permits[self->count++];
    *permit = (model_permit){.there = true, .score_ms = score_ms};
    memcpy(permit->id, id, sizeof permit->id);
    permit->end = lease_ms == RLOCK_PERMIT_FOREVER ? SPAN_NEVER : span_after(when, lease_ms);
}

void permit_model_expect(const permit_model *self, const char *name, expected *keys)
{
    if (self->exists)
        expect_key(keys, SPAN_NEVER, "%s string %lld", name, (long long)self->available);
    for (int i = 0; i < self->count; i++) {
        if (self->permits[i].there)
            expect_key(keys, self->permits[i].end, "{%s}:timeout/permit%d", name, i);
    }
}

span permit_model_next_end(const permit_model *self, int64_t since_ms)
{
    span next = SPAN_NEVER;
    for (int i = 0; i < self->count; i++) {
        const model_permit *permit = &self->permits[i];
        if (permit->there && permit->end.most_ms > since_ms && permit->end.least_ms < next.least_ms)
            next = permit->end;
    }
    return next;
}
