/* Signals: the thread that connects and reads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/signals/signals_parts.h"

#include "base/checked.h"
#include "base/bell.h"
#include "base/clock.h"
#include "redis/script.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long one BLPOP waits. A new one stands behind those of other clients, so it is long; it is not endless, since the
 * end of a connection may go unnoticed. */
#define BLOCK_S  "30"
#define BLOCK_MS 30000
/* Pauses between attempts to connect. */
#define PAUSE_FIRST_MS 100
#define PAUSE_MOST_MS  2000

static const bool legal[RLI_SIGNAL_STATES][RLI_SIGNAL_STATES] = {
    [RLI_SIGNAL_OFF] = {[RLI_SIGNAL_IDLE] = true},
    [RLI_SIGNAL_IDLE] = {[RLI_SIGNAL_BLOCKED] = true, [RLI_SIGNAL_PASSES] = true, [RLI_SIGNAL_OFF] = true},
    [RLI_SIGNAL_BLOCKED] = {[RLI_SIGNAL_IDLE] = true, [RLI_SIGNAL_ENDS] = true, [RLI_SIGNAL_OFF] = true},
    [RLI_SIGNAL_ENDS] = {[RLI_SIGNAL_OFF] = true},
    [RLI_SIGNAL_PASSES] = {[RLI_SIGNAL_IDLE] = true, [RLI_SIGNAL_OFF] = true},
};

void rli_signal_become(rli_signal_list *list, rli_signal_state state, int64_t until_ms)
{
    rli_check(legal[list->state][state]);
    list->state = state;
    list->until_ms = until_ms;
}

/* --- sending --- */

static void send_command(const rli_signal_list *list, const rli_command *command)
{
    rli_buffer bytes = {0};
    bool sent = rli_buffer_command(&bytes, command) &&
                rli_connection_send(&list->connection, bytes.bytes, bytes.length) == (ssize_t)bytes.length;
    rli_buffer_free(&bytes);
    if (!sent)
        shutdown(list->connection.fd, SHUT_RDWR); /* the thread notices the end */
}

void rli_signal_block(const rli_signals *signals, rli_signal_list *list)
{
    const char *const words[] = {"BLPOP", list->name, BLOCK_S};
    const size_t lengths[] = {5, list->length, strlen(BLOCK_S)};
    rli_signal_become(list, RLI_SIGNAL_BLOCKED, rli_after_ms(BLOCK_MS + signals->settings->timeout_ms));
    list->works = !list->refused;
    send_command(list, &(rli_command){.count = 3, .words = words, .lengths = lengths});
}

/* Signals to another waiter, if that is of use. */
static void pass_on(const rli_signals *signals, rli_signal_list *list)
{
    size_t length;
    char *text = rli_script_text(&rli_script_signal_pass_on, RLI_COUNTED, &length);
    const char *const words[] = {"EVAL", text, "2", list->lock, list->name};
    const size_t lengths[] = {4, length, 1, list->lock_length, list->length};
    rli_signal_become(list, RLI_SIGNAL_PASSES, rli_after_ms(signals->settings->timeout_ms));
    if (text)
        send_command(list, &(rli_command){.count = 5, .words = words, .lengths = lengths});
    else
        shutdown(list->connection.fd, SHUT_RDWR); /* out of memory: try again later */
    free(text);
}

/* Nobody waits any more, but the server may give the next signal to this connection until it has seen its end. So it is
 * read until the server ends it, and then the lock's release, if there was one meanwhile, is signalled anew. */
static void end_blocking(const rli_signals *signals, rli_signal_list *list)
{
    list->passes = true;
    rli_signal_become(list, RLI_SIGNAL_ENDS, rli_after_ms(signals->settings->timeout_ms));
    shutdown(list->connection.fd, SHUT_WR);
}

/* --- connecting --- */

static void grow_pause(rli_signal_list *list)
{
    list->until_ms = rli_after_ms(list->pause_ms);
    list->pause_ms = list->pause_ms ? rli_earlier(2 * list->pause_ms, PAUSE_MOST_MS) : PAUSE_FIRST_MS;
}

/* The connection has ended, or is no good any more. */
static void lose(rli_signal_list *list)
{
    rli_connection_close(&list->connection);
    rli_signal_become(list, RLI_SIGNAL_OFF, rli_now_ms());
    grow_pause(list);
    if (list->works)
        rli_signal_rouse(list); /* a signal may have been lost */
    list->works = false;
}

/* The mutex is released meanwhile. Nobody else frees lists. */
static void reconnect(rli_signals *signals, rli_signal_list *list)
{
    static const atomic_bool open; /* what is still to be passed on when the client is closed needs a connection */
    rli_connection connection;
    rli_patience patience = {.deadline_ms = signals->stopping ? signals->stop_by_ms : RLI_NEVER,
                             .closed = signals->stopping ? &open : signals->closed,
                             .drops = &signals->drops,
                             .drops_before = atomic_load(&signals->drops)};
    pthread_mutex_unlock(&signals->mutex);
    rlock_status status = rli_connection_open(&connection, signals->settings, signals->address, &patience);
    pthread_mutex_lock(&signals->mutex);
    if (status == RLOCK_OK && atomic_load(&signals->drops) != patience.drops_before) {
        rli_connection_close(&connection); /* connected too early: the server's role has changed since */
        status = RLOCK_UNAVAILABLE;
    }
    if (status != RLOCK_OK) {
        if (signals->stopping && patience.closed != &open)
            rli_signal_hurry(list); /* the close has ended the attempt, and leaves time for another */
        else
            grow_pause(list);
        return;
    }
    list->connection = connection;
    rli_signal_become(list, RLI_SIGNAL_IDLE, rli_after_ms(RLI_SIGNAL_IDLE_MS));
}

/* --- what is due --- */

/* Each returns when it is due again. */

static int64_t tend_off(rli_signals *signals, rli_signal_list *list)
{
    int64_t now_ms = rli_now_ms();
    if (list->passes && now_ms >= list->pass_until_ms)
        list->passes = false;
    if (!list->passes && (!list->wanted || signals->stopping))
        return RLI_NEVER;
    if (now_ms >= list->until_ms)
        reconnect(signals, list);
    return list->passes ? rli_earlier(list->until_ms, list->pass_until_ms) : list->until_ms;
}

static int64_t tend_idle(const rli_signals *signals, rli_signal_list *list)
{
    if (list->passes)
        pass_on(signals, list);
    else if (list->wanted && !list->popped && !signals->stopping)
        rli_signal_block(signals, list);
    else if (list->references > 0) /* a waiter may send BLPOP by itself, which must not be late unnoticed */
        return rli_after_ms(BLOCK_MS);
    else if (rli_now_ms() >= list->until_ms)
        lose(list);
    return list->until_ms;
}

/* Does what is due for the list. */
static int64_t tend(rli_signals *signals, rli_signal_list *list)
{
    int64_t due_ms = list->state == RLI_SIGNAL_OFF ? tend_off(signals, list) : list->until_ms;
    if (list->state == RLI_SIGNAL_IDLE)
        return tend_idle(signals, list);
    if (list->state == RLI_SIGNAL_OFF)
        return due_ms;
    if (list->state == RLI_SIGNAL_BLOCKED && (list->references == 0 || signals->stopping))
        end_blocking(signals, list);
    else if (rli_now_ms() >= list->until_ms)
        lose(list);
    return list->until_ms;
}

/* --- reading --- */

static bool is_signal(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 2;
}

/* Whether BLPOP has waited for long enough to end without a signal, as far as the clocks of both sides agree. */
static bool is_over(const rli_signals *signals, const rli_signal_list *list)
{
    return rli_now_ms() >= list->until_ms - signals->settings->timeout_ms - BLOCK_MS / 2;
}

/* False: the connection is no good any more. */
static bool hear(const rli_signals *signals, rli_signal_list *list, const redisReply *reply)
{
    switch (list->state) {
    case RLI_SIGNAL_BLOCKED:
        list->refused = reply->type == REDIS_REPLY_ERROR;
        if (list->refused)
            return false;
        list->works = true;
        if (!is_signal(reply) && !is_over(signals, list))
            return false; /* else a server that never waits would be asked without a pause */
        list->pause_ms = 0;
        rli_signal_become(list, RLI_SIGNAL_IDLE, rli_after_ms(RLI_SIGNAL_IDLE_MS));
        if (!is_signal(reply))
            return true;
        list->popped = list->references > 0;
        list->passes = list->passes || !list->popped; /* the last waiter has just left */
        list->wanted = false;
        rli_signal_rouse(list);
        return true;
    case RLI_SIGNAL_ENDS:
        return true; /* the signal is passed on when the server has ended the connection */
    case RLI_SIGNAL_PASSES:
        if (reply->type == REDIS_REPLY_ERROR)
            return false;
        list->passes = false;
        list->pause_ms = 0;
        rli_signal_become(list, RLI_SIGNAL_IDLE, rli_after_ms(RLI_SIGNAL_IDLE_MS));
        return true;
    default:
        return false; /* nothing was asked */
    }
}

static bool hear_all(const rli_signals *signals, rli_signal_list *list)
{
    for (;;) {
        redisReply *reply;
        if (!rli_connection_parse(&list->connection, &reply))
            return false;
        if (!reply)
            return true;
        bool good = hear(signals, list, reply);
        freeReplyObject(reply);
        if (!good)
            return false;
    }
}

static void receive(const rli_signals *signals, rli_signal_list *list)
{
    rli_received received = rli_connection_receive(&list->connection, 0, -1, false);
    if (received == RLI_RECEIVED_BYTES && hear_all(signals, list))
        return;
    if (received == RLI_RECEIVED_NOTHING)
        return;
    if (list->state == RLI_SIGNAL_ENDS || list->state == RLI_SIGNAL_IDLE)
        list->pause_ms = 0; /* as it was to be, or unused for too long */
    lose(list);
}

/* --- the thread --- */

/* Does what is due for all lists, and collects what to poll. Returns until when; *polled: how many. */
static int64_t tend_all(rli_signals *signals, struct pollfd *fds, rli_signal_list **lists, nfds_t *polled)
{
    int64_t until_ms = signals->stopping ? signals->stop_by_ms : RLI_NEVER;
    *polled = 0;
    for (rli_signal_list *list = signals->lists, *next; list; list = next) {
        next = list->next; /* others only add lists, before all others */
        int64_t due_ms = tend(signals, list);
        if (rli_signal_is_over(list)) {
            rli_signals_free_list(signals, list);
            continue;
        }
        until_ms = rli_earlier(until_ms, due_ms);
        if (list->state == RLI_SIGNAL_OFF || *polled == RLI_SIGNAL_LISTS_MAX)
            continue;
        fds[*polled] = (struct pollfd){.fd = list->connection.fd, .events = POLLIN};
        lists[(*polled)++] = list;
    }
    fds[*polled] = (struct pollfd){.fd = signals->wake_fd, .events = POLLIN};
    return until_ms;
}

/* Whether somebody waits, or something is to be passed on. */
static bool has_to_go_on(const rli_signals *signals)
{
    if (!signals->stopping)
        return true;
    if (rli_now_ms() >= signals->stop_by_ms)
        return false;
    for (const rli_signal_list *list = signals->lists; list; list = list->next) {
        bool rests = list->state == RLI_SIGNAL_OFF || list->state == RLI_SIGNAL_IDLE;
        if (list->references > 0 || list->passes || !rests)
            return true;
    }
    return false;
}

/* Polls, with the mutex released, until something comes from a server or a waiter, or `until_ms`. */
static void await(rli_signals *signals, struct pollfd *fds, rli_signal_list **lists, nfds_t count, int64_t until_ms)
{
    int timeout = until_ms == RLI_NEVER ? -1 : rli_until_ms(until_ms, 60000);
    pthread_mutex_unlock(&signals->mutex);
    int ready = poll(fds, count + 1, timeout);
    pthread_mutex_lock(&signals->mutex);
    if (ready <= 0)
        return;
    if (fds[count].revents)
        rli_bell_hush(signals->wake_fd);
    for (nfds_t i = 0; i < count; i++) {
        if (fds[i].revents)
            receive(signals, lists[i]);
    }
}

void *rli_signals_run(void *argument)
{
    rli_signals *signals = argument;
    struct pollfd fds[RLI_SIGNAL_LISTS_MAX + 1];
    rli_signal_list *lists[RLI_SIGNAL_LISTS_MAX];
    pthread_mutex_lock(&signals->mutex);
    while (has_to_go_on(signals)) {
        nfds_t count;
        int64_t until_ms = tend_all(signals, fds, lists, &count);
        await(signals, fds, lists, count, until_ms);
    }
    for (rli_signal_list *list = signals->lists; list; list = list->next) {
        if (list->state != RLI_SIGNAL_OFF)
            lose(list);
        list->passes = false;
    }
    pthread_mutex_unlock(&signals->mutex);
    return NULL;
}
