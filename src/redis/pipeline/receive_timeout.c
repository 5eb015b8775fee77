/* The receive timeout: one thread per server that ends receives and connections on which answers are overdue. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/receive_timeout.h"

#include "base/clock.h"
#include "base/thread.h"

void rli_receive_timeout_init(rli_receive_timeout *receive_timeout, int64_t timeout_ms, bool (*look)(void *pipelines),
                              void *pipelines)
{
    *receive_timeout = (rli_receive_timeout){.look = look, .pipelines = pipelines, .pace_ms = timeout_ms / 16 + 1};
    atomic_init(&receive_timeout->asleep, true);
    pthread_mutex_init(&receive_timeout->mutex, NULL);
    rli_cond_init_monotonic(&receive_timeout->called);
}

/* Waits until the next check is due; mutex held on entry and return. If the whole process was stopped meanwhile, all
 * requests seem overdue although their answers may have arrived: then the leaders get one more interval to read
 * them. */
static void rest(rli_receive_timeout *receive_timeout)
{
    int64_t due_ms;
    do {
        due_ms = rli_after_ms(receive_timeout->pace_ms);
        struct timespec at = rli_monotonic_at(due_ms);
        pthread_cond_timedwait(&receive_timeout->called, &receive_timeout->mutex, &at);
    } while (!receive_timeout->stopping && rli_now_ms() > due_ms + receive_timeout->pace_ms);
}

static void *run(void *argument)
{
    rli_receive_timeout *receive_timeout = argument;
    pthread_mutex_lock(&receive_timeout->mutex);
    while (!receive_timeout->stopping) {
        rest(receive_timeout);
        /* Set asleep before checking: a leader that blocks after the check then sees that it must wake this thread. */
        atomic_store(&receive_timeout->asleep, true);
        pthread_mutex_unlock(&receive_timeout->mutex);
        bool busy = receive_timeout->look(receive_timeout->pipelines);
        pthread_mutex_lock(&receive_timeout->mutex);
        if (busy && !receive_timeout->stopping) /* once stopping is set, nothing may skip the call any more */
            atomic_store(&receive_timeout->asleep, false);
        while (atomic_load(&receive_timeout->asleep) && !receive_timeout->stopping)
            pthread_cond_wait(&receive_timeout->called, &receive_timeout->mutex);
    }
    pthread_mutex_unlock(&receive_timeout->mutex);
    return NULL;
}

bool rli_receive_timeout_call(rli_receive_timeout *receive_timeout)
{
    if (!atomic_load(&receive_timeout->asleep))
        return true;
    pthread_mutex_lock(&receive_timeout->mutex);
    if (!receive_timeout->running && !receive_timeout->stopping)
        receive_timeout->running = rli_thread_start(&receive_timeout->thread, "rlock-timeout", run, receive_timeout) ==
                                   RLOCK_OK;
    atomic_store(&receive_timeout->asleep, !receive_timeout->running);
    pthread_cond_signal(&receive_timeout->called);
    bool is_covered = receive_timeout->running;
    pthread_mutex_unlock(&receive_timeout->mutex);
    return is_covered;
}

void rli_receive_timeout_stop(rli_receive_timeout *receive_timeout)
{
    pthread_mutex_lock(&receive_timeout->mutex);
    bool running = receive_timeout->running;
    receive_timeout->stopping = true;
    receive_timeout->running = false;
    atomic_store(&receive_timeout->asleep, true); /* from now on leaders limit their own receives */
    pthread_cond_signal(&receive_timeout->called);
    pthread_mutex_unlock(&receive_timeout->mutex);
    if (running)
        pthread_join(receive_timeout->thread, NULL);
}

void rli_receive_timeout_reopen(rli_receive_timeout *receive_timeout)
{
    pthread_mutex_lock(&receive_timeout->mutex);
    receive_timeout->stopping = false;
    pthread_mutex_unlock(&receive_timeout->mutex);
}

void rli_receive_timeout_destroy(rli_receive_timeout *receive_timeout)
{
    pthread_cond_destroy(&receive_timeout->called);
    pthread_mutex_destroy(&receive_timeout->mutex);
}
