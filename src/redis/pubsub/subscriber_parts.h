/* The subscriber, internal part: what its thread (subscriber.c) and its calls for waiting threads (subscriber_calls.c)
 * share.
 *
 * All functions expect the mutex to be held, except rli_subscriber_run. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SUBSCRIBER_PARTS_H
#define RLI_SUBSCRIBER_PARTS_H

#include "redis/pubsub/subscriber.h"

/* How long a command may be deferred so that it can be sent together with the next one. */
#define RLI_PUT_OFF_MS 10

/* Queues a subscribe or unsubscribe command for the channel. Without a connection nothing is queued: the next
 * connection starts by subscribing to all channels. False: out of memory. */
bool rli_subscriber_say(rli_subscriber *subscriber, bool subscribe, rli_channel *channel);
/* Sends what is queued, as far as there is room. */
void rli_subscriber_flush(rli_subscriber *subscriber);
/* Whether commands are queued only for lack of room, not because they are deferred. */
bool rli_subscriber_waits_for_room(const rli_subscriber *subscriber);
/* Takes what has arrived, without waiting. RLI_RECEIVED_END: the connection has ended, or must not be used any more. */
rli_received rli_subscriber_receive(rli_subscriber *subscriber);
/* Tells the ear of changes, if there were any. The mutex is released meanwhile. */
void rli_subscriber_tell(rli_subscriber *subscriber);
/* Whether the thread leaves the connection to a waiting thread. *until_ms: no longer than until then; it becomes
 * earlier. */
bool rli_subscriber_lends(const rli_subscriber *subscriber, int64_t *until_ms);
/* Interrupts the thread's poll. */
void rli_subscriber_wake(const rli_subscriber *subscriber);
/* Body of the thread; runs until `stopping`. */
void *rli_subscriber_run(void *subscriber);

#endif
