/* Wait: the one wait loop of all objects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/wait.h"

#include "base/clock.h"
#include "base/error.h"

/* Connecting and queueing may take this long before the request is sent. Adding it makes the pipeline's own timeout
 * end before the operation's deadline, so the pipeline finds the connection silent for all requests on it. */
#define SEND_MS 100

void rli_wait_limit_request(const rli_wait *wait, int64_t wait_ms, int64_t answer_ms, int64_t more_ms)
{
    rli_operation *op = wait->op;
    int64_t end_ms = wait_ms > 0 ? wait->deadline_ms : 0;
    int64_t answered_ms = rli_after_ms(rli_earlier(wait->topology->settings->timeout_ms, answer_ms) + more_ms);
    op->attempts_until_ms = end_ms > answered_ms ? end_ms : answered_ms;
    op->deadline_ms = end_ms > answered_ms ? end_ms : answered_ms + SEND_MS;
}

static rlock_status unconfirmed(const rli_wait *wait)
{
    char trouble[200];
    rli_subscriber_trouble(wait->subscriber, trouble, sizeof trouble);
    return rli_fail(RLOCK_UNAVAILABLE, "no subscription within %lld ms%s%s",
                    (long long)wait->subscriber->settings->subscription_timeout_ms, *trouble ? ": " : "", trouble);
}

/* Sleeps until there is a reason to ask again. Returns true when there is one before `until_ms`. */
static bool sleep_until(rli_wait *wait, rli_listener *listener, int64_t until_ms)
{
    for (;;) {
        if (wait->channel && rli_listener_take(wait->subscriber, listener))
            wait->heard = true;
        if (wait->heard || (wait->look && wait->look(wait)))
            return true;
        if (rli_now_ms() >= until_ms || rli_operation_check(wait->op) != RLOCK_OK)
            return false;
        rli_operation_sleep(wait->op, until_ms);
    }
}

/* While slots migrate, a lock may be released at the node to which its keys have moved already, and nobody can
 * subscribe there yet. So the wait also asks again from time to time. */
#define AHEAD_MS 25

static int64_t look_ahead(const rli_wait *wait, int64_t until_ms)
{
    bool moving = wait->channel && rli_topology_is_migrating(wait->topology);
    return moving ? rli_earlier(until_ms, rli_after_ms(AHEAD_MS)) : until_ms;
}

/* --- the channel, which follows the object to another node --- */

/* Joins the channel at `node`. Takes over the caller's hold on the node, also on failure. */
static rlock_status join_at(rli_wait *wait, rli_node *node, const char *channel, size_t length)
{
    rli_subscriber *subscriber = &node->subscriber;
    rlock_status status = rli_subscriber_join(subscriber, channel, length, &wait->channel);
    if (status == RLOCK_OK) {
        wait->subscriber = subscriber;
        wait->node = node;
    } else {
        rli_node_unref(node);
    }
    return status;
}

rlock_status rli_wait_join(rli_wait *wait, const char *key, size_t key_length, const char *channel,
                           size_t channel_length)
{
    const rli_topology *topology = wait->topology;
    wait->slot = rli_topology_slot(topology, key, key_length);
    for (;;) {
        rli_node *node = rli_topology_ref_server(topology, wait->slot);
        if (!node)
            return rli_fail(RLOCK_UNAVAILABLE, "no server serves slot %u", wait->slot);
        rlock_status status = join_at(wait, node, channel, channel_length);
        /* otherwise the node was given up meanwhile, and another one serves the slot */
        if (status != RLOCK_UNAVAILABLE)
            return status;
    }
}

static void leave(const rli_wait *wait, bool later)
{
    rli_subscriber_leave(wait->subscriber, wait->channel, later);
    rli_node_unref(wait->node);
}

void rli_wait_leave(rli_wait *wait)
{
    if (wait->channel)
        leave(wait, wait->alone);
    wait->channel = NULL;
}

/* Moves the subscription if another node serves the object by now. When no node serves it, or memory is short, the
 * wait stays where it is: the request that follows fails or is repeated. Returns whether it moved. */
static bool follow(rli_wait *wait, rli_listener *listener)
{
    rli_node *node = rli_topology_ref_server(wait->topology, wait->slot);
    if (!node || node == wait->node) {
        rli_node_unref(node);
        return false;
    }
    rli_wait before = *wait;
    if (join_at(wait, node, before.channel->name, before.channel->length) != RLOCK_OK)
        return false;
    rli_channel_unlisten(before.subscriber, before.channel, listener);
    leave(&before, false);
    rli_channel_listen(wait->subscriber, wait->channel, listener, &wait->op->parker);
    return true;
}

/* --- the loop --- */

/* A wait without a deadline must be sure of being woken, so its subscription must be confirmed by then. After that,
 * the wait survives a broken subscription: the break itself wakes it, and the subscriber subscribes again. */
static int64_t confirm_by(const rli_wait *wait)
{
    return wait->channel && wait->deadline_ms == RLI_NEVER
               ? rli_after_ms(wait->subscriber->settings->subscription_timeout_ms)
               : RLI_NEVER;
}

static rlock_status loop(rli_wait *wait, rli_listener *listener)
{
    int64_t confirm_by_ms = confirm_by(wait);
    for (;;) {
        if (wait->channel && follow(wait, listener)) {
            confirm_by_ms = confirm_by(wait);
            wait->asked = false;
        }
        /* Check before asking, so that no message between the request and its answer is lost. */
        if (wait->channel && rli_channel_is_confirmed(wait->subscriber, wait->channel))
            confirm_by_ms = RLI_NEVER;
        if (!wait->asked) {
            rlock_status status = wait->ask(wait, &wait->again_ms);
            wait->heard = false;
            /* The deadline ends the wait, whatever reasons to ask again there are. */
            if (status != RLOCK_TIMEOUT || rli_now_ms() >= wait->deadline_ms)
                return status;
        }
        wait->asked = false;
        rlock_status ended = wait->channel ? rli_channel_check(wait->subscriber, wait->channel) : RLOCK_OK;
        if (ended != RLOCK_OK)
            return ended;
        int64_t until_ms = look_ahead(wait, rli_earlier(rli_earlier(wait->deadline_ms, wait->again_ms), confirm_by_ms));
        bool reason = sleep_until(wait, listener, until_ms);
        ended = rli_operation_check(wait->op);
        if (ended != RLOCK_OK)
            return ended;
        int64_t now_ms = rli_now_ms();
        if (!reason && now_ms >= wait->deadline_ms)
            return RLOCK_TIMEOUT;
        if (!reason && now_ms >= confirm_by_ms)
            return unconfirmed(wait);
    }
}

rlock_status rli_wait_run(rli_wait *wait)
{
    rli_listener listener;
    if (!wait->channel)
        return loop(wait, NULL);
    rli_channel_listen(wait->subscriber, wait->channel, &listener, &wait->op->parker);
    /* A confirmation that came before this listener was added will not wake it, so ask now. */
    if (wait->asked && rli_channel_is_confirmed(wait->subscriber, wait->channel))
        wait->asked = false;
    rlock_status status = loop(wait, &listener);
    rli_channel_unlisten(wait->subscriber, wait->channel, &listener);
    return status;
}
