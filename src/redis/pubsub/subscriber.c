/* The subscriber: one connection for messages, and the thread that reads it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pubsub/subscriber_parts.h"

#include "base/bell.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/forked.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Pauses between attempts to connect. They begin at 100 ms and double, as with Redisson's reconnectionDelay, but end
 * at 2 s instead of 10 s, because waiters receive nothing meanwhile. */
#define RECONNECT_FIRST_MS 100
#define RECONNECT_MOST_MS  2000

void rli_subscriber_init(rli_subscriber *subscriber, const rli_settings *settings, const rli_address *address,
                         const _Atomic rli_pubsub_mode *pubsub_mode, const atomic_bool *closed, rli_ear *ear)
{
    *subscriber = (rli_subscriber){.settings = settings,
                                   .address = address,
                                   .pubsub_mode = pubsub_mode,
                                   .closed = closed,
                                   .ear = ear,
                                   .connection = {.fd = -1},
                                   .wake_fd = -1,
                                   .drifted_ms = RLI_NEVER,
                                   .send_by_ms = RLI_NEVER,
                                   .sweep_ms = RLI_NEVER};
    pthread_mutex_init(&subscriber->mutex, NULL);
}

/* --- sending --- */

void rli_subscriber_wake(const rli_subscriber *subscriber)
{
    rli_bell_ring(subscriber->wake_fd);
}

/* Whether commands are queued only for lack of room, not because they are deferred. */
bool rli_subscriber_waits_for_room(const rli_subscriber *subscriber)
{
    return subscriber->queued.length && subscriber->send_by_ms == RLI_NEVER;
}

void rli_subscriber_flush(rli_subscriber *subscriber)
{
    rli_buffer *queued = &subscriber->queued;
    subscriber->send_by_ms = RLI_NEVER;
    ssize_t n = rli_connection_send(&subscriber->connection, queued->bytes, queued->length);
    if (n <= 0)
        return; /* the thread will notice the end of the connection */
    queued->length -= (size_t)n;
    memmove(queued->bytes, queued->bytes + n, queued->length);
}

/* Without a connection nothing is queued: the next one starts by subscribing to all channels. */
bool rli_subscriber_say(rli_subscriber *subscriber, bool subscribe, rli_channel *channel)
{
    /* it may still be deferred before it is sent */
    int64_t late_at_ms = rli_after_ms(subscriber->settings->timeout_ms + RLI_PUT_OFF_MS);
    if (!subscriber->connection.context)
        return true;
    const char *command = subscribe ? "SSUBSCRIBE" : "SUNSUBSCRIBE";
    if (!subscriber->sharded || channel->plain)
        command = subscribe ? "SUBSCRIBE" : "UNSUBSCRIBE";
    const char *const words[] = {command, channel->name};
    const size_t lengths[] = {strlen(command), channel->length};
    size_t before = subscriber->queued.length;
    if (!rli_buffer_command(&subscriber->queued, &(rli_command){.count = 2, .words = words, .lengths = lengths}))
        return false;
    if (rli_channels_expect(&subscriber->channels, channel, subscribe, late_at_ms))
        return true;
    subscriber->queued.length = before;
    return false;
}

/* --- the thread: connecting --- */

static void lose(rli_subscriber *subscriber)
{
    subscriber->lent = NULL;
    subscriber->lent_until_ms = 0;
    subscriber->broken = false;
    rli_connection_close(&subscriber->connection);
    subscriber->awaits_id = false;
    subscriber->id = 0;
    subscriber->refusal[0] = 0;
    subscriber->tells |= subscriber->invalidates != NULL;
    subscriber->queued.length = 0;
    subscriber->send_by_ms = RLI_NEVER;
    rli_channels_lose(&subscriber->channels);
}

static bool subscribe_again(void *argument, rli_channel *channel)
{
    return rli_subscriber_say(argument, true, channel);
}

static bool ask_for_adrift(void *argument, rli_channel *channel)
{
    return !channel->adrift || channel->unconfirmed > 0 || channel->references == 0 ||
           rli_subscriber_say(argument, true, channel);
}

/* Asks for the number of the connection. Later it could not: in RESP 2 a connection that has subscribed to anything
 * takes no such command. */
static bool ask_id(rli_subscriber *subscriber)
{
    const char *const words[] = {"CLIENT", "ID"};
    const size_t lengths[] = {6, 2};
    subscriber->awaits_id = subscriber->ear && subscriber->settings->loss_tracking;
    return !subscriber->awaits_id ||
           rli_buffer_command(&subscriber->queued, &(rli_command){.count = 2, .words = words, .lengths = lengths});
}

/* Returns whether there is a connection now. */
static bool reconnect(rli_subscriber *subscriber)
{
    rli_connection connection;
    rli_patience patience = {.deadline_ms = RLI_NEVER,
                             .closed = subscriber->closed,
                             .drops = &subscriber->drops,
                             .drops_before = atomic_load(&subscriber->drops)};
    pthread_mutex_unlock(&subscriber->mutex);
    rlock_status status = rli_connection_open(&connection, subscriber->settings, subscriber->address, &patience);
    pthread_mutex_lock(&subscriber->mutex);
    if (status == RLOCK_OK && atomic_load(&subscriber->drops) != patience.drops_before) {
        rli_connection_close(&connection); /* connected too early: the server's role has changed since */
        return false;
    }
    if (status != RLOCK_OK) {
        snprintf(subscriber->trouble, sizeof subscriber->trouble, "%.190s", rlock_last_error());
        return false;
    }
    subscriber->connection = connection;
    subscriber->sharded = atomic_load(subscriber->pubsub_mode) == RLI_SHARDED;
    subscriber->heard_ms = rli_now_ms();
    subscriber->pinged = false;
    subscriber->drifted_ms = RLI_NEVER;
    if (ask_id(subscriber) && rli_channels_each(&subscriber->channels, subscribe_again, subscriber))
        rli_subscriber_flush(subscriber);
    else
        lose(subscriber); /* out of memory: try again later */
    return true;
}

/* Polls another socket from now on, if it is to. */
static void rewatch(rli_subscriber *subscriber)
{
    if (!subscriber->rewatches)
        return;
    rli_shared_socket_release(subscriber->watched);
    subscriber->watched = subscriber->next_watched;
    subscriber->next_watched = NULL;
    subscriber->rewatches = false;
}

/* The watched connection has ended. */
static void lose_watched(rli_subscriber *subscriber)
{
    rli_shared_socket_release(subscriber->watched);
    subscriber->watched = NULL;
    subscriber->tells = true;
}

/* Polls, with the mutex released, until there are bytes to read, room for commands that wait for it, a wake-up, or
 * `until_ms`. */
static short wait_for_bytes(rli_subscriber *subscriber, int64_t until_ms)
{
    rewatch(subscriber);
    subscriber->reads = subscriber->connection.context && !rli_subscriber_lends(subscriber, &until_ms);
    bool sends = subscriber->connection.context && rli_subscriber_waits_for_room(subscriber);
    struct pollfd polled[3] = {
        {.fd = subscriber->reads || sends ? subscriber->connection.fd : -1,
         .events = (short)((subscriber->reads ? POLLIN : 0) | (sends ? POLLOUT : 0))},
        {.fd = subscriber->wake_fd, .events = POLLIN},
        {.fd = subscriber->watched ? subscriber->watched->fd : -1, .events = POLLRDHUP},
    };
    int timeout = until_ms == RLI_NEVER ? -1 : rli_until_ms(until_ms, 60000);
    subscriber->polls_until_ms = until_ms;
    pthread_mutex_unlock(&subscriber->mutex);
    int ready = poll(polled, 3, timeout);
    pthread_mutex_lock(&subscriber->mutex);
    subscriber->polls_until_ms = 0;
    subscriber->reads = false;
    if (ready > 0 && polled[1].revents)
        rli_bell_hush(subscriber->wake_fd);
    if (ready > 0 && polled[2].revents)
        lose_watched(subscriber);
    return ready > 0 ? polled[0].revents : 0;
}

/* When to send a PING, or when the reply to one is overdue; RLI_NEVER: pings are off. */
static int64_t ping_at(const rli_subscriber *subscriber)
{
    int64_t interval_ms = subscriber->settings->ping_interval_ms;
    if (interval_ms == 0)
        return RLI_NEVER;
    return subscriber->heard_ms + interval_ms + (subscriber->pinged ? subscriber->settings->timeout_ms : 0);
}

/* When to wake next. A connection that confirms nothing any more delivers no messages either, so the expected
 * confirmations are checked once per timeout while any channel is in use: threads that join send their commands
 * without waking this thread. */
static int64_t next_look(const rli_subscriber *subscriber)
{
    int64_t at_ms = rli_earlier(rli_earlier(ping_at(subscriber), subscriber->drifted_ms), subscriber->send_by_ms);
    at_ms = rli_earlier(at_ms, subscriber->sweep_ms);
    if (rli_now_ms() < subscriber->restless_until_ms)
        at_ms = rli_earlier(at_ms, subscriber->restless_until_ms);
    if (subscriber->channels.first)
        return rli_earlier(at_ms, subscriber->channels.first->late_at_ms);
    return subscriber->channels.table.count ? rli_earlier(at_ms, rli_after_ms(subscriber->settings->timeout_ms))
                                            : at_ms;
}

static void ping(rli_subscriber *subscriber)
{
    const char *const words[] = {"PING"};
    const size_t lengths[] = {4};
    subscriber->pinged = true;
    if (rli_buffer_command(&subscriber->queued, &(rli_command){.count = 1, .words = words, .lengths = lengths}))
        rli_subscriber_flush(subscriber);
}

/* Takes what has arrived. Returns whether anything has, or the connection has ended. */
static bool receive(rli_subscriber *subscriber)
{
    rli_received received = rli_subscriber_receive(subscriber);
    if (received == RLI_RECEIVED_END)
        lose(subscriber);
    return received != RLI_RECEIVED_NOTHING;
}

/* The waiter that the connection is lent to may stand still, or had no turn yet: then it is no silence of the server.
 * The connection is not lent any more. */
static bool receive_for_reader(rli_subscriber *subscriber)
{
    if (!receive(subscriber))
        return false;
    subscriber->lent = NULL;
    subscriber->lent_until_ms = 0;
    return true;
}

/* Nothing was received: checks whether something is overdue, and sends what is due. */
static void look_at_time(rli_subscriber *subscriber)
{
    int64_t now_ms = rli_now_ms();
    bool late = subscriber->channels.first && now_ms >= subscriber->channels.first->late_at_ms;
    if (late || (subscriber->pinged && now_ms >= ping_at(subscriber))) {
        if (receive_for_reader(subscriber))
            return;
        snprintf(subscriber->trouble, sizeof subscriber->trouble, "Redis at %.140s does not %s",
                 subscriber->address->text, late ? "confirm subscriptions" : "answer");
        lose(subscriber);
        return;
    }
    if (now_ms >= ping_at(subscriber))
        ping(subscriber);
    if (now_ms >= subscriber->drifted_ms) {
        subscriber->drifted_ms = RLI_NEVER;
        if (rli_channels_each(&subscriber->channels, ask_for_adrift, subscriber))
            rli_subscriber_flush(subscriber);
        else
            lose(subscriber);
    }
}

/* Unsubscribes from a channel that has lingered long enough. */
static bool end_lingering(void *argument, rli_channel *channel)
{
    rli_subscriber *subscriber = argument;
    if (channel->lingers_until_ms == 0)
        return true;
    if (rli_now_ms() < channel->lingers_until_ms) {
        subscriber->sweep_ms = rli_earlier(subscriber->sweep_ms, channel->lingers_until_ms);
        return true;
    }
    /* If memory is short for the command, stay subscribed until the connection ends. */
    rli_subscriber_say(subscriber, false, channel);
    rli_channels_linger(&subscriber->channels, channel, 0);
    rli_channels_settle(&subscriber->channels, channel);
    return true;
}

static void sweep(rli_subscriber *subscriber)
{
    subscriber->sweep_ms = RLI_NEVER;
    rli_channels_each(&subscriber->channels, end_lingering, subscriber);
    rli_subscriber_flush(subscriber);
}

static void read_and_write(rli_subscriber *subscriber)
{
    short ready = wait_for_bytes(subscriber, next_look(subscriber));
    if (!subscriber->connection.context)
        return;
    if (subscriber->broken) {
        lose(subscriber);
        return;
    }
    if (rli_now_ms() >= subscriber->sweep_ms)
        sweep(subscriber);
    if (rli_now_ms() >= subscriber->send_by_ms)
        rli_subscriber_flush(subscriber);
    if (!ready)
        look_at_time(subscriber);
    if (!ready)
        return;
    if (ready & POLLOUT)
        rli_subscriber_flush(subscriber);
    if (!(ready & ~POLLOUT))
        return;
    receive(subscriber);
}

/* `hurries`: the pause ends when a new channel is wanted. */
static void pause_until(rli_subscriber *subscriber, int64_t until_ms, bool hurries)
{
    while (!subscriber->stopping && !(hurries && subscriber->hurry) && rli_now_ms() < until_ms)
        wait_for_bytes(subscriber, until_ms);
}

/* Waits until it is time to reconnect. Returns the pause after the next failure. */
static int64_t pause_before_next(rli_subscriber *subscriber, int64_t delay_ms)
{
    pause_until(subscriber, rli_after_ms(delay_ms), true);
    return delay_ms * 2 > RECONNECT_MOST_MS ? RECONNECT_MOST_MS : delay_ms * 2;
}

void *rli_subscriber_run(void *argument)
{
    rli_subscriber *subscriber = argument;
    int64_t delay_ms = RECONNECT_FIRST_MS;
    pthread_mutex_lock(&subscriber->mutex);
    while (!subscriber->stopping) {
        if (subscriber->channels.table.count == 0 && !subscriber->connection.context) {
            wait_for_bytes(subscriber, RLI_NEVER);
            rli_subscriber_tell(subscriber);
            continue;
        }
        int64_t since_ms = rli_now_ms();
        subscriber->hurry = subscriber->proven = false;
        if (reconnect(subscriber))
            delay_ms = RECONNECT_FIRST_MS;
        while (!subscriber->stopping && subscriber->connection.context) {
            read_and_write(subscriber);
            rli_subscriber_tell(subscriber);
        }
        /* After a connection that worked, reconnect at once, unless it had hardly begun: whoever ends each of them
         * would be asked without a pause. After one that ended before it confirmed anything, pause. The pauses grow
         * only while no connection can be made. */
        if (subscriber->proven)
            pause_until(subscriber, since_ms + RECONNECT_FIRST_MS, false);
        else
            delay_ms = pause_before_next(subscriber, delay_ms);
    }
    pthread_mutex_unlock(&subscriber->mutex);
    return NULL;
}

/* --- the end --- */

void rli_subscriber_stop(rli_subscriber *subscriber)
{
    pthread_mutex_lock(&subscriber->mutex);
    bool running = subscriber->running;
    subscriber->stopping = true;
    subscriber->running = false;
    atomic_fetch_add(&subscriber->drops, 1);
    if (running)
        rli_subscriber_wake(subscriber);
    pthread_mutex_unlock(&subscriber->mutex);
    if (running)
        pthread_join(subscriber->thread, NULL);
    pthread_mutex_lock(&subscriber->mutex);
    lose(subscriber);
    rli_shared_socket_release(subscriber->watched);
    rli_shared_socket_release(subscriber->next_watched);
    subscriber->watched = subscriber->next_watched = NULL;
    subscriber->rewatches = false;
    if (subscriber->wake_fd >= 0)
        rli_fd_close(subscriber->wake_fd);
    subscriber->wake_fd = -1;
    pthread_mutex_unlock(&subscriber->mutex);
}

void rli_subscriber_reopen(rli_subscriber *subscriber)
{
    pthread_mutex_lock(&subscriber->mutex);
    subscriber->stopping = false;
    subscriber->trouble[0] = 0;
    pthread_mutex_unlock(&subscriber->mutex);
}

void rli_subscriber_destroy(rli_subscriber *subscriber)
{
    rli_channels_free(&subscriber->channels);
    rli_buffer_free(&subscriber->queued);
    pthread_mutex_destroy(&subscriber->mutex);
}
