/* Programs at random: what one thread calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/draw_parts.h"

#define CENTURY_MS INT64_C(3155760000000)

static plan_step *add_step(plan_thread *to, step_kind kind, int object)
{
    static plan_step beyond;
    plan_step *one = to->step_count < PLAN_STEPS ? &to->steps[to->step_count++] : &beyond;
    *one = (plan_step){.kind = kind, .object = object, .wait_ms = -1, .lease_ms = -1, .cancel_ms = -1};
    return one;
}

static void add_pause(drawing *self, plan_thread *to)
{
    plan_step *pause = add_step(to, PAUSE, 0);
    if (draw_one_in(self, self->mood.meets)) {
        pause->pause_ms = draw_span(self, 1, MOMENT_MS);
        draw_moment(self, &pause->meets, &pause->after_us);
    } else if (draw_one_in(self, self->mood.pauses)) {
        pause->pause_ms = draw_span(self, 1, self->mood.pause_ms);
    }
}

/* As long as what was just taken is held, or a little more or less; renewed, as long as that needs to be. */
static void add_pause_of_lease(drawing *self, plan_thread *to, int64_t lease_ms)
{
    int64_t near_ms = 2 * self->mood.trip_ms;
    if (lease_ms > 60000 || !draw_one_in(self, self->mood.outstays)) {
        add_pause(self, to);
        return;
    }
    if (lease_ms < 0) {
        add_step(to, PAUSE, 0)->pause_ms = draw_watchdog(self) * (30 + draw_roll(self, 120)) / 100;
        return;
    }
    int64_t pause_ms = lease_ms - near_ms + draw_roll(self, (int)(2 * near_ms + 1));
    add_step(to, PAUSE, 0)->pause_ms = pause_ms > 0 ? pause_ms : 0;
}

/* --- times --- */

static int64_t mixed_lease(drawing *self)
{
    if (draw_one_in(self, 2))
        return -1;
    return draw_one_in(self, 40) ? CENTURY_MS : draw_span(self, draw_one_in(self, 6) ? 1 : 50, 60000);
}

/* What is left behind by mistake is seen when its lease is long; what is taken too late, when it is as short as the way. */
static int64_t draw_lease(drawing *self)
{
    int64_t trip_ms = self->mood.trip_ms;
    switch (self->mood.leases) {
    case LEASES_RENEWED: return draw_one_in(self, 12) ? mixed_lease(self) : -1;
    case LEASES_SHORT: return draw_one_in(self, 5) ? -1 : 1 + draw_roll(self, (int)(6 * trip_ms + 20));
    case LEASES_MIDDLE: return draw_one_in(self, 4) ? -1 : draw_span(self, 20, 3000);
    case LEASES_LONG: return draw_one_in(self, 4) ? -1 : draw_one_in(self, 2) ? CENTURY_MS : 3600000;
    default: return mixed_lease(self);
    }
}

static int64_t draw_wait(drawing *self)
{
    int which = draw_roll(self, 6);
    int64_t trip_ms = self->mood.trip_ms;
    switch (self->mood.waits) {
    case WAITS_ENDLESS: return which ? -1 : draw_span(self, 1, 20000);
    case WAITS_SHORT: return which ? 1 + draw_roll(self, (int)(8 * trip_ms + 10)) : -1;
    case WAITS_NONE: return which < 4 ? 0 : 1 + draw_roll(self, (int)(4 * trip_ms + 10));
    default: return which < 2 ? -1 : which == 2 ? 0 : draw_span(self, 1, 20000);
    }
}

static int64_t draw_cancel(drawing *self)
{
    if (!draw_one_in(self, self->mood.cancels))
        return -1;
    return self->mood.cancels_soon ? draw_roll(self, (int)(5 * self->mood.trip_ms + 5)) : draw_span(self, 1, 5000);
}

static void draw_acquire(drawing *self, plan_step *to)
{
    to->wait_ms = draw_wait(self);
    to->lease_ms = draw_lease(self);
    to->cancel_ms = draw_cancel(self);
    if (to->wait_ms != 0 && draw_one_in(self, 3 * self->mood.meets)) {
        to->cancel_ms = draw_span(self, 1, 5000);
        draw_moment(self, &to->meets, &to->after_us);
    }
}

/* What may be lost for good is not waited for without end. */
static void draw_finite_acquire(drawing *self, plan_step *to)
{
    draw_acquire(self, to);
    if (to->wait_ms < 0)
        to->wait_ms = draw_span(self, 1, 20000);
}

/* --- locks --- */

static void draw_question(drawing *self, plan_thread *to, int object, int owner)
{
    static const step_kind questions[] = {IS_LOCKED, IS_HELD, COUNT, TTL, VALID_FOR, GET_TOKEN, INSPECT, VALID_FOR, GET_TOKEN};
    add_step(to, questions[draw_roll(self, 9)], object)->owner = owner;
}

static bool is_member(const plan *of, int object)
{
    bool is = false;
    for (int i = 0; i < of->object_count; i++) {
        for (int k = 0; k < of->objects[i].member_count; k++)
            is |= of->objects[i].members[k] == object;
    }
    return is;
}

/* An extension of what was just taken, by as much as a lease. */
static void draw_extension(drawing *self, plan_thread *to, int object, int owner)
{
    plan_step *longer = add_step(to, EXTEND, object);
    longer->owner = owner;
    longer->lease_ms = draw_lease(self);
    if (longer->lease_ms < 0)
        longer->lease_ms = draw_span(self, 1, 60000);
    add_pause_of_lease(self, to, longer->lease_ms);
}

/* Any but a member of another, which only that one takes. */
static int draw_object(drawing *self)
{
    int object;
    do
        object = draw_roll(self, self->plan->object_count);
    while (is_member(self->plan, object));
    return object;
}

/* Now and then before what was taken last is given back. */
static void add_unlock(drawing *self, plan_thread *to, int object, int owner)
{
    plan_step *last = to->step_count > 0 ? &to->steps[to->step_count - 1] : NULL;
    plan_step inner = {0};
    bool swaps = last && last->kind == UNLOCK && draw_one_in(self, 3);
    if (swaps) {
        inner = *last;
        to->step_count--;
    }
    add_step(to, UNLOCK, object)->owner = owner;
    if (!swaps)
        return;
    add_pause(self, to);
    *add_step(to, UNLOCK, inner.object) = inner;
}

/* Takes a lock, perhaps again and again, and gives it back, mostly as often. */
static void draw_lock_turn(drawing *self, plan_thread *to, int object, int depth)
{
    object_kind kind = self->plan->objects[object].kind;
    int owner = draw_one_in(self, self->mood.named) ? 1 + draw_roll(self, self->mood.owners) : 0;
    if (draw_one_in(self, self->mood.blocks)) {
        add_step(to, WITHIN, object)->pause_ms = draw_span(self, 1, 1 + self->mood.pause_ms / 3);
        return;
    }
    plan_step *taken = add_step(to, kind == FENCED && draw_one_in(self, 2) ? TOKEN : LOCK, object);
    draw_acquire(self, taken);
    taken->owner = owner;
    add_pause_of_lease(self, to, taken->lease_ms);
    if (draw_one_in(self, self->mood.asks))
        draw_question(self, to, object, owner);
    if (draw_one_in(self, 2 * self->mood.asks))
        draw_extension(self, to, object, owner);
    if (depth < 3 && draw_one_in(self, self->mood.nests)) {
        int nested = draw_one_in(self, 2) ? object : draw_object(self);
        if (object_is_lock(self->plan->objects[nested].kind))
            draw_lock_turn(self, to, nested, depth + 1);
    }
    if (draw_one_in(self, self->mood.asks))
        draw_question(self, to, object, owner);
    if (to->client >= 0 && draw_one_in(self, self->mood.forks))
        add_step(to, FORK, object);
    if (owner || !draw_one_in(self, self->mood.forgets))
        add_unlock(self, to, object, owner);
    if (draw_one_in(self, self->mood.forces))
        add_step(to, FORCE, object);
}

/* --- others --- */

static void draw_semaphore_turn(drawing *self, plan_thread *to, int object)
{
    static const step_kind others[] = {SEM_ADD, SEM_DRAIN, SEM_AVAILABLE, SEM_SET, SEM_RELEASE};
    plan_step *taken = add_step(to, SEM_ACQUIRE, object);
    draw_finite_acquire(self, taken);
    taken->count = 1 + draw_roll(self, 2);
    int count = taken->count;
    add_pause(self, to);
    if (draw_one_in(self, 8))
        add_step(to, others[draw_roll(self, 5)], object)->count = 1 + draw_roll(self, 3);
    add_step(to, SEM_RELEASE, object)->count = count;
}

static void draw_permit_turn(drawing *self, plan_thread *to, int object)
{
    plan_step *taken = add_step(to, PERMIT_ACQUIRE, object);
    draw_finite_acquire(self, taken);
    taken->count = 1 + draw_roll(self, 2);
    if (draw_one_in(self, 3))
        taken->lease_ms = LEASE_RENEWED;
    add_pause_of_lease(self, to, taken->lease_ms);
    if (draw_one_in(self, 4))
        add_step(to, PERMIT_UPDATE, object)->lease_ms = draw_lease(self);
    if (draw_one_in(self, 4))
        add_step(to, PERMIT_STATE, object);
    if (!draw_one_in(self, 10))
        add_step(to, PERMIT_RELEASE, object)->count = 1 + (self->plan->seed % 4 == 2);
}

static void draw_latch_turn(drawing *self, plan_thread *to, int object)
{
    static const step_kind kinds[] = {LATCH_DOWN, LATCH_DOWN, LATCH_DOWN, LATCH_AWAIT, LATCH_AWAIT, LATCH_COUNT, LATCH_SET};
    plan_step *one = add_step(to, kinds[draw_roll(self, draw_one_in(self, 4) ? 7 : 6)], object);
    one->count = 1 + draw_roll(self, 4);
    one->wait_ms = one->kind == LATCH_AWAIT ? draw_span(self, 1, 20000) : -1;
    one->cancel_ms = one->kind == LATCH_AWAIT ? draw_cancel(self) : -1;
}

/* A holder of a fenced lock writes: in its time, or when that is over. */
static void draw_guarded_turn(drawing *self, plan_thread *to, int object)
{
    int fenced = 0;
    while (self->plan->objects[fenced].kind != FENCED)
        fenced++;
    plan_step *taken = add_step(to, TOKEN, fenced);
    draw_acquire(self, taken);
    add_pause_of_lease(self, to, taken->lease_ms);
    for (int writes = 1 + draw_roll(self, draw_one_in(self, 3) ? 12 : 3); writes > 0; writes--) {
        add_step(to, GUARDED_SET, object);
        if (draw_one_in(self, 4))
            add_pause(self, to);
    }
    add_pause(self, to);
    add_step(to, UNLOCK, fenced);
    if (draw_one_in(self, 4)) {
        add_pause(self, to);
        add_step(to, GUARDED_SET, object);
    }
}

static void draw_flight_turn(drawing *self, plan_thread *to, int object)
{
    plan_step *one = add_step(to, FLIGHT_DO, object);
    draw_acquire(self, one);
    one->lease_ms = -1;
    one->pause_ms = draw_one_in(self, 4) ? 0 : draw_span(self, 1, 1 + self->mood.pause_ms);
    one->count = draw_roll(self, 2 * (draw_one_in(self, 2) ? LOAD_ENDS : 1));
}

static void draw_turn(drawing *self, plan_thread *to)
{
    int object = draw_object(self);
    object_kind kind = self->plan->objects[object].kind;
    if (object_is_lock(kind))
        draw_lock_turn(self, to, object, 0);
    else if (kind == SEMAPHORE)
        draw_semaphore_turn(self, to, object);
    else if (kind == PERMITS)
        draw_permit_turn(self, to, object);
    else if (kind == GUARDED)
        draw_guarded_turn(self, to, object);
    else if (kind == FLIGHT)
        draw_flight_turn(self, to, object);
    else
        draw_latch_turn(self, to, object);
}

/* All threads make them, with the same number: one does. */
static void make_objects(drawing *self, plan_thread *to)
{
    for (int i = 0; i < self->plan->object_count; i++) {
        object_kind kind = self->plan->objects[i].kind;
        if (kind == SEMAPHORE || kind == PERMITS)
            add_step(to, kind == SEMAPHORE ? SEM_SET : PERMIT_SET, i)->count = 2;
        else if (kind == LATCH)
            add_step(to, LATCH_SET, i)->count = 1 + (int)(self->plan->seed % 9);
    }
}

static int draw_way(drawing *self)
{
    return ASYNC | (draw_one_in(self, 3) ? ASYNC_IN_LOOP : 0) | (draw_one_in(self, 4) ? ASYNC_FREES : 0);
}

static void make_lock_async(drawing *self, plan_step *one, int owner)
{
    bool takes = one->kind == LOCK || one->kind == TOKEN;
    bool can_be = takes || one->kind == UNLOCK || one->kind == EXTEND || one->kind == FORCE || one->kind == CLOSE ||
                  (one->kind >= IS_LOCKED && one->kind <= TTL);
    if (!can_be)
        return;
    if (one->owner == 0)
        one->owner = owner;
    if (!draw_one_in(self, self->mood.asyncs))
        return;
    one->kind = takes ? LOCK : one->kind;
    one->async = draw_way(self);
    if (takes && draw_one_in(self, 4))
        one->async |= ASYNC_GIVES_BACK | (draw_one_in(self, 2) ? ASYNC_GOES_ON : 0);
}

/* What a thread takes and keeps, it waits for. */
static void make_object_async(drawing *self, plan_step *one)
{
    bool takes = one->kind == SEM_ACQUIRE || one->kind == PERMIT_ACQUIRE;
    if (!draw_one_in(self, self->mood.asyncs))
        return;
    one->async = draw_way(self);
    if (takes && draw_one_in(self, 4))
        one->async |= ASYNC_GIVES_BACK | (draw_one_in(self, 2) ? ASYNC_GOES_ON : 0);
    if (!takes && one->kind != PERMIT_UPDATE && draw_one_in(self, 4))
        one->async |= ASYNC_GOES_ON;
    if (one->kind == PERMIT_RELEASE)
        one->pause_ms = draw_roll(self, 2); /* 1: it is to fail if there is no such permit */
}

/* Some of its calls are made without blocking; those on locks by a named owner. */
static void make_async(drawing *self, plan_thread *to)
{
    int shared = draw_one_in(self, 3) ? 1 + draw_roll(self, 2) : 0;
    for (int i = 0; i < to->step_count; i++) {
        plan_step *one = &to->steps[i];
        if ((one->kind >= SEM_SET && one->kind <= LATCH_COUNT) || step_is_expirable(one->kind))
            make_object_async(self, one);
        else
            make_lock_async(self, one, shared ? shared : PLAN_OWN_NAME);
    }
}

static void add_forget(drawing *self, plan_thread *to)
{
    add_step(to, FORGET, 0)->pause_ms = draw_one_in(self, 4) ? 100000 : draw_span(self, 10, 40000);
}

/* One that is no lock, where there are any. */
static int draw_expirable(drawing *self)
{
    int object = draw_object(self);
    for (int i = 0; i < 8; i++) {
        if (object_is_expirable(self->plan->objects[object].kind))
            break;
        object = draw_object(self);
    }
    return object;
}

/* Whatever the thread's other steps are about. */
static void add_upkeep(drawing *self, plan_thread *to)
{
    static const step_kind kinds[] = {OBJECT_ASK, OBJECT_ASK, OBJECT_CHANGE, LOOK, LOOK};
    step_kind kind = kinds[draw_roll(self, 5)];
    plan_step *one = add_step(to, kind, kind == LOOK ? draw_object(self) : draw_expirable(self));
    one->count = draw_roll(self, 60);
    one->pause_ms = draw_span(self, 1, 20000);
}

/* Adds a step that adds or removes a listener, to an object or to a key of the thread's own. */
static void add_listening(drawing *self, plan_thread *to)
{
    if (draw_one_in(self, 4)) {
        add_step(to, HEAR_NO_MORE, 0);
        return;
    }
    plan_step *one = add_step(to, LISTEN, draw_object(self));
    one->count = draw_one_in(self, 2) ? draw_roll(self, 8) : 0;
    if (draw_one_in(self, 2))
        one->count = LISTEN_OWN | draw_roll(self, 4);
    if (draw_one_in(self, 4))
        one->pause_ms = draw_span(self, 1, 4000);
}

void draw_thread(drawing *self, plan_thread *to, int client)
{
    *to = (plan_thread){.client = client};
    make_objects(self, to);
    int turns = 1 + draw_roll(self, draw_one_in(self, 2) ? 4 : 10);
    for (int i = 0; i < turns; i++) {
        draw_turn(self, to);
        add_pause(self, to);
        if (client >= 0 && self->mood.asyncs && draw_one_in(self, self->mood.forgets_loop))
            add_forget(self, to);
        if (client >= 0 && draw_one_in(self, self->mood.looks))
            add_upkeep(self, to);
        if (client >= 0 && draw_one_in(self, self->mood.listens))
            add_listening(self, to);
        if (draw_one_in(self, self->mood.starves))
            add_step(to, STARVE, 0)->count = 1 + draw_roll(self, 20);
    }
    if (draw_one_in(self, self->mood.leaves)) {
        if (draw_one_in(self, 2))
            to->step_count -= to->step_count > 2 ? 2 : 0; /* before it has given back the last that it took */
        add_step(to, LEAVE, 0);
    }
    if (client >= 0 && draw_one_in(self, self->mood.closes))
        add_step(to, CLOSE, 0);
    if (client >= 0 && self->mood.asyncs && !draw_one_in(self, 3))
        make_async(self, to);
}
