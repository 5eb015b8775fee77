/* The guard: ends waits for answers that take too long. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/guard.h"

#include "base/clock.h"
#include "base/thread.h"

void rli_guard_init(rli_guard *guard, int64_t timeout_ms, bool (*look)(void *lanes), void *lanes)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    *guard = (rli_guard){.look = look, .lanes = lanes, .pace_ms = timeout_ms / 16 + 1};
    atomic_init(&guard->asleep, true);
    pthread_mutex_init(&guard->mutex, NULL);
    pthread_cond_init(&guard->called, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Waits until the next look is due; mutex held on entry and return. When the whole process has stood still, all requests
 * are overdue, and their answers may have come meanwhile: the leaders get one more pace to read them. */
static void rest(rli_guard *guard)
{
    int64_t due_ms;
    do {
        due_ms = rli_after_ms(guard->pace_ms);
        struct timespec at = rli_monotonic_at(due_ms);
        pthread_cond_timedwait(&guard->called, &guard->mutex, &at);
    } while (!guard->stopping && rli_now_ms() > due_ms + guard->pace_ms);
}

static void *run(void *argument)
{
    rli_guard *guard = argument;
    pthread_mutex_lock(&guard->mutex);
    while (!guard->stopping) {
        rest(guard);
        /* First asleep, then a look: a leader that blocks after the look finds it asleep. */
        atomic_store(&guard->asleep, true);
        pthread_mutex_unlock(&guard->mutex);
        bool busy = guard->look(guard->lanes);
        pthread_mutex_lock(&guard->mutex);
        if (busy && !guard->stopping) /* once it has ended, it must be called to look */
            atomic_store(&guard->asleep, false);
        while (atomic_load(&guard->asleep) && !guard->stopping)
            pthread_cond_wait(&guard->called, &guard->mutex);
    }
    pthread_mutex_unlock(&guard->mutex);
    return NULL;
}

bool rli_guard_call(rli_guard *guard)
{
    if (!atomic_load(&guard->asleep))
        return true;
    pthread_mutex_lock(&guard->mutex);
    if (!guard->running && !guard->stopping)
        guard->running = rli_thread_start(&guard->thread, "rlock-guard", run, guard) == RLOCK_OK;
    atomic_store(&guard->asleep, !guard->running);
    pthread_cond_signal(&guard->called);
    bool guarded = guard->running;
    pthread_mutex_unlock(&guard->mutex);
    return guarded;
}

void rli_guard_stop(rli_guard *guard)
{
    pthread_mutex_lock(&guard->mutex);
    bool running = guard->running;
    guard->stopping = true;
    guard->running = false;
    atomic_store(&guard->asleep, true); /* from here on callers keep their own limits */
    pthread_cond_signal(&guard->called);
    pthread_mutex_unlock(&guard->mutex);
    if (running)
        pthread_join(guard->thread, NULL);
}

void rli_guard_reopen(rli_guard *guard)
{
    pthread_mutex_lock(&guard->mutex);
    guard->stopping = false;
    pthread_mutex_unlock(&guard->mutex);
}

void rli_guard_destroy(rli_guard *guard)
{
    pthread_cond_destroy(&guard->called);
    pthread_mutex_destroy(&guard->mutex);
}
