/* Singleflights. What a load gives names the load, so a caller's answer tells which one it was of. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/flights.h"

#include "tests/sim/check/calls.h"
#include "tests/sim/program/firing.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/memory.h"
#include "tests/sim/world/os.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#define KEYS 2
#define LOADS 1024
#define SLACK_MS 3000 /* a thread is woken late */

typedef struct load {
    int client, key;
    int64_t ended_ns;  /* 0: it goes on */
    int64_t landed_ns; /* its own caller had it; 0: not yet. Until then, whoever comes may get what it loaded */
    load_end end;
} load;

static load loads[LOADS];
static int count;

static load *under_way(int client, int key)
{
    for (int i = 0; i < count; i++) {
        if (loads[i].client == client && loads[i].key == key && loads[i].ended_ns == 0)
            return &loads[i];
    }
    return NULL;
}

/* --- loading --- */

typedef struct flying {
    call call;
    firing cancel;
    rlock_loaded *loaded;
    rlock_status status;
    char error[200];
    load *own; /* the one that it did itself; NULL: it did none */
} flying;

static load_end planned_end(const plan_step *step)
{
    return (load_end)(step->count / KEYS % LOAD_ENDS);
}

static load *begin_load(flying *self, const char *key)
{
    int client = self->call.worker->of->index, number = key[1] - '0';
    if (number != self->call.step->count % KEYS || self->own)
        finding("%s was to load \"%s\"", self->call.title, key);
    if (under_way(client, number))
        finding("%s loads \"%s\", which is just being loaded", self->call.title, key);
    if (count == LOADS)
        finding("there are %d loads", LOADS);
    loads[count] = (load){.client = client, .key = number, .end = planned_end(self->call.step)};
    timeline(thread_title(thread_self()), "loads \"%s\"", key);
    return self->own = &loads[count++];
}

static rlock_status load_one(const char *key, void *argument, void **bytes, size_t *length)
{
    flying *self = argument;
    load *own = begin_load(self, key);
    thread_sleep(self, world_now_ns() + self->call.step->pause_ms * 1000000, 0, "a load");
    own->ended_ns = world_now_ns();
    timeline(thread_title(thread_self()), "  has loaded \"%s\"%s", key, own->end == LOAD_DIES ? ", and ends" : "");
    if (own->end == LOAD_DIES)
        pthread_exit(NULL);
    if (own->end == LOAD_HAS_NONE)
        return RLOCK_OK;
    int *number = os_malloc(sizeof *number); /* the library frees it */
    if (!number)
        return RLOCK_NO_MEMORY;
    *number = (int)(own - loads);
    *bytes = number;
    *length = sizeof *number;
    return own->end == LOAD_FAILS ? RLOCK_NOT_OWNER : RLOCK_OK;
}

static void *ask(void *argument)
{
    flying *self = argument;
    const plan_step *step = self->call.step;
    char key[] = {'k', (char)('0' + step->count % KEYS), 0};
    rlock_singleflight_options options = RLOCK_SINGLEFLIGHT_OPTIONS_INIT;
    options.wait_ms = step->wait_ms < 0 ? RLOCK_FOREVER : step->wait_ms;
    options.cancel = self->cancel.token;
    self->status = rlock_singleflight_do(self->call.worker->of->flights, key, &options, load_one, self, &self->loaded);
    snprintf(self->error, sizeof self->error, "%s", rlock_last_error());
    return NULL;
}

/* --- what it answered --- */

/* A load of its key, which was under way after it had begun. */
static bool is_of(const flying *self, const load *one)
{
    return one->client == self->call.worker->of->index && one->key == self->call.step->count % KEYS &&
           one->ended_ns > 0 && (one->landed_ns == 0 || one->landed_ns >= self->call.began_ns);
}

static bool any_without_bytes(const flying *self)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        any |= loads[i].end == LOAD_HAS_NONE && is_of(self, &loads[i]);
    return any;
}

static void judge_loaded(const flying *self)
{
    size_t length = 0;
    const int *number = rlock_loaded_bytes(self->loaded, &length);
    bool has_number = number && length == sizeof *number && *number >= 0 && *number < count;
    const load *one = has_number ? &loads[*number] : NULL;
    if (number && !has_number)
        finding("%s has %zu bytes that nobody loaded", self->call.title, length);
    if (one && !is_of(self, one))
        finding("%s has what was loaded for another key, or before it began", self->call.title);
    if (one && (self->status == RLOCK_OK) != (one->end == LOAD_ANSWERS))
        finding("%s answered %s, which its load did not", self->call.title, rlock_strstatus(self->status));
    if (one && self->own && one != self->own)
        finding("%s has what another has loaded, and has loaded itself", self->call.title);
    if (!one && (self->status != RLOCK_OK || !any_without_bytes(self)))
        finding("%s answered %s without the bytes of its load", self->call.title, rlock_strstatus(self->status));
}

static void judge_wait(const flying *self)
{
    int64_t took_ms = call_took_ns(&self->call) / 1000000, wait_ms = self->call.step->wait_ms;
    int64_t passed_ms = (world_now_ns() - self->call.began_ns) / 1000000;
    if (self->status == RLOCK_TIMEOUT && (wait_ms < 0 || passed_ms < wait_ms - wait_ms / 50 - 2 || self->own))
        finding("%s answered that its time was up after %" PRId64 " ms", self->call.title, passed_ms);
    if (self->status == RLOCK_CANCELLED && !self->call.cancelled)
        finding("%s answered that it was cancelled, and it was not", self->call.title);
    if (wait_ms >= 0 && !self->own && took_ms > wait_ms + wait_ms / 50 + SLACK_MS)
        finding("%s took %" PRId64 " ms", self->call.title, took_ms);
    int64_t since_ms = (world_now_ns() - self->call.cancelled_ns) / 1000000 - (passed_ms - took_ms);
    if (self->call.cancelled && !self->own && since_ms > SLACK_MS)
        finding("%s went on for %" PRId64 " ms after its token was fired", self->call.title, since_ms);
}

static void judge(const flying *self)
{
    judge_wait(self);
    switch (self->status) {
    case RLOCK_OK:
    case RLOCK_NOT_OWNER: judge_loaded(self); break;
    case RLOCK_TIMEOUT:
    case RLOCK_CANCELLED: break;
    case RLOCK_NO_MEMORY:
        if (memory_failures() == 0)
            finding("%s answered %s", self->call.title, rlock_strstatus(self->status));
        break;
    default: finding("%s answered %s: %s", self->call.title, rlock_strstatus(self->status), self->error);
    }
    if (self->status != RLOCK_OK && !*self->error)
        finding("%s answered %s and said nothing of why", self->call.title, rlock_strstatus(self->status));
}

/* --- */

/* A thread that ends in its load is not that of the plan. */
void flight_step(worker *who, const plan_step *step)
{
    flying *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    bool dies = planned_end(step) == LOAD_DIES;
    if (who->of->flights) {
        firing_begin(&self->cancel, who, step);
        call_begin(&self->call, who, step, NULL);
        if (dies)
            thread_join(thread_start(who->of->machine, "loader", ask, self));
        else
            ask(self);
        if (self->own)
            self->own->landed_ns = world_now_ns();
        self->call.cancelled = self->cancel.fired;
        self->call.cancelled_ns = self->cancel.fired_ns;
        if (!dies || !self->own) {
            call_end_with(&self->call, self->status, self->error);
            judge(self);
        }
        firing_end(&self->cancel);
        rlock_loaded_free(self->loaded);
    }
    free(self);
}

void flights_begin(process *of)
{
    for (int i = 0; i < of->plan->object_count; i++) {
        if (of->plan->objects[i].kind == FLIGHT && !of->flights)
            of->flights = rlock_singleflight_new();
    }
}

void flights_end(process *of)
{
    rlock_singleflight_free(of->flights);
}

void flights_in_child(const process *of)
{
    flying self = {.status = RLOCK_OK};
    rlock_loaded *loaded = NULL;
    if (of->flights && rlock_singleflight_do(of->flights, "k0", NULL, load_one, &self, &loaded) != RLOCK_FORKED)
        finding("a forked child may use its parent's singleflight");
}
