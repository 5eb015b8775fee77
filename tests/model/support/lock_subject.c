/* Locks as a subject of sequences: two clients with two owners each, on one name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/support/lock_subject.h"

#include "tests/integration/support/stage.h"
#include "tests/model/support/theatre.h"
#include "tests/support/event.h"

#include <string.h>

#define OWNERS 2
#define SHORT_MS 60
#define PATIENCE_MS 5000 /* for a lock that the model has free */

static const lock_cast *cast;
static lock_model model;
static rlock *handles[CAST_KINDS][2][OWNERS]; /* of C's clients */

static const kind *kind_in(const move *step)
{
    return cast->kinds[step->object];
}

/* --- steps --- */

static const struct act {
    const char *words;
    int weight;
    bool leases, owns; /* what it says: a lease, an owner */
} acts[LOCK_OPERATIONS] = {
    [LOCK_PASS] = {"time passes until the next lease has ended", 5, false, false},
    [LOCK_TRY] = {"try", 30, true, true},
    [LOCK_TOKEN] = {"try and get the token", 20, true, true},
    [LOCK_LOCK] = {"lock", 10, true, true},
    [LOCK_UNLOCK] = {"unlock", 30, false, true},
    [LOCK_FORCE] = {"force unlock", 3, false, false},
    [LOCK_IS_LOCKED] = {"is it locked", 4, false, false},
    [LOCK_IS_HELD] = {"is it held", 5, false, true},
    [LOCK_COUNT] = {"hold count", 5, false, true},
    [LOCK_TTL] = {"time to live", 4, false, false},
    [LOCK_VALID_FOR] = {"valid for", 6, false, true},
    [LOCK_GET_TOKEN] = {"token", 8, false, true},
    [LOCK_VANISH] = {"the key is deleted", 2, false, false},
    [LOCK_REMAKE] = {"another handle", 2, false, true},
};

static move draw(dice *rolled, bool timed)
{
    static const int64_t leases_ms[] = {RLOCK_WATCHDOG, 20000, 50000, SHORT_MS, 2 * SHORT_MS};
    int weights[LOCK_OPERATIONS];
    for (int i = 0; i < LOCK_OPERATIONS; i++)
        weights[i] = acts[i].weight;
    if (!timed)
        weights[LOCK_PASS] = 0;
    return (move){
        .operation = dice_weighted(rolled, weights, LOCK_OPERATIONS),
        .client = dice_roll(rolled, 2),
        .owner = dice_roll(rolled, OWNERS),
        .object = dice_roll(rolled, cast->kind_count),
        .lease_ms = leases_ms[dice_roll(rolled, timed ? 5 : 3)],
    };
}

static void say(FILE *out, const move *step)
{
    const struct act *act = &acts[step->operation];
    if (step->operation == LOCK_PASS || step->operation == LOCK_VANISH) {
        fprintf(out, "%s", act->words);
        return;
    }
    fprintf(out, "client %c", 'A' + step->client);
    if (act->owns)
        fprintf(out, ", owner %d", step->owner);
    fprintf(out, ", %s lock: %s", kind_in(step)->name, act->words);
    if (act->leases && step->lease_ms == RLOCK_WATCHDOG)
        fprintf(out, ", renewed");
    else if (act->leases)
        fprintf(out, " for %lld ms", (long long)step->lease_ms);
}

/* --- the library --- */

static rlock *make(int of_kind, int client, int owner)
{
    rlock *lock = cast->kinds[of_kind]->get(theatre.clients[client], theatre.name), *view = rlock_for_owner(lock, owner);
    rlock_free(lock);
    cr_assert(view != NULL, "no handle: %s", rlock_last_error());
    return view;
}

/* For each handle of C's clients. */
static void each_handle(void (*visit)(int of_kind, int client, int owner))
{
    for (int of_kind = 0; of_kind < cast->kind_count; of_kind++) {
        for (int client = 0; client < 2; client++) {
            for (int owner = 0; !cast->act[client] && owner < OWNERS; owner++)
                visit(of_kind, client, owner);
        }
    }
}

static void make_handle(int of_kind, int client, int owner)
{
    handles[of_kind][client][owner] = make(of_kind, client, owner);
}

static void free_handle(int of_kind, int client, int owner)
{
    rlock_free(handles[of_kind][client][owner]);
}

static void begin(void)
{
    const char *ids[2];
    theatre_open(cast->act[0], cast->act[1]);
    model = (lock_model){.theirs = {cast->act[0] != NULL, cast->act[1] != NULL}};
    for (int client = 0; client < 2; client++)
        ids[client] = cast->act[client] ? cast->id() : rlock_client_id(theatre.clients[client]);
    keyspace_begin(ids, 2);
    each_handle(make_handle);
}

static void end(void)
{
    each_handle(free_handle);
    theatre_close();
}

static outcome yes_or_no(rlock_status status, bool yes)
{
    return (outcome){status, yes, yes};
}

static outcome number(rlock_status status, int64_t value)
{
    return (outcome){status, value, value};
}

static outcome ask(rlock *lock, lock_operation operation)
{
    rlock_status status;
    bool yes = false;
    int count = 0;
    int64_t ms = 0;
    uint64_t token = 0;
    switch (operation) {
    case LOCK_FORCE:
        status = rlock_force_unlock(lock, &yes);
        return yes_or_no(status, yes);
    case LOCK_IS_LOCKED:
        status = rlock_is_locked(lock, &yes);
        return yes_or_no(status, yes);
    case LOCK_IS_HELD:
        status = rlock_is_held(lock, &yes);
        return yes_or_no(status, yes);
    case LOCK_COUNT:
        status = rlock_get_hold_count(lock, &count);
        return number(status, count);
    case LOCK_TTL:
        status = rlock_remain_time_to_live(lock, &ms);
        return number(status, ms);
    case LOCK_VALID_FOR:
        return OUTCOME_OF(rlock_valid_for(lock));
    default:
        status = rlock_get_token(lock, &token);
        return number(status, (int64_t)token);
    }
}

static outcome act_by_library(const move *step)
{
    rlock **lock = &handles[step->object][step->client][step->owner];
    uint64_t token = 0;
    rlock_status status;
    switch ((lock_operation)step->operation) {
    case LOCK_TRY:
        return OUTCOME(rlock_try_lock(*lock, 0, step->lease_ms));
    case LOCK_TOKEN:
        status = rlock_try_lock_and_get_token(*lock, 0, step->lease_ms, &token);
        return number(status, (int64_t)token);
    case LOCK_LOCK:
        return OUTCOME(rlock_try_lock(*lock, PATIENCE_MS, step->lease_ms));
    case LOCK_UNLOCK:
        return OUTCOME(rlock_unlock(*lock));
    case LOCK_REMAKE:
        rlock_free(*lock);
        *lock = make(step->object, step->client, step->owner);
        return OUTCOME(RLOCK_OK);
    default:
        return ask(*lock, (lock_operation)step->operation);
    }
}

static outcome act(const move *step)
{
    if (step->operation == LOCK_PASS)
        return OUTCOME(RLOCK_OK);
    if (step->operation == LOCK_VANISH) {
        freeReplyObject(server_command(stage.server, "DEL %s", theatre.name));
        return OUTCOME(RLOCK_OK);
    }
    return cast->act[step->client] ? cast->act[step->client](step, kind_in(step), theatre.name) : act_by_library(step);
}

/* --- the model --- */

static outcome predict(const move *step, span when)
{
    return lock_model_play(&model, step, kind_in(step), when);
}

static bool fits(const move *step)
{
    static lock_model tried;
    bool acquires = step->operation == LOCK_TRY || step->operation == LOCK_TOKEN || step->operation == LOCK_LOCK;
    bool tokens = step->operation == LOCK_TOKEN || step->operation == LOCK_GET_TOKEN;
    bool ours = !cast->act[step->client];
    if ((tokens && kind_in(step) != &kind_fenced) ||
        (acquires && lock_model_held(&model, step, kind_in(step)) == MODEL_LEVELS))
        return false;
    if (!ours && (step->operation == LOCK_VALID_FOR || step->operation == LOCK_REMAKE))
        return false;
    if (step->operation != LOCK_LOCK)
        return true;
    tried = model; /* would it have to wait? */
    return lock_model_play(&tried, step, kind_in(step), (span){now_ms(), now_ms()}).status != RLOCK_TIMEOUT;
}

static void expect(expected *keys)
{
    lock_model_expect(&model, theatre.name, keys);
}

static span next_end(int64_t since_ms)
{
    return lock_model_next_end(&model, since_ms);
}

static void pass(int64_t until_ms)
{
    lock_model_pass(&model, until_ms);
}

void assert_locks_as_modelled(const lock_cast *played, int count, int length)
{
    cast = played;
    const subject locks = {
        .name = cast->name,
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
    assert_as_modelled(&locks, count, length);
}
