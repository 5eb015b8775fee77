/* The subscriber's calls for waiting threads: join, listen to and leave a channel. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pubsub/subscriber_parts.h"

#include "base/bell.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static rlock_status start_thread(rli_subscriber *subscriber)
{
    if (subscriber->running)
        return RLOCK_OK;
    if (atomic_load(subscriber->closed))
        return rli_fail(RLOCK_CLOSED, "the client is closed");
    if (subscriber->stopping)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s is no longer one of the servers", subscriber->address->text);
    int fd = rli_bell_open();
    if (fd < 0)
        return rli_fail(RLOCK_NO_MEMORY, "could not create a descriptor for the subscriber: %s", strerror(errno));
    subscriber->wake_fd = fd;
    rlock_status status = rli_thread_start(&subscriber->thread, "rlock-subscribe", rli_subscriber_run, subscriber);
    if (status != RLOCK_OK) {
        rli_fd_close(fd);
        subscriber->wake_fd = -1;
    }
    subscriber->running = status == RLOCK_OK;
    return status;
}

/* Defers sending what was just queued. Another deferral often follows soon, so restless_until_ms makes the thread
 * check again by itself: only the first of a series has to wake it. */
static void put_off(rli_subscriber *subscriber)
{
    int64_t by_ms = rli_after_ms(RLI_PUT_OFF_MS);
    subscriber->restless_until_ms = by_ms;
    if (subscriber->send_by_ms != RLI_NEVER)
        return;
    subscriber->send_by_ms = by_ms;
    if (subscriber->polls_until_ms > by_ms)
        rli_subscriber_wake(subscriber);
}

/* Whether a subscribe command must be sent (again) for the channel. */
static bool is_wanting(const rli_channel *channel)
{
    return (channel->references == 0 && channel->lingers_until_ms == 0) ||
           ((channel->refusal || channel->adrift) && channel->unconfirmed == 0);
}

/* Whether the server itself publishes on it, without regard to slots. */
static bool is_of_server(const char *name)
{
    static const char keyspace[] = "__keyspace@";
    return strcmp(name, RLI_INVALIDATE) == 0 || strncmp(name, keyspace, sizeof keyspace - 1) == 0;
}

/* Mutex held. */
static rlock_status join(rli_subscriber *subscriber, const char *name, size_t length, rli_channel **out)
{
    rlock_status status = start_thread(subscriber);
    rli_channel *channel = status == RLOCK_OK ? rli_channels_get(&subscriber->channels, name, length) : NULL;
    if (channel && is_of_server(channel->name))
        channel->plain = true;
    if (status == RLOCK_OK && (!channel || (is_wanting(channel) && !rli_subscriber_say(subscriber, true, channel)))) {
        if (channel)
            rli_channels_settle(&subscriber->channels, channel);
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a subscription");
    }
    if (status == RLOCK_OK) {
        channel->references++;
        rli_channels_linger(&subscriber->channels, channel, 0);
        if (subscriber->connection.context)
            rli_subscriber_flush(subscriber);
        else
            subscriber->hurry = true;
        if (!subscriber->connection.context || subscriber->queued.length)
            rli_subscriber_wake(subscriber);
        *out = channel;
    }
    return status;
}

rlock_status rli_subscriber_join(rli_subscriber *subscriber, const char *name, size_t length, rli_channel **out)
{
    pthread_mutex_lock(&subscriber->mutex);
    rlock_status status = join(subscriber, name, length, out);
    pthread_mutex_unlock(&subscriber->mutex);
    return status;
}

static bool is_asked_for(const rli_subscriber *subscriber, const rli_channel *channel)
{
    return subscriber->connection.context && !channel->refusal && !channel->adrift;
}

static bool is_confirmed(const rli_subscriber *subscriber, const rli_channel *channel)
{
    return is_asked_for(subscriber, channel) && channel->unconfirmed == 0;
}

rli_channel *rli_subscriber_rejoin(rli_subscriber *subscriber, const char *name, size_t length)
{
    pthread_mutex_lock(&subscriber->mutex);
    rli_channel *channel = rli_channels_find(&subscriber->channels, name, length);
    if (channel && !(is_confirmed(subscriber, channel) && (channel->references > 0 || channel->lingers_until_ms)))
        channel = NULL;
    if (channel) {
        channel->references++;
        rli_channels_linger(&subscriber->channels, channel, 0);
    }
    pthread_mutex_unlock(&subscriber->mutex);
    return channel;
}

/* At most so many channels linger. */
#define LINGERING_MAX 64

/* Whether the channel, which nobody uses any more, lingers. The thread is woken for the first of them only: it then
 * looks for the others in time. */
static bool lingers(rli_subscriber *subscriber, rli_channel *channel, rli_leaving how)
{
    if (how < RLI_LEAVE_LINGER || !is_confirmed(subscriber, channel) || subscriber->stopping ||
        (how == RLI_LEAVE_LINGER && subscriber->channels.lingering >= LINGERING_MAX))
        return false;
    int64_t until_ms = how == RLI_LEAVE_TOO ? channel->needed_until_ms : rli_after_ms(RLI_LINGER_MS);
    rli_channels_linger(&subscriber->channels, channel, until_ms);
    subscriber->sweep_ms = rli_earlier(subscriber->sweep_ms, until_ms);
    if (subscriber->polls_until_ms > until_ms)
        rli_subscriber_wake(subscriber);
    return true;
}

static void unsubscribe(rli_subscriber *subscriber, rli_channel *channel, rli_leaving how)
{
    bool sends = rli_subscriber_waits_for_room(subscriber);
    /* If memory is short for the command, stay subscribed until the connection ends. */
    bool said = rli_subscriber_say(subscriber, false, channel) && subscriber->connection.context;
    if (said && how == RLI_LEAVE_SOON && !sends)
        put_off(subscriber);
    else if (said)
        rli_subscriber_flush(subscriber);
    if (rli_subscriber_waits_for_room(subscriber))
        rli_subscriber_wake(subscriber);
}

/* Mutex held. */
static bool leave(rli_subscriber *subscriber, rli_channel *channel, rli_leaving how)
{
    if (how == RLI_LEAVE_TOO)
        channel->needed_until_ms = rli_after_ms(RLI_LINGER_MS);
    else if (channel->needed_until_ms && rli_now_ms() < channel->needed_until_ms)
        how = RLI_LEAVE_TOO;
    bool stays = --channel->references > 0 || lingers(subscriber, channel, how);
    bool ended = channel->adrift && channel->unconfirmed == 0; /* by the server itself */
    if (!stays && !ended)
        unsubscribe(subscriber, channel, how);
    if (!stays)
        rli_channels_settle(&subscriber->channels, channel);
    return stays;
}

bool rli_subscriber_leave(rli_subscriber *subscriber, rli_channel *channel, rli_leaving how)
{
    pthread_mutex_lock(&subscriber->mutex);
    bool stays = leave(subscriber, channel, how);
    pthread_mutex_unlock(&subscriber->mutex);
    return stays;
}

void rli_channel_listen(rli_subscriber *subscriber, rli_channel *channel, rli_listener *listener, rli_parker *parker,
                        uint64_t number)
{
    pthread_mutex_lock(&subscriber->mutex);
    rli_channel_add(channel, listener, parker, number);
    subscriber->listeners++;
    pthread_mutex_unlock(&subscriber->mutex);
}

void rli_channel_end_waits(rli_subscriber *subscriber, rli_listener *listener, rlock_cancel *token)
{
    pthread_mutex_lock(&subscriber->mutex);
    listener->ends = token;
    pthread_mutex_unlock(&subscriber->mutex);
}

void rli_channel_unlisten(rli_subscriber *subscriber, rli_channel *channel, rli_listener *listener)
{
    pthread_mutex_lock(&subscriber->mutex);
    rli_channel_remove(channel, listener);
    subscriber->listeners--;
    pthread_mutex_unlock(&subscriber->mutex);
}

bool rli_channel_is_asked_for(rli_subscriber *subscriber, const rli_channel *channel)
{
    pthread_mutex_lock(&subscriber->mutex);
    bool asked_for = is_asked_for(subscriber, channel);
    pthread_mutex_unlock(&subscriber->mutex);
    return asked_for;
}

bool rli_channel_is_confirmed(rli_subscriber *subscriber, const rli_channel *channel)
{
    pthread_mutex_lock(&subscriber->mutex);
    bool confirmed = is_confirmed(subscriber, channel);
    pthread_mutex_unlock(&subscriber->mutex);
    return confirmed;
}

static const char *advice_on_refusal(const char *refusal)
{
    if (strstr(refusal, "unknown command"))
        return strcasestr(refusal, "ssubscribe")
                   ? "; shardedSubscriptionMode must not be ON with servers before Redis 7.0"
                   : "; check that rename-command has not removed a command of docs/security.md";
    if (strncmp(refusal, "NOPERM", 6) == 0)
        return strstr(refusal, "channel") ? "; give the ACL user the right to that channel"
                                          : "; allow the ACL user the commands in docs/security.md";
    return "";
}

/* How much of a refusal is for users: not the arguments, which the server repeats. */
static int length_to_show(const char *refusal)
{
    const char *repeated = strstr(refusal, ", with args beginning with");
    size_t length = repeated ? (size_t)(repeated - refusal) : strlen(refusal);
    return length < 200 ? (int)length : 200;
}

rlock_status rli_channel_check(rli_subscriber *subscriber, const rli_channel *channel)
{
    rlock_status status = RLOCK_OK;
    pthread_mutex_lock(&subscriber->mutex);
    if (channel->refusal)
        status = rli_fail(RLOCK_SERVER, "Redis refused to subscribe to \"%.120s\": %.*s%s", channel->name,
                          length_to_show(channel->refusal), channel->refusal, advice_on_refusal(channel->refusal));
    pthread_mutex_unlock(&subscriber->mutex);
    return status;
}

/* --- invalidation messages --- */

/* Begins to receive them, unless that has been done. Mutex held. */
static rlock_status begin_to_track(rli_subscriber *subscriber)
{
    if (subscriber->invalidates) /* the thread may have been stopped since */
        return start_thread(subscriber);
    return join(subscriber, RLI_INVALIDATE, strlen(RLI_INVALIDATE), &subscriber->invalidates);
}

rlock_status rli_subscriber_track(rli_subscriber *subscriber, uint64_t *id, uint64_t *run_id)
{
    pthread_mutex_lock(&subscriber->mutex);
    rlock_status status = begin_to_track(subscriber);
    const rli_channel *channel = subscriber->invalidates;
    if (status == RLOCK_OK && channel->refusal)
        status = rli_fail(RLOCK_SERVER, "Redis at %s refused to subscribe to %s: %.*s%s", subscriber->address->text,
                          RLI_INVALIDATE, length_to_show(channel->refusal), channel->refusal,
                          advice_on_refusal(channel->refusal));
    else if (status == RLOCK_OK && *subscriber->refusal)
        status = rli_fail(RLOCK_SERVER, "Redis at %s refused CLIENT ID: %s", subscriber->address->text,
                          subscriber->refusal);
    bool ready = status == RLOCK_OK && is_confirmed(subscriber, channel);
    *id = ready ? subscriber->id : 0;
    *run_id = subscriber->connection.run_id;
    pthread_mutex_unlock(&subscriber->mutex);
    return status;
}

/* The thread lets go of the socket that it polls now. Mutex held. */
static void watch(rli_subscriber *subscriber, rli_shared_socket *socket)
{
    rli_shared_socket_release(subscriber->next_watched);
    subscriber->next_watched = socket;
    subscriber->rewatches = true;
    if (subscriber->running)
        rli_subscriber_wake(subscriber);
}

void rli_subscriber_untrack(rli_subscriber *subscriber)
{
    pthread_mutex_lock(&subscriber->mutex);
    rli_channel *channel = subscriber->invalidates;
    subscriber->invalidates = NULL;
    if (channel)
        leave(subscriber, channel, RLI_LEAVE_AT_ONCE);
    watch(subscriber, NULL);
    pthread_mutex_unlock(&subscriber->mutex);
}

void rli_subscriber_watch(rli_subscriber *subscriber, rli_shared_socket *socket)
{
    pthread_mutex_lock(&subscriber->mutex);
    watch(subscriber, socket);
    pthread_mutex_unlock(&subscriber->mutex);
}

bool rli_listener_take(rli_subscriber *subscriber, rli_listener *listener, rli_told *told)
{
    pthread_mutex_lock(&subscriber->mutex);
    bool signalled = listener->signalled;
    if (told) {
        told->message |= listener->told.message;
        told->others_first |= listener->told.others_first;
        told->ms = listener->told.ms > 0 ? listener->told.ms : told->ms;
    }
    listener->signalled = false;
    listener->told = (rli_told){0};
    pthread_mutex_unlock(&subscriber->mutex);
    return signalled;
}

rli_channel_events rli_channel_events_of(rli_subscriber *subscriber, const rli_channel *channel)
{
    pthread_mutex_lock(&subscriber->mutex);
    rli_channel_events events = channel->events;
    pthread_mutex_unlock(&subscriber->mutex);
    return events;
}

void rli_subscriber_rouse(rli_subscriber *subscriber)
{
    pthread_mutex_lock(&subscriber->mutex);
    rli_channels_signal(&subscriber->channels);
    pthread_mutex_unlock(&subscriber->mutex);
}

void rli_subscriber_drop(rli_subscriber *subscriber)
{
    pthread_mutex_lock(&subscriber->mutex);
    atomic_fetch_add(&subscriber->drops, 1);
    if (subscriber->connection.context)
        shutdown(subscriber->connection.fd, SHUT_RDWR); /* the thread notices the end */
    rli_channels_signal(&subscriber->channels);
    pthread_mutex_unlock(&subscriber->mutex);
}

void rli_subscriber_trouble(rli_subscriber *subscriber, char *text, size_t size)
{
    pthread_mutex_lock(&subscriber->mutex);
    snprintf(text, size, "%s", subscriber->trouble);
    pthread_mutex_unlock(&subscriber->mutex);
}
