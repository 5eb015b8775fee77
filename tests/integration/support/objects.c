/* Objects: semaphores and latches on the stage, calls of them for actors, and what they left on the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/objects.h"

#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 128

/* --- handles --- */

static void end_semaphore(void *handle)
{
    rlock_semaphore_free(handle);
}

static void end_permits(void *handle)
{
    rlock_permit_semaphore_free(handle);
}

static void end_latch(void *handle)
{
    rlock_count_down_latch_free(handle);
}

rlock_semaphore *semaphore_of(rlock_client *client, const char *name)
{
    return stage_keep_object(rlock_get_semaphore(client, name), end_semaphore);
}

rlock_permit_semaphore *permits_of(rlock_client *client, const char *name)
{
    return stage_keep_object(rlock_get_permit_expirable_semaphore(client, name), end_permits);
}

rlock_count_down_latch *latch_of(rlock_client *client, const char *name)
{
    return stage_keep_object(rlock_get_count_down_latch(client, name), end_latch);
}

/* --- calls --- */

rlock_status take(void *arg)
{
    const taking *asked = arg;
    rlock_semaphore_options options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    options.wait_ms = asked->wait_ms;
    options.cancel = asked->cancel;
    return rlock_semaphore_acquire_with(asked->semaphore, asked->permits, &options);
}

rlock_status lease(void *arg)
{
    const leasing *asked = arg;
    rlock_permit_options options = RLOCK_PERMIT_OPTIONS_INIT;
    options.wait_ms = asked->wait_ms;
    options.lease_ms = asked->lease_ms;
    options.cancel = asked->cancel;
    return rlock_permit_semaphore_acquire_with(asked->semaphore, asked->count, &options, asked->permits);
}

rlock_status await_open(void *arg)
{
    const awaiting *asked = arg;
    rlock_await_options options = RLOCK_AWAIT_OPTIONS_INIT;
    options.wait_ms = asked->wait_ms;
    options.cancel = asked->cancel;
    return rlock_count_down_latch_await_with(asked->latch, &options);
}

int available(rlock_semaphore *semaphore)
{
    int permits = 0;
    assert_ok(rlock_semaphore_available_permits(semaphore, &permits));
    return permits;
}

int permits_available(rlock_permit_semaphore *semaphore)
{
    int permits = 0;
    assert_ok(rlock_permit_semaphore_available_permits(semaphore, &permits));
    return permits;
}

int permits_taken(rlock_permit_semaphore *semaphore)
{
    int permits = 0;
    assert_ok(rlock_permit_semaphore_acquired_permits(semaphore, &permits));
    return permits;
}

int permits_total(rlock_permit_semaphore *semaphore)
{
    int permits = 0;
    assert_ok(rlock_permit_semaphore_get_permits(semaphore, &permits));
    return permits;
}

int64_t count_of(rlock_count_down_latch *latch)
{
    int64_t count = 0;
    assert_ok(rlock_count_down_latch_get_count(latch, &count));
    return count;
}

/* --- the server --- */

void assert_keys(const char *expected)
{
    char *is = server_keyspace(stage.server);
    cr_assert(strcmp(is, expected) == 0, "the keys are:\n%s\nexpected:\n%s", is, expected);
    free(is);
}

void assert_said(monitor *tap, const char *expected)
{
    char *said = monitor_messaging(tap);
    cr_assert(strcmp(said, expected) == 0, "said:\n%s\nexpected:\n%s", said, expected);
    free(said);
    monitor_forget(tap);
}

int64_t expiry_of(const char *name, const rlock_permit *permit)
{
    unsigned char id[16];
    for (int i = 0; i < 16; i++) {
        unsigned byte = 256;
        sscanf(permit->id + 2 * i, "%2x", &byte);
        cr_assert(byte < 256, "%s is not a permit id", permit->id);
        id[i] = (unsigned char)byte;
    }
    char *score = server_text(stage.server, strchr(name, '{') ? "ZSCORE %s:timeout %b" : "ZSCORE {%s}:timeout %b",
                              name, id, sizeof id);
    int64_t expiry = score ? strtoll(score, NULL, 10) : 0;
    free(score);
    return expiry;
}

int64_t server_now_ms(void)
{
    redisReply *time = server_command(stage.server, "TIME");
    int64_t now = strtoll(time->element[0]->str, NULL, 10) * 1000 + strtoll(time->element[1]->str, NULL, 10) / 1000;
    freeReplyObject(time);
    return now;
}

bool wait_semaphore_heard(const char *name, int64_t listeners)
{
    char channel[256];
    snprintf(channel, sizeof channel, strchr(name, '{') ? "redisson_sc:%s" : "redisson_sc:{%s}", name);
    return server_wait_subscribers(stage.server, channel, listeners, 5000);
}

bool wait_latch_heard(const char *name, int64_t listeners)
{
    char channel[256];
    snprintf(channel, sizeof channel, "redisson_countdownlatch__channel__{%s}", name);
    return server_wait_subscribers(stage.server, channel, listeners, 5000);
}

/* --- turns --- */

static rlock_status enter_semaphore(void *object, rlock_permit *permit)
{
    (void)permit;
    return rlock_semaphore_acquire(object, 1);
}

static rlock_status leave_semaphore(void *object, rlock_permit *permit)
{
    (void)permit;
    return rlock_semaphore_release(object, 1);
}

static rlock_status enter_permit(void *object, rlock_permit *permit)
{
    return rlock_permit_semaphore_acquire(object, 60000, permit);
}

static rlock_status leave_permit(void *object, rlock_permit *permit)
{
    return rlock_permit_semaphore_release(object, permit->id);
}

const passage by_semaphore = {enter_semaphore, leave_semaphore};
const passage by_permit = {enter_permit, leave_permit};

/* The counter is atomic only so that sanitizers allow it. */
typedef struct guard {
    const passage *way;
    int turns;
    atomic_int counter, inside, most_inside, ended;
} guard;

typedef struct visitor {
    guard *guard;
    void *object;
    pthread_t thread;
    rlock_status status;
    char error[256];
} visitor;

static void step(guard *self)
{
    int inside = atomic_fetch_add(&self->inside, 1) + 1;
    if (inside > atomic_load(&self->most_inside))
        atomic_store(&self->most_inside, inside);
    int seen = atomic_load_explicit(&self->counter, memory_order_relaxed);
    sched_yield();
    atomic_store_explicit(&self->counter, seen + 1, memory_order_relaxed);
    atomic_fetch_sub(&self->inside, 1);
}

static void *visit(void *arg)
{
    visitor *self = arg;
    rlock_permit permit;
    for (int i = 0; i < self->guard->turns && self->status == RLOCK_OK; i++) {
        self->status = self->guard->way->enter(self->object, &permit);
        if (self->status != RLOCK_OK)
            break;
        step(self->guard);
        self->status = self->guard->way->leave(self->object, &permit);
    }
    snprintf(self->error, sizeof self->error, "%s", rlock_last_error());
    atomic_fetch_add(&self->guard->ended, 1);
    return NULL;
}

void guard_counter(const passage *way, void *const *objects, int threads, int turns, int64_t ms)
{
    static visitor visitors[THREADS];
    guard self = {.way = way, .turns = turns};
    cr_assert(threads <= THREADS);
    for (int i = 0; i < threads; i++) {
        visitors[i] = (visitor){.guard = &self, .object = objects[i]};
        cr_assert(pthread_create(&visitors[i].thread, NULL, visit, &visitors[i]) == 0);
    }
    int64_t end_ms = limit_end_ms(ms);
    while (atomic_load(&self.ended) < threads && now_ms() < end_ms)
        pass_ms(1);
    cr_assert(atomic_load(&self.ended) == threads, "%d of %d have not ended after %lld ms",
              threads - atomic_load(&self.ended), threads, (long long)ms);
    for (int i = 0; i < threads; i++) {
        pthread_join(visitors[i].thread, NULL);
        cr_assert(visitors[i].status == RLOCK_OK, "thread %d: %s, %s", i, rlock_strstatus(visitors[i].status),
                  visitors[i].error);
    }
    cr_assert(atomic_load(&self.most_inside) == 1, "%d were inside at once", atomic_load(&self.most_inside));
    cr_assert(atomic_load(&self.counter) == threads * turns, "counted %d", atomic_load(&self.counter));
}
