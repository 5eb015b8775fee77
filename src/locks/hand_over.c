/* Handing over: a last release that, in the same request, gives the lock to a waiter of this process, the heir. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/hand_over.h"

#include "client.h"
#include "clock.h"
#include "locks/session.h"

#include <stdlib.h>
#include <string.h>

/* Who asked for its place first, of those that did after `before`. The server may know of others before it, or
 * have got the questions in another order: then it hands nothing over. */
static rli_waiter *next_in_line(const rli_entry *entry, uint64_t before)
{
    rli_waiter *next = NULL;
    for (rli_waiter *waiter = entry->queues ? entry->queues->of[RLI_ON_SERVER].first : NULL; waiter; waiter = waiter->next) {
        const rli_session *session = waiter->session;
        if (session->queued && session->extra->place > before &&
            (!next || session->extra->place < next->session->extra->place))
            next = waiter;
    }
    return next;
}

/* Whether its wait goes on, and nothing else is under way for it. */
static bool can_take(const rli_waiter *waiter, const rli_attempt *attempt)
{
    const rli_session *session = waiter->session;
    return !session->busy && session->phase == RLI_OPEN && session->count == 0 && !waiter->handed &&
           rli_now_ms() < attempt->wait.deadline_ms && !rli_cancel_fired(attempt->caller.cancel) &&
           !atomic_load(attempt->caller.closed);
}

/* Whether it asks before a lease that begins now can end. */
static bool is_calm(rli_waiter *waiter, int64_t lease_ms)
{
    return !waiter->session->busy && rli_attempt_of(waiter)->wait.again_ms <= rli_after_ms(lease_ms);
}

/* Who is to have the lock next; NULL: nobody, or one that just asks for it and so can't be given it. Nobody here
 * passes that one. */
static rli_waiter *heir_of(const rli_entry *entry, const rli_kind *kind)
{
    if (!kind->inherited || !entry->queues)
        return NULL;
    rli_waiter *waiter = kind->queues ? next_in_line(entry, 0) : entry->queues->of[RLI_BY_MESSAGE].first;
    while (waiter && !waiter->session->busy && !can_take(waiter, rli_attempt_of(waiter)))
        waiter = kind->queues ? NULL : waiter->next; /* its wait is over */
    return waiter && !waiter->session->busy && rli_attempt_of(waiter)->asked->kind->inherited ? waiter : NULL;
}

/* What is only said where waiters queue on the server. */
static void begin_there(rli_holds *holds, rli_entry *entry, const rli_session *heir, rli_request *request,
                        rli_hand_over_texts *texts)
{
    request->heir_place_ms = heir->extra->place_ms;
    rli_waiter *behind = next_in_line(entry, heir->extra->place);
    if (behind && is_calm(behind, request->heir_lease_ms))
        request->calm = rli_owner_text(holds, behind->session->number, texts->calm);
}

/* What is only said where they queue here. */
static void begin_here(rli_entry *entry, rli_request *request)
{
    rli_chances *chances = &entry->queues->chances;
    request->listening = -1;
    if (!rli_chances_are_due(chances))
        return;
    request->listening = chances->listening;
    rli_chances_stand_aside(chances);
}

/* The heir may give up, and its handle go with the names, while the request is still repeated. False: out of memory. */
static bool name_counter(const rli_acquire *heirs, rli_request *request, rli_hand_over_texts *texts)
{
    if (!heirs->kind->fenced)
        return true;
    size_t length = heirs->names->key_lengths[0];
    texts->counter = malloc(length + 1);
    if (!texts->counter)
        return false;
    memcpy(texts->counter, heirs->names->keys[0], length + 1);
    request->heir_counter = texts->counter;
    request->heir_counter_length = length;
    return true;
}

rli_session *rli_hand_over_begin(rli_holds *holds, rli_entry *entry, const rli_kind *kind, rli_request *request,
                                 rli_hand_over_texts *texts)
{
    rli_waiter *waiter = heir_of(entry, kind);
    if (!waiter || !name_counter(rli_attempt_of(waiter)->asked, request, texts))
        return NULL;
    rli_session *heir = waiter->session;
    heir->busy = true;
    heir->extra->taker = waiter;
    if (heir->extra->highest < 1)
        heir->extra->highest = 1;
    request->heir = rli_owner_text(holds, heir->number, texts->heir);
    request->heir_lease_ms = rli_lease_on_server(holds, rli_attempt_of(waiter)->asked->lease_ms);
    if (kind->queues)
        begin_there(holds, entry, heir, request, texts);
    else
        begin_here(entry, request);
    return heir;
}

static void take(rli_waiter *waiter, const rli_gain *gain)
{
    waiter->session->entry->queues->answered_ms = rli_now_ms();
    if (rli_granted(rli_attempt_of(waiter), gain) == RLOCK_OK)
        waiter->handed = true;
    else
        waiter->look = true; /* it came too late for the lease: as after a question of its own */
    rli_unpark(waiter->parker);
}

void rli_hand_over_end(rli_holds *holds, rli_session *heir, const rli_session *from, const rli_kind *kind,
                       const rli_request *request, const rli_call *call, rlock_status status)
{
    rli_waiter *taker = heir->extra->taker;
    rli_verdict verdict = {.grant = RLI_DENIED};
    if (status == RLOCK_OK)
        verdict = kind->inherited(call->reply);
    const rli_gain gain = {.verdict = &verdict, .lease_ms = request->heir_lease_ms, .sent_ms = call->sent_ms,
                           .repeated = call->unanswered > 0, .handed = true};
    bool granted = verdict.grant == RLI_GRANTED;
    rli_chances *chances = &heir->entry->queues->chances;
    if (!kind->queues && request->listening >= 0)
        rli_chances_were_given(chances, verdict.free ? (int)(verdict.heard - request->listening) : 0);
    rli_chances_drop(chances, from);
    heir->extra->taker = NULL;
    rli_session_end_turn(heir);
    /* Once it was answered, a copy that runs late finds nothing to hand over. */
    if (status != RLOCK_OK && call->unanswered)
        rli_session_doubt(holds, heir, request->heir_lease_ms + request->heir_place_ms);
    if (granted && taker)
        take(taker, &gain);
    /* It may have had the lock and lost it since, or have been refused in the middle: whoever waits asks. */
    else if (granted || call->unanswered || status == RLOCK_SERVER || !kind->queues)
        rli_queue_owner_granted(heir->entry, heir);
    rli_session_settle(holds, heir);
}

void rli_hand_over_decline(rli_attempt *attempt)
{
    rli_session *session = attempt->session;
    if (session->extra->taker != &attempt->waiter)
        return;
    int64_t lease_ms = rli_lease_on_server(attempt->holds, attempt->asked->lease_ms);
    session->extra->taker = NULL;
    rli_session_doubt(attempt->holds, session, lease_ms + session->extra->place_ms);
    /* Who comes later must not wait in a session that is handed the lock for nobody. */
    if (session->extra->attempts == 1 && session->phase == RLI_OPEN)
        session->phase = RLI_DONE;
}
