/* Renew: sends due renewals in batches, several at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/renew.h"

#include "base/clock.h"
#include "engine/holds.h"
#include "engine/session.h"
#include "net/reply.h"
#include "watchdog/look.h"
#include "watchdog/renew_permits.h"
#include "watchdog/renewal_batch.h"
#include "watchdog/tracking.h"

#include <stdlib.h>
#include <string.h>

/* Time to connect, which does not count as time to answer: only a server's silence condemns a connection. */
#define CONNECT_MS 20

/* Sets the next attempt. At the session's deadline, the watchdog declares it lost instead. */
static void put_off(rli_engine *engine, rli_session *session, int64_t until_ms)
{
    rli_timer_heap_set(&engine->timers, &session->timer, rli_earlier(until_ms, session->deadline_ms));
}

/* --- a batch --- */

/* Returns whether the session's renewal fits into the same request as the others. */
static bool is_like(const rli_watchdog *watchdog, const rli_renewal_batch *batch, const rli_session *session)
{
    const rli_session *first = batch->sessions[0];
    if (batch->count == 0)
        return true;
    /* The script of group locks takes one of them. */
    bool goes_alone = session->alone || first->alone || session->entry->grouped;
    bool lengthens = rli_session_renewed_count(session) > 0;
    return session->kind == first->kind && !goes_alone && lengthens == batch->lengthens &&
           rli_renewal_slot(watchdog, session) == rli_renewal_slot(watchdog, first);
}

/* Returns the first session on the timer heap if its renewal is due and fits into the batch. NULL: it needs another
 * batch, or something else is due first. */
static rli_session *next_like(const rli_watchdog *watchdog, const rli_renewal_batch *batch, int64_t due_ms)
{
    rli_timer *first = rli_timer_heap_first(&watchdog->engine->timers);
    if (!first || first->at_ms > due_ms || !rli_watchdog_is_of_session(watchdog, first))
        return NULL;
    rli_session *session = RLI_ITEM(rli_session, first, timer);
    bool fits = session->phase == RLI_OPEN && !session->renewing && !session->aging &&
                rli_session_needs_renewal(session) && rli_now_ms() < session->deadline_ms &&
                is_like(watchdog, batch, session);
    return fits ? session : NULL;
}

static void take_along(rli_engine *engine, rli_renewal_batch *batch, rli_session *session)
{
    batch->lengthens = rli_session_renewed_count(session) > 0;
    batch->ends_ms = rli_earlier(batch->ends_ms, session->deadline_ms);
    batch->sessions[batch->count++] = session;
    session->renewing = true;
    rli_timer_heap_set(&engine->timers, &session->timer, session->deadline_ms);
}

/* Adds what is due to the batch. Holds of ended threads are declared lost instead: they are not renewed any more,
 * and their owner will never unlock them. */
static void fill(rli_watchdog *watchdog, rli_renewal_batch *batch)
{
    rli_engine *engine = watchdog->engine;
    /* Also take what is due very soon, instead of waking the thread again for it. In a cluster, all holds of one
     * slot are due at once anyway. */
    int64_t due_ms = rli_now_ms() +
                     (engine->settings->mode == RLI_CLUSTER ? 0 : rli_watchdog_timeout_part(watchdog, 60));
    /* Most batches are of few threads, so check each thread once. */
    const rli_thread_life *alive = NULL;
    rli_session *session;
    while (batch->count < engine->settings->batch_size && (session = next_like(watchdog, batch, due_ms))) {
        rli_thread_life *life = rli_session_owner(session).life;
        if (life && life != alive && rli_thread_life_has_ended(life)) {
            rli_session_declare_lost(engine, session, RLOCK_LOST_OWNER_EXITED, true);
            continue;
        }
        alive = life;
        take_along(engine, batch, session);
    }
}

/* --- sending --- */

typedef char owner_text[RLI_OWNER_TEXT];

/* Writes the request. Needs no mutex: the sessions keep their names and numbers while they are marked as
 * `renewing` or `looking`. Returns false when out of memory. In both cases the caller clears the call, then frees the
 * texts. */
static bool word(const rli_renewal_batch *batch, rli_call *call, owner_text **texts)
{
    rli_engine *engine = batch->watchdog->engine;
    *texts = NULL;
    if (batch->permits) {
        rli_renew_permits_word(batch, call);
        return !call->no_memory;
    }
    owner_text *owners = malloc((size_t)batch->count * sizeof *owners);
    *texts = owners;
    const rli_kind *kind = batch->sessions[0]->kind;
    rli_call_script(call, batch->looks ? kind->look : kind->renew, batch->count);
    for (int i = 0; i < batch->count; i++)
        rli_call_add(call, batch->sessions[i]->entry->name, batch->sessions[i]->entry->length);
    if (!batch->looks)
        rli_call_add_number(call, batch->lengthens ? engine->settings->watchdog_timeout_ms : 0);
    for (int i = 0; owners && i < batch->count; i++)
        rli_call_add_text(call, rli_owner_text(engine->client_id, batch->sessions[i]->number, owners[i]));
    if (batch->sessions[0]->entry->grouped)
        rli_group_add_values(call, rli_entry_values(batch->sessions[0]->entry));
    return owners && !call->no_memory;
}

/* Sends the request and waits, for a short time only instead of the callers' long retries: what fails is soon tried
 * again. RLOCK_OK: the call has the reply. */
static rlock_status ask(const rli_renewal_batch *batch, rli_call *call)
{
    rli_operation op;
    call->background = true;
    call->attempts = 1;
    call->timeout_ms = rli_watchdog_timeout_part(batch->watchdog, 6) + 1;
    rlock_status status = rli_watchdog_begin(batch->watchdog, &op);
    if (status != RLOCK_OK)
        return status;
    /* Do not wait beyond the first deadline in the batch either: that loss must be reported in time. */
    op.deadline_ms = rli_earlier(rli_after_ms(call->timeout_ms + CONNECT_MS), batch->ends_ms);
    status = rli_call_run(call, batch->watchdog->engine->topology, &op, NULL);
    rli_operation_end(&op);
    return status;
}

/* Connects. Waits for an even shorter time, because the watchdog does nothing else meanwhile. */
static rlock_status connect_node(const rli_renewal_batch *batch)
{
    rli_operation op;
    rlock_status status = rli_watchdog_begin(batch->watchdog, &op);
    if (status != RLOCK_OK)
        return status;
    op.deadline_ms = rli_earlier(rli_after_ms(rli_watchdog_timeout_part(batch->watchdog, 12) + CONNECT_MS),
                                 batch->ends_ms);
    status = rli_pipeline_connect(&batch->node->background, &op);
    rli_operation_end(&op);
    return status;
}

static bool launch(rli_renewal_batch *batch, rli_call *call)
{
    if (!batch->node)
        return false;
    if (rli_renewal_batch_send(batch, call))
        return true;
    rlock_status status = connect_node(batch);
    if (status == RLOCK_SERVER)
        batch->refused = RLI_REFUSES_LOGIN;
    return status == RLOCK_OK && rli_renewal_batch_send(batch, call);
}

/* --- the answer --- */

/* A renewed hold is old enough to be tracked. With a short watchdog timeout that comes before its age is noticed. The
 * renewal has read the key, so a server that tracks already need not be asked again; otherwise tracking begins, and
 * then all old holds there are read. */
static void grow_old(rli_engine *engine, rli_node *node, rli_session *session)
{
    if (session->old || !engine->watch.on || !session->kind->look)
        return;
    rli_watch_check_count(engine);
    if (!engine->watch.on)
        return;
    session->old = true;
    rli_tracking_want(engine, node);
}

/* No answer came, so the renewal may run late; or it came when the hold was lost already. Perhaps the hold had a lease,
 * and its inner one, which was renewed, was given back: the server keeps it for longer than anybody knows. */
static void note_late(const rli_renewal_batch *batch, rli_session *session)
{
    rli_engine *engine = batch->watchdog->engine;
    if (batch->lengthens && session->cold && session->cold->explicit_lease_ms > 0)
        rli_session_in_doubt_if_held(engine, session, engine->settings->watchdog_timeout_ms);
}

/* `held`: what the server answered. */
static void note_renewed(const rli_renewal_batch *batch, rli_session *session, int64_t sent_ms, int64_t held)
{
    rli_engine *engine = batch->watchdog->engine;
    int64_t watchdog_ms = engine->settings->watchdog_timeout_ms;
    /* A read hold under the owner's write hold: the write hold's key was extended, too. */
    rli_owner owner = rli_session_owner(session);
    rli_session *writer = held == 2 ? rli_session_find_writer(engine, session->entry, session->kind, &owner) : NULL;
    if (batch->lengthens)
        rli_session_extend_deadline(engine, session, sent_ms, watchdog_ms);
    if (batch->lengthens && writer)
        rli_session_extend_deadline(engine, writer, sent_ms, watchdog_ms);
    grow_old(engine, batch->node, session);
    rli_session_schedule(engine, session, sent_ms);
}

/* Applies the answer for one session of the batch. NULL: none came, or RLI_NOT_HERE: it is renewed again at
 * again_ms. */
static void apply(const rli_renewal_batch *batch, rli_session *session, int64_t sent_ms, const redisReply *answer,
                  int64_t again_ms)
{
    rli_engine *engine = batch->watchdog->engine;
    int64_t held = 0;
    session->renewing = false;
    if (!answer || session->phase == RLI_LOST)
        note_late(batch, session);
    if (session->phase != RLI_OPEN || session->count == 0)
        return; /* released or declared lost while the renewal was under way */
    session->refused = RLI_NOT_REFUSED;
    if (!answer && (batch->count == 1 || rli_refusal_is_of_all(batch->refused)))
        session->refused = batch->refused;
    if (!answer || (rli_reply_integer(answer, &held) && held == RLI_NOT_HERE))
        put_off(engine, session, again_ms);
    else if (rli_reply_integer(answer, &held) && held > 0)
        note_renewed(batch, session, sent_ms, held);
    else
        rli_session_declare_gone(engine, session);
}

static void discard(rli_renewal_batch *batch)
{
    rli_node_unref(batch->node);
    rli_permit_batch_free(batch->permits);
    free(batch);
}

/* Whether the server may have refused the whole batch because of one of its keys: one to which the user has no right,
 * or one that has moved to another node while others have not. */
static bool is_of_one_key(const redisReply *reply)
{
    rli_reply_action action = reply ? rli_reply_action_of(reply) : RLI_TAKE;
    return action == RLI_REFUSED || action == RLI_ASK ||
           (action == RLI_LATER && strncmp(reply->str, "TRYAGAIN", strlen("TRYAGAIN")) == 0);
}

/* Ends the batch and frees it. `reply`: of the request that was sent at `sent_ms`; NULL: there is no usable one. */
static void close_batch(rli_renewal_batch *batch, const redisReply *reply, int64_t sent_ms)
{
    rli_engine *engine = batch->watchdog->engine;
    bool whole = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == (size_t)batch->count;
    int64_t again_ms = rli_after_ms(rli_watchdog_timeout_part(batch->watchdog, 30) + 1);
    if (batch->permits)
        rli_renew_permits_apply(batch, whole ? reply : NULL, sent_ms, again_ms);
    for (int i = 0; !batch->permits && i < batch->count; i++) {
        rli_session *session = batch->sessions[i];
        const redisReply *answer = whole ? reply->element[i] : NULL;
        session->alone = !whole && (session->alone || (batch->splits && !rli_refusal_is_of_all(batch->refused)));
        if (batch->looks)
            rli_look_judge(engine, batch, session, answer, sent_ms);
        else
            apply(batch, session, sent_ms, answer, again_ms);
        rli_session_settle(engine, session);
    }
    discard(batch);
}

/* Mutes a server that kept a batch waiting in vain, so that its other holds do not wait for it batch after batch:
 * long enough that other servers' renewals get most of the time, and short enough for a few more tries. */
static void note_silence(const rli_watchdog *watchdog, rli_node *node)
{
    node->renewals.mute_until_ms = rli_after_ms(rli_watchdog_timeout_part(watchdog, 12));
}

/* Sends the batch's request again and waits for the answer, following redirects and sending the script's text if
 * need be. Ends the batch. Mutex held on entry and return, not meanwhile. */
static void close_by_asking(rli_renewal_batch *batch)
{
    rli_watchdog *watchdog = batch->watchdog;
    rli_engine *engine = watchdog->engine;
    rli_call call;
    owner_text *owners;
    rli_engine_unlock(engine);
    int64_t since_ms = rli_now_ms();
    rlock_status status = word(batch, &call, &owners) ? ask(batch, &call) : RLOCK_NO_MEMORY;
    rli_engine_lock(engine);
    if (status == RLOCK_UNAVAILABLE && batch->node && rli_now_ms() - since_ms > rli_watchdog_timeout_part(watchdog, 12))
        note_silence(watchdog, batch->node);
    if (status == RLOCK_SERVER) /* perhaps the server did not even let the connection begin */
        batch->refused = call.refusal ? call.refusal : RLI_REFUSED_ELSE;
    batch->splits = status == RLOCK_SERVER || (status != RLOCK_OK && batch->splits);
    close_batch(batch, status == RLOCK_OK ? call.reply : NULL, call.sent_ms);
    rli_call_clear(&call);
    free(owners);
}

/* Returns whether the same request may succeed when it is sent by close_by_asking. */
static bool is_worth_asking(const rli_renewal_batch *batch)
{
    if (batch->pending.outcome != RLI_ANSWERED)
        return false;
    rli_reply_action action = rli_reply_action_of(batch->pending.reply);
    return action == RLI_LOAD || action == RLI_MOVED || action == RLI_ASK || action == RLI_DEMOTED;
}

/* Ends a batch that is back. Mutex held on entry and return. Released in between, so that callers get it, too. */
static void take_up(rli_renewal_batch *batch)
{
    rli_watchdog *watchdog = batch->watchdog;
    rli_engine *engine = watchdog->engine;
    redisReply *reply = batch->pending.outcome == RLI_ANSWERED ? batch->pending.reply : NULL;
    if (batch->pending.outcome == RLI_TIMED_OUT)
        note_silence(watchdog, batch->node);
    batch->splits = is_of_one_key(reply);
    batch->refused = reply && rli_reply_action_of(reply) == RLI_REFUSED ? rli_refusal_of(reply) : RLI_NOT_REFUSED;
    if (is_worth_asking(batch))
        close_by_asking(batch);
    else
        close_batch(batch, reply, batch->sent_ms);
    rli_engine_unlock(engine);
    if (reply)
        freeReplyObject(reply);
    else
        rli_topology_suspect(watchdog->engine->topology);
    rli_engine_lock(engine);
}

bool rli_renew_finish_answered(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_renewal_batch *batch;
    bool landed = false;
    for (; (batch = rli_renewal_batch_next_answered(watchdog)); landed = true)
        take_up(batch);
    int64_t since_ms = rli_now_ms() - rli_watchdog_timeout_part(watchdog, 6) - 1;
    if (watchdog->batches.first && watchdog->batches.first->sent_ms <= since_ms) {
        rli_engine_unlock(engine);
        rli_renewal_batch_give_up(watchdog, since_ms);
        rli_engine_lock(engine);
    }
    return landed;
}

/* --- what is due --- */

bool rli_renew_await_room(rli_watchdog *watchdog, const rli_node *node, int64_t due_ms, int64_t *until_ms)
{
    rli_engine *engine = watchdog->engine;
    int64_t now_ms = rli_now_ms();
    *until_ms = node ? node->renewals.mute_until_ms : 0;
    if (now_ms < *until_ms)
        return false;
    if (!node || !rli_renewal_batch_is_full(node, now_ms > due_ms + rli_watchdog_timeout_part(watchdog, 60)))
        return true;
    *until_ms = now_ms + rli_watchdog_timeout_part(watchdog, 120) + 1;
    if (now_ms > node->renewals.heard_ms + rli_watchdog_timeout_part(watchdog, 60))
        return false; /* its silence must not delay others */
    *until_ms = 0;
    rli_engine_unlock(engine);
    rli_renewal_batch_await(watchdog, RLI_NEVER);
    rli_engine_lock(engine);
    return false;
}

/* The same for a session; puts it off if need be. */
static bool await_room(rli_watchdog *watchdog, const rli_node *node, rli_session *due)
{
    int64_t until_ms;
    bool may = rli_renew_await_room(watchdog, node, due->timer.at_ms, &until_ms);
    if (!may && until_ms > 0)
        put_off(watchdog->engine, due, until_ms);
    return may;
}

/* Allocates a batch and takes over the caller's hold on the node. NULL: out of memory; the session is put off. */
static rli_renewal_batch *make(rli_watchdog *watchdog, rli_node *node, rli_session *due)
{
    rli_renewal_batch *batch = rli_renewal_batch_make(watchdog, node);
    if (!batch)
        put_off(watchdog->engine, due, rli_after_ms(rli_watchdog_timeout_part(watchdog, 30) + 1));
    return batch;
}

void rli_renew_dispatch(rli_renewal_batch *batch)
{
    rli_watchdog *watchdog = batch->watchdog;
    rli_engine *engine = watchdog->engine;
    rli_node *node = batch->node;
    rli_engine_unlock(engine);
    rli_call call;
    owner_text *owners;
    int64_t since_ms = rli_now_ms();
    bool sent = word(batch, &call, &owners) && launch(batch, &call);
    rli_call_clear(&call);
    free(owners);
    if (!sent)
        rli_topology_suspect(watchdog->engine->topology);
    rli_engine_lock(engine);
    if (sent)
        rli_tracking_check(engine, node);
    if (!sent && node && rli_now_ms() - since_ms > rli_watchdog_timeout_part(watchdog, 12))
        note_silence(watchdog, node);
    if (!sent)
        close_batch(batch, NULL, since_ms);
}

void rli_renew_due(rli_watchdog *watchdog, rli_session *due)
{
    rli_node *node = rli_topology_ref_server(watchdog->engine->topology, rli_renewal_slot(watchdog, due));
    rli_renewal_batch *batch = await_room(watchdog, node, due) ? make(watchdog, node, due) : NULL;
    if (!batch) {
        rli_node_unref(node);
        return;
    }
    fill(watchdog, batch);
    if (batch->count > 0)
        rli_renew_dispatch(batch);
    else
        discard(batch);
}
