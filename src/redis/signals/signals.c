/* Signals: the calls of waiters, and the end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/signals/signals_parts.h"

#include "base/bell.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/list.h"
#include "base/thread.h"
#include "redis/pubsub/channels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void rli_signals_init(rli_signals *signals, const rli_settings *settings, const rli_address *address,
                      const atomic_bool *closed)
{
    *signals = (rli_signals){.settings = settings, .address = address, .closed = closed, .wake_fd = -1};
    pthread_mutex_init(&signals->mutex, NULL);
}

void rli_signals_wake(const rli_signals *signals)
{
    rli_bell_ring(signals->wake_fd);
}

/* --- lists --- */

static rlock_status start_thread(rli_signals *signals)
{
    if (signals->running && !signals->stopping)
        return RLOCK_OK;
    if (atomic_load(signals->closed))
        return rli_fail(RLOCK_CLOSED, "the client is closed");
    if (signals->stopping)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s is no longer one of the servers", signals->address->text);
    int fd = rli_bell_open();
    if (fd < 0)
        return rli_fail(RLOCK_NO_MEMORY, "could not create a descriptor for signals: %s", strerror(errno));
    signals->wake_fd = fd;
    rlock_status status = rli_thread_start(&signals->thread, "rlock-signals", rli_signals_run, signals);
    if (status != RLOCK_OK) {
        rli_fd_close(fd);
        signals->wake_fd = -1;
    }
    signals->running = status == RLOCK_OK;
    return status;
}

static rli_signal_list *find(const rli_signals *signals, const char *name, size_t length)
{
    rli_signal_list *list = signals->lists;
    while (list && (list->length != length || memcmp(list->name, name, length) != 0))
        list = list->next;
    return list;
}

/* NULL: out of memory. */
static rli_signal_list *make(rli_signals *signals, const char *name, size_t length, const char *lock,
                             size_t lock_length)
{
    rli_signal_list *list = calloc(1, sizeof *list + length + 1);
    char *own = list ? malloc(lock_length + 1) : NULL;
    if (!own) {
        free(list);
        return NULL;
    }
    memcpy(list->name, name, length + 1);
    memcpy(own, lock, lock_length + 1);
    list->length = length;
    list->lock = own;
    list->lock_length = lock_length;
    list->connection.fd = -1;
    RLI_LIST_ADD(signals->lists, list);
    signals->count++;
    return list;
}

void rli_signals_free_list(rli_signals *signals, rli_signal_list *list)
{
    RLI_LIST_REMOVE(signals->lists, list);
    signals->count--;
    rli_connection_close(&list->connection);
    free(list->lock);
    free(list);
}

/* Closes what is kept without need, so that the next waiter finds room. */
static void make_room(rli_signals *signals)
{
    for (rli_signal_list *list = signals->lists; list; list = list->next) {
        if (list->state == RLI_SIGNAL_IDLE && list->references == 0)
            list->until_ms = rli_now_ms();
    }
    rli_signals_wake(signals);
}

rlock_status rli_signals_join(rli_signals *signals, const char *name, size_t length, const char *lock,
                              size_t lock_length, rli_signal_list **out)
{
    *out = NULL;
    pthread_mutex_lock(&signals->mutex);
    rlock_status status = start_thread(signals);
    rli_signal_list *list = status == RLOCK_OK ? find(signals, name, length) : NULL;
    bool full = !list && signals->count >= RLI_SIGNAL_LISTS_MAX;
    if (status == RLOCK_OK && !list && !full) {
        list = make(signals, name, length, lock, lock_length);
        if (!list)
            status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a wait");
    }
    if (list) {
        list->references++;
        *out = list;
    } else if (full) {
        make_room(signals);
    }
    pthread_mutex_unlock(&signals->mutex);
    return status;
}

bool rli_signal_is_over(const rli_signal_list *list)
{
    return list->references == 0 && list->state == RLI_SIGNAL_OFF && !list->passes;
}

void rli_signal_hurry(rli_signal_list *list)
{
    if (list->state == RLI_SIGNAL_OFF)
        list->until_ms = rli_now_ms();
}

void rli_signal_rouse(rli_signal_list *list)
{
    for (rli_listener *listener = list->listeners; listener; listener = listener->next) {
        listener->signalled = true;
        rli_unpark(listener->parker);
    }
}

/* The last waiter has left. */
static void end_wait(rli_signals *signals, rli_signal_list *list)
{
    list->wanted = false;
    list->passes = list->passes || list->popped;
    list->popped = false;
    list->pass_until_ms = rli_after_ms(signals->settings->timeout_ms);
    if (list->state == RLI_SIGNAL_IDLE)
        list->until_ms = rli_after_ms(RLI_SIGNAL_IDLE_MS);
    bool rests = list->state == RLI_SIGNAL_IDLE && !list->passes;
    if (signals->running && !rests)
        rli_signals_wake(signals);
    else if (!signals->running && list->state == RLI_SIGNAL_OFF)
        rli_signals_free_list(signals, list);
}

void rli_signals_leave(rli_signals *signals, rli_signal_list *list, bool unused)
{
    pthread_mutex_lock(&signals->mutex);
    list->popped = list->popped || unused;
    if (--list->references == 0)
        end_wait(signals, list);
    else if (unused)
        rli_signal_rouse(list);
    pthread_mutex_unlock(&signals->mutex);
}

/* --- waiting --- */

void rli_signal_listen(rli_signals *signals, rli_signal_list *list, rli_listener *listener, rli_parker *parker)
{
    pthread_mutex_lock(&signals->mutex);
    *listener = (rli_listener){.parker = parker, .signalled = list->popped};
    RLI_LIST_ADD(list->listeners, listener);
    pthread_mutex_unlock(&signals->mutex);
}

void rli_signal_unlisten(rli_signals *signals, rli_signal_list *list, rli_listener *listener)
{
    pthread_mutex_lock(&signals->mutex);
    RLI_LIST_REMOVE(list->listeners, listener);
    pthread_mutex_unlock(&signals->mutex);
}

bool rli_signal_take(rli_signals *signals, rli_signal_list *list, rli_listener *listener, bool *signalled)
{
    pthread_mutex_lock(&signals->mutex);
    bool news = listener->signalled;
    listener->signalled = false;
    *signalled = news && list->popped;
    if (*signalled)
        list->popped = false;
    pthread_mutex_unlock(&signals->mutex);
    return news;
}

void rli_signal_want(rli_signals *signals, rli_signal_list *list)
{
    pthread_mutex_lock(&signals->mutex);
    list->wanted = true;
    if (list->state == RLI_SIGNAL_IDLE && !list->passes && !list->popped)
        rli_signal_block(signals, list);
    else if (list->state == RLI_SIGNAL_OFF && signals->running)
        rli_signals_wake(signals);
    pthread_mutex_unlock(&signals->mutex);
}

bool rli_signal_works(rli_signals *signals, rli_signal_list *list)
{
    pthread_mutex_lock(&signals->mutex);
    bool works = list->works;
    pthread_mutex_unlock(&signals->mutex);
    return works;
}

/* --- the server --- */

void rli_signals_rouse(rli_signals *signals)
{
    pthread_mutex_lock(&signals->mutex);
    for (rli_signal_list *list = signals->lists; list; list = list->next)
        rli_signal_rouse(list);
    pthread_mutex_unlock(&signals->mutex);
}

/* Ends all connections; the thread notices. */
static void shut_all(rli_signals *signals)
{
    atomic_fetch_add(&signals->drops, 1);
    for (rli_signal_list *list = signals->lists; list; list = list->next) {
        if (list->state != RLI_SIGNAL_OFF)
            shutdown(list->connection.fd, SHUT_RDWR);
        list->passes = false;
        rli_signal_rouse(list);
    }
}

void rli_signals_drop(rli_signals *signals)
{
    pthread_mutex_lock(&signals->mutex);
    shut_all(signals);
    pthread_mutex_unlock(&signals->mutex);
}

/* How long the end waits for a server, so that no signal is lost. */
#define STOP_MS 1000

void rli_signals_stop(rli_signals *signals, bool orderly)
{
    int64_t patience_ms = rli_earlier(signals->settings->timeout_ms, STOP_MS);
    pthread_mutex_lock(&signals->mutex);
    bool running = signals->running;
    signals->stopping = true;
    signals->stop_by_ms = orderly ? rli_after_ms(patience_ms) : rli_now_ms();
    if (!orderly)
        shut_all(signals);
    for (rli_signal_list *list = signals->lists; list; list = list->next)
        rli_signal_hurry(list);
    if (running)
        rli_signals_wake(signals);
    pthread_mutex_unlock(&signals->mutex);
    if (running)
        pthread_join(signals->thread, NULL);
    pthread_mutex_lock(&signals->mutex);
    signals->running = false;
    for (rli_signal_list *list = signals->lists, *next; list; list = next) {
        next = list->next;
        rli_signal_rouse(list);
        if (list->references == 0)
            rli_signals_free_list(signals, list);
    }
    if (signals->wake_fd >= 0)
        rli_fd_close(signals->wake_fd);
    signals->wake_fd = -1;
    pthread_mutex_unlock(&signals->mutex);
}

void rli_signals_reopen(rli_signals *signals)
{
    pthread_mutex_lock(&signals->mutex);
    signals->stopping = false;
    pthread_mutex_unlock(&signals->mutex);
}

void rli_signals_destroy(rli_signals *signals)
{
    while (signals->lists)
        rli_signals_free_list(signals, signals->lists);
    pthread_mutex_destroy(&signals->mutex);
}
