/* Handoff: a last release that, in the same request, gives the lock to a waiter of this process, the successor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/handoff.h"

#include "base/clock.h"
#include "engine/grant.h"
#include "engine/holds.h"
#include "engine/registry.h"
#include "engine/session.h"
#include "redis/pipeline/pending.h"

#include <stdlib.h>
#include <string.h>

/* Returns the waiter that requested its place in the server's queue first, among those with a number above `before`.
 * The server may know of other processes' waiters before it, or have got the requests in another order: then the
 * script hands nothing over. */
static rli_waiter *next_in_line(const rli_entry *entry, uint64_t before)
{
    rli_waiter *next = NULL;
    for (rli_waiter *waiter = entry->queues ? entry->queues->of[RLI_ON_SERVER].first : NULL; waiter;
         waiter = waiter->next) {
        const rli_session *session = waiter->session;
        if (session->queued && session->cold->queue_number > before &&
            (!next || session->cold->queue_number < next->session->cold->queue_number))
            next = waiter;
    }
    return next;
}

/* Returns whether its wait goes on and nothing else is under way for it. */
static bool can_take(const rli_waiter *waiter, const rli_attempt *attempt)
{
    const rli_session *session = waiter->session;
    return !session->busy && session->phase == RLI_OPEN && session->count == 0 && !waiter->handed &&
           attempt->gives_up == RLI_GIVES_UP_NOT && rli_now_ms() < attempt->wait.deadline_ms &&
           !rli_cancel_fired(attempt->op->cancel) && !atomic_load(&attempt->op->gate->closed);
}

/* Returns whether the waiter asks by itself before a lease that begins now can end. */
static bool is_calm(rli_waiter *waiter, int64_t lease_ms)
{
    return !waiter->session->busy && rli_attempt_of(waiter)->wait.again_ms <= rli_after_ms(lease_ms);
}

/* Returns the waiter that is to have the lock next. NULL: nobody waits, or the next waiter is just asking for the
 * lock and so cannot be given it. No local waiter overtakes that one. */
static rli_waiter *successor_of(const rli_entry *entry, const rli_kind *kind)
{
    if (!kind->parse_handoff || !entry->queues)
        return NULL;
    rli_waiter *waiter = rli_kind_queues_on_server(kind) ? next_in_line(entry, 0)
                                                         : entry->queues->of[kind->queueing].first;
    while (waiter && !waiter->session->busy && !can_take(waiter, rli_attempt_of(waiter)))
        waiter = rli_kind_queues_on_server(kind) ? NULL : waiter->next; /* its wait is over */
    return waiter && !waiter->session->busy && rli_attempt_of(waiter)->asked->kind->parse_handoff ? waiter : NULL;
}

/* Adds what the script needs only where waiters queue on the server. */
static void begin_there(rli_engine *engine, rli_entry *entry, const rli_session *successor, rli_request *request,
                        rli_handoff *handoff)
{
    request->successor_place_ms = successor->cold->place_ms;
    rli_waiter *behind = next_in_line(entry, successor->cold->queue_number);
    if (behind && is_calm(behind, request->successor_lease_ms))
        request->calm = rli_owner_text(engine->client_id, behind->session->number, handoff->calm);
}

/* Adds what the script needs only where waiters queue locally. */
static void begin_here(rli_entry *entry, const rli_kind *kind, rli_waiter *successor, rli_request *request)
{
    rli_yield *yield = &entry->queues->yield;
    bool due = rli_yield_is_due(yield);
    request->listening = RLI_COUNTS_NOBODY;
    if (kind->queueing == RLI_BY_SPINNING)
        return;
    if (rli_yield_end_streak(yield, false)) {
        request->listening = RLI_FREES;
        due = false;
    }
    rli_registry_request_handoff(successor, request, due);
    if (!due)
        return;
    request->listening = yield->listening && !yield->guards;
    rli_yield_to_others(yield);
}

/* Copies the key of the successor's fencing tokens: the successor may give up, and its handle and names be freed,
 * while the request is still being repeated. Returns false when out of memory. */
static bool name_counter(const rli_acquire *successors, rli_request *request, rli_handoff *handoff)
{
    if (!successors->kind->fenced)
        return true;
    size_t length = successors->names->key_lengths[0];
    handoff->counter = malloc(length + 1);
    if (!handoff->counter)
        return false;
    memcpy(handoff->counter, successors->names->keys[0], length + 1);
    request->successor_counter = handoff->counter;
    request->successor_counter_length = length;
    return true;
}

/* --- the successor reads the release's answer itself, instead of being woken by the thread that read it --- */

/* Returns whether the successor should do so: when others wait behind it. If it waits alone, the releasing thread wakes
 * it: so the releasing thread is back in the queue before the successor releases the lock. */
static bool is_in_a_hurry(const rli_handoff *handoff)
{
    const rli_waiter *taker = handoff->successor->cold->taker;
    return taker && (taker->next || taker->previous);
}

/* rli_witness.wake: gives the lead of the pipeline to the successor's thread if that sleeps. */
static bool wake(rli_witness *witness, const rli_lead *lead, rli_wake_batch *batch)
{
    rli_handoff *handoff = RLI_ITEM(rli_handoff, witness, witness);
    rli_engine_lock(handoff->engine);
    rli_waiter *taker = handoff->successor->cold->taker;
    bool given = is_in_a_hurry(handoff) && taker->asleep;
    if (given) {
        taker->asleep = false;
        *taker->lead = *lead;
        rli_unpark_batched(taker->parker, 0, batch);
    }
    rli_engine_unlock(handoff->engine);
    return given;
}

void rli_handoff_lead_if_asked(rli_attempt *attempt)
{
    rli_waiter *waiter = &attempt->waiter;
    waiter->asleep = false;
    if (!waiter->lead || !waiter->lead->pipe)
        return;
    const rli_lead lead = *waiter->lead;
    waiter->lead->pipe = NULL;
    rli_engine_unlock(attempt->engine);
    rli_pipeline_lead(&lead, attempt->op, attempt->wait.deadline_ms);
    rli_engine_lock(attempt->engine);
}

/* --- the outcome --- */

static void take(rli_waiter *waiter, const rli_grant_info *gain)
{
    rli_queue_note_answer(waiter->session->entry, gain->sent_ms);
    if (rli_grant_apply(rli_attempt_of(waiter), gain) == RLOCK_OK)
        waiter->handed = true;
    else
        waiter->asks_now = true; /* too late for the lease: it asks, as after a late answer to its own request */
    rli_unpark(waiter->parker);
}

/* As far as is known, the successor does not have the lock. Wakes its waiters, so that they ask, when it may have the
 * lock after all or when no message will come for them. */
static void pass_over(const rli_handoff *handoff, rli_session *successor, rlock_status status, bool granted,
                      bool offered)
{
    /* The successor may have had the lock and lost it since, or the script may have been refused midway. */
    bool queues = rli_kind_queues_on_server(handoff->kind);
    bool hears = offered && handoff->request->successor_registers; /* when its turn comes */
    if (!hears && (granted || handoff->call->unanswered || status == RLOCK_SERVER || !queues))
        rli_queue_owner_granted(successor->entry, successor);
}

/* The script has looked for others. */
static void note_others(rli_yield *yield, const rli_request *request, const rli_acquire_result *verdict)
{
    if (verdict->free && verdict->registered)
        rli_yield_note_left(yield);
    else
        rli_yield_note_others(yield, verdict->free ? verdict->heard - (int)request->listening : 0);
}

/* Ends the handoff, once: the request, sent at `sent_ms` at the latest, ended with `status` and `verdict`. Mutex
 * held. */
static void conclude(rli_handoff *handoff, rlock_status status, const rli_acquire_result *verdict, int64_t sent_ms)
{
    const rli_call *call = handoff->call;
    const rli_request *request = handoff->request;
    const rli_grant_info gain = {.verdict = verdict,
                                 .lease_ms = request->successor_lease_ms,
                                 .sent_ms = sent_ms,
                                 .repeated = call->unanswered > 0,
                                 .handed = true};
    rli_session *successor = handoff->successor;
    rli_waiter *taker = successor->cold->taker;
    bool granted = verdict->grant == RLI_GRANTED, queues = rli_kind_queues_on_server(handoff->kind);
    rli_yield *yield = &successor->entry->queues->yield;
    handoff->successor = NULL;
    if (!queues && request->listening >= 0)
        note_others(yield, request, verdict);
    rli_yield_drop_holder(yield, handoff->from);
    successor->cold->taker = NULL;
    rli_session_end_turn(successor);
    /* Once the request was answered, a copy that runs late hands nothing over, but lengthens the successor's hold. */
    if (status != RLOCK_OK && (call->unanswered || call->broke_off))
        rli_session_in_doubt(handoff->engine, successor, request->successor_lease_ms + request->successor_place_ms);
    else if (call->unanswered)
        rli_session_in_doubt_if_held(handoff->engine, successor, request->successor_lease_ms);
    successor->registered |= request->successor_registers && !granted;
    if (granted && taker)
        take(taker, &gain);
    else
        pass_over(handoff, successor, status, granted, verdict->registered && !verdict->free);
    rli_session_settle(handoff->engine, successor);
}

/* rli_witness.tell: the successor has the lock before the releasing thread learns of it. */
static void tell(rli_witness *witness, const rli_pending *slot)
{
    rli_handoff *handoff = RLI_ITEM(rli_handoff, witness, witness);
    if (slot->outcome != RLI_ANSWERED)
        return;
    const rli_call *call = handoff->call;
    rli_acquire_result verdict = handoff->kind->parse_handoff(slot->reply);
    rli_engine_lock(handoff->engine);
    if (verdict.grant == RLI_GRANTED && is_in_a_hurry(handoff))
        conclude(handoff, RLOCK_OK, &verdict, call->unanswered ? call->sent_ms : slot->queued_ms);
    rli_engine_unlock(handoff->engine);
}

void rli_handoff_end(rli_handoff *handoff, rlock_status status)
{
    const rli_call *call = handoff->call;
    rli_acquire_result verdict = {.grant = RLI_DENIED};
    if (status == RLOCK_OK)
        verdict = handoff->kind->parse_handoff(call->reply);
    if (handoff->successor)
        conclude(handoff, status, &verdict, call->sent_ms);
    free(handoff->counter);
}

/* --- the beginning --- */

/* The lock is freed for a moment, and nobody is told: the waiter asks when that is over, and its pauses begin anew. */
static void ask_soon(rli_waiter *waiter)
{
    rli_attempt_of(waiter)->denied = 0;
    waiter->asks_now = true;
    rli_unpark(waiter->parker);
}

bool rli_handoff_begin(rli_handoff *handoff, rli_engine *engine, const rli_session *from, const rli_kind *kind,
                       rli_request *request, rli_call *call)
{
    rli_entry *entry = from->entry;
    rli_waiter *waiter = successor_of(entry, kind);
    *handoff = (rli_handoff){
        .witness = {wake, tell}, .engine = engine, .from = from, .kind = kind, .request = request, .call = call};
    if (waiter && kind->queueing == RLI_BY_SPINNING && rli_yield_end_streak(&entry->queues->yield, true)) {
        ask_soon(waiter);
        return false;
    }
    if (!waiter || !name_counter(rli_attempt_of(waiter)->asked, request, handoff))
        return false;
    rli_session *successor = waiter->session;
    handoff->successor = successor;
    successor->busy = true;
    successor->cold->taker = waiter;
    if (successor->cold->highest < 1)
        successor->cold->highest = 1;
    request->successor = rli_owner_text(engine->client_id, successor->number, handoff->owner);
    request->successor_lease_ms = rli_lease_on_server(engine, rli_attempt_of(waiter)->asked->lease_ms);
    if (rli_kind_queues_on_server(kind))
        begin_there(engine, entry, successor, request, handoff);
    else
        begin_here(entry, kind, waiter, request);
    return true;
}

void rli_handoff_decline(rli_attempt *attempt)
{
    rli_session *session = attempt->session;
    if (session->cold->taker != &attempt->waiter)
        return;
    int64_t lease_ms = rli_lease_on_server(attempt->engine, attempt->asked->lease_ms);
    session->cold->taker = NULL;
    rli_session_in_doubt(attempt->engine, session, lease_ms + session->cold->place_ms);
    /* A thread of the owner that comes later must not wait in this session: the lock would be handed to a waiter
     * that has gone. */
    if (session->cold->attempts == 1 && session->phase == RLI_OPEN)
        rli_session_become(session, RLI_DONE);
}
