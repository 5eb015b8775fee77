/* Renewing: what is due, in batches, of which several are under way at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/renew.h"

#include "base/clock.h"
#include "engine/session.h"
#include "net/reply.h"
#include "watchdog/renewal_batch.h"

#include <stdlib.h>

/* Time to connect that is not counted against the answer: silence, not a connect, is what condemns
 * a connection. */
#define CONNECT_MS 20

static int64_t part_of_timeout(const rli_watchdog *watchdog, int parts)
{
    return watchdog->engine->settings->watchdog_timeout_ms / parts;
}

/* Again soon; at the deadline the watchdog declares it lost. */
static void put_off(rli_engine *engine, rli_session *session, int64_t until_ms)
{
    rli_timer_heap_set(&engine->timers, &session->timer, rli_earlier(until_ms, session->deadline_ms));
}

/* --- a batch --- */

static unsigned slot_of(const rli_watchdog *watchdog, const rli_session *session)
{
    return rli_topology_slot(watchdog->engine->topology, session->entry->name, session->entry->length);
}

static bool is_like(const rli_watchdog *watchdog, const rli_renewal_batch *batch, const rli_session *session)
{
    const rli_session *first = batch->sessions[0];
    return batch->count == 0 ||
           (session->kind == first->kind && (rli_session_renewed(session) > 0) == batch->lengthens &&
            slot_of(watchdog, session) == slot_of(watchdog, first));
}

/* The first on the timer heap, if it is for a renewal that may go with the others; NULL: for a batch of its own, or for
 * something else that the watchdog does next. */
static rli_session *next_like(const rli_watchdog *watchdog, const rli_renewal_batch *batch, int64_t due_ms)
{
    rli_timer *first = rli_timer_heap_first(&watchdog->engine->timers);
    if (!first || first->at_ms > due_ms || first == &watchdog->engine->permits_in_doubt.timer)
        return NULL;
    rli_session *session = RLI_ITEM(rli_session, first, timer);
    bool fits = session->phase == RLI_OPEN && !session->renewing && rli_session_is_renewed(session) &&
                rli_now_ms() < session->deadline_ms && is_like(watchdog, batch, session);
    return fits ? session : NULL;
}

static void take_along(rli_engine *engine, rli_renewal_batch *batch, rli_session *session)
{
    batch->lengthens = rli_session_renewed(session) > 0;
    batch->ends_ms = rli_earlier(batch->ends_ms, session->deadline_ms);
    batch->sessions[batch->count++] = session;
    session->renewing = true;
    rli_timer_heap_set(&engine->timers, &session->timer, session->deadline_ms);
}

/* Takes what is due into the batch. Holds of ended threads are let go: they are renewed no more, and their owner will
 * never unlock them. */
static void fill(rli_watchdog *watchdog, rli_renewal_batch *batch)
{
    rli_engine *engine = watchdog->engine;
    /* What is due very soon comes along now, instead of waking the thread again for it. In a cluster, all of one slot
     * is due at once. */
    int64_t due_ms = rli_now_ms() + (engine->settings->mode == RLI_CLUSTER ? 0 : part_of_timeout(watchdog, 60));
    const rli_life *alive = NULL; /* most batches are of few threads: each is looked at once */
    rli_session *session;
    while (batch->count < engine->settings->batch_size && (session = next_like(watchdog, batch, due_ms))) {
        rli_life *life = rli_session_owner(session).life;
        if (life && life != alive && rli_life_has_ended(life)) {
            rli_session_lose(engine, session, RLOCK_LOST_OWNER_EXITED, true);
            continue;
        }
        alive = life;
        take_along(engine, batch, session);
    }
}

/* --- asking --- */

typedef char owner_text[RLI_OWNER_TEXT];

typedef struct wording {
    rli_call call;
    owner_text *owners;
    rli_names first; /* of the first lock, where its script looks at further keys of its slot */
} wording;

/* Its sessions keep their names and numbers while they are marked. False: out of memory. To be cleared in any case. */
static bool word(const rli_renewal_batch *batch, wording *to)
{
    rli_engine *engine = batch->watchdog->engine;
    const rli_kind *kind = batch->sessions[0]->kind;
    rli_call *call = &to->call;
    *to = (wording){.owners = malloc((size_t)batch->count * sizeof *to->owners)};
    rli_call_script(call, kind->renew, batch->count + kind->levels);
    for (int i = 0; i < batch->count; i++)
        rli_call_add(call, batch->sessions[i]->entry->name, batch->sessions[i]->entry->length);
    if (kind->levels && rli_names_make(&to->first, NULL, batch->sessions[0]->entry->name, &kind->naming) != RLOCK_OK)
        return false;
    if (kind->levels)
        rli_call_add(call, to->first.keys[0], to->first.key_lengths[0]);
    rli_call_add_number(call, batch->lengthens ? engine->settings->watchdog_timeout_ms : 0);
    for (int i = 0; to->owners && i < batch->count; i++)
        rli_call_add_text(call, rli_owner_text(engine, batch->sessions[i]->number, to->owners[i]));
    return to->owners && !call->no_memory;
}

static void clear(wording *self)
{
    rli_call_clear(&self->call);
    rli_names_free(&self->first);
    free(self->owners);
}

/* With its own short patience, not the callers' long retries: what fails is tried again soon. RLOCK_OK: the call has
 * the reply. */
static rlock_status ask(const rli_renewal_batch *batch, rli_call *call)
{
    rli_operation op;
    call->background = true;
    call->attempts = 1;
    call->timeout_ms = part_of_timeout(batch->watchdog, 6) + 1;
    rlock_status status = rli_operation_begin(&op, batch->watchdog->engine->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    /* Nor beyond the first deadline in the batch: that loss is to be told in time. */
    op.deadline_ms = rli_earlier(rli_after_ms(call->timeout_ms + CONNECT_MS), batch->ends_ms);
    status = rli_call_run(call, batch->watchdog->engine->topology, &op, NULL);
    rli_operation_end(&op);
    return status;
}

/* For a shorter time yet: nothing else is attended to meanwhile. */
static rlock_status connect_node(const rli_renewal_batch *batch)
{
    rli_operation op;
    rlock_status status = rli_operation_begin(&op, batch->watchdog->engine->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    op.deadline_ms = rli_earlier(rli_after_ms(part_of_timeout(batch->watchdog, 12) + CONNECT_MS), batch->ends_ms);
    status = rli_pipeline_connect(&batch->node->background, &op);
    rli_operation_end(&op);
    return status;
}

static bool launch(rli_renewal_batch *batch, rli_call *call)
{
    if (!batch->node)
        return false;
    return rli_renewal_batch_send(batch, call) ||
           (connect_node(batch) == RLOCK_OK && rli_renewal_batch_send(batch, call));
}

/* --- what comes of it --- */

static void apply(rli_engine *engine, rli_session *session, bool lengthened, int64_t sent_ms, const redisReply *answer,
                  int64_t again_ms)
{
    int64_t watchdog_ms = engine->settings->watchdog_timeout_ms, held = 0;
    session->renewing = false;
    if (session->phase != RLI_OPEN || session->count == 0)
        return; /* released, or declared lost, while the renewal was under way */
    if (!answer) {
        put_off(engine, session, again_ms);
    } else if (rli_reply_integer(answer, &held) && held > 0) {
        /* Beneath the owner's write hold: that one's key was lengthened, too. */
        rli_owner owner = rli_session_owner(session);
        rli_session *writer = held == 2 ? rli_session_writer(engine, session->entry, &owner) : NULL;
        if (lengthened)
            rli_session_confirm(session, sent_ms, watchdog_ms);
        if (lengthened && writer)
            rli_session_confirm(writer, sent_ms, watchdog_ms);
        rli_session_plan(engine, session, sent_ms);
    } else {
        rli_session_lose(engine, session, RLOCK_LOST_GONE, true);
    }
}

static void discard(rli_renewal_batch *batch)
{
    rli_node_release(batch->node);
    free(batch);
}

/* `reply`: to a request of that instant; NULL: none of use came. Frees the flight. */
static void close_batch(rli_renewal_batch *batch, const redisReply *reply, int64_t sent_ms)
{
    rli_engine *engine = batch->watchdog->engine;
    bool whole = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == (size_t)batch->count;
    int64_t again_ms = rli_after_ms(part_of_timeout(batch->watchdog, 30) + 1);
    for (int i = 0; i < batch->count; i++) {
        rli_session *session = batch->sessions[i];
        apply(engine, session, batch->lengthens, sent_ms, whole ? reply->element[i] : NULL, again_ms);
        rli_session_settle(engine, session);
    }
    discard(batch);
}

/* Holds of a server that kept a batch waiting in vain do not wait for it one batch after the other: long enough that the
 * others' renewals get most of the time; short enough for a few more tries. */
static void note_silence(const rli_watchdog *watchdog, rli_node *node)
{
    node->renewals.mute_until_ms = rli_after_ms(part_of_timeout(watchdog, 12));
}

/* Waits for the answer: with redirects, and the script's text. Mutex held on entry and return, not meanwhile. */
static void close_by_asking(rli_renewal_batch *batch)
{
    rli_watchdog *watchdog = batch->watchdog;
    rli_engine *engine = watchdog->engine;
    wording own;
    pthread_mutex_unlock(&engine->mutex);
    int64_t since_ms = rli_now_ms();
    rlock_status status = word(batch, &own) ? ask(batch, &own.call) : RLOCK_NO_MEMORY;
    pthread_mutex_lock(&engine->mutex);
    if (status == RLOCK_UNAVAILABLE && batch->node && rli_now_ms() - since_ms > part_of_timeout(watchdog, 12))
        note_silence(watchdog, batch->node);
    close_batch(batch, status == RLOCK_OK ? own.call.reply : NULL, own.call.sent_ms);
    clear(&own);
}

/* Whether the same request, asked with patience, may do better. */
static bool is_worth_asking(const rli_renewal_batch *batch)
{
    if (batch->pending.outcome != RLI_ANSWERED)
        return false;
    rli_advice advice = rli_reply_advice(batch->pending.reply);
    return advice == RLI_LOAD || advice == RLI_MOVED || advice == RLI_ASK || advice == RLI_DEMOTED;
}

/* Mutex held on entry and return; free in between, so that a caller may have it. */
static void take_up(rli_renewal_batch *batch)
{
    rli_watchdog *watchdog = batch->watchdog;
    rli_engine *engine = watchdog->engine;
    redisReply *reply = batch->pending.outcome == RLI_ANSWERED ? batch->pending.reply : NULL;
    if (batch->pending.outcome == RLI_SILENT)
        note_silence(watchdog, batch->node);
    if (is_worth_asking(batch))
        close_by_asking(batch);
    else
        close_batch(batch, reply, batch->sent_ms);
    pthread_mutex_unlock(&engine->mutex);
    if (reply)
        freeReplyObject(reply);
    else
        rli_topology_suspect(watchdog->engine->topology);
    pthread_mutex_lock(&engine->mutex);
}

bool rli_renew_land(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_renewal_batch *batch;
    bool landed = false;
    for (; (batch = rli_renewal_batch_land(watchdog)); landed = true)
        take_up(batch);
    int64_t since_ms = rli_now_ms() - part_of_timeout(watchdog, 6) - 1;
    if (watchdog->batches.first && watchdog->batches.first->sent_ms <= since_ms) {
        pthread_mutex_unlock(&engine->mutex);
        rli_renewal_batch_give_up(watchdog, since_ms);
        pthread_mutex_lock(&engine->mutex);
    }
    return landed;
}

/* --- what is due --- */

/* False: the server has as much under way as it should, or does not answer. */
static bool may_send(rli_watchdog *watchdog, const rli_node *node, rli_session *timer)
{
    rli_engine *engine = watchdog->engine;
    int64_t now_ms = rli_now_ms();
    if (node && now_ms < node->renewals.mute_until_ms) {
        put_off(engine, timer, node->renewals.mute_until_ms);
        return false;
    }
    if (!node || !rli_renewal_batch_is_full(node, now_ms > timer->timer.at_ms + part_of_timeout(watchdog, 60)))
        return true;
    if (now_ms > node->renewals.heard_ms + part_of_timeout(watchdog, 60)) { /* others are not to wait for it */
        put_off(engine, timer, now_ms + part_of_timeout(watchdog, 120) + 1);
        return false;
    }
    pthread_mutex_unlock(&engine->mutex);
    rli_renewal_batch_await(watchdog, RLI_NEVER);
    pthread_mutex_lock(&engine->mutex);
    return false;
}

/* It takes over the hold on the node. NULL: out of memory, and what is due is put off. */
static rli_renewal_batch *make(rli_watchdog *watchdog, rli_node *node, rli_session *timer)
{
    size_t most = (size_t)watchdog->engine->settings->batch_size;
    rli_renewal_batch *batch = malloc(sizeof *batch + most * sizeof(rli_session *));
    if (batch)
        *batch = (rli_renewal_batch){.watchdog = watchdog, .node = node, .ends_ms = RLI_NEVER};
    else
        put_off(watchdog->engine, timer, rli_after_ms(part_of_timeout(watchdog, 30) + 1));
    return batch;
}

void rli_renew_due(rli_watchdog *watchdog, rli_session *timer)
{
    rli_engine *engine = watchdog->engine;
    rli_node *node = rli_topology_hold(watchdog->engine->topology, slot_of(watchdog, timer));
    rli_renewal_batch *batch = may_send(watchdog, node, timer) ? make(watchdog, node, timer) : NULL;
    if (!batch) {
        rli_node_release(node);
        return;
    }
    fill(watchdog, batch);
    if (batch->count == 0) {
        discard(batch);
        return;
    }
    pthread_mutex_unlock(&engine->mutex);
    wording own;
    int64_t since_ms = rli_now_ms();
    bool sent = word(batch, &own) && launch(batch, &own.call);
    clear(&own);
    if (!sent)
        rli_topology_suspect(watchdog->engine->topology);
    pthread_mutex_lock(&engine->mutex);
    if (!sent && node && rli_now_ms() - since_ms > part_of_timeout(watchdog, 12))
        note_silence(watchdog, node);
    if (!sent)
        close_batch(batch, NULL, since_ms);
}
