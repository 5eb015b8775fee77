/* Listeners. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/listeners.h"

#include "tests/sim/check/calls.h"
#include "tests/sim/check/heard.h"
#include "tests/sim/program/lock_of.h"
#include "tests/sim/program/objects.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/memory.h"

#include <string.h>

#define SECOND INT64_C(1000000000)
#define MOST 256
/* So long after the last fault every subscription stands again. */
#define WELL_NS (30 * SECOND)
/* So long removing one takes, beside its function. */
#define REMOVED_MS 1000
#define TOLD_NS (5 * SECOND)

typedef struct listening {
    hearing heard; /* title and key are below */
    worker *by;
    const plan_step *step;
    rlock_listener *handle; /* NULL: not yet, or it could not be added */
    struct listening *inner; /* its function added it; NULL: none */
    bool own;                /* for a key of the worker's own */
    bool runs, ending;
    char key[32], title[80];
    const char *name; /* as the program gives it */
} listening;

static listening all[MOST];
static int count;

bool listeners_are_planned(const plan *of)
{
    bool any = false;
    for (int i = 0; i < of->thread_count; i++) {
        for (int k = 0; k < of->threads[i].step_count; k++)
            any |= of->threads[i].steps[k].kind == LISTEN;
    }
    return any;
}

/* --- a listener's function --- */

static void end(listening *self)
{
    if (self->ending || !self->handle)
        return;
    self->ending = true;
    rlock_remove_listener(self->handle);
    self->heard.ended = true;
}

static void hear(const rlock_event *of, void *argument);

/* The inner one hears of the same key, and does nothing. */
static void add_inner(listening *self)
{
    static const plan_step quiet = {.kind = LISTEN};
    if (self->inner || count == MOST)
        return;
    listening *inner = self->inner = &all[count++];
    *inner = (listening){.by = self->by, .step = &quiet};
    memcpy(inner->key, self->key, sizeof inner->key);
    inner->name = inner->key;
    snprintf(inner->title, sizeof inner->title, "%.70s's inner", self->title);
    inner->heard = (hearing){.key = inner->key, .title = inner->title, .client = self->heard.client};
    heard_begin(&inner->heard);
    rlock *lock = rlock_get_lock(self->by->of->client, self->key);
    if (lock && rlock_add_listener(lock, hear, inner, &inner->handle) != RLOCK_OK)
        inner->handle = NULL;
    rlock_free(lock);
}

static void ask(const listening *self)
{
    bool locked;
    rlock *lock = rlock_get_lock(self->by->of->client, self->key);
    rlock_status status = lock ? rlock_is_locked(lock, &locked) : RLOCK_OK;
    if (status == RLOCK_INVALID || status == RLOCK_FORKED)
        finding("in the function of %s, is_locked answered %s", self->title, rlock_last_error());
    rlock_free(lock);
}

static void hear(const rlock_event *of, void *argument)
{
    listening *self = argument;
    int ways = self->step->count;
    self->runs = true;
    timeline(thread_title(thread_self()), "%s: \"%s\" %s", self->title, of->name, heard_word(of->kind));
    heard_told(&self->heard, of->kind);
    if (strcmp(of->name, self->name) != 0)
        finding("%s is told of \"%s\"", self->title, of->name);
    if (self->step->pause_ms > 0)
        thread_sleep(self, world_now_ns() + self->step->pause_ms * 1000000, 0, "a listener's function");
    if (ways & LISTEN_ASKS)
        ask(self);
    if (ways & LISTEN_ADDS)
        add_inner(self);
    if (ways & LISTEN_ENDS)
        end(self);
    heard_has_told(&self->heard);
    self->runs = false;
}

/* --- adding --- */

static rlock_status add_to_object(listening *self, rlock_object *object)
{
    if (!object)
        return RLOCK_NO_MEMORY;
    return rlock_object_add_listener(object, hear, self, &self->handle);
}

static rlock_status add_to_lock(listening *self, rlock *lock)
{
    if (!lock)
        return RLOCK_NO_MEMORY;
    return rlock_add_listener(lock, hear, self, &self->handle);
}

static rlock_status add_own(listening *self)
{
    rlock *lock = rlock_get_lock(self->by->of->client, self->key);
    rlock_status status = add_to_lock(self, lock);
    rlock_free(lock);
    return status;
}

static rlock_status add(listening *self)
{
    int object = self->step->object;
    object_kind kind = run_of->objects[object].kind;
    if (self->own)
        return add_own(self);
    if (object_is_lock(kind))
        return add_to_lock(self, worker_lock(self->by, object, 0));
    return add_to_object(self, worker_object(self->by, object));
}

/* Those of one key on a server. */
static bool can_be_heard(object_kind kind)
{
    bool is_object = kind == SEMAPHORE || kind == PERMITS || kind == LATCH;
    return is_object || (object_is_lock(kind) && !object_is_composite(kind) && kind != SHARDED && kind != GROUP);
}

void listener_step(worker *who, const plan_step *step)
{
    call own;
    bool private = step->count & LISTEN_OWN;
    if (count == MOST || !(private || can_be_heard(run_of->objects[step->object].kind)))
        return;
    listening *self = &all[count++];
    *self = (listening){.by = who, .step = step, .own = private};
    const char *name = run_of->objects[step->object].name;
    if (private && !strchr(name, '{')) /* in a slot that moves */
        snprintf(self->key, sizeof self->key, LISTENERS_KEY "%d{%s}", who->index, name);
    else if (private)
        snprintf(self->key, sizeof self->key, LISTENERS_KEY "%d", who->index);
    else
        snprintf(self->key, sizeof self->key, "%s", name);
    self->name = private ? self->key : object_called(&run_of->objects[step->object]);
    snprintf(self->title, sizeof self->title, "%s's listener %d", thread_title(who->thread), count);
    self->heard = (hearing){.key = self->key, .title = self->title, .client = who->of->index, .pause_ms = step->pause_ms};
    call_begin(&own, who, step, NULL);
    heard_begin(&self->heard);
    call_end(&own, add(self));
    judge_question(&own);
    if (own.status == RLOCK_OK && !self->heard.ended)
        self->heard.added_ns = world_now_ns();
    else if (own.status != RLOCK_OK)
        self->handle = NULL;
}

/* --- removing --- */

static void remove_one(worker *who, listening *self)
{
    if (self->ending || !self->handle)
        return;
    int64_t began_ns = world_now_ns();
    timeline(thread_title(who->thread), "removes %s", self->title);
    end(self);
    int64_t took_ms = (world_now_ns() - began_ns) / 1000000;
    if (run_is_calm() && took_ms > REMOVED_MS + 2 * self->step->pause_ms) /* its function may be called for both kinds */
        finding("%s was removed after %lld ms", self->title, (long long)took_ms);
    if (self->runs)
        finding("the function of %s runs on after it was removed", self->title);
    timeline(thread_title(who->thread), "  has removed it");
}

void listener_remove_step(worker *who)
{
    for (int i = count; i-- > 0;) {
        if (all[i].by == who && all[i].handle && !all[i].ending) {
            remove_one(who, &all[i]);
            return;
        }
    }
}

/* Whatever has happened to its connections. */
static void check_told(worker *who, listening *self)
{
    while (!run_is_healed())
        thread_sleep(who, world_now_ns() + SECOND, 0, "the faults to be over");
    thread_sleep(who, world_now_ns() + WELL_NS, 0, "subscriptions to stand again");
    int before = self->heard.told[RLOCK_EVENT_DELETED];
    rlock *lock = self->ending || who->of->closed ? NULL : rlock_get_lock(who->of->client, self->key);
    bool done = lock && rlock_lock(lock) == RLOCK_OK && rlock_unlock(lock) == RLOCK_OK;
    int64_t until_ns = world_now_ns() + TOLD_NS + 2 * heard_round_ms(self->heard.client) * 1000000;
    rlock_free(lock);
    while (done && self->heard.told[RLOCK_EVENT_DELETED] == before && world_now_ns() < until_ns)
        thread_sleep(who, world_now_ns() + SECOND / 10, 0, "its listener to be told");
    bool well = run_well_since_ns() != WORLD_NEVER && memory_failures() == 0;
    if (done && well && !who->of->closed && self->heard.told[RLOCK_EVENT_DELETED] == before)
        finding("%s is not told what becomes of its key, though all has been well for %d s", self->title,
                (int)(WELL_NS / SECOND));
}

void listeners_end(worker *who)
{
    for (int i = 0; i < count; i++) {
        if (all[i].by == who && all[i].own && all[i].handle && !all[i].ending)
            check_told(who, &all[i]);
    }
    for (int i = 0; i < count; i++) {
        if (all[i].by == who)
            remove_one(who, &all[i]);
    }
}
