/* A parker: where one thread sleeps until another has something for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "park.h"

#include "clock.h"

void rli_parker_init(rli_parker *parker)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&parker->mutex, NULL);
    pthread_cond_init(&parker->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    parker->token = false;
}

void rli_parker_destroy(rli_parker *parker)
{
    pthread_cond_destroy(&parker->cond);
    pthread_mutex_destroy(&parker->mutex);
}

void rli_park(rli_parker *parker, int64_t deadline_ms)
{
    pthread_mutex_lock(&parker->mutex);
    if (deadline_ms == RLI_NEVER) {
        while (!parker->token)
            pthread_cond_wait(&parker->cond, &parker->mutex);
    } else if (!parker->token) {
        struct timespec at = rli_monotonic_at(deadline_ms);
        while (!parker->token && pthread_cond_timedwait(&parker->cond, &parker->mutex, &at) == 0)
            continue;
    }
    parker->token = false;
    pthread_mutex_unlock(&parker->mutex);
}

void rli_unpark(rli_parker *parker)
{
    pthread_mutex_lock(&parker->mutex);
    parker->token = true;
    pthread_cond_signal(&parker->cond);
    pthread_mutex_unlock(&parker->mutex);
}
