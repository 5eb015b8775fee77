/* Channels: what a listener is told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pubsub/subscriber.h"
#include "tests/support/test.h"

#include <string.h>

TestSuite(channels);

/* Everything that came since the listener took it last, whichever message was the latest. */
Test(channels, nothing_that_was_told_is_forgotten_before_it_is_taken)
{
    rli_subscriber subscriber = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    rli_parker parkers[2];
    rli_listener numbered, other;
    rli_channel *channel = rli_channels_get(&subscriber.channels, "c", 1);
    cr_assert(channel);
    for (int i = 0; i < 2; i++)
        rli_parker_init(&parkers[i]);
    rli_channel_add(channel, &numbered, &parkers[0], 7);
    rli_channel_add(channel, &other, &parkers[1], 0);
    rli_channel_tell(channel, RLI_OTHERS_FIRST);
    rli_channel_tell(channel, "0");
    rli_channel_tell(channel, "7 50");
    rli_channel_tell(channel, "0");
    rli_told told = {0};
    cr_assert(rli_listener_take(&subscriber, &numbered, &told));
    cr_assert(told.message && told.others_first && told.ms == 50);
    cr_assert(!rli_listener_take(&subscriber, &numbered, &told)); /* and adds nothing */
    cr_assert(told.message && told.others_first && told.ms == 50);
    told = (rli_told){0};
    cr_assert(rli_listener_take(&subscriber, &other, &told));
    cr_assert(told.message && told.others_first && told.ms == 0);
    rli_channel_signal(channel);
    told = (rli_told){0};
    cr_assert(rli_listener_take(&subscriber, &other, &told) && !told.message);
    rli_channel_remove(channel, &numbered);
    rli_channel_remove(channel, &other);
    rli_channels_free(&subscriber.channels);
}
