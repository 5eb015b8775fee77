/* Defer: whether a waiter that was woken asks the server now, or later, because others have the lock or come first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/defer.h"

#include "engine/registry.h"
#include "engine/session.h"

void rli_defer_note_listening(rli_attempt *attempt)
{
    const rli_news *news = &attempt->wait.news;
    rli_yield *yield = &attempt->entry->queues->yield;
    if (!news->channel)
        return;
    rli_subscriber *subscriber = &news->node->subscriber;
    attempt->waiter.hears = attempt->own_channel && rli_channel_is_confirmed(subscriber, news->channel);
    yield->listening = attempt->own_channel ? rli_news_hears_common(news)
                                            : rli_channel_is_asked_for(subscriber, news->channel);
    yield->guards = news->guards;
}

/* Whether the release of another process left the lock to others, and this one joins in. It then listens for the end of
 * their turn. */
static bool joins_yield(rli_attempt *attempt, const rli_told *told)
{
    bool joins = told->others_first && rli_yield_join(&attempt->entry->queues->yield);
    if (joins)
        attempt->wants = RLI_WANTS_TO_GUARD;
    return joins;
}

/* A waiter that stands aside asks once more before its time is up. */
#define LAST_MS 2

static bool may_wait_on(const rli_attempt *attempt, int64_t *again_ms)
{
    int64_t last_ms = attempt->wait.deadline_ms - LAST_MS;
    if (attempt->entry->queues->yield.holder || *again_ms <= last_ms)
        return true;
    *again_ms = last_ms;
    return rli_now_ms() < last_ms;
}

bool rli_defer(rli_attempt *attempt, int64_t *again_ms)
{
    const rli_kind *kind = attempt->asked->kind;
    const rli_session *session = attempt->session;
    const rli_told told = attempt->wait.news.told;
    attempt->wait.news.told = (rli_told){.ms = told.ms};
    bool waits_here = kind->queueing == RLI_BY_MESSAGE || kind->queueing == RLI_BY_SPINNING;
    if (!waits_here || attempt->waiter.handed)
        return false;
    rli_defer_note_listening(attempt);
    /* Do not defer if the attempt may have the lock already (by a late request, or through another thread of its
     * owner), if a hold is kept here, or if its session has ended: then nobody can hand it the lock until it asks in
     * another session. */
    if (session->phase != RLI_OPEN || session->count > 0 || session->cold->in_doubt_ms > 0 ||
        attempt->entry->queues->kept)
        return false;
    bool joins = joins_yield(attempt, &told), heard = attempt->wait.heard && !joins;
    return rli_yield_take_news(&attempt->entry->queues->yield, &attempt->yield_seen, heard, told.message, again_ms) &&
           may_wait_on(attempt, again_ms);
}

void rli_defer_listen(rli_attempt *attempt)
{
    int64_t asks_then_ms;
    if (attempt->own_channel)
        rli_registry_join_common(attempt, &asks_then_ms);
}
