/* Acquire: takes one more hold for an owner, at once or after a wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/acquire.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/ask.h"
#include "engine/defer.h"
#include "engine/give_up.h"
#include "engine/handoff.h"
#include "engine/holds.h"
#include "engine/local_handoff.h"
#include "engine/queued.h"
#include "engine/registry.h"
#include "engine/release.h"

#include <stdlib.h>
#include <string.h>

/* How long a fair waiter postpones its first request for a subscription that is not confirmed yet. */
#define UNCONFIRMED_MS 20

/* Returns whether local waiters of this kind form a queue whose leader asks for all. */
static bool queues_here(const rli_kind *kind)
{
    return kind->queueing == RLI_BY_MESSAGE || rli_kind_polls(kind);
}

/* Returns whether it waits for the lock if it is refused. */
static bool may_wait(const rli_acquire *asked)
{
    return asked->wait_ms > 0 && !asked->asks_once;
}

/* A waiter that listens for messages must not queue behind one that spins: it would sleep through the messages. */
static rli_queue *queue_of(const rli_attempt *attempt)
{
    return &attempt->entry->queues->of[attempt->asked->kind->queueing];
}

/* The `has_reason` of the wait loop: whether this waiter should ask now although no message came. */
static bool may_ask(rli_wait *wait)
{
    rli_attempt *attempt = (rli_attempt *)(void *)wait;
    rli_engine_lock(attempt->engine);
    rli_handoff_lead_if_asked(attempt);
    if (attempt->own_channel && !attempt->waiter.hears)
        rli_defer_note_listening(attempt);
    bool may = rli_local_handoff_take_if_notified(attempt) || attempt->waiter.asks_now || attempt->waiter.handed;
    attempt->waiter.asks_now = false;
    attempt->waiter.asleep = !may && attempt->waiter.lead;
    rli_engine_unlock(attempt->engine);
    return may;
}

/* A client that was opened lazily may know no server for the lock when the attempt's time in the queue has passed: the
 * attempt still asks once. */
static bool knows_server(const rli_attempt *attempt)
{
    const rli_topology *topology = attempt->engine->topology;
    const rli_names *names = attempt->asked->names;
    return rli_topology_has_looked(topology) ||
           rli_topology_server_of(topology, rli_topology_slot(topology, names->name, names->length));
}

/* Listens to the channel of the lock, or to the waiter's own where waiters queue on the server, or to the lock's signal
 * list. A kind that spins has none. rli_wait_leave ends it. */
static rlock_status join_channel(rli_attempt *attempt)
{
    const rli_names *names = attempt->asked->names;
    attempt->moved = false;
    if (attempt->asked->kind->queueing == RLI_BY_SPINNING || !knows_server(attempt))
        return RLOCK_OK;
    if (attempt->asked->kind->queueing == RLI_BY_SIGNAL) {
        const rli_source list = {names->keys[0], names->key_lengths[0], names->name, names->length};
        return rli_wait_join(&attempt->wait, names->name, names->length, &list);
    }
    if (!rli_kind_queues_on_server(attempt->asked->kind))
        return rli_registry_join_channel(attempt);
    char own[RLI_OWNER_TEXT];
    rli_owner_text(attempt->engine->client_id, attempt->session->number, own);
    size_t length = names->channel_length + 1 + strlen(own);
    char *channel = malloc(length + 1);
    if (!channel)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a channel's name");
    memcpy(channel, names->channel, names->channel_length);
    channel[names->channel_length] = ':';
    memcpy(channel + names->channel_length + 1, own, strlen(own) + 1);
    const rli_source source = {.name = channel, .length = length};
    attempt->wait.news.number = attempt->session->number;
    rlock_status status = rli_wait_join(&attempt->wait, names->name, names->length, &source);
    free(channel);
    return status;
}

static rlock_status say_timeout(const rli_acquire *asked)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_TIMEOUT, "could not acquire lock \"%s\" within %lld ms: %s",
                    rli_show_name(asked->names->name, shown), (long long)asked->wait_ms,
                    rli_ask_denial_reason(asked->kind));
}

/* --- stages --- */

static const bool legal[RLI_ACQUIRE_STAGES][RLI_ACQUIRE_STAGES] = {
    [RLI_ACQUIRE_BEGINS] = {[RLI_ACQUIRE_ASKS_FIRST] = true,
                            [RLI_ACQUIRE_SUBSCRIBES] = true, /* others wait here already: it queues */
                            [RLI_ACQUIRE_DONE] = true},      /* it has taken a kept hold */
    [RLI_ACQUIRE_ASKS_FIRST] =
        {[RLI_ACQUIRE_SUBSCRIBES] = true, [RLI_ACQUIRE_GIVES_UP] = true, [RLI_ACQUIRE_DONE] = true},
    [RLI_ACQUIRE_SUBSCRIBES] = {[RLI_ACQUIRE_QUEUED] = true,
                                [RLI_ACQUIRE_LISTENS] = true,
                                [RLI_ACQUIRE_GIVES_UP] = true,
                                [RLI_ACQUIRE_DONE] = true},
    [RLI_ACQUIRE_QUEUED] =
        {[RLI_ACQUIRE_LISTENS] = true, [RLI_ACQUIRE_ASKS_LAST] = true, [RLI_ACQUIRE_UNSUBSCRIBES] = true},
    [RLI_ACQUIRE_LISTENS] = {[RLI_ACQUIRE_UNSUBSCRIBES] = true},
    [RLI_ACQUIRE_ASKS_LAST] = {[RLI_ACQUIRE_UNSUBSCRIBES] = true},
    [RLI_ACQUIRE_UNSUBSCRIBES] = {[RLI_ACQUIRE_SUBSCRIBES] = true, /* to the channel of another session */
                                  [RLI_ACQUIRE_GIVES_UP] = true,
                                  [RLI_ACQUIRE_LEAVES] = true,
                                  [RLI_ACQUIRE_DONE] = true},
    [RLI_ACQUIRE_GIVES_UP] = {[RLI_ACQUIRE_LEAVES] = true, [RLI_ACQUIRE_DONE] = true},
    [RLI_ACQUIRE_LEAVES] = {[RLI_ACQUIRE_RETURNS_KEPT] = true, [RLI_ACQUIRE_DONE] = true},
    [RLI_ACQUIRE_RETURNS_KEPT] = {[RLI_ACQUIRE_DONE] = true},
};

/* Every stage below ends with one of these two. The result of a stage is RLI_WAITING, or the status with which the
 * operation ends if the next stage is RLI_ACQUIRE_DONE; else the status is for the next stage. */
static rlock_status next(rli_attempt *attempt, rli_acquire_stage stage, rlock_status status)
{
    rli_check(legal[attempt->stage][stage]);
    attempt->stage = stage;
    return status;
}

/* Its waiting has ended with that status. A waiter in a queue, here or on the server, must leave it. */
static rlock_status end_waiting(rli_attempt *attempt, rlock_status status)
{
    bool waits = attempt->waiter.parker;
    if (!waits && status == RLOCK_TIMEOUT)
        status = say_timeout(attempt->asked);
    return next(attempt,
                !waits               ? RLI_ACQUIRE_DONE
                : status == RLOCK_OK ? RLI_ACQUIRE_LEAVES
                                     : RLI_ACQUIRE_GIVES_UP,
                status);
}

/* Returns whether other sessions of this process hold the lock or want it. */
static bool has_rivals(rli_attempt *attempt)
{
    const rli_session *session = attempt->entry->sessions;
    while (session && (session == attempt->session || (session->count == 0 && rli_session_attempts(session) == 0)))
        session = session->next;
    return session;
}

/* Returns whether the attempt must join the local waiters before it asks. */
static bool queues_first(rli_attempt *attempt)
{
    if (!attempt->entry->queues)
        return false;
    bool yields = !rli_kind_polls(attempt->asked->kind) || rli_kind_hands_over_here(attempt->asked->kind);
    return queue_of(attempt)->first || (yields && rli_yield_must_queue(&attempt->entry->queues->yield));
}

static void join_queue(rli_attempt *attempt)
{
    if (queues_here(attempt->asked->kind))
        rli_queue_join(queue_of(attempt), &attempt->waiter, attempt->session, attempt->op->parker);
    else
        rli_queue_join_without_leader(queue_of(attempt), &attempt->waiter, attempt->session, attempt->op->parker);
}

/* A fair waiter with rivals, here or elsewhere, will have to queue anyway. It subscribes first and asks then, so that
 * it need not ask again in case a message came before the subscription. A client that was opened lazily may know no
 * server before its first request. */
static bool subscribes_first(rli_attempt *attempt)
{
    const rli_acquire *asked = attempt->asked;
    return may_wait(asked) && rli_kind_queues_on_server(asked->kind) && attempt->session->count == 0 &&
           (has_rivals(attempt) || rli_contended_has(&attempt->engine->contended, attempt->entry)) &&
           rli_topology_has_looked(attempt->engine->topology);
}

/* Mutex held on entry, not on return. */
static rlock_status begin(rli_attempt *attempt)
{
    const rli_acquire *asked = attempt->asked;
    bool waits = may_wait(asked), queues = queues_here(asked->kind);
    /* Owners that hold the lock already, and attempts without a wait, bypass the queue. */
    bool queue_first = waits && queues && attempt->session->count == 0 && queues_first(attempt);
    bool taken = queues && attempt->engine->settings->local_hand_over && !attempt->session->busy &&
                 rli_local_handoff_take(attempt);
    if (queue_first && !taken)
        join_queue(attempt);
    bool rivals = subscribes_first(attempt);
    int64_t own_until_ms = attempt->engine->own_channels_until_ms;
    bool heard_before = waits && own_until_ms > 0 && rli_now_ms() < own_until_ms;
    rli_engine_unlock(attempt->engine);
    if (taken)
        return next(attempt, RLI_ACQUIRE_DONE, RLOCK_OK);
    if (queue_first)
        return next(attempt, RLI_ACQUIRE_SUBSCRIBES, RLOCK_OK);
    attempt->wait.again_ms = rli_after_ms(UNCONFIRMED_MS);
    attempt->postpones = rivals && attempt->wait.again_ms < attempt->wait.deadline_ms;
    if (heard_before)
        rli_registry_rejoin_channel(attempt);
    return next(attempt, RLI_ACQUIRE_ASKS_FIRST, RLOCK_OK);
}

/* Gives the attempt a place among the local waiters, if its kind has any; RLOCK_NO_MEMORY. */
static rlock_status begin_waiting(rli_attempt *attempt)
{
    attempt->wait.asked = true;
    if (attempt->asked->kind->queueing == RLI_IN_NO_QUEUE)
        return RLOCK_OK;
    rlock_status status = RLOCK_OK;
    rli_engine_lock(attempt->engine);
    if (rli_entry_open_queues(attempt->engine, attempt->entry))
        join_queue(attempt);
    else
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a wait");
    attempt->waiter.has_asked = true;
    /* It may be told that it is its turn, so it must listen, also if it is not queue leader. */
    attempt->waiter.asks_now = status == RLOCK_OK && attempt->own_channel && !attempt->waiter.queue_leader;
    rli_engine_unlock(attempt->engine);
    return status;
}

static rlock_status ask_first(rli_attempt *attempt)
{
    const rli_acquire *asked = attempt->asked;
    bool waits = may_wait(asked);
    rlock_status status = attempt->postpones ? RLOCK_TIMEOUT : rli_ask(&attempt->wait, &attempt->wait.again_ms);
    if (status == RLI_WAITING)
        return status;
    if (status == RLOCK_TIMEOUT && waits) {
        status = begin_waiting(attempt);
        if (status == RLOCK_OK)
            return next(attempt, RLI_ACQUIRE_SUBSCRIBES, RLOCK_OK);
    }
    bool gives_up = waits && asked->kind->give_up && status != RLOCK_OK && status != RLOCK_TIMEOUT;
    return next(attempt, gives_up ? RLI_ACQUIRE_GIVES_UP : RLI_ACQUIRE_DONE, status);
}

static rlock_status subscribe(rli_attempt *attempt)
{
    rlock_status status = join_channel(attempt);
    if (status != RLOCK_OK)
        return end_waiting(attempt, status);
    return next(attempt, queues_here(attempt->asked->kind) ? RLI_ACQUIRE_QUEUED : RLI_ACQUIRE_LISTENS, RLOCK_OK);
}

static rlock_status wait_in_queue(rli_attempt *attempt)
{
    bool handed;
    rlock_status status = rli_queued_await(attempt, &handed);
    if (status == RLI_WAITING)
        return status;
    if (status == RLOCK_OK && !handed)
        return next(attempt, RLI_ACQUIRE_LISTENS, RLOCK_OK);
    if (status == RLOCK_TIMEOUT && !rli_queued_was_answered(attempt))
        return next(attempt, RLI_ACQUIRE_ASKS_LAST, RLOCK_OK);
    return next(attempt, RLI_ACQUIRE_UNSUBSCRIBES, status);
}

static rlock_status unsubscribe(rli_attempt *attempt, rlock_status status)
{
    rli_wait_leave(&attempt->wait);
    if (status == RLOCK_OK && attempt->moved)
        return next(attempt, RLI_ACQUIRE_SUBSCRIBES, RLOCK_OK);
    return end_waiting(attempt, status);
}

static rlock_status give_up(rli_attempt *attempt, rlock_status why)
{
    bool waits = attempt->waiter.parker;
    if (waits) {
        rli_engine_lock(attempt->engine);
        rli_handoff_lead_if_asked(attempt);
        rli_engine_unlock(attempt->engine);
    }
    rlock_status status = rli_give_up(attempt, why);
    if (status == RLI_WAITING)
        return status;
    return next(attempt, waits ? RLI_ACQUIRE_LEAVES : RLI_ACQUIRE_DONE, status);
}

static rlock_status leave(rli_attempt *attempt, rlock_status status)
{
    rli_session *kept = NULL;
    rli_engine_lock(attempt->engine);
    rli_handoff_lead_if_asked(attempt);
    if (attempt->waiter.handed)
        status = RLOCK_OK;
    if (attempt->failed_ms != RLI_NEVER && attempt->waiter.queue_leader)
        rli_queue_outage(queue_of(attempt), attempt->failed_ms, rlock_last_error());
    rli_queue_leave(queue_of(attempt), &attempt->waiter);
    if (status != RLOCK_OK) {
        rli_registry_leave_to_owner(attempt);
        rli_handoff_decline(attempt);
        kept = rli_local_handoff_pass_on(attempt);
    }
    rli_engine_unlock(attempt->engine);
    if (status == RLOCK_TIMEOUT)
        status = say_timeout(attempt->asked);
    if (!kept)
        return next(attempt, RLI_ACQUIRE_DONE, status);
    rli_attempt_keep_status(attempt, status);
    attempt->kept = kept;
    return next(attempt, RLI_ACQUIRE_RETURNS_KEPT, RLOCK_OK);
}

static rlock_status return_kept(rli_attempt *attempt)
{
    if (rli_release_kept(attempt->engine, attempt->kept, attempt->asked->names, attempt->op) == RLI_WAITING)
        return RLI_WAITING;
    return next(attempt, RLI_ACQUIRE_DONE, rli_attempt_tell_status(attempt));
}

/* Goes on with one stage, which begins with `status` from the one before. */
static rlock_status step(rli_attempt *attempt, rlock_status status)
{
    switch (attempt->stage) {
    case RLI_ACQUIRE_ASKS_FIRST:
        return ask_first(attempt);
    case RLI_ACQUIRE_SUBSCRIBES:
        return subscribe(attempt);
    case RLI_ACQUIRE_QUEUED:
        return wait_in_queue(attempt);
    case RLI_ACQUIRE_LISTENS:
        status = rli_wait_run(&attempt->wait);
        return status == RLI_WAITING ? status : next(attempt, RLI_ACQUIRE_UNSUBSCRIBES, status);
    case RLI_ACQUIRE_ASKS_LAST:
        status = rli_ask(&attempt->wait, &attempt->wait.again_ms);
        return status == RLI_WAITING ? status : next(attempt, RLI_ACQUIRE_UNSUBSCRIBES, status);
    case RLI_ACQUIRE_UNSUBSCRIBES:
        return unsubscribe(attempt, status);
    case RLI_ACQUIRE_GIVES_UP:
        return give_up(attempt, status);
    case RLI_ACQUIRE_LEAVES:
        return leave(attempt, status);
    case RLI_ACQUIRE_RETURNS_KEPT:
        return return_kept(attempt);
    case RLI_ACQUIRE_BEGINS:
    case RLI_ACQUIRE_DONE:
    case RLI_ACQUIRE_STAGES:
        break;
    }
    return status;
}

/* --- the whole --- */

/* The end of a thread that is ending already cannot be noticed, so its hold would be renewed for ever. */
static rlock_status check_owner(const rli_acquire *asked)
{
    if (asked->lease_ms == RLOCK_WATCHDOG && !asked->owner.named && !asked->owner.life)
        return rli_fail(RLOCK_INVALID, "the calling thread is ending, so the watchdog cannot renew this lock; give "
                                       "it a lease");
    return RLOCK_OK;
}

/* Joins the owner's session on the name. Mutex held. */
static rlock_status join(rli_attempt *attempt)
{
    const rli_acquire *asked = attempt->asked;
    rlock_status status = asked->engine->attended ? RLOCK_OK : asked->engine->attend(asked->engine);
    attempt->entry = status == RLOCK_OK ? rli_entry_ref(attempt->engine, asked->names) : NULL;
    if (attempt->entry)
        attempt->session = rli_session_join(attempt->engine, attempt->entry, asked->kind, &asked->owner);
    if (attempt->session)
        return rli_operation_check(attempt->op);
    return status == RLOCK_OK ? rli_fail(RLOCK_NO_MEMORY, "out of memory for a hold") : status;
}

/* Begins the wait and the first stage. */
static rlock_status start(rli_attempt *attempt)
{
    const rli_acquire *asked = attempt->asked;
    attempt->wait.op = attempt->op;
    attempt->wait.topology = asked->engine->topology;
    attempt->wait.ask = rli_ask;
    attempt->wait.has_reason = may_ask;
    attempt->wait.leaving = rli_kind_queues_on_server(asked->kind) ? RLI_LEAVE_SOON : RLI_LEAVE_AT_ONCE;
    attempt->wait.deadline_ms = asked->wait_ms > 0 ? rli_after_ms(asked->wait_ms) : RLI_NEVER;
    rli_engine_lock(attempt->engine);
    rlock_status status = join(attempt);
    if (status == RLOCK_OK)
        return begin(attempt);
    rli_engine_unlock(attempt->engine);
    return next(attempt, RLI_ACQUIRE_DONE, status);
}

/* Leaves the session and the name. */
static void end(rli_attempt *attempt)
{
    bool own_channel = attempt->own_channel;
    rli_wait_leave(&attempt->wait); /* what it listened to before its first request */
    rli_engine_lock(attempt->engine);
    if (own_channel)
        attempt->engine->own_channels_until_ms = rli_after_ms(RLI_LINGER_MS + RLI_LINGER_MS);
    if (attempt->session)
        rli_session_drop_attempt(attempt->engine, attempt->session);
    if (attempt->entry)
        rli_entry_unref(attempt->engine, attempt->entry);
    rli_engine_unlock(attempt->engine);
    free(attempt->unheard);
    free(attempt->waiter.message);
}

rlock_status rli_acquire_begin(rli_attempt *attempt, const rli_acquire *asked, rli_operation *op)
{
    *attempt = (rli_attempt){.asked = asked, .engine = asked->engine, .failed_ms = RLI_NEVER, .op = op};
    return check_owner(asked);
}

rlock_status rli_acquire_go_on(rli_attempt *attempt)
{
    rlock_status status = attempt->stage == RLI_ACQUIRE_BEGINS ? start(attempt) : RLOCK_OK;
    while (status != RLI_WAITING && attempt->stage != RLI_ACQUIRE_DONE)
        status = step(attempt, status);
    if (status != RLI_WAITING)
        end(attempt);
    return status;
}
