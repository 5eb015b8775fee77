/* Renewal batch: renewals of several holds in one request under way. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/renewal_batch.h"

#include "base/clock.h"
#include "base/list.h"
#include "watchdog/renew_permits.h"

#include <stdlib.h>
#include <time.h>

/* Limits what is under way to one server at once. The server answers all it has read of us before it turns to another
 * client, and sends that client's answer with the answers to what it has read of us meanwhile. So another client may
 * wait for twice these limits, at 2 to 3 us a name. */
#define MOST_BATCHES    32
#define MOST_NAMES      100
#define MOST_NAMES_LATE 800

unsigned rli_renewal_slot(const rli_watchdog *watchdog, const rli_session *session)
{
    return rli_topology_slot(watchdog->engine->topology, session->entry->name, session->entry->length);
}

bool rli_renewal_batch_is_full(const rli_node *node, bool late)
{
    return node->renewals.batches >= MOST_BATCHES || node->renewals.names >= (late ? MOST_NAMES_LATE : MOST_NAMES);
}

rli_renewal_batch *rli_renewal_batch_make(rli_watchdog *watchdog, rli_node *node)
{
    size_t most = (size_t)watchdog->engine->settings->batch_size;
    rli_renewal_batch *batch = malloc(sizeof *batch + most * sizeof(struct rli_session *));
    if (batch)
        *batch = (rli_renewal_batch){.watchdog = watchdog, .node = node, .ends_ms = RLI_NEVER};
    return batch;
}

/* rli_pending.done: the batch has its outcome. Called by whichever thread reads the answer. */
static void come_back(rli_pending *pending)
{
    rli_renewal_batch *batch = (rli_renewal_batch *)(void *)pending;
    rli_renewal_batches *batches = &batch->watchdog->batches;
    batch->landed = atomic_load(&batches->landed);
    while (!atomic_compare_exchange_weak(&batches->landed, &batch->landed, batch))
        continue;
}

/* Counts the batch as under way. */
static void depart(rli_renewal_batches *batches, rli_renewal_batch *batch)
{
    rli_renewals *there = &batch->node->renewals;
    if (there->batches++ == 0)
        there->heard_ms = batch->sent_ms;
    there->names += batch->count;
    RLI_QUEUE_APPEND(batches, batch);
}

/* Counts the batch as back. */
static void arrive(rli_renewal_batches *batches, const rli_renewal_batch *batch)
{
    rli_renewals *there = &batch->node->renewals;
    there->batches--;
    there->names -= batch->count;
    there->heard_ms = rli_now_ms();
    RLI_QUEUE_REMOVE(batches, batch);
}

bool rli_renewal_batch_send(rli_renewal_batch *batch, rli_call *call)
{
    uint64_t run_id;
    batch->pending.done = come_back;
    batch->sent_ms = rli_now_ms();
    depart(&batch->watchdog->batches, batch);
    if (!call->no_memory &&
        rli_call_post(call, batch->watchdog->engine->topology, &batch->node->background, &batch->pending, &run_id))
        return true;
    arrive(&batch->watchdog->batches, batch);
    return false;
}

/* Takes what is back, in the order in which it came: a look that was answered before a renewal says nothing against
 * that. */
static rli_renewal_batch *take_landed(rli_renewal_batches *batches)
{
    rli_renewal_batch *in_order = NULL;
    for (rli_renewal_batch *batch = atomic_exchange(&batches->landed, NULL), *next; batch; batch = next) {
        next = batch->landed;
        batch->landed = in_order;
        in_order = batch;
    }
    return in_order;
}

rli_renewal_batch *rli_renewal_batch_next_answered(rli_watchdog *watchdog)
{
    rli_renewal_batches *batches = &watchdog->batches;
    if (!batches->back)
        batches->back = take_landed(batches);
    rli_renewal_batch *batch = batches->back;
    if (batch) {
        batches->back = batch->landed;
        arrive(batches, batch);
    }
    return batch;
}

/* --- waiting --- */

/* How long to wait for answers before checking what else is due; how long for one of several servers; and how long
 * to pause when there is nothing to read. */
#define LOOK_MS  20
#define TURN_MS  1
#define PAUSE_MS 2

/* Returns at how many servers renewals are under way. */
static int servers(rli_topology *topology)
{
    int count = 0;
    for (const rli_node *node = NULL; (node = rli_nodes_next_of_all(&topology->nodes, node));)
        count += node->renewals.batches > 0;
    return count;
}

/* Reads what has come. Beside others, a server that has been silent for a while is read from but not waited for. */
static void read_all(rli_topology *topology, int64_t until_ms)
{
    bool alone = servers(topology) == 1;
    for (rli_node *node = NULL; (node = rli_nodes_next_of_all(&topology->nodes, node));) {
        int64_t now_ms = rli_now_ms();
        bool silent = now_ms > node->renewals.heard_ms + LOOK_MS;
        int64_t turn_ms = rli_earlier(until_ms, now_ms + TURN_MS);
        if (node->renewals.batches > 0)
            rli_pipeline_collect(&node->background, alone ? until_ms : silent ? now_ms : turn_ms);
    }
}

void rli_renewal_batch_await(rli_watchdog *watchdog, int64_t until_ms)
{
    rli_renewal_batches *batches = &watchdog->batches;
    until_ms = rli_earlier(until_ms, rli_after_ms(LOOK_MS));
    read_all(watchdog->engine->topology, until_ms);
    /* The servers are silent, or another thread reads their answers. */
    if (!atomic_load(&batches->landed) && rli_now_ms() < until_ms)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
}

void rli_renewal_batch_give_up(rli_watchdog *watchdog, int64_t since_ms)
{
    for (const rli_renewal_batch *batch = watchdog->batches.first; batch && batch->sent_ms <= since_ms;
         batch = batch->next)
        rli_pipeline_fail_all(&batch->node->background);
}

void rli_renewal_batches_destroy(rli_renewal_batches *batches)
{
    for (rli_renewal_batch *batch = batches->first, *next; batch; batch = next) {
        next = batch->next;
        if (batch->pending.reply)
            freeReplyObject(batch->pending.reply);
        rli_permit_batch_free(batch->permits);
        free(batch);
    }
}
