/* Undoing: releasing again what a request that was never answered may have taken, or may take yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/undo.h"

#include "client.h"
#include "clock.h"
#include "locks/departure.h"
#include "locks/session.h"

#include <string.h>


/* Sends one script of the session. RLOCK_OK; RLOCK_SERVER: refused; else not answered, or not even sent. The call is
 * to be cleared. */
static rlock_status send(rli_watchdog *watchdog, rli_call *call, int64_t answer_by_ms)
{
    rli_caller caller;
    call->background = true;
    call->attempts = 1;
    rlock_status status = rli_caller_begin(&caller, watchdog->client, NULL);
    if (status != RLOCK_OK)
        return status;
    caller.deadline_ms = answer_by_ms;
    status = rli_call_run(call, &caller, NULL);
    rli_caller_end(&caller);
    return status;
}

static bool is_answer(rlock_status status)
{
    return status == RLOCK_OK || status == RLOCK_SERVER;
}

/* `release` is to be cleared in any case. */
static rlock_status release_again(rli_watchdog *watchdog, const rli_kind *kind, const rli_request *request,
                                  int64_t answer_by_ms, bool whole, rli_call *release)
{
    kind->release(release, request);
    release->whole = whole;
    if (kind->give_up) { /* a request that ran late may have queued */
        rli_call call;
        kind->give_up(&call, request);
        call.whole = whole;
        rlock_status status = send(watchdog, &call, answer_by_ms);
        rli_call_clear(&call);
        if (!is_answer(status))
            return status;
    }
    return send(watchdog, release, answer_by_ms);
}

/* The head of the queue on the server that did not hear what a release told it; NULL: none. In the reply. */
static const char *unheard_of(const rli_kind *kind, const rli_call *release)
{
    const char *unheard = NULL;
    if (release->reply)
        kind->released(release->reply, &unheard);
    return unheard;
}

/* When to do it again; a head that did not hear is told once more in its time. */
static int64_t next_time(rli_extra *extra, bool answered)
{
    extra->pause_ms = rli_watchdog_tidy_pause(extra->pause_ms, answered);
    int64_t next_ms = rli_after_ms(extra->pause_ms);
    if (!extra->unheard)
        return next_ms;
    int64_t tell_ms = extra->unheard_ms + RLI_UNHEARD_MS;
    if (extra->release_until_ms <= tell_ms)
        extra->release_until_ms = tell_ms + 1;
    return tell_ms < next_ms || next_ms >= extra->release_until_ms ? tell_ms : next_ms;
}

static void go_on(rli_holds *holds, rli_session *session, bool answered)
{
    rli_extra *extra = session->extra;
    int64_t next_ms = next_time(extra, answered);
    if (next_ms < extra->release_until_ms) {
        rli_agenda_set(&holds->agenda, &session->due, next_ms);
    } else if (extra->departure) {
        rli_departure_end(holds, session);
    } else {
        extra->release_until_ms = 0; /* done: what comes later runs out by itself */
        rli_session_settle(holds, session);
    }
}

void rli_undo(rli_watchdog *watchdog, rli_session *session)
{
    rli_holds *holds = &watchdog->client->holds;
    const rli_entry *entry = session->entry;
    rli_extra *extra = session->extra;
    char owner[RLI_OWNER_TEXT];
    bool whole = extra->undo_unanswered;
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
    rli_call release = {0};
    rlock_status status = rli_names_make(&names, NULL, entry->name, &session->kind->naming);
    if (status == RLOCK_OK) {
        request.names = &names;
        status = release_again(watchdog, session->kind, &request, answer_by_ms, whole, &release);
        rli_names_free(&names);
    }
    bool answered = is_answer(status);
    const char *unheard = unheard_of(session->kind, &release);
    pthread_mutex_lock(&holds->mutex);
    /* Many may be due in an outage: they do not wait for the server one after the other. */
    watchdog->undo_unanswered = !answered;
    if (!answered)
        watchdog->undo_after_ms = rli_after_ms(RLI_TIDY_FIRST_MS);
    session->busy = false;
    extra->undo_unanswered = !answered;
    /* The same head as before keeps the time at which it was first found. */
    bool same = unheard && extra->unheard && strcmp(unheard, extra->unheard) == 0;
    if (answered && (!same || telling))
        rli_session_note_unheard(session, unheard);
    bool lost = extra->departure && rli_departure_repeated(holds, session, status, &release);
    rli_call_clear(&release);
    if (!lost)
        go_on(holds, session, answered);
}
