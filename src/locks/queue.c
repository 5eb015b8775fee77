/* The queue of one name's waiters in this process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/queue.h"

#include "clock.h"

#include <stdio.h>

static void make_talker(rli_waiter *waiter)
{
    if (!waiter || waiter->talker)
        return;
    waiter->talker = true;
    rli_unpark(waiter->parker);
}

void rli_queue_join(rli_entry *entry, rli_waiter *waiter, rli_session *session, rli_parker *parker)
{
    *waiter = (rli_waiter){.session = session, .parker = parker, .queued_ms = rli_now_ms(), .previous = entry->last};
    if (entry->last)
        entry->last->next = waiter;
    else
        entry->first = waiter;
    entry->last = waiter;
    waiter->talker = entry->first == waiter;
}

static void take_out(rli_entry *entry, rli_waiter *waiter)
{
    if (waiter->previous)
        waiter->previous->next = waiter->next;
    else
        entry->first = waiter->next;
    if (waiter->next)
        waiter->next->previous = waiter->previous;
    else
        entry->last = waiter->previous;
}

void rli_queue_leave(rli_entry *entry, rli_waiter *waiter)
{
    if (waiter->ended)
        return;
    take_out(entry, waiter);
    make_talker(entry->first);
}

void rli_queue_owner_granted(rli_entry *entry, const rli_session *session)
{
    for (rli_waiter *waiter = entry->first; waiter; waiter = waiter->next) {
        if (waiter->session == session) {
            waiter->look = true;
            rli_unpark(waiter->parker);
        }
    }
}

void rli_queue_let_doubtful_look(rli_entry *entry, const rli_session *denied)
{
    for (rli_waiter *waiter = entry->first; waiter; waiter = waiter->next) {
        if (waiter->session != denied && waiter->session->doubt_ms > 0) {
            waiter->look = true;
            rli_unpark(waiter->parker);
        }
    }
}

void rli_queue_outage(rli_entry *entry, int64_t failed_ms, const char *message)
{
    for (rli_waiter *waiter = entry->first, *next; waiter; waiter = next) {
        next = waiter->next;
        if (waiter->talker || waiter->queued_ms > failed_ms)
            continue;
        take_out(entry, waiter);
        waiter->ended = true;
        snprintf(waiter->message, sizeof waiter->message, "%s", message);
        rli_unpark(waiter->parker);
    }
}
