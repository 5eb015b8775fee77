/* Offer: a release by another process gave the lock to a waiter, for a short time, and told it so. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/offer.h"

#include "base/clock.h"
#include "engine/grant.h"
#include "engine/session.h"

bool rli_offer_is_possible(const rli_engine *engine)
{
    return atomic_load(&engine->topology->pubsub_mode) == RLI_COUNTED;
}

void rli_offer_note_request(rli_attempt *attempt, bool waits)
{
    attempt->offered_from_ms = 0;
    attempt->session->cold->registrations += waits;
}

void rli_offer_note_denied(rli_attempt *attempt, const rli_call *call)
{
    if (attempt->session->cold->registrations == 1 && call->unanswered == 0)
        attempt->offered_from_ms = call->sent_ms;
}

/* Returns whether what it was told is certain, and enough to rely on.
 *
 * The offer of a session that has registered or queued once came after that request was sent, or the request's answer
 * would have been another. So it counts from then. A session that has done so more often may be told late of an offer
 * that has ended in between. A grant that is more than the field (it has a token, replicas must confirm it, nobody
 * renews its lease, or it replaces another field) takes a request. */
static bool may_take(const rli_attempt *attempt, int64_t told_ms)
{
    const rli_session *session = attempt->session;
    const rli_cold_fields *cold = session->cold;
    const rli_topology *topology = attempt->engine->topology;
    bool is_only = session->count == 0 && cold->attempts == 1 && cold->registrations == 1 && cold->in_doubt_ms == 0 &&
                   !cold->replaces && session->phase == RLI_OPEN && attempt->wait.news.number == session->number;
    bool is_all = !attempt->asked->kind->fenced && attempt->asked->lease_ms == RLOCK_WATCHDOG &&
                  told_ms <= attempt->engine->settings->watchdog_timeout_ms &&
                  !rli_topology_has_replicas(topology, attempt->wait.slot);
    return attempt->offered_from_ms > 0 && is_only && is_all && rli_now_ms() - attempt->offered_from_ms < told_ms / 10;
}

bool rli_offer_take(rli_attempt *attempt, rlock_status *status)
{
    int64_t told_ms = attempt->wait.news.told.ms;
    attempt->wait.news.told.ms = 0;
    if (!may_take(attempt, told_ms))
        return false;
    const rli_acquire_result verdict = {.grant = RLI_GRANTED};
    const rli_grant_info gain = {
        .verdict = &verdict, .lease_ms = told_ms, .sent_ms = attempt->offered_from_ms, .offered = true};
    rli_queue_note_answer(attempt->entry, attempt->offered_from_ms);
    *status = rli_grant_apply(attempt, &gain);
    return true;
}
