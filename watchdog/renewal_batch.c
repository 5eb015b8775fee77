/* Renewal batches: batches of renewals that are under way. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/renewal_batch.h"

#include "base/clock.h"
#include "base/list.h"

#include <stdlib.h>
#include <time.h>

/* So much is under way to one server at once. What it has read of us it answers before it turns to another client, whose
 * answer then leaves with those to what it has read of us meanwhile: another waits for twice this, at 2 to 3 us a name. */
#define MOST_FLIGHTS    32
#define MOST_NAMES      100
#define MOST_NAMES_LATE 800

bool rli_renewal_batch_is_full(const rli_node *node, bool late)
{
    return node->renewals.batches >= MOST_FLIGHTS || node->renewals.names >= (late ? MOST_NAMES_LATE : MOST_NAMES);
}

/* Told by whoever reads the answer. */
static void come_back(rli_pending *pending)
{
    rli_renewal_batch *batch = (rli_renewal_batch *)(void *)pending;
    rli_renewal_batchs *batches = &batch->watchdog->batches;
    batch->landed = atomic_load(&batches->landed);
    while (!atomic_compare_exchange_weak(&batches->landed, &batch->landed, batch))
        continue;
}

static void depart(rli_renewal_batchs *batches, rli_renewal_batch *batch)
{
    rli_renewals *there = &batch->node->renewals;
    if (there->batches++ == 0)
        there->heard_ms = batch->sent_ms;
    there->names += batch->count;
    RLI_QUEUE_APPEND(batches, batch);
}

static void arrive(rli_renewal_batchs *batches, const rli_renewal_batch *batch)
{
    rli_renewals *there = &batch->node->renewals;
    there->batches--;
    there->names -= batch->count;
    there->heard_ms = rli_now_ms();
    RLI_QUEUE_REMOVE(batches, batch);
}

bool rli_renewal_batch_send(rli_renewal_batch *batch, rli_call *call)
{
    uint64_t run;
    batch->pending.done = come_back;
    batch->sent_ms = rli_now_ms();
    depart(&batch->watchdog->batches, batch);
    if (!call->no_memory &&
        rli_call_post(call, batch->watchdog->engine->topology, &batch->node->background, &batch->pending, &run))
        return true;
    arrive(&batch->watchdog->batches, batch);
    return false;
}

rli_renewal_batch *rli_renewal_batch_land(rli_watchdog *watchdog)
{
    rli_renewal_batchs *batches = &watchdog->batches;
    if (!batches->back)
        batches->back = atomic_exchange(&batches->landed, NULL);
    rli_renewal_batch *batch = batches->back;
    if (batch) {
        batches->back = batch->landed;
        arrive(batches, batch);
    }
    return batch;
}

/* --- waiting --- */

/* So long it waits for answers before it looks what else there is to do; for one of several servers; and, when nothing
 * is to be read, before it looks again. */
#define LOOK_MS  20
#define TURN_MS  1
#define PAUSE_MS 2

static int servers(rli_topology *topology)
{
    int count = 0;
    for (const rli_node *node = NULL; (node = rli_nodes_next_of_all(&topology->nodes, node));)
        count += node->renewals.batches > 0;
    return count;
}

/* One that has been silent for a while is looked at, but not waited for, beside others. */
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
    rli_renewal_batchs *batches = &watchdog->batches;
    until_ms = rli_earlier(until_ms, rli_after_ms(LOOK_MS));
    read_all(watchdog->engine->topology, until_ms);
    /* They are silent, or another thread reads there. */
    if (!atomic_load(&batches->landed) && rli_now_ms() < until_ms)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
}

void rli_renewal_batch_give_up(rli_watchdog *watchdog, int64_t since_ms)
{
    for (const rli_renewal_batch *batch = watchdog->batches.first; batch && batch->sent_ms <= since_ms;
         batch = batch->next)
        rli_pipeline_condemn(&batch->node->background);
}

void rli_renewal_batchs_destroy(rli_renewal_batchs *batches)
{
    for (rli_renewal_batch *batch = batches->first, *next; batch; batch = next) {
        next = batch->next;
        if (batch->pending.reply)
            freeReplyObject(batch->pending.reply);
        free(batch);
    }
}
