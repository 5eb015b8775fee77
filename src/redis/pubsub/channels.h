/* Channels: which ones somebody here wants to hear, who is to be woken by each, and what the server
 * has confirmed of them. All of it is guarded by the subscriber's mutex. No I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CHANNELS_H
#define RLI_CHANNELS_H

#include "base/park.h"
#include "base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who is to be woken by a channel; lives on the waiting thread's stack. */
typedef struct rli_listener {
    struct rli_listener *next, *previous;
    rli_parker *parker;
    bool signalled; /* something happened since the last take */
} rli_listener;

/* A channel that somebody wants to hear; subscribed once. */
typedef struct rli_channel {
    rli_link link;
    int references;  /* 0: being unsubscribed */
    int unconfirmed; /* commands sent for it whose confirmation has not come */
    char *refusal;   /* the server's words when it refused the subscription */
    bool adrift;     /* the server is not who serves it, for now: it will be asked again */
    rli_listener *listeners;
    size_t length;
    char name[];
} rli_channel;

/* A command whose confirmation is to come; an error instead of it names no channel. */
typedef struct rli_expected {
    struct rli_expected *next;
    rli_channel *channel;
    bool subscribes;    /* else it unsubscribes */
    int64_t late_at_ms; /* when the connection is given up for it */
} rli_expected;

typedef struct rli_channels {
    rli_table table;
    rli_expected *first, *last; /* confirmations, in the order to come */
} rli_channels;

rli_channel *rli_channels_find(const rli_channels *channels, const char *name, size_t length);
/* Found or made; NULL: out of memory. */
rli_channel *rli_channels_get(rli_channels *channels, const char *name, size_t length);
/* Frees the channel if nobody wants it and nothing about it is to come. */
void rli_channels_settle(rli_channels *channels, rli_channel *channel);
/* Until `act` answers false; it may settle the channel. Whether all were visited. */
bool rli_channels_each(rli_channels *channels, bool (*act)(void *, rli_channel *), void *argument);
void rli_channels_free(rli_channels *channels);

/* A command for the channel is being sent: one that subscribes, or unsubscribes. False: out of memory. */
bool rli_channels_expect(rli_channels *channels, rli_channel *channel, bool subscribes, int64_t late_at_ms);
/* The next confirmation has come; `refusal`: an error instead, else NULL; `adrift`: one that passes. False: the server
 * refused to unsubscribe, so it still counts this connection among the channel's listeners. */
bool rli_channels_confirm(rli_channels *channels, const char *refusal, bool adrift);
/* Whether that is the channel whose confirmation comes next. */
bool rli_channels_is_next(const rli_channels *channels, const char *name, size_t length);
/* Everybody who listens is to look again. */
void rli_channels_signal(rli_channels *channels);
/* The connection has ended: nothing is confirmed any more, and a message may have been lost. */
void rli_channels_lose(rli_channels *channels);

void rli_channel_signal(rli_channel *channel);
void rli_channel_add(rli_channel *channel, rli_listener *listener, rli_parker *parker);
void rli_channel_remove(rli_channel *channel, rli_listener *listener);

#endif
