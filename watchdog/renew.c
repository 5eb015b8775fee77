/* Renewing: one batch of holds that are due. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/renew.h"

#include "client.h"
#include "clock.h"
#include "locks/holds.h"
#include "redis/reply.h"

#include <stdlib.h>

/* Time to connect that is not counted against the answer: silence, not a connect, is what condemns
 * a connection. */
#define CONNECT_MS 20

typedef struct renewals {
    rli_session **sessions;
    int64_t *deadlines_ms; /* theirs, when they were taken into the batch */
    char (*owners)[RLI_OWNER_TEXT];
    int count, capacity;
    bool lengthens; /* else it only looks that the locks' keys stand as long as the holds */
} renewals;

static bool make_room(renewals *batch, int capacity)
{
    batch->sessions = malloc((size_t)capacity * sizeof *batch->sessions);
    batch->owners = malloc((size_t)capacity * sizeof *batch->owners);
    batch->deadlines_ms = malloc((size_t)capacity * sizeof *batch->deadlines_ms);
    batch->count = 0;
    batch->capacity = capacity;
    return batch->sessions && batch->owners && batch->deadlines_ms;
}

static void free_batch(renewals *batch)
{
    free(batch->sessions);
    free(batch->owners);
    free(batch->deadlines_ms);
}

static unsigned slot_of(const rli_watchdog *watchdog, const rli_session *session)
{
    return rli_topology_slot(&watchdog->client->topology, session->entry->name, session->entry->length);
}

/* Takes what is due off the agenda and into the batch. Holds of ended threads are let go: they
 * are renewed no more, and their owner will never unlock them. */
static void fill(renewals *batch, rli_watchdog *watchdog)
{
    rli_holds *holds = &watchdog->client->holds;
    /* What is due very soon comes along now, instead of waking the thread again for it. */
    int64_t due_ms = rli_now_ms() + holds->settings->watchdog_timeout_ms / 60;
    const rli_session *like = NULL;
    const rli_life *alive = NULL; /* most batches are of few threads: each is looked at once */
    rli_due *first;
    while (batch->count < batch->capacity && (first = rli_agenda_first(&holds->agenda)) && first->at_ms <= due_ms) {
        if (first == &watchdog->doubts.due)
            return; /* not for a renewal: the watchdog attends to it next */
        rli_session *session = RLI_ITEM(rli_session, first, due);
        if (session->phase != RLI_OPEN || !rli_session_is_renewed(session) || rli_now_ms() >= session->deadline_ms)
            return;
        if (like && (session->kind != like->kind || (rli_session_renewed(session) > 0) != batch->lengthens ||
                     slot_of(watchdog, session) != slot_of(watchdog, like)))
            return; /* for a batch of its own */
        rli_life *life = rli_session_owner(session).life;
        if (life && life != alive && rli_life_has_ended(life)) {
            rli_session_lose(holds, session, RLOCK_LOST_OWNER_EXITED, true);
            continue;
        }
        alive = life;
        like = session;
        batch->lengthens = rli_session_renewed(session) > 0;
        rli_agenda_remove(&holds->agenda, first);
        session->renewing = true;
        rli_owner_text(holds, session->number, batch->owners[batch->count]);
        batch->deadlines_ms[batch->count] = session->deadline_ms;
        batch->sessions[batch->count++] = session;
    }
}

static rlock_status ask(rli_watchdog *watchdog, const renewals *batch, rli_call *call)
{
    const rli_settings *settings = &watchdog->client->settings;
    rli_call_script(call, batch->sessions[0]->kind->renew, batch->count);
    for (int i = 0; i < batch->count; i++)
        rli_call_add(call, batch->sessions[i]->entry->name, batch->sessions[i]->entry->length);
    rli_call_add_number(call, batch->lengthens ? settings->watchdog_timeout_ms : 0);
    for (int i = 0; i < batch->count; i++)
        rli_call_add_text(call, batch->owners[i]);
    /* Its own short patience, not the callers' long retries: what fails is tried again soon. */
    call->background = true;
    call->attempts = 1;
    call->timeout_ms = settings->watchdog_timeout_ms / 6 + 1;
    rli_caller caller;
    rlock_status status = rli_caller_begin(&caller, watchdog->client, NULL);
    if (status != RLOCK_OK)
        return status;
    caller.deadline_ms = rli_after_ms(call->timeout_ms + CONNECT_MS);
    /* Nor beyond the first deadline in the batch: that loss is to be told in time. */
    for (int i = 0; i < batch->count; i++) {
        if (batch->deadlines_ms[i] < caller.deadline_ms)
            caller.deadline_ms = batch->deadlines_ms[i];
    }
    status = rli_call_run(call, &caller, NULL);
    rli_caller_end(&caller);
    if (status == RLOCK_OK && (call->reply->type != REDIS_REPLY_ARRAY || call->reply->elements != (size_t)batch->count))
        status = RLOCK_SERVER;
    return status;
}

/* Again soon; at the deadline the watchdog declares it lost. */
static void put_off(rli_holds *holds, rli_session *session, int64_t until_ms)
{
    rli_agenda_set(&holds->agenda, &session->due, until_ms < session->deadline_ms ? until_ms : session->deadline_ms);
}

static int64_t soon(const rli_holds *holds)
{
    return rli_after_ms(holds->settings->watchdog_timeout_ms / 30 + 1);
}

static void apply(rli_holds *holds, rli_session *session, bool lengthened, const rli_call *call,
                  const redisReply *answer)
{
    int64_t watchdog_ms = holds->settings->watchdog_timeout_ms, held = 0;
    session->renewing = false;
    if (session->phase != RLI_OPEN || session->count == 0)
        return; /* released, or declared lost, while the renewal was under way */
    if (!answer) {
        put_off(holds, session, soon(holds));
    } else if (rli_reply_integer(answer, &held) && held > 0) {
        /* Beneath the owner's write hold: that one's key was lengthened, too. */
        rli_owner owner = rli_session_owner(session);
        rli_session *writer = held == 2 ? rli_holds_writer(holds, session->entry, &owner) : NULL;
        if (lengthened)
            rli_session_confirm(session, call->sent_ms, watchdog_ms);
        if (lengthened && writer)
            rli_session_confirm(writer, call->sent_ms, watchdog_ms);
        rli_session_plan(holds, session, call->sent_ms);
    } else {
        rli_session_lose(holds, session, RLOCK_LOST_GONE, true);
    }
}

/* Holds of a node that kept a batch waiting in vain do not wait for it one batch after the other: those of
 * other nodes are due as well. */
static bool is_mute(const rli_node *node)
{
    return node && rli_now_ms() < node->mute_until_ms;
}

/* Long enough that the others' renewals get most of the time; short enough for a few more tries. */
static void note_silence(const rli_holds *holds, rli_node *node, int64_t since_ms)
{
    int64_t while_ms = holds->settings->watchdog_timeout_ms / 12;
    if (node && rli_now_ms() - since_ms > while_ms)
        node->mute_until_ms = rli_after_ms(while_ms);
}

void rli_renew_due(rli_watchdog *watchdog)
{
    rli_holds *holds = &watchdog->client->holds;
    renewals batch = {0};
    rli_session *due = RLI_ITEM(rli_session, rli_agenda_first(&holds->agenda), due);
    rli_node *node = rli_topology_node(&watchdog->client->topology, slot_of(watchdog, due));
    if (is_mute(node)) {
        put_off(holds, due, node->mute_until_ms);
        return;
    }
    if (!make_room(&batch, holds->settings->batch_size)) {
        rli_agenda_set(&holds->agenda, &due->due, soon(holds));
        free_batch(&batch);
        return;
    }
    fill(&batch, watchdog);
    if (batch.count > 0) {
        pthread_mutex_unlock(&holds->mutex);
        rli_call call;
        int64_t since_ms = rli_now_ms();
        rlock_status status = ask(watchdog, &batch, &call);
        pthread_mutex_lock(&holds->mutex);
        for (int i = 0; i < batch.count; i++) {
            apply(holds, batch.sessions[i], batch.lengthens, &call,
                  status == RLOCK_OK ? call.reply->element[i] : NULL);
            rli_session_settle(holds, batch.sessions[i]);
        }
        if (status == RLOCK_UNAVAILABLE)
            note_silence(holds, node, since_ms);
        rli_call_clear(&call);
    }
    free_batch(&batch);
}
