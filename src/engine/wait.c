/* Wait: the one wait loop of all objects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/wait.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"

void rli_wait_limit_request(const rli_wait *wait, int64_t wait_ms, int64_t more_ms)
{
    int64_t timeout_ms = rli_operation_timeout_ms(wait->op, wait->topology->settings->timeout_ms);
    rli_operation_limit(wait->op, wait_ms > 0 ? wait->deadline_ms : 0, timeout_ms + more_ms);
}

typedef enum waking { HAS_REASON, NO_REASON, MUST_WAIT } waking;

/* Sleeps until there is a reason to ask again, wait->until_ms, or the end of the operation. */
static waking sleep_on(rli_wait *wait)
{
    for (;;) {
        if (rli_news_take(&wait->news))
            wait->heard = true;
        if (wait->heard || (wait->has_reason && wait->has_reason(wait)))
            return HAS_REASON;
        if (rli_now_ms() >= wait->until_ms || rli_operation_check(wait->op) != RLOCK_OK)
            return NO_REASON;
        if (!rli_news_sleep(&wait->news, wait->op, wait->until_ms))
            return MUST_WAIT;
    }
}

/* While slots migrate, a lock may be released at the node to which its keys have moved already, and nobody can
 * subscribe there yet. So the wait also asks again from time to time. */
#define AHEAD_MS 25
/* Nor is it told anything before the server has confirmed the subscription. A server at its maxclients takes no
 * connection for messages. Each pause is longer by a random part, so that many waiters do not ask together. */
#define DEAF_MS 1000
/* Nobody is told when an operator deletes a key, or a server has lost it. */
#define RARELY_MS 30000

static int64_t look_ahead(const rli_wait *wait, int64_t until_ms)
{
    until_ms = rli_earlier(until_ms, rli_after_ms(RARELY_MS + rli_random_up_to(RARELY_MS)));
    if (wait->news.channel && !rli_news_is_confirmed(&wait->news))
        until_ms = rli_earlier(until_ms, rli_after_ms(DEAF_MS + rli_random_up_to(DEAF_MS)));
    bool moving = wait->news.node && rli_topology_is_migrating(wait->topology);
    return moving ? rli_earlier(until_ms, rli_after_ms(AHEAD_MS)) : until_ms;
}

/* --- what it listens to, which follows the object to another node --- */

rlock_status rli_wait_join(rli_wait *wait, const char *key, size_t key_length, const rli_source *source)
{
    rli_topology *topology = wait->topology;
    wait->slot = rli_topology_slot(topology, key, key_length);
    for (;;) {
        rli_node *node = rli_topology_ref_server(topology, wait->slot);
        if (!node)
            return rli_topology_fail_unserved(topology, wait->slot, key);
        rlock_status status = rli_news_join(&wait->news, node, source);
        /* otherwise the node was given up meanwhile, and another one serves the slot */
        if (status != RLOCK_UNAVAILABLE)
            return status;
    }
}

void rli_wait_leave(rli_wait *wait)
{
    rli_news_leave(&wait->news, wait->leaving);
}

void rli_wait_rejoin(rli_wait *wait, const char *key, size_t key_length, const rli_source *source)
{
    wait->slot = rli_topology_slot(wait->topology, key, key_length);
    rli_node *node = rli_topology_ref_server(wait->topology, wait->slot);
    if (node && rli_news_rejoin(&wait->news, node, source))
        rli_news_listen(&wait->news, wait->op->parker);
    else
        rli_node_unref(node);
}

/* Moves if another node serves the object by now. When no node serves it, or memory is short, the wait stays where it
 * is: the request that follows fails or is repeated. The number of a registered waiter and its second channel belong to
 * the former node, so the wait drops them; the next answer tells what to listen to. Returns whether it moved. */
static bool follow(rli_wait *wait)
{
    rli_node *node = rli_topology_ref_server(wait->topology, wait->slot);
    if (!node || node == wait->news.node) {
        rli_node_unref(node);
        return false;
    }
    rli_news news = {0};
    const rli_source source = rli_news_source(&wait->news);
    if (rli_news_join(&news, node, &source) != RLOCK_OK || !news.node)
        return false;
    rli_news_unlisten(&wait->news);
    rli_news_leave(&wait->news, RLI_LEAVE_AT_ONCE);
    wait->news = news;
    rli_news_listen(&wait->news, wait->op->parker);
    return true;
}

/* --- the loop --- */

/* A wait without a deadline must be sure of being woken, so its subscription must be confirmed by then. After that,
 * the wait survives a broken subscription: the break itself wakes it, and the subscriber subscribes again. */
static int64_t confirm_by(const rli_wait *wait)
{
    return wait->deadline_ms == RLI_NEVER ? rli_news_confirm_by(&wait->news) : RLI_NEVER;
}

static void look(rli_wait *wait)
{
    if (wait->news.node && follow(wait)) {
        wait->confirm_by_ms = confirm_by(wait);
        wait->asked = false;
    }
    /* Check before asking, so that no message between the request and its answer is lost. */
    if (rli_news_is_confirmed(&wait->news))
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
    return why == NO_REASON && now_ms >= wait->confirm_by_ms ? rli_news_unconfirmed(&wait->news) : RLOCK_OK;
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
    return rli_news_await(&wait->news);
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
        if (status == RLOCK_OK || status == RLOCK_TIMEOUT)
            wait->news.unused = false;
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
    bool listened = wait->news.parker; /* since before the last request: nothing was missed */
    if (!listened)
        rli_news_listen(&wait->news, wait->op->parker);
    /* A confirmation that came before this listener was added will not wake it, so ask now. (Signals stay in their
     * list.) */
    if (!listened && wait->asked && wait->news.channel && rli_news_is_confirmed(&wait->news))
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
    rli_news_unlisten(&wait->news);
    return status;
}
