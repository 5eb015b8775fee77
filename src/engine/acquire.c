/* Acquire: takes one more hold for an owner, at once or after a wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/acquire.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/ask.h"
#include "engine/handoff.h"
#include "engine/local_handoff.h"
#include "engine/release.h"

#include <stdlib.h>
#include <string.h>

/* How long a fair waiter postpones its first request for a subscription that is not confirmed yet. */
#define UNCONFIRMED_MS 20

/* Returns whether local waiters of this kind form a queue whose leader asks for all. */
static bool queues_here(const rli_kind *kind)
{
    return !kind->shared && !kind->queues;
}

/* A waiter that listens for messages must not queue behind one that spins: it would sleep through the messages. */
static rli_queue *queue_of(const rli_attempt *attempt)
{
    const rli_kind *kind = attempt->asked->kind;
    return &attempt->entry->queues->of[kind->queues ? RLI_ON_SERVER : kind->spins ? RLI_BY_SPINNING : RLI_BY_MESSAGE];
}

/* The `look` of the wait loop: whether this waiter should ask now although no message came. */
static bool may_ask(rli_wait *wait)
{
    rli_attempt *attempt = (rli_attempt *)(void *)wait;
    pthread_mutex_lock(&attempt->engine->mutex);
    rli_handoff_lead_if_asked(attempt);
    bool may = rli_local_handoff_take_if_notified(attempt) || attempt->waiter.look || attempt->waiter.handed;
    attempt->waiter.look = false;
    attempt->waiter.asleep = !may;
    pthread_mutex_unlock(&attempt->engine->mutex);
    return may;
}

/* Returns whether the waiter before this one was handed the lock and is about to leave the queue. */
static bool comes_next(const rli_attempt *attempt)
{
    const rli_waiter *before = attempt->waiter.previous;
    return before && before->handed && !before->previous && attempt->asked->kind->parse_handoff &&
           !attempt->engine->settings->local_hand_over;
}

/* Sleeps until this waiter is woken. If it is next in the queue, its wake-up is deferred: it wakes by itself at the
 * end of the quiet period (yield.h) at the latest. Mutex held on entry and return, not while it sleeps. */
static void sleep_on(rli_attempt *attempt)
{
    rli_waiter *waiter = &attempt->waiter;
    int64_t until_ms = attempt->wait.deadline_ms;
    int64_t calm_ms = comes_next(attempt) ? rli_yield_quiet_until(&attempt->entry->queues->yield) : 0;
    waiter->asleep = true;
    waiter->deferred = calm_ms > rli_now_ms();
    if (waiter->deferred)
        until_ms = rli_earlier(until_ms, calm_ms);
    pthread_mutex_unlock(&attempt->engine->mutex);
    rli_operation_sleep(&attempt->op, until_ms);
    pthread_mutex_lock(&attempt->engine->mutex);
    waiter->deferred = false;
    rli_handoff_lead_if_asked(attempt);
}

/* Sleeps until this waiter may ask the server, was handed the lock, or its wait ends. */
static rlock_status await_place(rli_attempt *attempt, bool *handed)
{
    rli_waiter *waiter = &attempt->waiter;
    rlock_status status = RLOCK_OK;
    pthread_mutex_lock(&attempt->engine->mutex);
    rli_attempt_note_listening(attempt);
    while (status == RLOCK_OK && !waiter->leader && !waiter->look && !waiter->handed) {
        if (waiter->ended)
            status = rli_fail_text(RLOCK_UNAVAILABLE, waiter->message);
        else if ((status = rli_operation_check(&attempt->op)) == RLOCK_OK && rli_now_ms() >= attempt->wait.deadline_ms)
            status = RLOCK_TIMEOUT;
        if (status != RLOCK_OK)
            break;
        sleep_on(attempt);
    }
    waiter->look = false;
    *handed = waiter->handed;
    pthread_mutex_unlock(&attempt->engine->mutex);
    return status;
}

/* RLOCK_TIMEOUT promises that the server did answer. A waiter that never asked relies on an answer that the queue
 * leader got since it queued. Without one, it asks once itself. */
static bool answered_meanwhile(rli_attempt *attempt)
{
    pthread_mutex_lock(&attempt->engine->mutex);
    bool answered = attempt->entry->queues->answered_ms >= attempt->waiter.queued_ms;
    pthread_mutex_unlock(&attempt->engine->mutex);
    return answered;
}

/* Subscribes to the channel of the lock, or to the waiter's own where waiters queue on the server. A kind that
 * spins has none. rli_wait_leave ends it. */
static rlock_status join_channel(rli_attempt *attempt)
{
    const rli_names *names = attempt->asked->names;
    attempt->moved = false;
    if (attempt->asked->kind->spins)
        return RLOCK_OK;
    if (!attempt->asked->kind->queues)
        return rli_wait_join(&attempt->wait, names->name, names->length, names->channel, names->channel_length);
    char own[RLI_OWNER_TEXT];
    rli_owner_text(attempt->engine, attempt->session->number, own);
    size_t length = names->channel_length + 1 + strlen(own);
    char *channel = malloc(length + 1);
    if (!channel)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a channel's name");
    memcpy(channel, names->channel, names->channel_length);
    channel[names->channel_length] = ':';
    memcpy(channel + names->channel_length + 1, own, strlen(own) + 1);
    rlock_status status = rli_wait_join(&attempt->wait, names->name, names->length, channel, length);
    free(channel);
    return status;
}

static rlock_status wait_for_lock(rli_attempt *attempt)
{
    rlock_status status;
    bool handed = false;
    do {
        status = join_channel(attempt);
        if (status != RLOCK_OK)
            return status;
        if (queues_here(attempt->asked->kind))
            status = await_place(attempt, &handed);
        if (status == RLOCK_OK && !handed)
            status = rli_wait_run(&attempt->wait);
        else if (status == RLOCK_TIMEOUT && !answered_meanwhile(attempt))
            status = rli_ask(&attempt->wait, &attempt->wait.again_ms);
        rli_wait_leave(&attempt->wait);
    } while (status == RLOCK_OK && attempt->moved);
    return status;
}

static rlock_status say_timeout(const rli_acquire *asked)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_TIMEOUT, "could not acquire lock \"%s\" within %lld ms: %s",
                    rli_show_name(asked->names->name, shown), (long long)asked->wait_ms,
                    rli_denial_reason(asked->kind));
}

/* Allocates the local queues. Mutex held. */
static rlock_status open_queue(const rli_attempt *attempt)
{
    return rli_entry_open_queues(attempt->entry) ? RLOCK_OK : rli_fail(RLOCK_NO_MEMORY, "out of memory for a wait");
}

/* Waits with a place in the local queue, whose leader asks for all, or in the server's queue. The waiter has joined
 * the local queue in both cases, and leaves it here. */
static rlock_status queue_up(rli_attempt *attempt)
{
    rlock_status status = wait_for_lock(attempt);
    pthread_mutex_lock(&attempt->engine->mutex);
    rli_handoff_lead_if_asked(attempt);
    if (status != RLOCK_OK) {
        pthread_mutex_unlock(&attempt->engine->mutex);
        status = rli_attempt_give_up(attempt, status);
        pthread_mutex_lock(&attempt->engine->mutex);
    }
    if (attempt->waiter.handed)
        status = RLOCK_OK;
    if (attempt->failed_ms != RLI_NEVER && attempt->waiter.leader)
        rli_queue_outage(queue_of(attempt), attempt->failed_ms, rlock_last_error());
    rli_wake_batch batch = {0};
    rli_queue_leave(queue_of(attempt), &attempt->waiter, &batch);
    rli_session *offered = NULL;
    if (status != RLOCK_OK) {
        rli_handoff_decline(attempt);
        offered = rli_local_handoff_pass_on(attempt);
    }
    pthread_mutex_unlock(&attempt->engine->mutex);
    rli_wake_batch_end(&batch);
    if (status == RLOCK_TIMEOUT)
        status = say_timeout(attempt->asked);
    if (offered)
        rli_release_offered(attempt->engine, offered, attempt->asked->names);
    return status;
}

/* Waits with a place in the server's queue. */
static rlock_status queue_up_there(rli_attempt *attempt)
{
    pthread_mutex_lock(&attempt->engine->mutex);
    rlock_status status = open_queue(attempt);
    if (status == RLOCK_OK)
        rli_queue_join_without_leader(queue_of(attempt), &attempt->waiter, attempt->session, &attempt->op.parker);
    pthread_mutex_unlock(&attempt->engine->mutex);
    return status == RLOCK_OK ? queue_up(attempt) : rli_attempt_give_up(attempt, status);
}

/* Waits with no place in any queue: all such waiters ask. */
static rlock_status wait_among_many(rli_attempt *attempt)
{
    rlock_status status = wait_for_lock(attempt);
    return status == RLOCK_TIMEOUT ? say_timeout(attempt->asked) : status;
}

/* Returns whether other sessions of this process hold the lock or want it. */
static bool has_rivals(rli_attempt *attempt)
{
    const rli_session *session = attempt->entry->sessions;
    while (session && (session == attempt->session || (session->count == 0 && rli_session_attempts(session) == 0)))
        session = session->next;
    return session;
}

/* Asks once before the wait begins. A fair waiter with local rivals will have to queue anyway. It subscribes first
 * and asks then, so that it need not ask again in case a message came before the subscription. */
static rlock_status ask_first(rli_attempt *attempt, bool waits)
{
    const rli_acquire *asked = attempt->asked;
    if (waits && asked->kind->queues) {
        pthread_mutex_lock(&attempt->engine->mutex);
        bool rivals = attempt->session->count == 0 && has_rivals(attempt);
        pthread_mutex_unlock(&attempt->engine->mutex);
        attempt->wait.again_ms = rli_after_ms(UNCONFIRMED_MS);
        if (rivals && attempt->wait.again_ms < attempt->wait.deadline_ms)
            return RLOCK_TIMEOUT;
    }
    return rli_ask(&attempt->wait, &attempt->wait.again_ms);
}

/* Returns whether the attempt must join the local waiters before it asks. */
static bool queues_first(rli_attempt *attempt)
{
    if (!attempt->entry->queues)
        return false;
    return queue_of(attempt)->first ||
           (!attempt->asked->kind->spins && rli_yield_must_queue(&attempt->entry->queues->yield));
}

/* Mutex held on entry, not on return. */
static rlock_status acquire(rli_attempt *attempt)
{
    const rli_acquire *asked = attempt->asked;
    bool waits = asked->wait_ms > 0, queues = queues_here(asked->kind);
    /* Owners that hold the lock already, and attempts without a wait, bypass the queue. */
    bool queue_first = waits && queues && attempt->session->count == 0 && queues_first(attempt);
    bool taken = queues && !attempt->session->busy && rli_local_handoff_take(attempt);
    if (queue_first && !taken)
        rli_queue_join(queue_of(attempt), &attempt->waiter, attempt->session, &attempt->op.parker);
    pthread_mutex_unlock(&attempt->engine->mutex);
    if (taken)
        return RLOCK_OK;
    if (queue_first)
        return queue_up(attempt);
    rlock_status status = ask_first(attempt, waits);
    if (waits && asked->kind->give_up && status != RLOCK_OK && status != RLOCK_TIMEOUT)
        return rli_attempt_give_up(attempt, status);
    if (status != RLOCK_TIMEOUT || !waits)
        return status;
    attempt->wait.asked = true;
    if (!queues)
        return asked->kind->queues ? queue_up_there(attempt) : wait_among_many(attempt);
    pthread_mutex_lock(&attempt->engine->mutex);
    status = open_queue(attempt);
    if (status == RLOCK_OK)
        rli_queue_join(queue_of(attempt), &attempt->waiter, attempt->session, &attempt->op.parker);
    pthread_mutex_unlock(&attempt->engine->mutex);
    return status == RLOCK_OK ? queue_up(attempt) : status;
}

/* The end of a thread that is ending already cannot be noticed, so its hold would be renewed for ever. */
static rlock_status check_owner(const rli_acquire *asked)
{
    if (asked->lease_ms == RLOCK_WATCHDOG && !asked->owner.named && !asked->owner.life)
        return rli_fail(RLOCK_INVALID, "the thread is ending; a lock taken now needs a lease");
    return RLOCK_OK;
}

rlock_status rli_acquire_run(const rli_acquire *asked)
{
    rli_attempt attempt = {.asked = asked, .engine = asked->engine, .failed_ms = RLI_NEVER};
    rlock_status status = check_owner(asked);
    if (status == RLOCK_OK)
        status = rli_operation_begin(&attempt.op, asked->engine->gate, asked->cancel);
    if (status != RLOCK_OK)
        return status;
    attempt.wait.op = &attempt.op;
    attempt.wait.topology = asked->engine->topology;
    attempt.wait.ask = rli_ask;
    attempt.wait.look = may_ask;
    attempt.wait.alone = asked->kind->queues;
    attempt.wait.deadline_ms = asked->wait_ms > 0 ? rli_after_ms(asked->wait_ms) : RLI_NEVER;

    pthread_mutex_lock(&attempt.engine->mutex);
    status = asked->engine->attend(asked->engine);
    attempt.entry = status == RLOCK_OK ? rli_entry_ref(attempt.engine, asked->names) : NULL;
    if (attempt.entry)
        attempt.session = rli_session_join(attempt.engine, attempt.entry, asked->kind, &asked->owner);
    if (attempt.session)
        status = rli_operation_check(&attempt.op);
    else if (status == RLOCK_OK)
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a hold");
    if (attempt.session && status == RLOCK_OK) {
        status = acquire(&attempt);
        pthread_mutex_lock(&attempt.engine->mutex);
    }
    if (attempt.session)
        rli_session_drop_attempt(attempt.engine, attempt.session);
    if (attempt.entry)
        rli_entry_unref(attempt.engine, attempt.entry);
    pthread_mutex_unlock(&attempt.engine->mutex);
    free(attempt.unheard);
    rli_operation_end(&attempt.op);
    return status;
}
