/* Semaphores, permits and latches, as Redisson's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/actors/actor.h"

#include "tests/sim/actors/scripts.h"
#include "tests/sim/check/counted.h"
#include "tests/sim/check/permits.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)
#define WORD(text) (word){text, strlen(text)}
#define NO_EXPIRY INT64_C(922337203685477)

/* The words of a script of one object: its counter, its zset if it has one, and its channel come first. */
typedef struct request {
    word words[16];
    size_t count;
    char zset[40], channel[96], now[24], more[3][24];
} request;

static void begin(const actor *self, request *to, int object, script which)
{
    object_kind kind = run_of->objects[object].kind;
    const char *name = actor_name_of(self, object);
    to->count = 0;
    to->words[to->count++] = WORD("EVAL");
    to->words[to->count++] = WORD(script_text(which));
    to->words[to->count++] = kind == PERMITS ? WORD("2") : WORD("1");
    to->words[to->count++] = WORD(name);
    snprintf(to->zset, sizeof to->zset, "{%s}:timeout", name);
    snprintf(to->now, sizeof to->now, "%" PRId64, actor_wall_ms(self));
    if (kind == LATCH)
        snprintf(to->channel, sizeof to->channel, "redisson_countdownlatch__channel__{%s}", name);
    else
        snprintf(to->channel, sizeof to->channel, "redisson_sc:{%s}", name);
    if (kind == PERMITS)
        to->words[to->count++] = WORD(to->zset);
    to->words[to->count++] = WORD(to->channel);
    if (kind == PERMITS)
        to->words[to->count++] = WORD(to->now);
}

static void add_number(request *to, int which, int64_t number)
{
    snprintf(to->more[which], sizeof to->more[which], "%" PRId64, number);
    to->words[to->count++] = WORD(to->more[which]);
}

static bool run_with(actor *self, int object, script which, int64_t number)
{
    request own;
    begin(self, &own, object, which);
    add_number(&own, 0, number);
    return actor_ask(self, own.words, own.count);
}

/* --- plain semaphores --- */

static outcome try_semaphore(actor *self, void *with, int64_t *left_ms)
{
    const plan_step *step = with;
    *left_ms = -1;
    int resource = run_resource(run_of, step->object);
    bool answered = run_with(self, step->object, SCRIPT_SEM_ACQUIRE, step->count);
    if (!answered) /* what it may have taken is lost to all */
        counted_change(resource, -step->count, RLOCK_UNKNOWN);
    else if (self->answer.self.number == 1)
        counted_change(resource, -step->count, RLOCK_OK);
    return !answered ? FAILED : self->answer.self.number == 1 ? TAKEN : REFUSED;
}

static outcome await(actor *self, const plan_step *step, outcome (*once)(actor *, void *, int64_t *))
{
    request own;
    plan_step with = *step;
    begin(self, &own, step->object, SCRIPT_SEM_ACQUIRE);
    int64_t wait_ms = step->wait_ms < 0 ? 15000 : step->wait_ms;
    return actor_await(self, &(trying){once, &with, own.channel, world_now_ns() + wait_ms * MS});
}

/* A step that makes permits, or not; what it answered. */
static void make_permits(actor *self, const plan_step *step)
{
    int resource = run_resource(run_of, step->object);
    counted_make(resource, step->count);
    bool answered = run_with(self, step->object, step->kind == SEM_SET ? SCRIPT_SEM_SET : SCRIPT_SEM_ADD, step->count);
    if (answered && self->answer.self.number == 0)
        counted_make(resource, -step->count);
    else
        counted_change(resource, step->count, answered ? RLOCK_OK : RLOCK_UNKNOWN);
}

static void semaphore_step(actor *self, const plan_step *step)
{
    int object = step->object, resource = run_resource(run_of, object);
    int *taken = &self->taken[object];
    int given = *taken < step->count ? *taken : step->count;
    bool answered;
    switch (step->kind) {
    case SEM_SET:
    case SEM_ADD:
        make_permits(self, step);
        break;
    case SEM_ACQUIRE:
        counted_want(resource, step->count);
        if (await(self, step, try_semaphore) == TAKEN) {
            *taken += step->count;
            counted_take(resource, step->count, thread_title(self->thread));
        }
        counted_want(resource, -step->count);
        break;
    case SEM_RELEASE:
        if (given == 0)
            break;
        counted_give(resource, given); /* once, whether it is answered or not */
        *taken -= given;
        answered = run_with(self, object, SCRIPT_SEM_RELEASE, given);
        counted_change(resource, given, answered ? RLOCK_OK : RLOCK_UNKNOWN);
        break;
    case SEM_DRAIN:
        answered = run_with(self, object, SCRIPT_SEM_DRAIN, 0);
        counted_drained(resource, answered ? (int)self->answer.self.number : 0, answered ? RLOCK_OK : RLOCK_UNKNOWN);
        break;
    default: {
        const word words[] = {WORD("GET"), WORD(actor_name_of(self, object))};
        actor_ask(self, words, 2);
        break;
    }
    }
}

/* --- permits --- */

static int64_t expiry_ms(const actor *self, int64_t lease_ms)
{
    return lease_ms < 0 || lease_ms > NO_EXPIRY / 2 ? NO_EXPIRY : actor_wall_ms(self) + lease_ms;
}

/* As the library writes its ids. */
static const char *permit_id(const actor *self, int object, int index)
{
    static char id[33];
    for (int i = 0; i < 16; i++)
        snprintf(id + 2 * i, 3, "%02x", (unsigned char)self->permits[object][index][i]);
    return id;
}

static outcome try_permits(actor *self, void *with, int64_t *left_ms)
{
    const plan_step *step = with;
    request own;
    int *have = &self->permit_count[step->object], resource = run_resource(run_of, step->object);
    begin(self, &own, step->object, SCRIPT_PERMIT_ACQUIRE);
    add_number(&own, 0, expiry_ms(self, step->lease_ms));
    for (int i = 0; i < step->count; i++) {
        char *id = self->permits[step->object][*have + i];
        for (int k = 0; k < 16; k++)
            id[k] = (char)world_chance(256);
        own.words[own.count++] = (word){id, 16};
    }
    *left_ms = -1;
    int64_t began_ns = world_now_ns();
    bool answered = actor_ask(self, own.words, own.count);
    for (int i = 0; i < step->count && !answered; i++)
        permits_abandon(resource);
    if (!answered)
        return FAILED;
    if (self->answer.self.kind != REPLY_LIST) {
        *left_ms = self->answer.self.number;
        return REFUSED;
    }
    for (int i = 0; i < step->count; i++)
        permits_take(resource, permit_id(self, step->object, *have + i), began_ns, step->lease_ms, thread_title(self->thread));
    *have += step->count;
    return TAKEN;
}

static void release_permit(actor *self, int object)
{
    request own;
    int *have = &self->permit_count[object], resource = run_resource(run_of, object);
    if (*have == 0)
        return;
    (*have)--;
    permits_give(resource, permit_id(self, object, *have), true);
    begin(self, &own, object, SCRIPT_PERMIT_RELEASE);
    own.words[own.count++] = (word){self->permits[object][*have], 16};
    if (!actor_ask(self, own.words, own.count))
        permits_abandon(resource);
}

static void update_permit(actor *self, int object, int64_t lease_ms)
{
    request own;
    int last = self->permit_count[object] - 1, resource = run_resource(run_of, object);
    if (last < 0)
        return;
    int64_t began_ns = world_now_ns();
    permits_give(resource, permit_id(self, object, last), false);
    begin(self, &own, object, SCRIPT_PERMIT_UPDATE);
    add_number(&own, 0, expiry_ms(self, lease_ms));
    own.words[own.count++] = (word){self->permits[object][last], 16};
    if (actor_ask(self, own.words, own.count) && self->answer.self.number == 1)
        permits_take(resource, permit_id(self, object, last), began_ns, lease_ms, thread_title(self->thread));
}

static void permit_step(actor *self, const plan_step *step)
{
    int object = step->object;
    switch (step->kind) {
    case PERMIT_SET:
        run_with(self, object, SCRIPT_PERMIT_SET, step->count);
        break;
    case PERMIT_ACQUIRE:
        if (self->permit_count[object] + step->count <= PERMITS_HELD)
            await(self, step, try_permits);
        break;
    case PERMIT_RELEASE:
        release_permit(self, object);
        break;
    case PERMIT_UPDATE:
        update_permit(self, object, step->lease_ms);
        break;
    default:
        run_with(self, object, SCRIPT_PERMIT_STATE, 0);
        break;
    }
}

/* --- latches --- */

static outcome try_latch(actor *self, void *with, int64_t *left_ms)
{
    const plan_step *step = with;
    const word words[] = {WORD("GET"), WORD(actor_name_of(self, step->object))};
    *left_ms = -1;
    if (!actor_ask(self, words, 2))
        return FAILED;
    return self->answer.self.kind == REPLY_NIL || atoi(self->answer.self.text) == 0 ? TAKEN : REFUSED;
}

static void set_latch(actor *self, const plan_step *step)
{
    bool answered = run_with(self, step->object, SCRIPT_LATCH_SET, step->count);
    if (!answered || self->answer.self.number == 1)
        latch_is_set(run_resource(run_of, step->object), step->count, answered ? RLOCK_OK : RLOCK_UNKNOWN);
}

static void count_down(actor *self, const plan_step *step)
{
    int resource = run_resource(run_of, step->object);
    int64_t began_ns = world_now_ns();
    latch_goes_down(resource);
    bool answered = run_with(self, step->object, SCRIPT_LATCH_DOWN, step->count);
    latch_went_down(resource, began_ns, answered ? RLOCK_OK : RLOCK_UNKNOWN);
}

static void latch_step(actor *self, const plan_step *step)
{
    int64_t began_ns = world_now_ns();
    if (step->kind == LATCH_SET)
        set_latch(self, step);
    else if (step->kind == LATCH_DOWN)
        count_down(self, step);
    else if (step->kind != LATCH_AWAIT)
        try_latch(self, (plan_step[]){*step}, (int64_t[]){0});
    else if (await(self, step, try_latch) == TAKEN)
        latch_is_open(run_resource(run_of, step->object), began_ns, thread_title(self->thread));
}

/* --- */

void actor_object_step(actor *self, const plan_step *step)
{
    object_kind kind = run_of->objects[step->object].kind;
    run_count_call();
    timeline(thread_title(self->thread), "%s %s (wait %" PRId64 ", count %d)", step_word(step->kind),
             actor_name_of(self, step->object), step->wait_ms, step->count);
    if (kind == SEMAPHORE && step->kind >= SEM_SET && step->kind <= SEM_AVAILABLE)
        semaphore_step(self, step);
    else if (kind == PERMITS && step->kind >= PERMIT_SET && step->kind <= PERMIT_STATE)
        permit_step(self, step);
    else if (kind == LATCH && step->kind >= LATCH_SET && step->kind <= LATCH_COUNT)
        latch_step(self, step);
}

void actor_give_objects_back(actor *self)
{
    for (int i = 0; i < run_of->object_count; i++) {
        plan_step step = {.kind = SEM_RELEASE, .object = i, .count = self->taken[i]};
        if (self->taken[i] > 0)
            actor_object_step(self, &step);
        step.kind = PERMIT_RELEASE;
        while (self->permit_count[i] > 0)
            actor_object_step(self, &step);
    }
}
