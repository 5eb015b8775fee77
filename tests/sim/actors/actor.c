/* Actors: their lives. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/actors/actor.h"

#include "tests/sim/check/counted.h"
#include "tests/sim/check/ends.h"
#include "tests/sim/check/permits.h"
#include "tests/sim/world/finding.h"

#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

static actor actors[PLAN_THREADS];
static int count;

int actors_count(void)
{
    return count;
}

bool actors_doubt(int resource)
{
    bool any = false;
    for (int i = 0; i < actors_count(); i++) {
        for (int k = 0; k < ACTOR_HOLDS; k++) {
            const java_hold *of = &actor_number(i)->holds[k];
            any |= of->entry && of->doubtful && of->entry->resource == resource;
        }
    }
    return any;
}

actor *actor_number(int index)
{
    return &actors[index];
}

int actor_client(const actor *self)
{
    return PLAN_CLIENTS + self->index;
}

bool actors_live(void)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        any |= thread_is_alive(actors[i].thread);
    return any;
}

void actors_look_again(void)
{
    for (int i = 0; i < count; i++) {
        actors[i].heard++;
        threads_wake(&actors[i], 1, ~0u);
    }
}

void actors_forget(void)
{
    count = 0;
}

static void make_id(char text[static 40])
{
    unsigned parts[4];
    for (int i = 0; i < 4; i++)
        parts[i] = (unsigned)world_chance(UINT32_MAX);
    snprintf(text, 40, "%08x-%04x-4%03x-%04x-%04x%08x", parts[0], parts[1] >> 16, parts[1] & 0xfff,
             (parts[2] >> 16 & 0x3fff) | 0x8000, parts[2] & 0xffff, parts[3]);
}

/* Dies with what it holds: nobody renews it. */
static void die(actor *self)
{
    timeline(thread_title(self->thread), "dies, whatever it holds");
    self->left = true;
    for (int i = 0; i < ACTOR_HOLDS; i++) {
        java_hold *one = &self->holds[i];
        if (!one->entry)
            continue;
        one->entry->unsure |= one->doubtful;
        ends_abandon(one->entry, self->watchdog_ms);
        hold_drop(one);
    }
    for (int i = 0; i < PLAN_OBJECTS; i++) {
        for (; self->permit_count[i] > 0; self->permit_count[i]--)
            permits_abandon(run_resource(run_of, i));
    }
}

static bool take_step(actor *self, const plan_step *step)
{
    object_kind kind = run_of->objects[step->object].kind;
    if (step->kind == PAUSE)
        actor_pause(self, step->pause_ms * MS);
    else if (step->kind == LEAVE || step->kind == CLOSE)
        return false;
    else if (object_is_lock(kind) && !object_is_composite(kind) && kind != SHARDED && kind != GROUP && step->kind >= LOCK && step->kind <= WITHIN)
        actor_lock_step(self, step);
    else if (!object_is_lock(kind) && step->kind >= SEM_SET && step->kind <= LATCH_COUNT)
        actor_object_step(self, step);
    return true;
}

static void *live(void *argument)
{
    actor *self = argument;
    bool goes_on = true;
    for (int i = 0; i < self->plan->step_count && goes_on; i++)
        goes_on = take_step(self, &self->plan->steps[i]);
    if (goes_on) {
        actor_release_all(self);
        actor_give_objects_back(self);
    } else {
        die(self);
    }
    actor_hang_up(self);
    timeline(thread_title(self->thread), "has ended");
    return NULL;
}

static void begin(const plan_thread *as)
{
    static const int64_t watchdogs[] = {1000, 3000, 30000};
    char name[16];
    actor *self = &actors[count];
    snprintf(name, sizeof name, "redisson%d", count);
    *self = (actor){.plan = as, .index = count, .waits_for = -1, .machine = machine_make(name, (int)world_chance(15601) - 7800, 0)};
    self->watchdog_ms = watchdogs[world_chance(3)];
    self->fair_wait_ms = 1000 + (int64_t)world_chance(9000);
    /* What the link can serve: a connection, its number, some of the old ones ended, and the request. */
    self->timeout_ms = 500 + (int64_t)world_chance(2500) + 24 * (run_of->latency_us + run_of->jitter_us) / 1000;
    self->skew_ms = (int64_t)world_chance(41) - 20;
    make_id(self->id);
    count++;
    self->thread = thread_start(self->machine, "main", live, self);
}

void actors_begin(const plan *of)
{
    for (int i = 0; i < of->thread_count; i++) {
        if (of->threads[i].client < 0 && of->topology == SINGLE)
            begin(&of->threads[i]);
    }
}
