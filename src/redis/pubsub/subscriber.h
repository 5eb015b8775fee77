/* The subscriber: one connection for messages, however many threads wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SUBSCRIBER_H
#define RLI_SUBSCRIBER_H

#include "config/settings.h"
#include "net/buffer.h"
#include "net/connection.h"
#include "redis/pubsub/channels.h"
#include "redis/script.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct rli_subscriber {
    const rli_settings *settings;
    const rli_address *address;
    const atomic_bool *closed; /* of the client: ends connecting… */
    atomic_uint drops;         /* …and so does each rli_subscriber_drop or _stop, of which this is the number */
    const _Atomic rli_pubsub_mode
        *pubsub_mode;      /* whether by SSUBSCRIBE, the next time; it is dropped when that changes */
    pthread_mutex_t mutex; /* guards all below and every channel and listener */
    rli_channels channels;
    rli_connection connection; /* context NULL: not connected */
    bool sharded;              /* this connection subscribes by SSUBSCRIBE */
    rli_buffer queued;         /* commands not yet sent */
    int64_t send_by_ms;        /* when they are sent at the latest; RLI_NEVER: as soon as there is room */
    int64_t restless_until_ms; /* until then the thread looks again by itself: more may be put off */
    int64_t polls_until_ms;    /* when it does */
    pthread_t thread;          /* reads; started by the first join */
    bool running, stopping;
    bool proven;        /* this connection has confirmed something */
    bool hurry;         /* somebody new waits: no pause before the next connection */
    int wake_fd;        /* interrupts the thread's poll */
    int64_t drifted_ms; /* when channels that are adrift are asked for again */
    int64_t heard_ms;   /* when something came last */
    bool pinged;        /* and since then it was asked for a sign of life */
    char trouble[200];  /* the server's or the connection's last complaint, for messages */
} rli_subscriber;

void rli_subscriber_init(rli_subscriber *subscriber, const rli_settings *settings, const rli_address *address,
                         const _Atomic rli_pubsub_mode *pubsub_mode, const atomic_bool *closed);

/* Subscribes to the channel unless it is. The confirmation comes later: rli_channel_is_confirmed.
 * Each join needs a leave; the last one unsubscribes: at once, or `later`, with what is sent next, or some 10 ms on.
 * RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED; RLOCK_UNAVAILABLE: it was stopped, as nobody is to talk to its server. */
rlock_status rli_subscriber_join(rli_subscriber *subscriber, const char *name, size_t length, rli_channel **channel);
void rli_subscriber_leave(rli_subscriber *subscriber, rli_channel *channel, bool later);

/* From now until unlisten, the parker is woken by each message, by the confirmation, and when the
 * connection was lost (a message may have been, too): whatever it is, look again. */
void rli_channel_listen(rli_subscriber *subscriber, rli_channel *channel, rli_listener *listener, rli_parker *parker);
void rli_channel_unlisten(rli_subscriber *subscriber, rli_channel *channel, rli_listener *listener);
bool rli_channel_is_confirmed(rli_subscriber *subscriber, const rli_channel *channel);
/* Whether the server counts this client among those who hear it, or will when it has read what was sent. */
bool rli_channel_is_asked_for(rli_subscriber *subscriber, const rli_channel *channel);
/* RLOCK_OK, or RLOCK_SERVER with the server's words: it refused the subscription. */
rlock_status rli_channel_check(rli_subscriber *subscriber, const rli_channel *channel);
/* Whether something happened since the last take. */
bool rli_listener_take(rli_subscriber *subscriber, rli_listener *listener);

/* The server does not serve all that it served: everybody looks again. */
void rli_subscriber_rouse(rli_subscriber *subscriber);
/* Nor anything at all: the connection is given up, too, or the attempt to make one. */
void rli_subscriber_drop(rli_subscriber *subscriber);

/* The last complaint, copied; "" when there is none. */
void rli_subscriber_trouble(rli_subscriber *subscriber, char *text, size_t size);

/* Joins the thread and closes the connection; channels stay until they are left, and nobody hears anything on them. */
void rli_subscriber_stop(rli_subscriber *subscriber);
/* After that: it may be joined again. */
void rli_subscriber_reopen(rli_subscriber *subscriber);
void rli_subscriber_destroy(rli_subscriber *subscriber);

#endif
