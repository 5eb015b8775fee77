/* Undoing: releasing again what a request that was never answered may have taken, or may take yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/undo.h"

#include "client.h"
#include "clock.h"

#include <string.h>

#define FIRST_PAUSE_MS 500
/* It need not be answered to be done, and while it waits nothing is renewed or declared lost. */
#define PATIENCE_MS 250

/* False: not answered, or not even sent. */
static bool release_again(rli_watchdog *watchdog, const rli_kind *kind, const rli_request *request)
{
    rli_call call;
    rli_caller caller;
    if (rli_caller_begin(&caller, watchdog->client, NULL) != RLOCK_OK)
        return false;
    kind->release(&call, request);
    call.attempts = 1;
    int64_t patience_ms = watchdog->client->settings.watchdog_timeout_ms / 6 + 1;
    caller.deadline_ms = rli_after_ms(patience_ms < PATIENCE_MS ? patience_ms : PATIENCE_MS);
    rlock_status status = rli_call_run(&call, &caller, &watchdog->lane);
    rli_call_clear(&call);
    rli_caller_end(&caller);
    return status == RLOCK_OK || status == RLOCK_SERVER;
}

void rli_undo(rli_watchdog *watchdog, rli_session *session)
{
    rli_holds *holds = &watchdog->client->holds;
    const rli_entry *entry = session->entry;
    char owner[RLI_OWNER_TEXT];
    rli_owner_text(holds, session->number, owner);
    rli_agenda_remove(&holds->agenda, &session->due);
    session->busy = true; /* keeps it while the mutex is free */
    pthread_mutex_unlock(&holds->mutex);
    rli_names names;
    bool answered = false;
    if (rli_names_make(&names, NULL, entry->name, &session->kind->naming) == RLOCK_OK) {
        rli_request request = {.names = &names, .owner = owner, .lease_ms = 1, .highest = session->highest};
        answered = release_again(watchdog, session->kind, &request);
        rli_names_free(&names);
    }
    pthread_mutex_lock(&holds->mutex);
    /* Many may be due in an outage: they do not wait for the server one after the other. */
    if (!answered)
        watchdog->undo_after_ms = rli_after_ms(FIRST_PAUSE_MS);
    session->busy = false;
    session->pause_ms = session->pause_ms ? session->pause_ms * 2 : FIRST_PAUSE_MS;
    int64_t next_ms = rli_after_ms(session->pause_ms);
    if (next_ms < session->release_until_ms) {
        rli_agenda_set(&holds->agenda, &session->due, next_ms);
    } else {
        session->release_until_ms = 0; /* done: what comes later runs out by itself */
        rli_session_settle(holds, session);
    }
}
