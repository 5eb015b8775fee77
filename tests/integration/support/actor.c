/* An actor: a thread, and so an owner, that does one call at a time for the test. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"

#include "tests/integration/support/stage.h"
#include "tests/integration/support/tasks.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHORT_CALL_MS 20000

enum state { IDLE, ASKED, BUSY, DONE, ENDING };

struct actor {
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t cond;   /* CLOCK_MONOTONIC */
    enum state state;
    pid_t tid;
    actor_call *call;
    void *arg;
    rlock *lock;
    rlock_lock_options options;
    uint64_t *token;
    rlock_status status;
    int64_t number; /* what a question was answered */
    int64_t began_ms, ended_ms;
    char error[1024];
};

static void run_one(actor *self)
{
    self->state = BUSY;
    self->began_ms = now_ms();
    pthread_cond_broadcast(&self->cond);
    pthread_mutex_unlock(&self->mutex);
    rlock_status status = self->call(self->arg);
    int64_t ended_ms = now_ms();
    pthread_mutex_lock(&self->mutex);
    self->status = status;
    self->ended_ms = ended_ms;
    snprintf(self->error, sizeof self->error, "%s", rlock_last_error());
    self->state = DONE;
    pthread_cond_broadcast(&self->cond);
}

static void *live(void *arg)
{
    actor *self = arg;
    pthread_mutex_lock(&self->mutex);
    self->tid = gettid();
    pthread_cond_broadcast(&self->cond);
    while (self->state != ENDING) {
        if (self->state == ASKED)
            run_one(self);
        else
            pthread_cond_wait(&self->cond, &self->mutex);
    }
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

actor *actor_start(void)
{
    actor *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    pthread_mutex_init(&self->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    cr_assert(pthread_create(&self->thread, NULL, live, self) == 0);
    pthread_mutex_lock(&self->mutex);
    while (!self->tid)
        pthread_cond_wait(&self->cond, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
    return self;
}

void actor_end(actor *self)
{
    pthread_mutex_lock(&self->mutex);
    while (self->state == ASKED || self->state == BUSY)
        pthread_cond_wait(&self->cond, &self->mutex);
    self->state = ENDING;
    pthread_cond_broadcast(&self->cond);
    pthread_mutex_unlock(&self->mutex);
    pthread_join(self->thread, NULL);
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

void actor_begin(actor *self, actor_call *call, void *arg)
{
    pthread_mutex_lock(&self->mutex);
    bool free_now = self->state == IDLE;
    if (free_now) {
        self->call = call;
        self->arg = arg;
        self->state = ASKED;
        pthread_cond_broadcast(&self->cond);
    }
    pthread_mutex_unlock(&self->mutex);
    cr_assert(free_now, "the actor's former call has not been finished");
}

static rlock_status call_lock(void *arg)
{
    actor *self = arg;
    return rlock_lock(self->lock);
}

static rlock_status call_try(void *arg)
{
    actor *self = arg;
    return rlock_try_lock(self->lock, self->options.wait_ms, self->options.lease_ms);
}

static rlock_status call_with(void *arg)
{
    actor *self = arg;
    return rlock_lock_with(self->lock, &self->options);
}

static rlock_status call_lock_and_get_token(void *arg)
{
    actor *self = arg;
    return rlock_lock_and_get_token(self->lock, self->token);
}

static rlock_status call_unlock(void *arg)
{
    actor *self = arg;
    return rlock_unlock(self->lock);
}

static rlock_status call_hold_count(void *arg)
{
    actor *self = arg;
    int count = -1;
    rlock_status status = rlock_get_hold_count(self->lock, &count);
    self->number = count;
    return status;
}

static rlock_status call_holds(void *arg)
{
    actor *self = arg;
    bool held = false;
    rlock_status status = rlock_is_held(self->lock, &held);
    self->number = held;
    return status;
}

static rlock_status call_valid_for(void *arg)
{
    actor *self = arg;
    self->number = rlock_valid_for(self->lock);
    return RLOCK_OK;
}

void actor_begin_lock(actor *self, rlock *lock)
{
    self->lock = lock;
    actor_begin(self, call_lock, self);
}

void actor_begin_lock_and_get_token(actor *self, rlock *lock, uint64_t *token)
{
    self->lock = lock;
    self->token = token;
    actor_begin(self, call_lock_and_get_token, self);
}

void actor_begin_unlock(actor *self, rlock *lock)
{
    self->lock = lock;
    actor_begin(self, call_unlock, self);
}

void actor_begin_try(actor *self, rlock *lock, int64_t wait_ms, int64_t lease_ms)
{
    self->lock = lock;
    self->options.wait_ms = wait_ms;
    self->options.lease_ms = lease_ms;
    actor_begin(self, call_try, self);
}

void actor_begin_with(actor *self, rlock *lock, const rlock_lock_options *options)
{
    self->lock = lock;
    self->options = *options;
    actor_begin(self, call_with, self);
}

static bool ended_by(actor *self, int64_t end_ms)
{
    struct timespec until = {.tv_sec = (time_t)(end_ms / 1000), .tv_nsec = (long)(end_ms % 1000) * 1000000};
    int error = 0;
    pthread_mutex_lock(&self->mutex);
    while (self->state != DONE && !error)
        error = pthread_cond_timedwait(&self->cond, &self->mutex, &until);
    bool done = self->state == DONE;
    pthread_mutex_unlock(&self->mutex);
    return done;
}

bool actor_ended(actor *self, int64_t ms)
{
    return ended_by(self, now_ms() + ms);
}

rlock_status actor_finish(actor *self, int64_t ms)
{
    cr_assert(ended_by(self, limit_end_ms(ms)), "the actor's call has not ended after %lld ms", (long long)ms);
    pthread_mutex_lock(&self->mutex);
    self->state = IDLE;
    pthread_mutex_unlock(&self->mutex);
    return self->status;
}

rlock_status actor_finish_soon(actor *self, int64_t ms)
{
    int64_t since_ms = now_ms();
    rlock_status status = actor_finish(self, 30000);
    assert_between(self->ended_ms - since_ms, INT64_MIN, at_most_ms(ms));
    return status;
}

int64_t actor_ended_at(actor *self)
{
    return self->ended_ms;
}

int64_t actor_took(actor *self)
{
    return self->ended_ms - self->began_ms;
}

const char *actor_error(actor *self)
{
    return self->error;
}

static rlock_status whole(actor *self, rlock *lock, actor_call *call)
{
    self->lock = lock;
    actor_begin(self, call, self);
    return actor_finish(self, SHORT_CALL_MS);
}

rlock_status actor_lock(actor *self, rlock *lock)
{
    actor_begin_lock(self, lock);
    return actor_finish(self, SHORT_CALL_MS);
}

rlock_status actor_try(actor *self, rlock *lock, int64_t wait_ms, int64_t lease_ms)
{
    actor_begin_try(self, lock, wait_ms, lease_ms);
    return actor_finish(self, SHORT_CALL_MS + (wait_ms > 0 ? wait_ms : 0));
}

rlock_status actor_unlock(actor *self, rlock *lock)
{
    actor_begin_unlock(self, lock);
    return actor_finish(self, SHORT_CALL_MS);
}

int actor_hold_count(actor *self, rlock *lock)
{
    assert_ok(whole(self, lock, call_hold_count));
    return (int)self->number;
}

bool actor_holds(actor *self, rlock *lock)
{
    assert_ok(whole(self, lock, call_holds));
    return self->number;
}

int64_t actor_valid_for(actor *self, rlock *lock)
{
    assert_ok(whole(self, lock, call_valid_for));
    return self->number;
}

bool actor_asleep(actor *self, int64_t ms)
{
    long before = -1, now = -1;
    int still = 0;
    for (int64_t end_ms = limit_end_ms(ms); now_ms() < end_ms;) {
        pthread_mutex_lock(&self->mutex);
        bool busy = self->state == BUSY, done = self->state == DONE;
        pthread_mutex_unlock(&self->mutex);
        if (done)
            return false;
        still = busy && task_sleeps(self->tid, &now) && now == before ? still + 1 : 0;
        before = now;
        /* Without interruption, while no other thread had anything to do: else it may sleep only until one of them
         * lets go of a mutex or has started. */
        if (still >= 10 && tasks_others_sleep() && task_sleeps(self->tid, &now) && now == before)
            return true;
        pass_ms(1);
    }
    return false;
}

pthread_t actor_thread(const actor *self)
{
    return self->thread;
}

void actor_signal(actor *self, int number)
{
    pthread_kill(self->thread, number);
}
