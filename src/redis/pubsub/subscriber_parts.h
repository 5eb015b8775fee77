/* What the two halves of a subscriber share: its connection and thread (subscriber.c), and the calls of those who wait
 * (subscriber_calls.c). The mutex is held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SUBSCRIBER_PARTS_H
#define RLI_SUBSCRIBER_PARTS_H

#include "redis/pubsub/subscriber.h"

/* How long a command is put off at most that can go with the next one. */
#define RLI_PUT_OFF_MS 10

/* Queues a command for the channel. While there is no connection nothing is queued: the next one begins with all that
 * is wanted. False: out of memory. */
bool rli_subscriber_say(rli_subscriber *subscriber, bool subscribe, rli_channel *channel);
/* Sends what is queued, as far as there is room. */
void rli_subscriber_flush(rli_subscriber *subscriber);
/* Whether something is queued that was to be sent, and is not put off. */
bool rli_subscriber_waits_for_room(const rli_subscriber *subscriber);
/* Interrupts the thread's poll. */
void rli_subscriber_wake(const rli_subscriber *subscriber);
/* The thread, until `stopping`. */
void *rli_subscriber_run(void *subscriber);

#endif
