/* Channels: the channels that threads listen to, and what the server has confirmed of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pubsub/channels.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* --- the list of channels --- */

static uint32_t hash_of(const rli_link *link)
{
    const rli_channel *channel = RLI_ITEM(rli_channel, link, link);
    return rli_hash(channel->name, channel->length, 0);
}

rli_channel *rli_channels_find(const rli_channels *channels, const char *name, size_t length)
{
    uint32_t hash = rli_hash(name, length, 0);
    for (rli_link *link = rli_table_chain(&channels->table, hash); link; link = link->next) {
        rli_channel *channel = RLI_ITEM(rli_channel, link, link);
        if (channel->length == length && memcmp(channel->name, name, length) == 0)
            return channel;
    }
    return NULL;
}

rli_channel *rli_channels_get(rli_channels *channels, const char *name, size_t length)
{
    rli_channel *channel = rli_channels_find(channels, name, length);
    if (channel)
        return channel;
    channel = malloc(sizeof *channel + length + 1);
    if (!channel)
        return NULL;
    *channel = (rli_channel){.length = length};
    memcpy(channel->name, name, length);
    channel->name[length] = 0;
    channels->table.hash = hash_of;
    if (!rli_table_add(&channels->table, &channel->link)) {
        free(channel);
        return NULL;
    }
    return channel;
}

static void discard(rli_channels *channels, rli_channel *channel)
{
    rli_table_remove(&channels->table, &channel->link);
    free(channel->refusal);
    free(channel);
}

void rli_channels_settle(rli_channels *channels, rli_channel *channel)
{
    if (channel->references == 0 && channel->unconfirmed == 0 && channel->lingers_until_ms == 0)
        discard(channels, channel);
}

void rli_channels_linger(rli_channels *channels, rli_channel *channel, int64_t until_ms)
{
    channels->lingering += (until_ms != 0) - (channel->lingers_until_ms != 0);
    channel->lingers_until_ms = until_ms;
}

bool rli_channels_each(rli_channels *channels, bool (*act)(void *, rli_channel *), void *argument)
{
    for (size_t i = 0; i < channels->table.bucket_count; i++) {
        for (rli_link *link = channels->table.buckets[i], *next; link; link = next) {
            next = link->next;
            if (!act(argument, RLI_ITEM(rli_channel, link, link)))
                return false;
        }
    }
    return true;
}

/* --- confirmations --- */

bool rli_channels_expect(rli_channels *channels, rli_channel *channel, bool subscribes, int64_t late_at_ms)
{
    rli_expected *expected = malloc(sizeof *expected);
    if (!expected)
        return false;
    *expected = (rli_expected){.channel = channel, .subscribes = subscribes, .late_at_ms = late_at_ms};
    if (channels->last)
        channels->last->next = expected;
    else
        channels->first = expected;
    channels->last = expected;
    free(channel->refusal); /* of an earlier subscription */
    channel->refusal = NULL;
    channel->unconfirmed++;
    return true;
}

/* Removes the next expected confirmation and returns its channel; NULL: none is expected. */
static rli_channel *next_expected(rli_channels *channels)
{
    rli_expected *expected = channels->first;
    if (!expected)
        return NULL;
    rli_channel *channel = expected->channel;
    channels->first = expected->next;
    if (!expected->next)
        channels->last = NULL;
    free(expected);
    channel->unconfirmed--;
    return channel;
}

bool rli_channels_is_next(const rli_channels *channels, const char *name, size_t length, bool subscribes)
{
    const rli_expected *next = channels->first;
    return next && next->subscribes == subscribes && next->channel->length == length &&
           memcmp(next->channel->name, name, length) == 0;
}

bool rli_channels_confirm(rli_channels *channels, const char *refusal, bool adrift)
{
    if (refusal && channels->first && !channels->first->subscribes)
        return false;
    rli_channel *channel = next_expected(channels);
    if (!channel)
        return true;
    free(channel->refusal);
    channel->refusal = refusal && !adrift ? strdup(refusal) : NULL;
    channel->adrift = adrift;
    if (channel->unconfirmed == 0)
        rli_channel_signal(channel);
    rli_channels_settle(channels, channel);
    return true;
}

static bool signal_one(void *argument, rli_channel *channel)
{
    (void)argument;
    rli_channel_signal(channel);
    return true;
}

void rli_channels_signal(rli_channels *channels)
{
    rli_channels_each(channels, signal_one, NULL);
}

static bool after_loss(void *argument, rli_channel *channel)
{
    rli_channel_signal(channel);
    channel->adrift = false;
    rli_channels_linger(argument, channel, 0);
    rli_channels_settle(argument, channel);
    return true;
}

void rli_channels_lose(rli_channels *channels)
{
    while (next_expected(channels))
        continue;
    rli_channels_each(channels, after_loss, channels);
}

static bool drop(void *argument, rli_channel *channel)
{
    discard(argument, channel);
    return true;
}

void rli_channels_free(rli_channels *channels)
{
    while (next_expected(channels))
        continue;
    rli_channels_each(channels, drop, channels);
    rli_table_free(&channels->table);
}

/* --- listeners --- */

void rli_channel_note_event(rli_channel *channel, const char *message)
{
    channel->events.deleted += strcmp(message, "del") == 0 || strcmp(message, "evicted") == 0;
    channel->events.expired += strcmp(message, "expired") == 0;
}

void rli_channel_signal(rli_channel *channel)
{
    for (rli_listener *listener = channel->listeners; listener; listener = listener->next) {
        listener->signalled = true;
        rli_unpark(listener->parker);
    }
}

/* Reads a number of at most 18 digits. Returns what follows; NULL: there is none. */
static const char *read_number(const char *text, uint64_t *number)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18)
        return NULL;
    *number = strtoull(text, NULL, 10);
    return text + digits;
}

static void tell_all(rli_channel *channel, const char *message)
{
    bool others_first = strcmp(message, RLI_OTHERS_FIRST) == 0;
    rli_channel_signal(channel);
    for (rli_listener *listener = channel->listeners; listener; listener = listener->next) {
        listener->told.message = true;
        listener->told.others_first |= others_first;
        rlock_cancel_fire(listener->ends);
    }
}

void rli_channel_tell(rli_channel *channel, const char *message)
{
    uint64_t number = 0, ms = 0;
    const char *rest = read_number(message, &number);
    rest = rest && *rest == ' ' ? read_number(rest + 1, &ms) : NULL;
    bool told = false, is_for_one = rest && !*rest && number > 0;
    for (rli_listener *listener = is_for_one ? channel->listeners : NULL; listener; listener = listener->next) {
        if (listener->number != number)
            continue;
        told = true;
        listener->told.message |= ms == 0;
        listener->told.ms = ms > 0 ? (int64_t)ms : listener->told.ms;
        listener->signalled = true;
        rli_unpark(listener->parker);
    }
    if (!told)
        tell_all(channel, message);
}

void rli_channel_add(rli_channel *channel, rli_listener *listener, rli_parker *parker, uint64_t number)
{
    *listener = (rli_listener){.parker = parker, .number = number};
    RLI_LIST_ADD(channel->listeners, listener);
}

void rli_channel_remove(rli_channel *channel, rli_listener *listener)
{
    RLI_LIST_REMOVE(channel->listeners, listener);
}
