/* The semaphore as a subject of sequences, and its model: a number that may have a time to live. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/support/semaphore_subject.h"

#include "tests/integration/support/stage.h"

#include <rlock/semaphore.h>

static object_stand_in *stand_ins[2];
static rlock_semaphore *handles[2];
static struct {
    bool exists;
    int64_t permits;
    span end;
} model;

/* --- steps --- */

static const struct {
    const char *words;
    int weight;
    bool counts; /* says a number */
} acts[SEMAPHORE_OPERATIONS] = {
    [SEMAPHORE_PASS] = {"time passes until the semaphore has ended", 8, false},
    [SEMAPHORE_TRY_SET] = {"try set", 10, true},
    [SEMAPHORE_TRY_SET_TTL] = {"try set for a time", 8, true},
    [SEMAPHORE_TRY] = {"try acquire", 30, true},
    [SEMAPHORE_ACQUIRE] = {"acquire", 10, true},
    [SEMAPHORE_RELEASE] = {"release", 20, true},
    [SEMAPHORE_RELEASE_IF_EXISTS] = {"release if it exists", 10, true},
    [SEMAPHORE_ADD] = {"add", 8, true},
    [SEMAPHORE_DRAIN] = {"drain", 4, false},
    [SEMAPHORE_AVAILABLE] = {"available", 10, false},
    [SEMAPHORE_DELETE] = {"delete", 5, false},
};

static move draw(dice *rolled, bool timed)
{
    static const int64_t numbers[] = {-2, -1, 0, 1, 1, 1, 2, 2, 3, 5};
    int weights[SEMAPHORE_OPERATIONS];
    for (int i = 0; i < SEMAPHORE_OPERATIONS; i++)
        weights[i] = acts[i].weight;
    if (!timed)
        weights[SEMAPHORE_PASS] = 0;
    return (move){
        .operation = dice_weighted(rolled, weights, SEMAPHORE_OPERATIONS),
        .client = dice_roll(rolled, 2),
        .number = numbers[dice_roll(rolled, 10)],
        .lease_ms = timed && dice_roll(rolled, 2) ? 60 : 20000,
    };
}

static void say(FILE *out, const move *step)
{
    if (step->operation == SEMAPHORE_PASS) {
        fprintf(out, "%s", acts[step->operation].words);
        return;
    }
    fprintf(out, "client %c: %s", 'A' + step->client, acts[step->operation].words);
    if (acts[step->operation].counts)
        fprintf(out, " %lld", (long long)step->number);
    if (step->operation == SEMAPHORE_TRY_SET_TTL)
        fprintf(out, ", for %lld ms", (long long)step->lease_ms);
}

/* --- the library --- */

static void begin(void)
{
    theatre_open(stand_ins[0], stand_ins[1]);
    for (int i = 0; i < 2; i++)
        handles[i] = stand_ins[i] ? NULL : rlock_get_semaphore(theatre.clients[i], theatre.name);
    model.exists = false;
}

static void end(void)
{
    rlock_semaphore_free(handles[0]);
    rlock_semaphore_free(handles[1]);
    theatre_close();
}

static outcome act(const move *step)
{
    rlock_semaphore *semaphore = handles[step->client];
    int number = (int)step->number, permits = 0;
    bool yes = false;
    rlock_status status = RLOCK_OK;
    if (step->operation != SEMAPHORE_PASS && stand_ins[step->client])
        return stand_ins[step->client](step, theatre.name, NULL, 0);
    switch ((semaphore_operation)step->operation) {
    case SEMAPHORE_TRY_SET:
        status = rlock_semaphore_try_set_permits(semaphore, number, &yes);
        break;
    case SEMAPHORE_TRY_SET_TTL:
        status = rlock_semaphore_try_set_permits_ttl(semaphore, number, step->lease_ms, &yes);
        break;
    case SEMAPHORE_TRY:
        status = rlock_semaphore_try_acquire(semaphore, number, 0);
        break;
    case SEMAPHORE_ACQUIRE:
        status = rlock_semaphore_acquire(semaphore, number);
        break;
    case SEMAPHORE_RELEASE:
        status = rlock_semaphore_release(semaphore, number);
        break;
    case SEMAPHORE_RELEASE_IF_EXISTS:
        status = rlock_semaphore_release_if_exists(semaphore, number, &yes);
        break;
    case SEMAPHORE_ADD:
        status = rlock_semaphore_add_permits(semaphore, number);
        break;
    case SEMAPHORE_DRAIN:
        status = rlock_semaphore_drain_permits(semaphore, &permits);
        break;
    case SEMAPHORE_AVAILABLE:
        status = rlock_semaphore_available_permits(semaphore, &permits);
        break;
    case SEMAPHORE_DELETE:
        status = rlock_semaphore_delete(semaphore, &yes);
        break;
    default:
        break;
    }
    return (outcome){status, yes ? 1 : permits, yes ? 1 : permits};
}

/* --- the model --- */

static void pass(int64_t now_ms)
{
    model.exists &= !span_is_past(model.end, now_ms);
}

static void change(int64_t by)
{
    if (!model.exists)
        model.end = SPAN_NEVER;
    model.permits = by + (model.exists ? model.permits : 0);
    model.exists = true;
}

static outcome try_set(const move *step, span end)
{
    if (model.exists)
        return OUTCOME_OF(0);
    model.exists = true;
    model.permits = step->number;
    model.end = end;
    return OUTCOME_OF(1);
}

static outcome try_acquire(int64_t wanted)
{
    if (wanted == 0)
        return OUTCOME(RLOCK_OK);
    if (!model.exists || model.permits < wanted)
        return OUTCOME(RLOCK_TIMEOUT);
    model.permits -= wanted;
    return OUTCOME(RLOCK_OK);
}

static outcome predict(const move *step, span when)
{
    int64_t number = model.permits;
    bool existed;
    pass(when.least_ms - SPAN_BLUR_MS);
    existed = model.exists;
    if (acts[step->operation].counts && step->number < 0 && step->operation != SEMAPHORE_ADD)
        return OUTCOME(RLOCK_INVALID);
    switch ((semaphore_operation)step->operation) {
    case SEMAPHORE_TRY_SET:
        return try_set(step, SPAN_NEVER);
    case SEMAPHORE_TRY_SET_TTL:
        return try_set(step, span_after(when, step->lease_ms));
    case SEMAPHORE_TRY:
    case SEMAPHORE_ACQUIRE:
        return try_acquire(step->number);
    case SEMAPHORE_RELEASE:
        if (step->number > 0)
            change(step->number);
        return OUTCOME(RLOCK_OK);
    case SEMAPHORE_RELEASE_IF_EXISTS:
        if (!existed || step->number == 0)
            return OUTCOME_OF(0);
        change(step->number);
        return OUTCOME_OF(1);
    case SEMAPHORE_ADD:
        change(step->number);
        model.end = SPAN_NEVER;
        return OUTCOME(RLOCK_OK);
    case SEMAPHORE_DRAIN:
        model.permits = 0;
        model.end = SPAN_NEVER;
        return OUTCOME_OF(existed ? number : 0);
    case SEMAPHORE_AVAILABLE:
        return OUTCOME_OF(existed ? number : 0);
    case SEMAPHORE_DELETE:
        model.exists = false;
        return OUTCOME_OF(existed);
    default:
        return OUTCOME(RLOCK_OK);
    }
}

static bool fits(const move *step)
{
    if (stand_ins[step->client] && step->number < 0 && acts[step->operation].counts && step->operation != SEMAPHORE_ADD)
        return false; /* Java refuses some with exceptions of many kinds, and sets a number below 0 */
    return step->operation != SEMAPHORE_ACQUIRE || step->number <= 0 ||
           (model.exists && model.permits >= step->number);
}

static void expect(expected *keys)
{
    if (model.exists)
        expect_key(keys, model.end, "%s string %lld", theatre.name, (long long)model.permits);
}

static span next_end(int64_t since_ms)
{
    return model.exists && model.end.most_ms > since_ms ? model.end : SPAN_NEVER;
}

void assert_semaphore_as_modelled(object_stand_in *first, object_stand_in *second, int count, int length)
{
    static const subject semaphore = {
        .name = "semaphore",
        .draw = draw,
        .say = say,
        .begin = begin,
        .end = end,
        .fits = fits,
        .act = act,
        .predict = predict,
        .expect = expect,
        .next_end = next_end,
        .pass = pass,
    };
    stand_ins[0] = first;
    stand_ins[1] = second;
    assert_as_modelled(&semaphore, count, length);
}
