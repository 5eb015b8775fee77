/* Threads that the library starts: named, with all signals blocked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include "base/error.h"

#include <signal.h>
#include <string.h>

rlock_status rli_thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    /* Block first: the new thread inherits the mask, so no signal reaches it even at its start. */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(thread, NULL, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return rli_fail(RLOCK_NO_MEMORY, "could not start a thread for %s: %s", name, strerror(error));
    pthread_setname_np(*thread, name);
    return RLOCK_OK;
}

void rli_cond_init_monotonic(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

void rli_mutex_init_adaptive(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}
