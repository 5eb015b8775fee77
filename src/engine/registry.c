/* Registry: how the waiters of one name register on the server, and hear that it is their turn. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/registry.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "engine/offer.h"
#include "engine/session.h"

#include <stdlib.h>
#include <string.h>

/* --- channels --- */

/* Returns whether the attempt's waiters register. Not with localHandOver, where a session takes over the number of
 * another, and nothing may stand on the server under its own. */
static bool may_register(const rli_attempt *attempt)
{
    return attempt->asked->kind->registers && !attempt->engine->settings->local_hand_over &&
           rli_offer_is_possible(attempt->engine);
}

/* Returns the client's own channel for the lock; the caller frees its name. NULL as the name: out of memory. */
static rli_source own_channel(const rli_attempt *attempt)
{
    const rli_names *names = attempt->asked->names;
    size_t id_length = strlen(attempt->engine->client_id), length = names->channel_length + 1 + id_length;
    char *channel = malloc(length + 1);
    if (channel) {
        memcpy(channel, names->channel, names->channel_length);
        channel[names->channel_length] = ':';
        memcpy(channel + names->channel_length + 1, attempt->engine->client_id, id_length + 1);
    }
    return (rli_source){.name = channel, .length = length};
}

static rli_source common_channel(const rli_attempt *attempt)
{
    return (rli_source){.name = attempt->asked->names->channel, .length = attempt->asked->names->channel_length};
}

rlock_status rli_registry_join_channel(rli_attempt *attempt)
{
    const rli_names *names = attempt->asked->names;
    if (attempt->wait.news.channel)
        return RLOCK_OK;
    attempt->own_channel = may_register(attempt);
    attempt->wait.leaving = attempt->own_channel ? RLI_LEAVE_LINGER : RLI_LEAVE_AT_ONCE;
    attempt->wait.news.number = attempt->own_channel ? attempt->session->number : 0;
    if (!attempt->own_channel) {
        const rli_source common = common_channel(attempt);
        return rli_wait_join(&attempt->wait, names->name, names->length, &common);
    }
    const rli_source own = own_channel(attempt);
    if (!own.name)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a channel's name");
    rlock_status status = rli_wait_join(&attempt->wait, names->name, names->length, &own);
    free((char *)(uintptr_t)own.name);
    return status;
}

void rli_registry_rejoin_channel(rli_attempt *attempt)
{
    const rli_names *names = attempt->asked->names;
    if (!may_register(attempt))
        return;
    const rli_source own = own_channel(attempt);
    attempt->wait.leaving = RLI_LEAVE_LINGER;
    attempt->wait.news.number = attempt->session->number;
    if (own.name)
        rli_wait_rejoin(&attempt->wait, names->name, names->length, &own);
    attempt->own_channel = attempt->wait.news.channel;
    free((char *)(uintptr_t)own.name);
}

rlock_status rli_registry_join_common(rli_attempt *attempt, int64_t *again_ms)
{
    bool guards = attempt->wants == RLI_WANTS_TO_GUARD;
    rli_news *news = &attempt->wait.news;
    if (attempt->wants == RLI_OWN_CHANNEL_IS_ENOUGH || (news->common && (news->guards || !guards)))
        return RLOCK_OK;
    const rli_source common = common_channel(attempt);
    rlock_status status = rli_news_join_common(news, &common, guards);
    /* A message may have come before. If the subscription is not confirmed yet, its confirmation wakes the waiter. */
    if (status == RLOCK_OK && rli_news_is_confirmed(news))
        *again_ms = rli_now_ms();
    return status;
}

/* --- requests and answers --- */

/* Returns whether the attempt hears what is published on its client's own channel from now on. */
static bool hears(const rli_attempt *attempt)
{
    const rli_news *news = &attempt->wait.news;
    return attempt->own_channel && news->channel && rli_channel_is_confirmed(&news->node->subscriber, news->channel);
}

void rli_registry_request(rli_attempt *attempt, rli_request *request)
{
    rli_session *session = attempt->session;
    /* An owner that was granted the lock as another kind meanwhile does not wait any more, but is still registered. */
    if (!attempt->asked->kind->registers || (session->count > 0 && !session->registered))
        return;
    request->registers = session->count == 0 && hears(attempt);
    rli_offer_note_request(attempt, request->registers);
    if (request->registers) {
        if (!session->cold->registered_ms)
            session->cold->registered_ms = request->lease_ms;
        session->registered = true;
    }
    request->registered_ms = session->cold->registered_ms;
    request->since_us = attempt->since_us;
}

void rli_registry_leave_to_owner(const rli_attempt *attempt)
{
    if (attempt->session->registered && attempt->session->cold->attempts > 1)
        rli_queue_let_one_listen(attempt->entry, attempt->session);
}

/* At most so many waiters listen for a holder of another library to release the lock. */
#define GUARDS 2

void rli_registry_note_denied(rli_attempt *attempt, const rli_acquire_result *verdict, const rli_call *call)
{
    attempt->wants = RLI_OWN_CHANNEL_IS_ENOUGH;
    if (!attempt->own_channel)
        return;
    if (verdict->registered) {
        attempt->since_us = verdict->since_us;
        rli_offer_note_denied(attempt, call);
        if (verdict->foreign && attempt->entry->queues)
            rli_yield_note_turn(&attempt->entry->queues->yield);
        if (verdict->foreign && verdict->before < GUARDS)
            attempt->wants = RLI_WANTS_TO_GUARD;
    } else if (hears(attempt)) {
        attempt->wants = RLI_WANTS_COMMON;
        /* An earlier request may have registered it. */
        attempt->session->registered &= call->unanswered > 0 || attempt->since_us > 0 ||
                                        attempt->session->cold->registrations > 1;
    }
}

/* A message may be lost, its receiver may have died, or the registry's key may be gone. Then the first that asks by
 * itself finds out. The more waiters there are, the less often each asks. */
#define ASK_FIRST_MS 1000
#define ASK_EACH_MS  250
#define ASK_MOST_MS  30000

int64_t rli_registry_ask_again_ms(const rli_acquire_result *verdict)
{
    int64_t before = verdict->before < ASK_MOST_MS / ASK_EACH_MS ? verdict->before : ASK_MOST_MS / ASK_EACH_MS;
    int64_t pause_ms = rli_earlier(ASK_FIRST_MS + rli_random_up_to(before * ASK_EACH_MS), ASK_MOST_MS);
    return rli_after_ms(pause_ms);
}

/* --- handoff --- */

void rli_registry_request_handoff(rli_waiter *successor, rli_request *request, bool others)
{
    const rli_attempt *attempt = rli_attempt_of(successor);
    rli_cold_fields *cold = successor->session->cold;
    if (!attempt->asked->kind->registers)
        return;
    request->successor_registers = others && successor->hears;
    cold->registrations += request->successor_registers;
    if (request->successor_registers && !cold->registered_ms)
        cold->registered_ms = request->successor_lease_ms;
    request->successor_registered_ms = cold->registered_ms;
    request->successor_since_us = attempt->since_us;
}
