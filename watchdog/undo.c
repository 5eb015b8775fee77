/* Undoing: releasing again what a request that was never answered may have taken, or may take yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/undo.h"

#include "client.h"
#include "clock.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_PAUSE_MS 500
#define UNANSWERED_PAUSE_MS 2000

/* Sends one script of the session. False: not answered, or not even sent. The call is to be cleared. */
static bool send(rli_watchdog *watchdog, rli_call *call, int64_t answer_by_ms)
{
    rli_caller caller;
    call->background = true;
    call->attempts = 1;
    if (rli_caller_begin(&caller, watchdog->client, NULL) != RLOCK_OK)
        return false;
    caller.deadline_ms = answer_by_ms;
    rlock_status status = rli_call_run(call, &caller, NULL);
    rli_caller_end(&caller);
    return status == RLOCK_OK || status == RLOCK_SERVER;
}

/* *unheard: the head of the queue that did not hear; to be freed. */
static bool release_again(rli_watchdog *watchdog, const rli_kind *kind, const rli_request *request,
                          int64_t answer_by_ms, char **unheard)
{
    rli_call call;
    if (kind->give_up) { /* a request that ran late may have queued */
        kind->give_up(&call, request);
        bool answered = send(watchdog, &call, answer_by_ms);
        rli_call_clear(&call);
        if (!answered)
            return false;
    }
    const char *head = NULL;
    kind->release(&call, request);
    bool answered = send(watchdog, &call, answer_by_ms);
    if (call.reply)
        kind->released(call.reply, &head);
    *unheard = head ? strdup(head) : NULL;
    rli_call_clear(&call);
    return answered;
}

/* When to do it again; a head that did not hear is told once more in its time. */
static int64_t next_time(rli_extra *extra, bool answered)
{
    extra->pause_ms = extra->pause_ms ? extra->pause_ms * 2 : FIRST_PAUSE_MS;
    /* Not heard of, it is perhaps not done at all. */
    if (!answered && extra->pause_ms > UNANSWERED_PAUSE_MS)
        extra->pause_ms = UNANSWERED_PAUSE_MS;
    int64_t next_ms = rli_after_ms(extra->pause_ms);
    if (!extra->unheard)
        return next_ms;
    int64_t tell_ms = extra->unheard_ms + RLI_UNHEARD_MS;
    if (extra->release_until_ms <= tell_ms)
        extra->release_until_ms = tell_ms + 1;
    return tell_ms < next_ms || next_ms >= extra->release_until_ms ? tell_ms : next_ms;
}

void rli_undo(rli_watchdog *watchdog, rli_session *session)
{
    rli_holds *holds = &watchdog->client->holds;
    const rli_entry *entry = session->entry;
    rli_extra *extra = session->extra;
    char owner[RLI_OWNER_TEXT], *unheard = NULL;
    bool telling = extra->unheard && rli_now_ms() >= extra->unheard_ms + RLI_UNHEARD_MS;
    rli_request request = {
        .owner = rli_owner_text(holds, session->number, owner),
        .lease_ms = 1,
        .highest = extra->highest,
        .place_ms = extra->place_ms,
        .unheard = telling ? extra->unheard : "",
    };
    rli_agenda_remove(&holds->agenda, &session->due);
    session->busy = true; /* keeps it while the mutex is free */
    int64_t answer_by_ms = rli_watchdog_tidy_by(watchdog);
    pthread_mutex_unlock(&holds->mutex);
    rli_names names;
    bool answered = false;
    if (rli_names_make(&names, NULL, entry->name, &session->kind->naming) == RLOCK_OK) {
        request.names = &names;
        answered = release_again(watchdog, session->kind, &request, answer_by_ms, &unheard);
        rli_names_free(&names);
    }
    pthread_mutex_lock(&holds->mutex);
    /* Many may be due in an outage: they do not wait for the server one after the other. */
    if (!answered)
        watchdog->undo_after_ms = rli_after_ms(FIRST_PAUSE_MS);
    session->busy = false;
    /* The same head as before keeps the time at which it was first found. */
    bool same = unheard && extra->unheard && strcmp(unheard, extra->unheard) == 0;
    if (answered && (!same || telling))
        rli_session_note_unheard(session, unheard);
    free(unheard);
    int64_t next_ms = next_time(extra, answered);
    if (next_ms < extra->release_until_ms) {
        rli_agenda_set(&holds->agenda, &session->due, next_ms);
    } else {
        extra->release_until_ms = 0; /* done: what comes later runs out by itself */
        rli_session_settle(holds, session);
    }
}
