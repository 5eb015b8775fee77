/* The subscriber: what it does with each reply and message that it receives. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pubsub/subscriber_parts.h"

#include "base/clock.h"
#include "net/reply.h"
#include "redis/topology/slot.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The time between two requests for channels that the server does not serve at present. */
#define ADRIFT_MS 500

/* Takes a confirmation, or an error in its place. False: the server refuses to unsubscribe, as a cluster's master does
 * after it became a replica, or because the user lacks the permission. It would go on counting this client as a
 * listener, so the connection must end. */
static bool confirm(rli_subscriber *subscriber, const char *refusal, bool adrift)
{
    subscriber->proven = true;
    subscriber->trouble[0] = 0;
    const rli_expected *next = subscriber->channels.first;
    subscriber->tells |= next && next->channel == subscriber->invalidates;
    if (!rli_channels_confirm(&subscriber->channels, refusal, adrift))
        return false;
    if (adrift && subscriber->drifted_ms == RLI_NEVER)
        subscriber->drifted_ms = rli_after_ms(ADRIFT_MS);
    return true;
}

/* A server that stops serving a channel's slot unsubscribes the client by itself. */
static void lose_channel(rli_subscriber *subscriber, rli_channel *channel)
{
    channel->adrift = true;
    if (subscriber->drifted_ms == RLI_NEVER)
        subscriber->drifted_ms = rli_after_ms(ADRIFT_MS);
    rli_channel_signal(channel);
    rli_channels_linger(&subscriber->channels, channel, 0);
    rli_channels_settle(&subscriber->channels, channel);
}

static bool is_one_of(const char *text, const char *plain)
{
    return strcmp(text, plain) == 0 || (*text == 's' && strcmp(text + 1, plain) == 0);
}

/* Takes the answer to CLIENT ID, if `reply` is that. */
static bool take_id(rli_subscriber *subscriber, const redisReply *reply)
{
    if (!subscriber->awaits_id)
        return false;
    subscriber->awaits_id = false;
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer > 0)
        subscriber->id = (uint64_t)reply->integer;
    else
        snprintf(subscriber->refusal, sizeof subscriber->refusal, "%.100s",
                 reply->type == REDIS_REPLY_ERROR ? reply->str : "no number");
    return reply->type != REDIS_REPLY_ARRAY;
}

/* Tells the ear which keys an invalidation message names. The mutex is released meanwhile. */
static void tell_keys(rli_subscriber *subscriber, const redisReply *keys)
{
    bool all = keys->type == REDIS_REPLY_NIL;
    subscriber->tells |= all;
    if (all)
        atomic_store(&subscriber->flushed, true);
    pthread_mutex_unlock(&subscriber->mutex);
    for (size_t i = 0; keys->type == REDIS_REPLY_ARRAY && i < keys->elements; i++) {
        if (keys->element[i]->type == REDIS_REPLY_STRING)
            subscriber->ear->key_changed(subscriber->ear, keys->element[i]->str, (size_t)keys->element[i]->len);
    }
    pthread_mutex_lock(&subscriber->mutex);
}

void rli_subscriber_tell(rli_subscriber *subscriber)
{
    if (!subscriber->tells || !subscriber->ear)
        return;
    subscriber->tells = false;
    pthread_mutex_unlock(&subscriber->mutex);
    subscriber->ear->servers_changed(subscriber->ear);
    pthread_mutex_lock(&subscriber->mutex);
}

static void hear_message(rli_channel *channel, const redisReply *message)
{
    if (channel->plain && message->type == REDIS_REPLY_STRING)
        rli_channel_note_event(channel, message->str);
    rli_channel_tell(channel, message->type == REDIS_REPLY_STRING ? message->str : "");
}

/* Whether the server refuses a request that was taken for confirmed: to leave a channel whose slot it had lost by then.
 * The message that said so (lose_channel) looks like the confirmation. */
static bool is_of_another_slot(const rli_subscriber *subscriber, const redisReply *refusal)
{
    const rli_expected *next = subscriber->channels.first;
    return next && rli_reply_action_of(refusal) == RLI_MOVED &&
           strtoul(refusal->str + strlen("MOVED "), NULL, 10) !=
               rli_slot_of(next->channel->name, next->channel->length);
}

static bool hear_refusal(rli_subscriber *subscriber, const redisReply *refusal)
{
    return is_of_another_slot(subscriber, refusal) ||
           confirm(subscriber, refusal->str, rli_reply_action_of(refusal) != RLI_REFUSED);
}

/* False: the connection must not be used any more. */
static bool hear(rli_subscriber *subscriber, const redisReply *reply)
{
    if (take_id(subscriber, reply))
        return true;
    if (reply->type == REDIS_REPLY_ERROR)
        return hear_refusal(subscriber, reply);
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3 || !reply->element[0]->str || !reply->element[1]->str)
        return true; /* the reply to a PING */
    const char *kind = reply->element[0]->str;
    const redisReply *name = reply->element[1];
    rli_channel *channel = rli_channels_find(&subscriber->channels, name->str, (size_t)name->len);
    bool ends = is_one_of(kind, "unsubscribe");
    if (channel && channel == subscriber->invalidates && strcmp(kind, "message") == 0)
        tell_keys(subscriber, reply->element[2]);
    else if (channel && is_one_of(kind, "message"))
        hear_message(channel, reply->element[2]);
    else if (rli_channels_is_next(&subscriber->channels, name->str, (size_t)name->len, !ends))
        return confirm(subscriber, NULL, false);
    else if (channel && ends)
        lose_channel(subscriber, channel);
    return true;
}

/* Takes all replies and messages that were received. False: the connection must not be used any more. */
static bool hear_all(rli_subscriber *subscriber)
{
    while (subscriber->connection.context) { /* it may be lost while the mutex is released */
        redisReply *reply;
        if (!rli_connection_parse(&subscriber->connection, &reply)) {
            snprintf(subscriber->trouble, sizeof subscriber->trouble, "Redis at %.120s sent %s",
                     subscriber->address->text, rli_connection_trouble(&subscriber->connection));
            return false;
        }
        if (!reply)
            return true;
        bool goes_on = hear(subscriber, reply);
        freeReplyObject(reply);
        if (!goes_on)
            return false;
    }
    return true;
}

rli_received rli_subscriber_receive(rli_subscriber *subscriber)
{
    rli_received received = rli_connection_receive(&subscriber->connection, 0, -1, false);
    if (received == RLI_RECEIVED_NOTHING)
        return received;
    subscriber->heard_ms = rli_now_ms();
    subscriber->pinged = false;
    return received == RLI_RECEIVED_BYTES && hear_all(subscriber) ? RLI_RECEIVED_BYTES : RLI_RECEIVED_END;
}
