/* A crowd: threads that take turns under one lock on a counter that nothing else protects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/crowd.h"

#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <sched.h>
#include <stdio.h>

static void step(crowd *self)
{
    int inside = atomic_fetch_add(&self->inside, 1) + 1;
    int most = atomic_load(&self->most_inside);
    while (inside > most && !atomic_compare_exchange_weak(&self->most_inside, &most, inside)) {
    }
    int seen = atomic_load_explicit(&self->counter, memory_order_relaxed);
    if (self->hold_ms)
        pass_ms(self->hold_ms);
    else
        sched_yield();
    atomic_store_explicit(&self->counter, seen + 1, memory_order_relaxed);
    atomic_fetch_sub(&self->inside, 1);
}

static rlock_status turn(crowd *self, rlock *lock)
{
    rlock_status status = self->wait_ms ? rlock_try_lock(lock, self->wait_ms, RLOCK_WATCHDOG) : rlock_lock(lock);
    if (self->wait_ms && status == RLOCK_TIMEOUT)
        return RLOCK_OK;
    if (status != RLOCK_OK)
        return status;
    int taken = 1;
    while (taken <= self->nested && (status = rlock_lock(lock)) == RLOCK_OK)
        taken++;
    step(self);
    for (; taken; taken--) {
        rlock_status given = rlock_unlock(lock);
        if (status == RLOCK_OK)
            status = given;
    }
    return status;
}

static void *take_turns(void *arg)
{
    member *self = arg;
    for (int i = 0; i < self->crowd->turns && self->status == RLOCK_OK && !atomic_load(&self->crowd->over); i++)
        self->status = turn(self->crowd, self->lock);
    snprintf(self->error, sizeof self->error, "%s", rlock_last_error());
    atomic_fetch_add(&self->crowd->ended, 1);
    return NULL;
}

void crowd_add(crowd *self, rlock_client *client)
{
    cr_assert(self->count < CROWD_MAX);
    member *new = &self->members[self->count++];
    new->crowd = self;
    new->lock = lock_of(client, self->name);
}

void crowd_begin(crowd *self)
{
    for (int i = 0; i < self->count; i++)
        cr_assert(pthread_create(&self->members[i].thread, NULL, take_turns, &self->members[i]) == 0);
}

void crowd_end(crowd *self)
{
    atomic_store(&self->over, true);
}

void crowd_run(crowd *self, int64_t ms)
{
    crowd_begin(self);
    crowd_finish(self, ms);
}

void crowd_finish(crowd *self, int64_t ms)
{
    int64_t end_ms = limit_end_ms(ms);
    while (atomic_load(&self->ended) < self->count && now_ms() < end_ms)
        pass_ms(1);
    cr_assert(atomic_load(&self->ended) == self->count, "%d of %d have not ended after %lld ms",
              self->count - atomic_load(&self->ended), self->count, (long long)ms);
    for (int i = 0; i < self->count; i++) {
        pthread_join(self->members[i].thread, NULL);
        cr_assert(self->members[i].status == RLOCK_OK, "member %d: %s, %s", i,
                  rlock_strstatus(self->members[i].status), self->members[i].error);
    }
}
