/* Queued: a waiter's time in the local queue. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queued.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/defer.h"
#include "engine/handoff.h"

/* A newcomer relies on what the queue leader was told before. Nobody is told when a key is deleted, so the leader asks
 * anew for a newcomer that has waited this long without an answer of its own time. */
#define OLD_ANSWER_MS 1000

/* Returns whether the waiter before this one was handed the lock and is about to leave the queue. */
static bool comes_next(const rli_attempt *attempt)
{
    const rli_waiter *before = attempt->waiter.previous;
    return before && before->handed && !before->previous && attempt->asked->kind->parse_handoff &&
           !attempt->engine->settings->local_hand_over;
}

/* Lets the queue leader ask for a waiter that has not asked itself, once, if nothing that was sent after it queued is
 * answered in time. Returns when that time ends; RLI_NEVER: not again. Mutex held. */
static int64_t renew_answer(rli_attempt *attempt)
{
    rli_waiter *waiter = &attempt->waiter;
    if (waiter->has_asked || attempt->entry->queues->asked_ms > waiter->queued_ms)
        return RLI_NEVER;
    int64_t old_ms = waiter->queued_ms + OLD_ANSWER_MS;
    if (rli_now_ms() < old_ms)
        return old_ms;
    waiter->has_asked = true;
    rli_queue_let_leaders_ask(attempt->engine, attempt->entry);
    return RLI_NEVER;
}

/* Sleeps until this waiter is woken. If it is next in the queue, its wake-up is deferred: it wakes by itself at the
 * end of the quiet period (yield.h) at the latest. Mutex held on entry and return, not while it sleeps. False: the
 * operation has no thread and must wait. */
static bool sleep_on(rli_attempt *attempt)
{
    rli_waiter *waiter = &attempt->waiter;
    int64_t until_ms = rli_earlier(attempt->wait.deadline_ms, renew_answer(attempt));
    int64_t quiet_ms = comes_next(attempt) ? rli_yield_quiet_until(&attempt->entry->queues->yield) : 0;
    waiter->asleep = waiter->lead;
    waiter->deferred = quiet_ms > rli_now_ms();
    if (waiter->deferred)
        until_ms = rli_earlier(until_ms, quiet_ms);
    rli_engine_unlock(attempt->engine);
    bool slept = rli_news_sleep(&attempt->wait.news, attempt->op, until_ms);
    rli_engine_lock(attempt->engine);
    if (slept)
        rli_handoff_lead_if_asked(attempt);
    return slept;
}

/* Returns why this waiter's time in the queue ends; RLOCK_OK: it does not. */
static rlock_status why_it_ends(const rli_attempt *attempt)
{
    const rli_waiter *waiter = &attempt->waiter;
    if (waiter->ended)
        return rli_fail_text(RLOCK_UNAVAILABLE, waiter->message ? waiter->message : "the server is out of reach");
    rlock_status status = rli_operation_check(attempt->op);
    return status == RLOCK_OK && rli_now_ms() >= attempt->wait.deadline_ms ? RLOCK_TIMEOUT : status;
}

rlock_status rli_queued_await(rli_attempt *attempt, bool *handed)
{
    rli_waiter *waiter = &attempt->waiter;
    rlock_status status = RLOCK_OK;
    rli_engine_lock(attempt->engine);
    rli_defer_note_listening(attempt);
    waiter->deferred = false;
    while (status == RLOCK_OK && !waiter->queue_leader && !waiter->asks_now && !waiter->handed) {
        status = why_it_ends(attempt);
        if (status == RLOCK_OK && !sleep_on(attempt))
            status = RLI_WAITING;
        else
            waiter->deferred = false;
    }
    if (status != RLI_WAITING)
        waiter->asks_now = false;
    *handed = waiter->handed;
    rli_engine_unlock(attempt->engine);
    return status;
}

bool rli_queued_was_answered(rli_attempt *attempt)
{
    rli_engine_lock(attempt->engine);
    bool answered = attempt->entry->queues->answered_ms >= attempt->waiter.queued_ms;
    rli_engine_unlock(attempt->engine);
    return answered;
}
