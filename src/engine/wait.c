/* Wait: the one wait loop of all objects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/wait.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"

void rli_wait_limit_request(const rli_wait *wait, int64_t wait_ms, int64_t more_ms)
{
    rli_operation_limit(wait->op, wait_ms > 0 ? wait->deadline_ms : 0, wait->topology->settings->timeout_ms + more_ms);
}

static rli_subscriber *subscriber_of(const rli_wait *wait)
{
    return &wait->node->subscriber;
}

static rlock_status unconfirmed(const rli_wait *wait)
{
    char trouble[200];
    rli_subscriber_trouble(subscriber_of(wait), trouble, sizeof trouble);
    return rli_fail(RLOCK_UNAVAILABLE, "no subscription within %lld ms%s%s",
                    (long long)subscriber_of(wait)->settings->subscription_timeout_ms, *trouble ? ": " : "", trouble);
}

typedef enum waking { HAS_REASON, NO_REASON, MUST_WAIT } waking;

/* Sleeps until there is a reason to ask again, wait->until_ms, or the end of the operation. */
static waking sleep_on(rli_wait *wait)
{
    for (;;) {
        if (wait->channel && rli_listener_take(subscriber_of(wait), &wait->listener))
            wait->heard = true;
        if (wait->heard || (wait->look && wait->look(wait)))
            return HAS_REASON;
        if (rli_now_ms() >= wait->until_ms || rli_operation_check(wait->op) != RLOCK_OK)
            return NO_REASON;
        if (!rli_operation_sleep(wait->op, wait->until_ms))
            return MUST_WAIT;
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
    rli_subscriber_leave(subscriber_of(wait), wait->channel, later);
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
static bool follow(rli_wait *wait)
{
    rli_node *node = rli_topology_ref_server(wait->topology, wait->slot);
    if (!node || node == wait->node) {
        rli_node_unref(node);
        return false;
    }
    rli_wait before = *wait;
    if (join_at(wait, node, before.channel->name, before.channel->length) != RLOCK_OK)
        return false;
    rli_channel_unlisten(&before.node->subscriber, before.channel, &wait->listener);
    leave(&before, false);
    rli_channel_listen(subscriber_of(wait), wait->channel, &wait->listener, wait->op->parker);
    return true;
}

/* --- the loop --- */

/* A wait without a deadline must be sure of being woken, so its subscription must be confirmed by then. After that,
 * the wait survives a broken subscription: the break itself wakes it, and the subscriber subscribes again. */
static int64_t confirm_by(const rli_wait *wait)
{
    return wait->channel && wait->deadline_ms == RLI_NEVER
               ? rli_after_ms(subscriber_of(wait)->settings->subscription_timeout_ms)
               : RLI_NEVER;
}

static void look(rli_wait *wait)
{
    if (wait->channel && follow(wait)) {
        wait->confirm_by_ms = confirm_by(wait);
        wait->asked = false;
    }
    /* Check before asking, so that no message between the request and its answer is lost. */
    if (wait->channel && rli_channel_is_confirmed(subscriber_of(wait), wait->channel))
        wait->confirm_by_ms = RLI_NEVER;
}

/* RLOCK_OK: the wait goes to sleep. */
static rlock_status judge(rli_wait *wait, rlock_status asked)
{
    /* The deadline ends the wait, whatever reasons to ask again there are. */
    if (asked != RLOCK_TIMEOUT || rli_now_ms() >= wait->deadline_ms)
        return asked;
    return RLOCK_OK;
}

/* RLOCK_OK: the wait goes on. */
static rlock_status wake(const rli_wait *wait, waking why)
{
    rlock_status ended = rli_operation_check(wait->op);
    if (ended != RLOCK_OK)
        return ended;
    int64_t now_ms = rli_now_ms();
    if (why == NO_REASON && now_ms >= wait->deadline_ms)
        return RLOCK_TIMEOUT;
    return why == NO_REASON && now_ms >= wait->confirm_by_ms ? unconfirmed(wait) : RLOCK_OK;
}

static const bool legal[RLI_WAIT_STAGES][RLI_WAIT_STAGES] = {
    [RLI_WAIT_BEGINS] = {[RLI_WAIT_LOOKS] = true},
    [RLI_WAIT_LOOKS] = {[RLI_WAIT_ASKS] = true, [RLI_WAIT_SLEEPS] = true}, /* the last: its caller has just asked */
    [RLI_WAIT_ASKS] = {[RLI_WAIT_SLEEPS] = true},
    [RLI_WAIT_SLEEPS] = {[RLI_WAIT_LOOKS] = true},
};

static void become(rli_wait *wait, rli_wait_stage stage)
{
    rli_check(legal[wait->stage][stage]);
    wait->stage = stage;
}

static rlock_status sleep_from_now(rli_wait *wait)
{
    become(wait, RLI_WAIT_SLEEPS);
    wait->asked = false;
    wait->until_ms = look_ahead(wait, rli_earlier(rli_earlier(wait->deadline_ms, wait->again_ms), wait->confirm_by_ms));
    return wait->channel ? rli_channel_check(subscriber_of(wait), wait->channel) : RLOCK_OK;
}

/* Goes on with one stage. RLOCK_OK: with the next one; otherwise the loop ends, or must wait. *ends: it ends with that
 * status even if it is RLOCK_OK. */
static rlock_status step(rli_wait *wait, bool *ends)
{
    rlock_status status;
    waking why;
    switch (wait->stage) {
    case RLI_WAIT_LOOKS:
        look(wait);
        if (wait->asked)
            return sleep_from_now(wait);
        become(wait, RLI_WAIT_ASKS);
        return RLOCK_OK;
    case RLI_WAIT_ASKS:
        status = wait->ask(wait, &wait->again_ms);
        if (status == RLI_WAITING)
            return status;
        wait->heard = false;
        *ends = status == RLOCK_OK;
        status = judge(wait, status);
        return status == RLOCK_OK && !*ends ? sleep_from_now(wait) : status;
    case RLI_WAIT_SLEEPS:
        why = sleep_on(wait);
        if (why == MUST_WAIT)
            return RLI_WAITING;
        become(wait, RLI_WAIT_LOOKS);
        return wake(wait, why);
    default:
        return RLOCK_OK;
    }
}

static void begin(rli_wait *wait)
{
    become(wait, RLI_WAIT_LOOKS);
    wait->confirm_by_ms = confirm_by(wait);
    if (!wait->channel)
        return;
    rli_channel_listen(subscriber_of(wait), wait->channel, &wait->listener, wait->op->parker);
    /* A confirmation that came before this listener was added will not wake it, so ask now. */
    if (wait->asked && rli_channel_is_confirmed(subscriber_of(wait), wait->channel))
        wait->asked = false;
}

rlock_status rli_wait_run(rli_wait *wait)
{
    rlock_status status = RLOCK_OK;
    bool ends = false;
    if (wait->stage == RLI_WAIT_BEGINS)
        begin(wait);
    while (status == RLOCK_OK && !ends)
        status = step(wait, &ends);
    if (status == RLI_WAITING)
        return status;
    wait->stage = RLI_WAIT_BEGINS;
    if (wait->channel)
        rli_channel_unlisten(subscriber_of(wait), wait->channel, &wait->listener);
    return status;
}
