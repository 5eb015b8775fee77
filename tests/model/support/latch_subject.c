/* The count-down latch as a subject of sequences, and its model: a count, or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/support/latch_subject.h"

#include "tests/integration/support/stage.h"

#include <rlock/count_down_latch.h>

#define NO_COUNT (-1)

static object_stand_in *stand_ins[2];
static rlock_count_down_latch *handles[2];
static int64_t model; /* the count, or NO_COUNT */

/* --- steps --- */

static const struct {
    const char *words;
    int weight;
} acts[LATCH_OPERATIONS] = {
    [LATCH_TRY_SET] = {"try set count", 20}, [LATCH_COUNT_DOWN] = {"count down", 40},
    [LATCH_GET_COUNT] = {"count", 10},       [LATCH_TRY_AWAIT] = {"await without waiting", 15},
    [LATCH_AWAIT] = {"await", 10},           [LATCH_DELETE] = {"delete", 5},
};

static move draw(dice *rolled, bool timed)
{
    int weights[LATCH_OPERATIONS];
    (void)timed;
    for (int i = 0; i < LATCH_OPERATIONS; i++)
        weights[i] = acts[i].weight;
    return (move){
        .operation = dice_weighted(rolled, weights, LATCH_OPERATIONS),
        .client = dice_roll(rolled, 2),
        .number = dice_roll(rolled, 6) - 1,
    };
}

static void say(FILE *out, const move *step)
{
    fprintf(out, "client %c: %s", 'A' + step->client, acts[step->operation].words);
    if (step->operation == LATCH_TRY_SET)
        fprintf(out, " %lld", (long long)step->number);
}

/* --- the library --- */

static void begin(void)
{
    theatre_open(stand_ins[0], stand_ins[1]);
    for (int i = 0; i < 2; i++)
        handles[i] = stand_ins[i] ? NULL : rlock_get_count_down_latch(theatre.clients[i], theatre.name);
    model = NO_COUNT;
}

static void end(void)
{
    rlock_count_down_latch_free(handles[0]);
    rlock_count_down_latch_free(handles[1]);
    theatre_close();
}

static outcome act(const move *step)
{
    rlock_count_down_latch *latch = handles[step->client];
    int64_t count = 0;
    bool yes = false;
    rlock_status status = RLOCK_OK;
    if (stand_ins[step->client])
        return stand_ins[step->client](step, theatre.name, NULL, 0);
    switch ((latch_operation)step->operation) {
    case LATCH_TRY_SET:
        status = rlock_count_down_latch_try_set_count(latch, step->number, &yes);
        break;
    case LATCH_COUNT_DOWN:
        status = rlock_count_down_latch_count_down(latch);
        break;
    case LATCH_GET_COUNT:
        status = rlock_count_down_latch_get_count(latch, &count);
        break;
    case LATCH_TRY_AWAIT:
        status = rlock_count_down_latch_try_await(latch, 0);
        break;
    case LATCH_AWAIT:
        status = rlock_count_down_latch_await(latch);
        break;
    default:
        status = rlock_count_down_latch_delete(latch, &yes);
        break;
    }
    return (outcome){status, yes ? 1 : count, yes ? 1 : count};
}

/* --- the model --- */

static outcome predict(const move *step, span when)
{
    int64_t count = model;
    (void)when;
    switch ((latch_operation)step->operation) {
    case LATCH_TRY_SET:
        if (step->number < 0)
            return OUTCOME(RLOCK_INVALID);
        model = count == NO_COUNT ? step->number : count;
        return OUTCOME_OF(count == NO_COUNT);
    case LATCH_COUNT_DOWN:
        model = count > 1 ? count - 1 : NO_COUNT;
        return OUTCOME(RLOCK_OK);
    case LATCH_GET_COUNT:
        return OUTCOME_OF(count > 0 ? count : 0);
    case LATCH_TRY_AWAIT:
    case LATCH_AWAIT:
        return OUTCOME(count > 0 ? RLOCK_TIMEOUT : RLOCK_OK);
    default:
        model = NO_COUNT;
        return OUTCOME_OF(count != NO_COUNT);
    }
}

static bool fits(const move *step)
{
    if (step->operation == LATCH_TRY_SET && step->number < 0)
        return !stand_ins[step->client]; /* Java sets a count below 0 */
    return step->operation != LATCH_AWAIT || model <= 0;
}

static void expect(expected *keys)
{
    if (model != NO_COUNT)
        expect_key(keys, SPAN_NEVER, "%s string %lld", theatre.name, (long long)model);
}

static span next_end(int64_t since_ms)
{
    (void)since_ms;
    return SPAN_NEVER;
}

static void pass(int64_t now_ms)
{
    (void)now_ms;
}

void assert_latch_as_modelled(object_stand_in *first, object_stand_in *second, int count, int length)
{
    static const subject latch = {
        .name = "count-down latch",
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
    assert_as_modelled(&latch, count, length);
}
