/* Events: a count under a mutex, waited for with a deadline on the monotonic clock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/event.h"

#include <errno.h>
#include <time.h>

void event_init(event *self)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
    self->count = 0;
}

void event_destroy(event *self)
{
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
}

void event_set(event *self)
{
    pthread_mutex_lock(&self->mutex);
    self->count++;
    pthread_cond_broadcast(&self->cond);
    pthread_mutex_unlock(&self->mutex);
}

bool event_wait_ms(event *self, int64_t ms)
{
    return event_wait_count(self, 1, ms);
}

static struct timespec timespec_of(int64_t ms)
{
    return (struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
}

bool event_wait_count(event *self, int count, int64_t ms)
{
    struct timespec deadline = timespec_of(limit_end_ms(ms));
    pthread_mutex_lock(&self->mutex);
    int end = 0;
    while (self->count < count && end != ETIMEDOUT)
        end = pthread_cond_timedwait(&self->cond, &self->mutex, &deadline);
    bool came = self->count >= count;
    pthread_mutex_unlock(&self->mutex);
    return came;
}

int event_count(event *self)
{
    pthread_mutex_lock(&self->mutex);
    int count = self->count;
    pthread_mutex_unlock(&self->mutex);
    return count;
}

int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t limit_end_ms(int64_t ms)
{
#ifndef TEST_VIRTUAL
    if (ms >= 1000)
        return now_ms() + 3600 * 1000;
#endif
    return now_ms() + ms;
}

void pass_ms(int64_t ms)
{
    struct timespec until = timespec_of(now_ms() + ms);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}
