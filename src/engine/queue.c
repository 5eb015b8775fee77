/* Queue: the local waiters for one name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue.h"

#include "base/clock.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

static void make_queue_leader(rli_waiter *waiter)
{
    if (!waiter || waiter->queue_leader)
        return;
    waiter->queue_leader = true;
    /* A deferred waiter has nothing to ask yet: the waiter before it holds the lock. */
    if (!waiter->deferred)
        rli_unpark(waiter->parker);
}

void rli_queue_join_without_leader(rli_queue *queue, rli_waiter *waiter, rli_session *session, rli_parker *parker)
{
    *waiter = (rli_waiter){
        .session = session, .parker = parker, .queued_ms = rli_now_ms(), .lead = waiter->lead, .hears = waiter->hears};
    RLI_QUEUE_APPEND(queue, waiter);
}

void rli_queue_join(rli_queue *queue, rli_waiter *waiter, rli_session *session, rli_parker *parker)
{
    rli_queue_join_without_leader(queue, waiter, session, parker);
    waiter->queue_leader = queue->first == waiter;
}

void rli_queue_leave(rli_queue *queue, rli_waiter *waiter)
{
    if (waiter->ended)
        return;
    RLI_QUEUE_REMOVE(queue, waiter);
    if (!waiter->queue_leader)
        return;
    if (queue->first)
        queue->first->deferred &= waiter->handed;
    make_queue_leader(queue->first);
}

void rli_queue_note_answer(rli_entry *entry, int64_t sent_ms)
{
    if (!entry->queues)
        return;
    entry->queues->answered_ms = rli_now_ms();
    if (sent_ms > entry->queues->asked_ms)
        entry->queues->asked_ms = sent_ms;
}

void rli_queue_wake_deferred(rli_queue *queue)
{
    rli_waiter *first = queue->first;
    if (!first || !first->deferred)
        return;
    first->deferred = false;
    rli_unpark(first->parker);
}

static void let_ask(rli_waiter *waiter)
{
    waiter->asks_now = true;
    rli_unpark(waiter->parker);
}

void rli_queue_owner_granted(rli_entry *entry, const rli_session *session)
{
    for (int i = 0; entry->queues && i < RLI_QUEUES; i++) {
        for (rli_waiter *waiter = entry->queues->of[i].first; waiter; waiter = waiter->next) {
            if (waiter->session == session)
                let_ask(waiter);
        }
    }
}

void rli_queue_let_one_listen(rli_entry *entry, const rli_session *session)
{
    rli_waiter *first = NULL;
    for (int i = 0; entry->queues && i < RLI_QUEUES; i++) {
        for (rli_waiter *waiter = entry->queues->of[i].first; waiter; waiter = waiter->next) {
            if (waiter->session != session)
                continue;
            if (waiter->asks_now)
                return;
            first = first ? first : waiter;
        }
    }
    if (first)
        let_ask(first);
}

static void let_doubtful_ask(void *denied, rli_entry *entry)
{
    for (int i = 0; entry->in_doubt && i < RLI_ON_SERVER; i++) {
        for (rli_waiter *waiter = entry->queues->of[i].first; waiter; waiter = waiter->next) {
            if (waiter->session == denied || waiter->session->cold->in_doubt_ms == 0)
                continue;
            waiter->prompted = true;
            let_ask(waiter);
        }
    }
}

void rli_queue_let_doubtful_ask(const rli_engine *engine, rli_entry *entry, rli_session *denied)
{
    rli_entry_each_waited(engine, entry, let_doubtful_ask, denied);
}

static void let_leaders_ask(void *unused, rli_entry *entry)
{
    (void)unused;
    for (int i = 0; i < RLI_ON_SERVER; i++) {
        if (entry->queues->of[i].first)
            let_ask(entry->queues->of[i].first);
    }
}

void rli_queue_let_leaders_ask(const rli_engine *engine, rli_entry *entry)
{
    rli_entry_each_waited(engine, entry, let_leaders_ask, NULL);
}

void rli_queue_outage(rli_queue *queue, int64_t failed_ms, const char *message)
{
    for (rli_waiter *waiter = queue->first, *next; waiter; waiter = next) {
        next = waiter->next;
        if (waiter->queue_leader || waiter->queued_ms > failed_ms)
            continue;
        RLI_QUEUE_REMOVE(queue, waiter);
        waiter->ended = true;
        free(waiter->message);
        waiter->message = strdup(message);
        rli_unpark(waiter->parker);
    }
}
