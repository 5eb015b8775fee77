/* Loop: the async operations of one client that wait, are ready to go on, or have ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "client/loop.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/forked.h"
#include "client/async.h"
#include "redis/pipeline/async_request.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* How often rlock_client_process goes on with what has become ready meanwhile, before it returns to the program. */
#define ROUNDS 16
/* While the client is being closed, an operation may be in the hands of another thread for a moment. */
#define CLOSE_PAUSE_MS 1

/* --- descriptors --- */

void rli_loop_init(rli_loop *loop)
{
    *loop = (rli_loop){.ready = {.fd = -1}, .epoll_fd = -1, .timer_fd = -1, .armed_ms = RLI_NEVER};
    pthread_mutex_init(&loop->mutex, NULL);
    rli_timer_heap_init(&loop->timers);
}

static void close_all(rli_loop *loop)
{
    if (loop->epoll_fd >= 0)
        rli_fd_close(loop->epoll_fd);
    if (loop->timer_fd >= 0)
        rli_fd_close(loop->timer_fd);
    if (loop->ready.fd >= 0)
        rli_ready_destroy(&loop->ready);
    loop->epoll_fd = loop->timer_fd = loop->ready.fd = -1;
}

static bool watch(const rli_loop *loop, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static rlock_status open_all(rli_loop *loop)
{
    rlock_status status = rli_ready_init(&loop->ready);
    if (status != RLOCK_OK)
        return status;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (loop->epoll_fd >= 0 && loop->timer_fd >= 0 && rli_fd_track(loop->epoll_fd) && rli_fd_track(loop->timer_fd) &&
        watch(loop, loop->ready.fd) && watch(loop, loop->timer_fd))
        return RLOCK_OK;
    status = rli_fail(RLOCK_NO_MEMORY, "could not create a descriptor for async calls: %s", strerror(errno));
    close_all(loop);
    return status;
}

rlock_status rli_loop_open(rli_loop *loop)
{
    rlock_status status = RLOCK_OK;
    pthread_mutex_lock(&loop->mutex);
    if (!loop->open)
        status = open_all(loop);
    loop->open = status == RLOCK_OK;
    pthread_mutex_unlock(&loop->mutex);
    return status;
}

void rli_loop_destroy(rli_loop *loop)
{
    close_all(loop);
    rli_timer_heap_destroy(&loop->timers);
    pthread_mutex_destroy(&loop->mutex);
}

int rlock_client_fd(rlock_client *client)
{
    if (rli_client_check(client) != RLOCK_OK || rli_loop_open(&client->loop) != RLOCK_OK)
        return -1;
    return client->loop.epoll_fd;
}

/* --- operations --- */

rlock_status rli_loop_add(rli_loop *loop, rli_async *async)
{
    (void)async;
    pthread_mutex_lock(&loop->mutex);
    bool closed = loop->closed, added = !closed && rli_timer_heap_reserve(&loop->timers);
    loop->under_way += added;
    pthread_mutex_unlock(&loop->mutex);
    if (closed)
        return rli_fail(RLOCK_CLOSED, "the client was closed");
    return added ? RLOCK_OK : rli_fail(RLOCK_NO_MEMORY, "out of memory for an async call");
}

/* Mutex held. */
static void remove_timer(rli_loop *loop, rli_async *async)
{
    rli_timer_heap_remove(&loop->timers, &async->timer);
    rli_timer_heap_unreserve(&loop->timers);
    loop->under_way--;
}

void rli_loop_remove(rli_loop *loop, rli_async *async)
{
    pthread_mutex_lock(&loop->mutex);
    remove_timer(loop, async);
    pthread_mutex_unlock(&loop->mutex);
}

void rli_loop_set_timer(rli_loop *loop, rli_async *async, int64_t wake_ms)
{
    pthread_mutex_lock(&loop->mutex);
    if (wake_ms == RLI_NEVER)
        rli_timer_heap_remove(&loop->timers, &async->timer);
    else
        rli_timer_heap_set(&loop->timers, &async->timer, wake_ms);
    pthread_mutex_unlock(&loop->mutex);
}

void rli_loop_end(rli_loop *loop, rli_async *async)
{
    pthread_mutex_lock(&loop->mutex);
    remove_timer(loop, async);
    async->next = NULL;
    if (loop->last_ended)
        loop->last_ended->next = async;
    else
        loop->first_ended = async;
    loop->last_ended = async;
    rli_ready_tell(&loop->ready); /* under the mutex: the operation, and the client with it, may be gone after that */
    pthread_mutex_unlock(&loop->mutex);
}

rlock_status rli_loop_visit(rli_loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    bool closed = loop->closed;
    loop->visitors += !closed;
    pthread_mutex_unlock(&loop->mutex);
    return closed ? rli_fail(RLOCK_CLOSED, "the client was closed") : RLOCK_OK;
}

void rli_loop_leave(rli_loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    loop->visitors--;
    pthread_mutex_unlock(&loop->mutex);
}

/* --- going on --- */

/* Wakes operations whose time has come. */
static void wake_due(rli_loop *loop)
{
    int64_t now_ms = rli_now_ms();
    pthread_mutex_lock(&loop->mutex);
    for (rli_timer *timer; (timer = rli_timer_heap_first(&loop->timers)) && timer->at_ms <= now_ms;) {
        rli_timer_heap_remove(&loop->timers, timer);
        rli_unpark(&RLI_ITEM(rli_async, timer, timer)->op.own);
    }
    pthread_mutex_unlock(&loop->mutex);
}

/* Goes on with all operations that are ready. Returns whether there were any. */
static bool go_on(rli_loop *loop)
{
    wake_due(loop);
    rli_parker *parker = rli_ready_take(&loop->ready);
    bool any = parker;
    while (parker) {
        rli_parker *next = parker->next;
        rli_async_resume(rli_async_of(parker));
        parker = next;
    }
    return any;
}

static rli_async *take_ended(rli_loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    rli_async *first = loop->first_ended;
    if (first)
        loop->first_ended = first->next;
    if (!loop->first_ended)
        loop->last_ended = NULL;
    pthread_mutex_unlock(&loop->mutex);
    return first;
}

/* Calls the functions of operations that have ended. Returns whether there were any. A function may close the client:
 * then the rest has been called. Or it has forked, and this is the child: the rest is its parent's. */
static bool complete(rli_loop *loop)
{
    bool any = false;
    for (rli_async *async; (async = take_ended(loop)); any = true) {
        if (!rli_async_complete(async))
            return false;
    }
    return any;
}

static bool has_ended(rli_loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    bool any = loop->first_ended;
    pthread_mutex_unlock(&loop->mutex);
    return any;
}

/* Sets the timer for the operation that is due first. If it is set for an earlier instant, the program comes too early
 * once, which costs less than setting it each time. */
static void set_timer(rli_loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    const rli_timer *first = rli_timer_heap_first(&loop->timers);
    int64_t at_ms = first ? first->at_ms : RLI_NEVER, now_ms = rli_now_ms();
    bool late = loop->armed_ms > at_ms || (loop->armed_ms <= now_ms && at_ms != RLI_NEVER);
    if (late)
        loop->armed_ms = at_ms;
    pthread_mutex_unlock(&loop->mutex);
    if (!late)
        return;
    int64_t wait_ms = at_ms > now_ms ? at_ms - now_ms : 1;
    const struct itimerspec timer = {
        .it_value = {.tv_sec = (time_t)(wait_ms / 1000), .tv_nsec = (long)(wait_ms % 1000 * 1000000)}};
    timerfd_settime(loop->timer_fd, 0, &timer, NULL);
}

/* The timer has gone off: makes its descriptor unreadable. */
static void hush_timer(rli_loop *loop)
{
    uint64_t count;
    pthread_mutex_lock(&loop->mutex);
    bool over = loop->armed_ms <= rli_now_ms();
    pthread_mutex_unlock(&loop->mutex);
    ssize_t got = over ? read(loop->timer_fd, &count, sizeof count) : 0;
    (void)got; /* fails when the timer is a moment late: it is read the next time */
}

/* A function that process() calls makes a blocking call. */
static void send_gathered(void *arg)
{
    rlock_client *client = arg;
    if (rli_gate_check(&client->gate) == RLOCK_OK)
        rli_topology_flush(&client->topology);
}

static void process(rlock_client *client)
{
    rli_loop *loop = &client->loop;
    rli_ready_begin(&loop->ready);
    hush_timer(loop);
    const rli_ready *gathered = rli_async_request_gather(&loop->ready);
    rli_preparation before = rli_operation_prepare((rli_preparation){send_gathered, client});
    rli_topology_collect(&client->topology, rli_now_ms());
    bool more = true;
    for (int i = 0; i < ROUNDS && more && !rli_gate_is_forked(&client->gate); i++) {
        more = go_on(loop);
        more |= complete(loop);
    }
    rli_operation_prepare(before);
    rli_async_request_gather(gathered);
    if (rli_gate_check(&client->gate) != RLOCK_OK)
        return;
    rli_topology_flush(&client->topology);
    rli_ready_end(
        &loop->ready); /* first: what begins from here on, in another thread, may come too late for the rest */
    rli_topology_watch(&client->topology, loop->epoll_fd);
    set_timer(loop);
    if (more || has_ended(loop))
        rli_ready_tell(&loop->ready);
}

rlock_status rlock_client_process(rlock_client *client)
{
    rlock_status status = rli_client_check(client);
    if (status == RLOCK_OK)
        status = rli_loop_open(&client->loop);
    if (status != RLOCK_OK)
        return status;
    if (atomic_exchange(&client->loop.processing, true))
        return rli_fail(RLOCK_INVALID,
                        "rlock_client_process() is under way for this client, in another thread or in the "
                        "function that called it");
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    rli_gate_ref(&client->gate); /* a function that is called may close the client */
    process(client);
    atomic_store(&client->loop.processing, false);
    status = rli_gate_check(&client->gate);
    rli_gate_unref(&client->gate);
    pthread_setcancelstate(cancel_state, NULL);
    return status;
}

/* --- without the program --- */

bool rli_loop_tend(rlock_client *client)
{
    rli_loop *loop = &client->loop;
    if (!atomic_load(&loop->tended))
        return false;
    bool more = false;
    while (go_on(loop))
        more = true;
    if (more) /* what they wait for now is watched and timed by rlock_client_process */
        rli_ready_tell(&loop->ready);
    pthread_mutex_lock(&loop->mutex);
    bool any = loop->under_way > 0 || loop->visitors > 0;
    atomic_store(&loop->tended, any);
    pthread_mutex_unlock(&loop->mutex);
    return any;
}

void rli_loop_close(rlock_client *client)
{
    rli_loop *loop = &client->loop;
    pthread_mutex_lock(&loop->mutex);
    loop->closed = true; /* from here on, another thread that has seen the client open begins nothing */
    bool any = loop->open;
    pthread_mutex_unlock(&loop->mutex);
    while (any) {
        while (!rli_gate_is_forked(&client->gate) && (go_on(loop) || complete(loop)))
            continue;
        if (rli_gate_is_forked(&client->gate))
            return;
        pthread_mutex_lock(&loop->mutex);
        any = loop->under_way > 0 || loop->first_ended;
        pthread_mutex_unlock(&loop->mutex);
        if (any)
            poll(&(struct pollfd){.fd = loop->ready.fd, .events = POLLIN}, 1, CLOSE_PAUSE_MS);
    }
}
