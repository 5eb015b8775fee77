/* The subscriber: one connection for messages, shared by all waiting threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SUBSCRIBER_H
#define RLI_SUBSCRIBER_H

#include "base/operation.h"
#include "config/settings.h"
#include "net/buffer.h"
#include "net/connection.h"
#include "redis/pubsub/channels.h"
#include "redis/pubsub/ear.h"
#include "redis/script.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rli_subscriber {
    const rli_settings *settings;
    const rli_address *address;
    const atomic_bool *closed; /* the client is closed; ends connecting */
    atomic_uint drops;         /* Incremented by rli_subscriber_drop and _stop; a change ends connecting, too. */
    const _Atomic rli_pubsub_mode
        /* Whether to subscribe by SSUBSCRIBE. Read for each new connection; a change drops the present one. */
        *pubsub_mode;
    pthread_mutex_t mutex; /* guards all below, and every channel and listener */
    rli_channels channels;
    rli_connection connection; /* context NULL: not connected */
    bool sharded;              /* the present connection uses SSUBSCRIBE */
    rli_buffer queued;         /* commands not sent yet */
    int64_t send_by_ms;        /* when they must be sent at the latest; RLI_NEVER: as soon as there is room */
    int64_t restless_until_ms; /* until then the thread wakes by itself: more commands may be deferred */
    int64_t polls_until_ms;    /* when its present poll ends; 0: it does not poll */
    pthread_t thread;          /* reads messages; started by the first join */
    bool running, stopping;
    int listeners;           /* of all channels */
    rli_shared_socket *lent; /* a waiting thread reads the connection (lending.c); NULL: none does */
    int64_t lent_until_ms;   /* nor does the thread read it until then: the next waiter is expected */
    bool reads;              /* the thread's present poll is for the connection, too */
    bool broken;             /* a waiting thread found that the connection has ended */
    bool proven;             /* the present connection has confirmed something */
    bool hurry;              /* a new channel is wanted: do not pause before reconnecting */
    int wake_fd;             /* an eventfd that interrupts the thread's poll; -1: none */
    int64_t drifted_ms;      /* when channels that are adrift are requested again; RLI_NEVER: there are none */
    int64_t heard_ms;        /* when bytes were last received */
    bool pinged;             /* a PING was sent since then */
    int64_t sweep_ms;        /* when to look for channels that have lingered long enough; RLI_NEVER: none lingers */
    char trouble[200];       /* the latest error of server or connection, for messages; "": none */

    /* For CLIENT TRACKING; see rli_subscriber_track. */
    rli_ear *ear;             /* does not change; NULL: of a sentinel, which nobody tracks keys at */
    rli_channel *invalidates; /* NULL: nobody asked for invalidation messages */
    bool awaits_id;           /* the answer to CLIENT ID is the next reply */
    uint64_t id;              /* the server's number of the present connection; 0: not known */
    char refusal[120];        /* the server's words if it refused CLIENT ID; "": it did not */
    /* Another connection whose end the ear is told: the one that the thread polls, and, with `rewatches`, the one that
     * it polls next. NULL: none. */
    rli_shared_socket *watched, *next_watched;
    bool rewatches;
    bool tells;          /* the ear is to be told of a change */
    atomic_bool flushed; /* the server reported that all keys may have changed */
} rli_subscriber;

/* The channel of invalidation messages. */
#define RLI_INVALIDATE "__redis__:invalidate"

/* The arguments must live as long as the subscriber. It connects when a channel is joined. */
void rli_subscriber_init(rli_subscriber *subscriber, const rli_settings *settings, const rli_address *address,
                         const _Atomic rli_pubsub_mode *pubsub_mode, const atomic_bool *closed, rli_ear *ear);

/* When the last one that uses a channel leaves it, the client unsubscribes. */
typedef enum rli_leaving {
    RLI_LEAVE_AT_ONCE,
    RLI_LEAVE_SOON,   /* together with the next command, at most about 10 ms later */
    RLI_LEAVE_LINGER, /* some seconds later, if nobody has joined it again by then */
    /* The same, even if too many linger already: it must stay as long as another channel that does. So it does when
     * others use it now, and the last of them leaves it at once. */
    RLI_LEAVE_TOO
} rli_leaving;

/* How long a channel lingers. */
#define RLI_LINGER_MS 2000

/* Subscribes to the channel, unless that has been done. The confirmation comes later: rli_channel_is_confirmed. Each
 * join needs an rli_subscriber_leave. RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED; RLOCK_UNAVAILABLE: the subscriber was
 * stopped, because its server must not be used any more. */
rlock_status rli_subscriber_join(rli_subscriber *subscriber, const char *name, size_t length, rli_channel **channel);
/* Returns whether the client stays subscribed for now. */
bool rli_subscriber_leave(rli_subscriber *subscriber, rli_channel *channel, rli_leaving how);
/* Joins the channel if it is subscribed and confirmed already. NULL: it is not. */
rli_channel *rli_subscriber_rejoin(rli_subscriber *subscriber, const char *name, size_t length);

/* From now until rli_channel_unlisten, the parker is woken by each message that is not for another listener alone, by
 * the confirmation, and when the connection is lost, since a message may have been lost, too. Check the awaited
 * condition again in each case. number: messages that begin with it are for this listener alone; 0: it has none. */
void rli_channel_listen(rli_subscriber *subscriber, rli_channel *channel, rli_listener *listener, rli_parker *parker,
                        uint64_t number);
/* From now on each message that is not for another listener alone fires that token, too. NULL: none. */
void rli_channel_end_waits(rli_subscriber *subscriber, rli_listener *listener, rlock_cancel *token);
void rli_channel_unlisten(rli_subscriber *subscriber, rli_channel *channel, rli_listener *listener);
/* Whether the server has confirmed the subscription on the present connection. */
bool rli_channel_is_confirmed(rli_subscriber *subscriber, const rli_channel *channel);
/* Whether the server counts this client as a listener of the channel, or will once it has read what was sent. */
bool rli_channel_is_asked_for(rli_subscriber *subscriber, const rli_channel *channel);
/* RLOCK_OK, or RLOCK_SERVER with the server's words: it refused the subscription. */
rlock_status rli_channel_check(rli_subscriber *subscriber, const rli_channel *channel);
/* Whether something has happened since the last call. Adds to *told, unless that is NULL, what it was told. */
bool rli_listener_take(rli_subscriber *subscriber, rli_listener *listener, rli_told *told);

/* As rli_operation_sleep. An operation whose `own` listeners are the only ones reads the connection itself meanwhile,
 * and saves the detour over the subscriber's thread. */
bool rli_subscriber_sleep(rli_subscriber *subscriber, rli_operation *op, int own, int64_t until_ms);

/* A listener has come that waits otherwise than by rli_subscriber_sleep: the subscriber's thread reads for it. */
void rli_subscriber_read_on(rli_subscriber *subscriber);

/* The events that the channel has counted. */
rli_channel_events rli_channel_events_of(rli_subscriber *subscriber, const rli_channel *channel);

/* Receives invalidation messages from now on, until rli_subscriber_untrack; call it again after each change that the
 * ear is told of. Their keys are told to the ear; when a message names no key, `flushed` is set, too.
 * RLOCK_OK: *id is the number that the server gave the connection, for CLIENT TRACKING's REDIRECT, and *run_id its run;
 * *id is 0 while there is no connection yet. RLOCK_SERVER: the server refuses the number or the subscription; others as
 * for rli_subscriber_join. */
rlock_status rli_subscriber_track(rli_subscriber *subscriber, uint64_t *id, uint64_t *run_id);
void rli_subscriber_untrack(rli_subscriber *subscriber);
/* Tells the ear when that connection has ended. Takes over `socket`, which may be NULL. */
void rli_subscriber_watch(rli_subscriber *subscriber, rli_shared_socket *socket);

/* Wakes all listeners, because the server serves fewer keys than before. */
void rli_subscriber_rouse(rli_subscriber *subscriber);
/* Also ends the connection, or the attempt to make one, because the server serves nothing any more. */
void rli_subscriber_drop(rli_subscriber *subscriber);

/* Copies the latest error to `text`; "" if there is none. */
void rli_subscriber_trouble(rli_subscriber *subscriber, char *text, size_t size);

/* Joins the thread and closes the connection. The channels stay until they are left, but receive nothing. */
void rli_subscriber_stop(rli_subscriber *subscriber);
/* Undoes the stop: channels may be joined again. */
void rli_subscriber_reopen(rli_subscriber *subscriber);
void rli_subscriber_destroy(rli_subscriber *subscriber);

#endif
