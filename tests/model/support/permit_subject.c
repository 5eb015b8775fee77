/* The permit-expirable semaphore as a subject of sequences. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/support/permit_subject.h"

#include "tests/integration/support/stage.h"
#include "tests/model/support/permit_model.h"

#include <rlock/semaphore.h>
#include <stdlib.h>
#include <string.h>

static object_stand_in *stand_ins[2];
static rlock_permit_semaphore *handles[2];
static permit_model model;
static rlock_permit taken[PERMITS_AT_ONCE]; /* by the step under way */

/* --- steps --- */

static const struct {
    const char *words;
    int weight;
    bool counts, leases, names; /* says a number, a lease, a permit */
} acts[PERMIT_OPERATIONS] = {
    [PERMIT_PASS] = {"time passes until the next lease has ended", 10, false, false, false},
    [PERMIT_TRY_SET] = {"try set", 8, true, false, false},
    [PERMIT_SET] = {"set", 6, true, false, false},
    [PERMIT_ADD] = {"add", 6, true, false, false},
    [PERMIT_TRY] = {"try acquire", 40, true, true, false},
    [PERMIT_RELEASE] = {"release", 10, false, false, true},
    [PERMIT_TRY_RELEASE] = {"try release", 8, false, false, true},
    [PERMIT_RELEASE_MANY] = {"release many", 8, true, false, true},
    [PERMIT_TRY_RELEASE_MANY] = {"try release many", 8, true, false, true},
    [PERMIT_UPDATE_LEASE] = {"update lease", 8, false, true, true},
    [PERMIT_GET_LEASE] = {"lease left", 8, false, false, true},
    [PERMIT_AVAILABLE] = {"available", 6, false, false, false},
    [PERMIT_ACQUIRED] = {"acquired", 6, false, false, false},
    [PERMIT_TOTAL] = {"total", 6, false, false, false},
    [PERMIT_DELETE] = {"delete", 2, false, false, false},
};

static move draw(dice *rolled, bool timed)
{
    static const int64_t leases_ms[] = {RLOCK_PERMIT_FOREVER, 20000, 60, 60, 120};
    int weights[PERMIT_OPERATIONS];
    for (int i = 0; i < PERMIT_OPERATIONS; i++)
        weights[i] = acts[i].weight;
    if (!timed)
        weights[PERMIT_PASS] = 0;
    move step = {
        .operation = dice_weighted(rolled, weights, PERMIT_OPERATIONS),
        .client = dice_roll(rolled, 2),
        .object = dice_roll(rolled, 20), /* which permit */
        .number = 1 + dice_roll(rolled, PERMITS_AT_ONCE),
        .lease_ms = leases_ms[dice_roll(rolled, timed ? 5 : 2)],
    };
    if (step.operation == PERMIT_TRY_SET || step.operation == PERMIT_SET)
        step.number = dice_roll(rolled, 12);
    else if (step.operation == PERMIT_ADD)
        step.number = dice_roll(rolled, 11) - 5;
    return step;
}

/* One of those that the semaphore has, counted from `from`; or, when it has none, of all that it had. */
static int pick_one(int from)
{
    int there[MODEL_PERMITS], count = 0;
    for (int i = 0; i < model.count; i++) {
        if (model.permits[i].there)
            there[count++] = i;
    }
    return count ? there[from % count] : model.count - 1;
}

/* The permits that a step is about: mostly some that are there, now and then one of the latest, whatever
 * became of it, one twice, or one that never was. */
static int pick(const move *step, int which[PERMITS_AT_ONCE])
{
    int count = acts[step->operation].counts ? (int)step->number : 1, latest = model.count - 1 - step->object % 4;
    int stride = step->object % 7 == 3 ? 0 : 1;
    for (int i = 0; acts[step->operation].names && i < count; i++)
        which[i] = pick_one(step->object + i * stride);
    if (acts[step->operation].names && step->object >= 15)
        which[0] = step->object == 19 || latest < 0 ? -1 : latest;
    return count;
}

static void say(FILE *out, const move *step)
{
    int which[PERMITS_AT_ONCE], count = pick(step, which);
    if (step->operation != PERMIT_PASS)
        fprintf(out, "client %c: ", 'A' + step->client);
    fprintf(out, "%s", acts[step->operation].words);
    if (acts[step->operation].counts && !acts[step->operation].names)
        fprintf(out, " %lld", (long long)step->number);
    for (int i = 0; acts[step->operation].names && i < count; i++)
        fprintf(out, which[i] < 0 ? " unknown" : " permit%d", which[i]);
    if (acts[step->operation].leases && step->lease_ms == RLOCK_PERMIT_FOREVER)
        fprintf(out, ", without a lease");
    else if (acts[step->operation].leases)
        fprintf(out, ", for %lld ms", (long long)step->lease_ms);
}

/* --- the library --- */

static void begin(void)
{
    theatre_open(stand_ins[0], stand_ins[1]);
    for (int i = 0; i < 2; i++)
        handles[i] =
            stand_ins[i] ? NULL : rlock_get_permit_expirable_semaphore(theatre.clients[i], theatre.name);
    model.exists = false;
    model.available = 0;
    model.count = 0;
    keyspace_begin(NULL, 0);
}

static void end(void)
{
    rlock_permit_semaphore_free(handles[0]);
    rlock_permit_semaphore_free(handles[1]);
    theatre_close();
}

static void ids_of(const int *which, int count, rlock_permit *permits)
{
    for (int i = 0; i < count; i++)
        snprintf(permits[i].id, sizeof permits[i].id, "%s",
                 which[i] < 0 ? "00000000000000000000000000000000" : model.permits[which[i]].id);
}

static outcome act_by_library(const move *step, rlock_permit *permits, int count)
{
    rlock_permit_semaphore *semaphore = handles[step->client];
    int number = (int)step->number, answer = 0;
    int64_t left_ms = 0;
    bool yes = false;
    rlock_status status = RLOCK_OK;
    switch ((permit_operation)step->operation) {
    case PERMIT_TRY_SET:
        status = rlock_permit_semaphore_try_set_permits(semaphore, number, &yes);
        break;
    case PERMIT_SET:
        status = rlock_permit_semaphore_set_permits(semaphore, number);
        break;
    case PERMIT_ADD:
        status = rlock_permit_semaphore_add_permits(semaphore, number);
        break;
    case PERMIT_TRY:
        status = rlock_permit_semaphore_try_acquire_many(semaphore, count, 0, step->lease_ms, permits);
        break;
    case PERMIT_RELEASE:
        status = rlock_permit_semaphore_release(semaphore, permits[0].id);
        break;
    case PERMIT_TRY_RELEASE:
        status = rlock_permit_semaphore_try_release(semaphore, permits[0].id, &yes);
        break;
    case PERMIT_RELEASE_MANY:
        status = rlock_permit_semaphore_release_many(semaphore, count, permits);
        break;
    case PERMIT_TRY_RELEASE_MANY:
        status = rlock_permit_semaphore_try_release_many(semaphore, count, permits, &answer);
        break;
    case PERMIT_UPDATE_LEASE:
        status = rlock_permit_semaphore_update_lease_time(semaphore, permits[0].id, step->lease_ms, &yes);
        break;
    case PERMIT_GET_LEASE:
        status = rlock_permit_semaphore_get_lease_time(semaphore, permits[0].id, &left_ms);
        return (outcome){status, left_ms, left_ms};
    case PERMIT_AVAILABLE:
        status = rlock_permit_semaphore_available_permits(semaphore, &answer);
        break;
    case PERMIT_ACQUIRED:
        status = rlock_permit_semaphore_acquired_permits(semaphore, &answer);
        break;
    case PERMIT_TOTAL:
        status = rlock_permit_semaphore_get_permits(semaphore, &answer);
        break;
    default:
        status = rlock_permit_semaphore_delete(semaphore, &yes);
        break;
    }
    return (outcome){status, yes ? 1 : answer, yes ? 1 : answer};
}

static outcome act(const move *step)
{
    int which[PERMITS_AT_ONCE], count = pick(step, which);
    rlock_permit permits[PERMITS_AT_ONCE];
    if (step->operation == PERMIT_PASS)
        return OUTCOME(RLOCK_OK);
    if (acts[step->operation].names)
        ids_of(which, count, permits);
    outcome got = stand_ins[step->client]
                      ? stand_ins[step->client](step, theatre.name, (char (*)[33])permits, count)
                      : act_by_library(step, permits, count);
    if (step->operation == PERMIT_TRY)
        memcpy(taken, permits, sizeof taken);
    return got;
}

/* --- the model --- */

/* When the server has the permit expire. */
static int64_t score_of(const char *hex)
{
    unsigned char id[16];
    for (size_t i = 0; i < sizeof id; i++) {
        unsigned byte = 0;
        sscanf(hex + 2 * i, "%2x", &byte);
        id[i] = (unsigned char)byte;
    }
    char *score = server_text(stage.server, "ZSCORE {%s}:timeout %b", theatre.name, id, sizeof id);
    int64_t score_ms = score ? strtoll(score, NULL, 10) : 0;
    free(score);
    return score_ms;
}

static void take(const move *step, span when)
{
    char label[LABEL];
    for (int i = 0; i < (int)step->number; i++) {
        snprintf(label, sizeof label, "permit%d", model.count);
        keyspace_call_permit(taken[i].id, label);
        permit_model_take(&model, taken[i].id, step->lease_ms, score_of(taken[i].id), when);
    }
}

static outcome predict(const move *step, span when)
{
    int which[PERMITS_AT_ONCE] = {-1, -1, -1}, count = pick(step, which);
    outcome want = permit_model_play(&model, step, which, count, when);
    if (step->operation == PERMIT_TRY && want.status == RLOCK_OK)
        take(step, when);
    if (step->operation == PERMIT_UPDATE_LEASE && want.most)
        model.permits[which[0]].score_ms = score_of(model.permits[which[0]].id);
    return want;
}

static bool fits(const move *step)
{
    int which[PERMITS_AT_ONCE] = {-2, -3, -4}, count = pick(step, which);
    bool many = step->operation == PERMIT_RELEASE_MANY || step->operation == PERMIT_TRY_RELEASE_MANY;
    for (int i = 1; stand_ins[step->client] && many && i < count; i++) {
        if (which[i] == which[i - 1] || which[i] == which[0])
            return false; /* Redisson releases one that is there twice once; we refuse that list */
    }
    return step->operation != PERMIT_TRY || model.count + PERMITS_AT_ONCE <= MODEL_PERMITS;
}

static void expect(expected *keys)
{
    permit_model_expect(&model, theatre.name, keys);
}

static span next_end(int64_t since_ms)
{
    return permit_model_next_end(&model, since_ms);
}

static void pass(int64_t now_ms)
{
    (void)now_ms; /* they stay until a call takes them back */
}

void assert_permits_as_modelled(object_stand_in *first, object_stand_in *second, int count, int length)
{
    static const subject permits = {
        .name = "permit-expirable semaphore",
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
    assert_as_modelled(&permits, count, length);
}
