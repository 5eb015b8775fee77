/* Key events: the program's listeners for keys that are deleted or expire, and the thread that calls them.
 *
 * The server publishes such events on a channel of the key's own (keyspace notifications), at the node that serves
 * it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_KEY_EVENTS_H
#define RLI_KEY_EVENTS_H

#include "base/park.h"

#include <pthread.h>
#include <rlock/listener.h>
#include <stdbool.h>
#include <stddef.h>

struct rlock_client;

typedef struct rli_key_events {
    pthread_mutex_t mutex; /* guards the rest. The topology's, a subscriber's or a list's mutex may be taken under it */
    pthread_cond_t changed; /* a listener was confirmed or refused, a call has ended, or all ends; CLOCK_MONOTONIC */
    rlock_listener *first;
    pthread_t thread; /* started by the first listener */
    bool running, stopping;
    rli_parker *parker;            /* of the thread; NULL: it does not run */
    const rlock_listener *calling; /* the listener whose function runs; NULL: none */
} rli_key_events;

void rli_key_events_init(rli_key_events *events);
void rli_key_events_destroy(rli_key_events *events);

/* Adds a listener for the key, whose first `prefix_length` bytes the program did not give, and waits until it is
 * confirmed, for subscriptionTimeout at most. As rlock_add_listener, which has checked the arguments. */
rlock_status rli_key_events_add(struct rlock_client *client, const char *key, size_t length, size_t prefix_length,
                                rlock_event_fn *fn, void *arg, rlock_listener **listener);
/* Returns whether the calling thread is the one that calls the functions. */
bool rli_key_events_is_self(rli_key_events *events);
/* Waits for a call that is under way, makes no other, and joins the thread. */
void rli_key_events_stop(rli_key_events *events);

#endif
