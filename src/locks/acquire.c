/* Acquiring: one more hold for an owner, at once or after a wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/acquire.h"

#include "client.h"
#include "clock.h"
#include "error.h"
#include "locks/back_off.h"
#include "locks/queue.h"
#include "locks/wait.h"
#include "redis/reply.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long a queue on the server is given to answer who gives up; the rest is done in the background. */
#define GIVE_UP_MS 250

/* One call under way. */
typedef struct acquiring {
    rli_wait wait; /* first: the wait loop hands it back */
    const rli_acquire *asked;
    rli_holds *holds;
    rli_entry *entry;
    rli_session *session; /* joined */
    rli_waiter waiter;
    int64_t failed_ms;    /* of the last question: since when the server was out of reach */
    int spins;            /* questions that were denied */
    bool moved;           /* to a session that hears messages on another channel */
    char *unheard;        /* the head of the queue on the server that nobody heard… */
    int64_t unheard_ms;   /* …at that instant */
    rli_caller caller;
} acquiring;

/* Whether its waiters here have one of them ask for all. */
static bool queues_here(const rli_kind *kind)
{
    return !kind->crowd && !kind->queues;
}

/* The session may have ended in the middle of a wait; the wait goes on with another. */
static rlock_status rejoin(acquiring *attempt)
{
    rli_session *session =
        rli_session_join(attempt->holds, attempt->entry, attempt->asked->kind, &attempt->asked->owner);
    if (!session)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a hold");
    rli_session_leave(attempt->holds, attempt->session);
    attempt->session = session;
    attempt->waiter.session = session;
    return RLOCK_OK;
}

/* The session's turn, in a session that is open when the turn begins; none when the wait moved to
 * another channel with it. Mutex held. */
static rlock_status begin_turn(acquiring *attempt)
{
    for (;;) {
        rli_session *session = attempt->session;
        rlock_status status =
            rli_session_begin_turn(attempt->holds, session, &attempt->caller, attempt->wait.deadline_ms);
        if (status != RLOCK_OK)
            return status;
        /* looks at the deadline, too */
        if (rli_holds_open_session(attempt->holds, attempt->entry, attempt->asked->kind, &attempt->asked->owner) ==
            session)
            return RLOCK_OK;
        rli_session_end_turn(session);
        status = rejoin(attempt);
        attempt->moved = attempt->asked->kind->queues && attempt->wait.channel;
        if (status != RLOCK_OK || attempt->moved)
            return status;
    }
}

static rlock_status outer_lost(acquiring *attempt)
{
    char shown[RLI_NAME_SHOWN];
    rli_session *session = attempt->session;
    if (session->phase == RLI_OPEN && session->count > 0)
        rli_session_lose(attempt->holds, session, RLOCK_LOST_GONE, true);
    return rli_fail(RLOCK_LOST, "lock \"%s\" was held by this owner, but the hold has run out or was forced open; "
                    "unlock it as often as it was locked, then lock anew",
                    rli_show_name(attempt->asked->names->name, shown));
}

/* Counted from before the first attempt, the lease may have ended before the answer was read. */
static bool granted_in_vain(const acquiring *attempt, const rli_call *call, int64_t lease_ms)
{
    /* A lease shorter than any round trip is granted as asked for, and over at once; asked for again it
     * would be so for ever. */
    bool worth_another = call->unanswered || lease_ms > attempt->holds->settings->timeout_ms;
    return worth_another && rli_now_ms() >= rli_valid_until(call->sent_ms, lease_ms);
}

static rlock_status granted(acquiring *attempt, const rli_call *call, int64_t lease_ms, const rli_verdict *verdict)
{
    rli_session *session = attempt->session;
    if (session->phase != RLI_OPEN)
        return outer_lost(attempt); /* declared lost while the question was under way */
    if (session->count == 0 && granted_in_vain(attempt, call, lease_ms)) {
        session->doubt_ms = lease_ms > session->doubt_ms ? lease_ms : session->doubt_ms;
        return rli_fail(RLOCK_TIMEOUT, "the lease of %lld ms had ended before the server's answer came",
                        (long long)lease_ms);
    }
    /* Adds to holds that ended meanwhile: the new one would be as worthless. */
    if (session->count > 0 && rli_now_ms() >= session->deadline_ms) {
        rli_session_lose(attempt->holds, session, RLOCK_LOST_EXPIRED, true);
        return outer_lost(attempt);
    }
    rli_session_gain(attempt->holds, session, call->sent_ms, attempt->asked->lease_ms);
    if (verdict->pttl_ms > 0)
        rli_session_confirm(session, call->sent_ms, verdict->pttl_ms);
    session->replaces = 0;
    session->token = verdict->token;
    if (attempt->asked->token)
        *attempt->asked->token = verdict->token;
    rli_queue_owner_granted(attempt->entry, session);
    return RLOCK_OK;
}

/* The head of the queue on the server did not hear that the lock is free: it may be dead. */
static void suspect(acquiring *attempt, const char *unheard)
{
    bool same = unheard && attempt->unheard && strcmp(unheard, attempt->unheard) == 0;
    if (same && rli_now_ms() < attempt->unheard_ms + RLI_UNHEARD_MS)
        return;
    free(attempt->unheard);
    attempt->unheard = unheard ? strdup(unheard) : NULL; /* out of memory: found out again later */
    attempt->unheard_ms = rli_now_ms();
}

static int64_t ask_again_ms(acquiring *attempt, const rli_verdict *verdict)
{
    if (attempt->asked->kind->spins)
        return rli_after_ms(rli_back_off_ms(attempt->asked->back_off, attempt->spins++));
    return verdict->pttl_ms < 0 ? RLI_NEVER : rli_after_ms(verdict->pttl_ms > 0 ? verdict->pttl_ms : 1);
}

static rlock_status read_answer(acquiring *attempt, const rli_call *call, int64_t lease_ms, int64_t *again_ms)
{
    char shown[RLI_NAME_SHOWN];
    rli_verdict verdict = attempt->asked->kind->granted(call->reply);
    switch (verdict.grant) {
    case RLI_GRANTED:
        *again_ms = rli_now_ms();
        return granted(attempt, call, lease_ms, &verdict);
    case RLI_DENIED:
        suspect(attempt, verdict.unheard);
        *again_ms = ask_again_ms(attempt, &verdict);
        if (attempt->entry->doubted)
            rli_queue_let_doubtful_look(attempt->entry, attempt->session);
        return rli_fail(RLOCK_TIMEOUT, "lock \"%s\" is held by another owner",
                        rli_show_name(attempt->asked->names->name, shown));
    case RLI_OUTER_LOST:
        return outer_lost(attempt);
    case RLI_ODD_GRANT:
        break;
    }
    return rli_reply_unexpected(call->reply, attempt->asked->names->name);
}

static rlock_status already_held(const rli_acquire *asked)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_ALREADY_HELD, "lock \"%s\" is non-reentrant and is already held by %s %lld",
                    rli_show_name(asked->names->name, shown), asked->owner.named ? "owner" : "thread",
                    (long long)asked->owner.number);
}

/* Why the owner may not ask for one hold more. Mutex held, in the session's turn. */
static rlock_status may_take(const acquiring *attempt)
{
    rli_session *session = attempt->session;
    if (attempt->asked->kind->once && session->count > 0)
        return already_held(attempt->asked);
    if (session->count == INT_MAX)
        return rli_fail(RLOCK_INVALID, "the lock is held %d times already", INT_MAX);
    if (!rli_session_make_room(session))
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a hold");
    return RLOCK_OK;
}

/* The wire owners that a request speaks of; its texts. */
typedef struct owners {
    char own[RLI_OWNER_TEXT], over[RLI_OWNER_TEXT], writer[RLI_OWNER_TEXT];
} owners;

static rli_request request_for(acquiring *attempt, owners *texts, int64_t lease_ms)
{
    const rli_acquire *asked = attempt->asked;
    rli_session *session = attempt->session;
    rli_session *writer =
        asked->kind->crowd ? rli_holds_writer(attempt->holds, attempt->entry, &asked->owner) : NULL;
    *texts = (owners){.over = "", .writer = ""};
    rli_owner_text(attempt->holds, session->number, texts->own);
    if (session->replaces)
        rli_owner_text(attempt->holds, session->replaces, texts->over);
    if (writer)
        rli_owner_text(attempt->holds, writer->number, texts->writer);
    if (session->count + 1 > session->highest)
        session->highest = session->count + 1;
    bool forgotten = attempt->unheard && rli_now_ms() >= attempt->unheard_ms + RLI_UNHEARD_MS;
    int64_t wait_ms = asked->wait_ms == RLOCK_FOREVER ? attempt->holds->settings->fair_wait_timeout_ms : asked->wait_ms;
    return (rli_request){
        .names = asked->names,
        .owner = texts->own,
        .lease_ms = lease_ms,
        .count = session->count + 1,
        .highest = session->highest,
        .over = texts->over,
        .writer = texts->writer,
        .wait_ms = wait_ms > 0 ? wait_ms : 0,
        .unheard = forgotten ? attempt->unheard : "",
    };
}

/* Asks the server for one hold more. */
static rlock_status ask(rli_wait *wait, int64_t *again_ms)
{
    acquiring *attempt = (acquiring *)(void *)wait;
    const rli_acquire *asked = attempt->asked;
    rli_holds *holds = attempt->holds;
    owners texts;
    rli_request request;
    int64_t lease_ms = asked->lease_ms == RLOCK_WATCHDOG ? holds->settings->watchdog_timeout_ms : asked->lease_ms;

    *again_ms = RLI_NEVER;
    attempt->failed_ms = RLI_NEVER;
    pthread_mutex_lock(&holds->mutex);
    rlock_status status = begin_turn(attempt);
    rli_session *session = attempt->session;
    if (status == RLOCK_OK && !attempt->moved) {
        status = may_take(attempt);
        if (status == RLOCK_OK)
            request = request_for(attempt, &texts, lease_ms);
        else
            rli_session_end_turn(session);
    }
    pthread_mutex_unlock(&holds->mutex);
    if (status != RLOCK_OK || attempt->moved)
        return status;

    rli_call call;
    asked->kind->acquire(&call, &request);
    if (asked->wait_ms > 0)
        attempt->caller.deadline_ms = rli_wait_request_deadline(wait->deadline_ms);
    status = rli_call_run(&call, &attempt->caller, attempt->entry->lane);

    pthread_mutex_lock(&holds->mutex);
    rli_session_end_turn(session);
    /* An attempt that was never answered may run late and leave a hold that nobody wants. A late
     * re-entry cannot: without its outer hold it changes nothing. */
    if (call.unanswered && request.count == 1) {
        int64_t doubt_ms = asked->kind->queues ? lease_ms + request.wait_ms : lease_ms;
        session->doubt_ms = doubt_ms > session->doubt_ms ? doubt_ms : session->doubt_ms;
        attempt->entry->doubted = true;
    }
    if (status == RLOCK_OK)
        attempt->entry->answered_ms = rli_now_ms();
    if (status == RLOCK_OK)
        status = read_answer(attempt, &call, lease_ms, again_ms);
    else if (status == RLOCK_UNAVAILABLE && rli_now_ms() < attempt->caller.deadline_ms)
        attempt->failed_ms = call.failed_ms;
    pthread_mutex_unlock(&holds->mutex);
    rli_call_clear(&call);
    return status;
}

/* Leaves the queue on the server, unless another thread of this owner waits there, too. What is not
 * answered soon is done again in the background. */
static rlock_status give_up(acquiring *attempt, rlock_status why)
{
    rli_holds *holds = attempt->holds;
    owners texts;
    rli_request request;
    pthread_mutex_lock(&holds->mutex);
    rli_session *session = attempt->session;
    bool last = session->attempts == 1 && session->count == 0;
    if (last)
        request = request_for(attempt, &texts, 0);
    pthread_mutex_unlock(&holds->mutex);
    if (!last)
        return why;
    rli_call call;
    rli_caller caller;
    rlock_status status = RLOCK_CLOSED;
    int64_t score_ms = attempt->asked->lease_ms + request.wait_ms;
    char message[512];
    snprintf(message, sizeof message, "%s", rlock_last_error());
    if (rli_caller_begin(&caller, attempt->asked->client, NULL) == RLOCK_OK) {
        attempt->asked->kind->give_up(&call, &request);
        call.attempts = 1;
        caller.deadline_ms = rli_after_ms(GIVE_UP_MS);
        status = rli_call_run(&call, &caller, attempt->entry->lane);
        rli_call_clear(&call);
        rli_caller_end(&caller);
    }
    pthread_mutex_lock(&holds->mutex);
    if (status != RLOCK_OK && score_ms > session->doubt_ms)
        session->doubt_ms = score_ms;
    pthread_mutex_unlock(&holds->mutex);
    return rli_fail_as(why, message);
}

static bool may_ask(rli_wait *wait)
{
    acquiring *attempt = (acquiring *)(void *)wait;
    pthread_mutex_lock(&attempt->holds->mutex);
    bool may = attempt->waiter.look;
    attempt->waiter.look = false;
    pthread_mutex_unlock(&attempt->holds->mutex);
    return may;
}

/* Sleeps until this waiter may talk to the server, or its wait has ended. */
static rlock_status await_place(acquiring *attempt)
{
    rli_waiter *waiter = &attempt->waiter;
    rlock_status status = RLOCK_OK;
    pthread_mutex_lock(&attempt->holds->mutex);
    while (status == RLOCK_OK && !waiter->talker && !waiter->look) {
        if (waiter->ended)
            status = rli_fail_as(RLOCK_UNAVAILABLE, waiter->message);
        else if ((status = rli_caller_check(&attempt->caller)) == RLOCK_OK &&
                 rli_now_ms() >= attempt->wait.deadline_ms)
            status = RLOCK_TIMEOUT;
        if (status != RLOCK_OK)
            break;
        pthread_mutex_unlock(&attempt->holds->mutex);
        rli_caller_sleep(&attempt->caller, attempt->wait.deadline_ms);
        pthread_mutex_lock(&attempt->holds->mutex);
    }
    waiter->look = false;
    pthread_mutex_unlock(&attempt->holds->mutex);
    return status;
}

/* "Not acquired in the time given" says that the server did answer. Whoever queued here all the time
 * has that from the talker, or asks once before it says so. */
static bool answered_meanwhile(acquiring *attempt)
{
    pthread_mutex_lock(&attempt->holds->mutex);
    bool answered = attempt->entry->answered_ms >= attempt->waiter.queued_ms;
    pthread_mutex_unlock(&attempt->holds->mutex);
    return answered;
}

/* The channel that the wait hears; of its own where the server queues. To be left. */
static rlock_status join_channel(acquiring *attempt)
{
    rlock_client *client = attempt->asked->client;
    const rli_names *names = attempt->asked->names;
    attempt->moved = false;
    attempt->wait.subscriber = &client->subscriber;
    if (attempt->asked->kind->spins)
        return RLOCK_OK;
    if (!attempt->asked->kind->queues)
        return rli_subscriber_join(&client->subscriber, names->channel, names->channel_length,
                                   &attempt->wait.channel);
    char own[RLI_OWNER_TEXT];
    rli_owner_text(attempt->holds, attempt->session->number, own);
    size_t length = names->channel_length + 1 + strlen(own);
    char *channel = malloc(length + 1);
    if (!channel)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a channel's name");
    memcpy(channel, names->channel, names->channel_length);
    channel[names->channel_length] = ':';
    memcpy(channel + names->channel_length + 1, own, strlen(own) + 1);
    rlock_status status = rli_subscriber_join(&client->subscriber, channel, length, &attempt->wait.channel);
    free(channel);
    return status;
}

static void leave_channel(acquiring *attempt)
{
    if (attempt->wait.channel)
        rli_subscriber_leave(attempt->wait.subscriber, attempt->wait.channel);
    attempt->wait.channel = NULL;
}

static rlock_status wait_for_lock(acquiring *attempt)
{
    rlock_status status;
    do {
        status = join_channel(attempt);
        if (status != RLOCK_OK)
            return status;
        if (queues_here(attempt->asked->kind))
            status = await_place(attempt);
        if (status == RLOCK_OK)
            status = rli_wait_run(&attempt->wait);
        else if (status == RLOCK_TIMEOUT && !answered_meanwhile(attempt))
            status = ask(&attempt->wait, &attempt->wait.again_ms);
        leave_channel(attempt);
    } while (status == RLOCK_OK && attempt->moved);
    return status;
}

static rlock_status say_timeout(const rli_acquire *asked)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_TIMEOUT, "lock \"%s\" was not to be had within %lld ms",
                    rli_show_name(asked->names->name, shown), (long long)asked->wait_ms);
}

/* With a place in the queue of this process, so that one thread a name asks for all. */
static rlock_status queue_up(acquiring *attempt)
{
    rlock_status status = wait_for_lock(attempt);
    pthread_mutex_lock(&attempt->holds->mutex);
    if (attempt->failed_ms != RLI_NEVER && attempt->waiter.talker)
        rli_queue_outage(attempt->entry, attempt->failed_ms, rlock_last_error());
    rli_queue_leave(attempt->entry, &attempt->waiter);
    pthread_mutex_unlock(&attempt->holds->mutex);
    return status == RLOCK_TIMEOUT ? say_timeout(attempt->asked) : status;
}

/* With a place in the queue on the server, or in none. */
static rlock_status wait_for_itself(acquiring *attempt)
{
    rlock_status status = wait_for_lock(attempt);
    if (status != RLOCK_OK && attempt->asked->kind->give_up)
        status = give_up(attempt, status);
    return status == RLOCK_TIMEOUT ? say_timeout(attempt->asked) : status;
}

static rlock_status acquire(acquiring *attempt)
{
    const rli_acquire *asked = attempt->asked;
    bool waits = asked->wait_ms > 0, queues = queues_here(asked->kind);
    pthread_mutex_lock(&attempt->holds->mutex);
    /* Those who hold it pass by the queue; so do those who won't wait. */
    bool queue_first = waits && queues && attempt->entry->first && attempt->session->count == 0;
    if (queue_first)
        rli_queue_join(attempt->entry, &attempt->waiter, attempt->session, &attempt->caller.parker);
    pthread_mutex_unlock(&attempt->holds->mutex);
    if (queue_first)
        return queue_up(attempt);
    rlock_status status = ask(&attempt->wait, &attempt->wait.again_ms);
    if (waits && asked->kind->give_up && status != RLOCK_OK && status != RLOCK_TIMEOUT)
        return give_up(attempt, status);
    if (status != RLOCK_TIMEOUT || !waits)
        return status;
    attempt->wait.asked = true;
    if (!queues)
        return wait_for_itself(attempt);
    pthread_mutex_lock(&attempt->holds->mutex);
    rli_queue_join(attempt->entry, &attempt->waiter, attempt->session, &attempt->caller.parker);
    pthread_mutex_unlock(&attempt->holds->mutex);
    return queue_up(attempt);
}

/* A thread that is ending can't be watched any more: its watchdog lock would be renewed for ever. */
static rlock_status check_owner(const rli_acquire *asked)
{
    if (asked->lease_ms == RLOCK_WATCHDOG && !asked->owner.named && !asked->owner.life)
        return rli_fail(RLOCK_INVALID, "the thread is ending; a lock taken now needs a lease");
    return RLOCK_OK;
}

rlock_status rli_acquire_run(const rli_acquire *asked)
{
    acquiring attempt = {.asked = asked, .holds = &asked->client->holds, .failed_ms = RLI_NEVER};
    rlock_status status = check_owner(asked);
    if (status == RLOCK_OK)
        status = rli_caller_begin(&attempt.caller, asked->client, asked->cancel);
    if (status != RLOCK_OK)
        return status;
    attempt.wait.caller = &attempt.caller;
    attempt.wait.ask = ask;
    attempt.wait.look = may_ask;
    attempt.wait.deadline_ms = asked->wait_ms > 0 ? rli_after_ms(asked->wait_ms) : RLI_NEVER;

    pthread_mutex_lock(&attempt.holds->mutex);
    status = rli_watchdog_start(&asked->client->watchdog);
    attempt.entry = status == RLOCK_OK ? rli_holds_enter(attempt.holds, asked->names) : NULL;
    if (attempt.entry)
        attempt.session = rli_session_join(attempt.holds, attempt.entry, asked->kind, &asked->owner);
    pthread_mutex_unlock(&attempt.holds->mutex);
    if (attempt.session)
        status = rli_caller_check(&attempt.caller);
    else if (status == RLOCK_OK)
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a hold");
    if (attempt.session && status == RLOCK_OK)
        status = acquire(&attempt);

    pthread_mutex_lock(&attempt.holds->mutex);
    if (attempt.session)
        rli_session_leave(attempt.holds, attempt.session);
    if (attempt.entry)
        rli_holds_exit(attempt.holds, attempt.entry);
    pthread_mutex_unlock(&attempt.holds->mutex);
    free(attempt.unheard);
    rli_caller_end(&attempt.caller);
    return status;
}
