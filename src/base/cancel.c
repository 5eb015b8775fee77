/* Cancel tokens: a flag, a descriptor for threads that poll, and a list of parkers for threads that sleep. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cancel.h"

#include "base/error.h"
#include "base/forked.h"
#include "base/list.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct rlock_cancel {
    pthread_mutex_t mutex;
    rli_cancel_watch *watches; /* guarded by mutex */
    atomic_bool fired;
    unsigned generation; /* fork generation of its creator; a forked child must not fire its parent's token */
    int fd;
};

rlock_cancel *rlock_cancel_new(void)
{
    rlock_cancel *cancel = calloc(1, sizeof *cancel);
    if (!cancel) {
        rli_fail(RLOCK_NO_MEMORY, "out of memory for a cancel token");
        return NULL;
    }
    cancel->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (cancel->fd < 0 || !rli_fd_track(cancel->fd)) {
        if (cancel->fd >= 0)
            close(cancel->fd);
        rli_fail(RLOCK_NO_MEMORY, "could not create a descriptor for a cancel token: %s", strerror(errno));
        free(cancel);
        return NULL;
    }
    cancel->generation = rli_fork_generation();
    pthread_mutex_init(&cancel->mutex, NULL);
    return cancel;
}

void rlock_cancel_fire(rlock_cancel *cancel)
{
    if (!cancel || cancel->generation != rli_fork_generation() || atomic_load(&cancel->fired))
        return;
    int cancel_state;
    /* write() is a cancellation point: a thread that is cancelled there would keep the mutex. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_mutex_lock(&cancel->mutex);
    if (!atomic_exchange(&cancel->fired, true)) {
        ssize_t written = write(cancel->fd, &(uint64_t){1}, sizeof(uint64_t));
        (void)written; /* cannot fail: the eventfd's counter is 0 */
        for (rli_cancel_watch *watch = cancel->watches; watch; watch = watch->next)
            rli_unpark(watch->parker);
    }
    pthread_mutex_unlock(&cancel->mutex);
    pthread_setcancelstate(cancel_state, NULL);
}

void rli_cancel_rearm(rlock_cancel *cancel)
{
    uint64_t count;
    if (!rli_cancel_fired(cancel))
        return;
    pthread_mutex_lock(&cancel->mutex);
    ssize_t n = read(cancel->fd, &count, sizeof count);
    (void)n; /* cannot fail: the token has fired */
    atomic_store(&cancel->fired, false);
    pthread_mutex_unlock(&cancel->mutex);
}

void rlock_cancel_free(rlock_cancel *cancel)
{
    int cancel_state;
    if (!cancel)
        return;
    /* close() is a cancellation point: the token would never be freed. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (cancel->generation == rli_fork_generation()) /* in a forked child the fork handler has closed it */
        rli_fd_close(cancel->fd);
    pthread_mutex_destroy(&cancel->mutex);
    free(cancel);
    pthread_setcancelstate(cancel_state, NULL);
}

void rli_cancel_enter(rlock_cancel *cancel, rli_cancel_watch *watch, rli_parker *parker)
{
    if (!cancel)
        return;
    *watch = (rli_cancel_watch){.parker = parker};
    pthread_mutex_lock(&cancel->mutex);
    RLI_LIST_ADD(cancel->watches, watch);
    pthread_mutex_unlock(&cancel->mutex);
}

void rli_cancel_exit(rlock_cancel *cancel, rli_cancel_watch *watch)
{
    if (!cancel)
        return;
    pthread_mutex_lock(&cancel->mutex);
    RLI_LIST_REMOVE(cancel->watches, watch);
    pthread_mutex_unlock(&cancel->mutex);
}

bool rli_cancel_fired(rlock_cancel *cancel)
{
    return cancel && atomic_load_explicit(&cancel->fired, memory_order_acquire);
}

int rli_cancel_fd(const rlock_cancel *cancel)
{
    return cancel ? cancel->fd : -1;
}
