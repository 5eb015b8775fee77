/* Channels: the channels that threads listen to, and what the server has confirmed of them.
 *
 * The subscriber's mutex guards all of it. No I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CHANNELS_H
#define RLI_CHANNELS_H

#include "base/cancel.h"
#include "base/park.h"
#include "base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the messages to a listener said. All zero: there was none. */
typedef struct rli_told {
    bool message;      /* it was a message, not only news of the subscription */
    bool others_first; /* among them RLI_OTHERS_FIRST */
    int64_t ms;        /* for one listener alone: the ms that it names; 0: none came */
} rli_told;

/* The message of a release that frees the lock for listeners of other libraries: they come first. */
#define RLI_OTHERS_FIRST "others"

/* A thread to wake when something happens on a channel. Lives on that thread's stack. */
typedef struct rli_listener {
    struct rli_listener *next, *previous;
    rli_parker *parker;
    rlock_cancel *ends; /* a token that messages to all listeners fire; NULL: none */
    uint64_t number;    /* messages that begin with it are for this listener alone; 0: it has none */
    bool signalled;     /* something has happened since the last rli_listener_take */
    rli_told told;      /* since then */
} rli_listener;

/* How often a channel of keyspace notifications has said that its key was deleted or evicted, or has expired. */
typedef struct rli_channel_events {
    unsigned deleted, expired;
} rli_channel_events;

/* A channel that is in use; subscribed only once, whatever the number of listeners. */
typedef struct rli_channel {
    rli_link link;
    int references;  /* 0: being unsubscribed, or lingering */
    int unconfirmed; /* commands sent for it that are not confirmed yet */
    char *refusal;   /* the server's words if it refused the subscription; else NULL */
    bool adrift;     /* the server does not serve this channel at present; it will be asked again */
    bool plain;      /* subscribed with SUBSCRIBE in a cluster, too: it belongs to no slot */
    rli_channel_events events;
    int64_t lingers_until_ms; /* nobody uses it, and it stays subscribed until then; 0: it does not linger */
    int64_t needed_until_ms;  /* another channel lingers until then, and this one must not end before; 0: none does */
    rli_listener *listeners;
    size_t length;
    char name[];
} rli_channel;

/* A command whose confirmation must come next in order: an error in its place names no channel. */
typedef struct rli_expected {
    struct rli_expected *next;
    rli_channel *channel;
    bool subscribes;    /* false: it unsubscribes */
    int64_t late_at_ms; /* when the connection is dropped if the confirmation is still missing */
} rli_expected;

typedef struct rli_channels {
    rli_table table;
    rli_expected *first, *last; /* expected confirmations in order */
    int lingering;              /* how many channels linger */
} rli_channels;

/* NULL: no such channel. */
rli_channel *rli_channels_find(const rli_channels *channels, const char *name, size_t length);
/* Finds or creates a channel; a new one has no references. NULL: out of memory. */
rli_channel *rli_channels_get(rli_channels *channels, const char *name, size_t length);
/* Frees the channel if it has no references and no unconfirmed commands, and does not linger. */
void rli_channels_settle(rli_channels *channels, rli_channel *channel);
/* The channel, which nobody uses, stays subscribed until then (0: no longer). Settle it after that. */
void rli_channels_linger(rli_channels *channels, rli_channel *channel, int64_t until_ms);
/* Calls `act` for each channel until it returns false; it may settle the channel it gets. Returns whether all were
 * visited. */
bool rli_channels_each(rli_channels *channels, bool (*act)(void *, rli_channel *), void *argument);
/* Frees all channels, in use or not. */
void rli_channels_free(rli_channels *channels);

/* Notes that a command for the channel is about to be sent; `subscribes`: which one. False: out of memory. */
bool rli_channels_expect(rli_channels *channels, rli_channel *channel, bool subscribes, int64_t late_at_ms);
/* Takes the next confirmation. `refusal`: the error that came in its place, else NULL; `adrift`: that error is
 * temporary. False: the server refused to unsubscribe, so it still counts this connection as a listener of the
 * channel. */
bool rli_channels_confirm(rli_channels *channels, const char *refusal, bool adrift);
/* Whether a confirmation for this channel, of that kind of command, is the next one. */
bool rli_channels_is_next(const rli_channels *channels, const char *name, size_t length, bool subscribes);
/* Wakes all listeners of all channels. */
void rli_channels_signal(rli_channels *channels);
/* The connection has ended: nothing is confirmed any more, and messages may have been lost. Wakes all listeners. */
void rli_channels_lose(rli_channels *channels);

/* Counts the event that a message on a channel of keyspace notifications names. */
void rli_channel_note_event(rli_channel *channel, const char *message);
/* Wakes all listeners of the channel. */
void rli_channel_signal(rli_channel *channel);
/* The same after a message. If that is "NUMBER MS" and listeners have that number, wakes these alone; 0 ms: they are to
 * ask. */
void rli_channel_tell(rli_channel *channel, const char *message);
/* number: as in rli_listener. */
void rli_channel_add(rli_channel *channel, rli_listener *listener, rli_parker *parker, uint64_t number);
void rli_channel_remove(rli_channel *channel, rli_listener *listener);

#endif
