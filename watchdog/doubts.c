/* Doubts: permits that are given back in the background, because a request may have taken them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/doubts.h"

#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "locks/permit_id.h"
#include "locks/permit_semaphore.h"
#include "net/reply.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_PAUSE_MS 3600000
/* A request can't run late for longer than its server is frozen, or the network holds it. */
#define WITHOUT_LEASE_MS 86400000

/* How many of the permits there were; -1: not answered, or not even sent. */
static int64_t give_back(rli_watchdog *watchdog, const rli_doubt *doubt, int64_t answer_by_ms)
{
    rli_call call;
    rli_caller caller;
    rli_names names;
    int64_t found = 0;
    if (rli_caller_begin(&caller, watchdog->client, NULL) != RLOCK_OK)
        return -1;
    rlock_status status = rli_names_make(&names, NULL, doubt->name, &rli_permit_naming);
    if (status == RLOCK_OK) {
        rli_permit_call(&call, &names, &rli_script_permit_semaphore_undo);
        rli_call_add_number(&call, doubt->count);
        rli_call_add(&call, doubt->ids, (size_t)doubt->count * RLI_PERMIT_ID);
        call.background = true;
        call.whole = doubt->no_answer;
        call.attempts = 1;
        caller.deadline_ms = answer_by_ms;
        status = rli_call_run(&call, &caller, NULL);
        if (status == RLOCK_OK && !rli_reply_integer(call.reply, &found))
            found = 0;
        rli_call_clear(&call);
        rli_names_free(&names);
    }
    rli_caller_end(&caller);
    return status == RLOCK_OK || status == RLOCK_SERVER ? found : -1;
}

static rli_doubt **soonest(rli_doubts *doubts)
{
    rli_doubt **found = &doubts->first;
    for (rli_doubt **each = &doubts->first; *each; each = &(*each)->next) {
        if ((*each)->at_ms < (*found)->at_ms)
            found = each;
    }
    return found;
}

static void plan(rli_holds *holds, rli_doubts *doubts)
{
    rli_doubt *first = *soonest(doubts);
    if (first)
        rli_agenda_set(&holds->agenda, &doubts->due, first->at_ms);
    else
        rli_agenda_remove(&holds->agenda, &doubts->due);
}

void rli_doubts_attend(rli_watchdog *watchdog)
{
    rli_doubts *doubts = &watchdog->doubts;
    rli_holds *holds = &watchdog->client->holds;
    int64_t put_off_ms = rli_watchdog_put_off(watchdog);
    if (put_off_ms) {
        rli_agenda_set(&holds->agenda, &doubts->due, put_off_ms);
        return;
    }
    rli_doubt **place = soonest(doubts), *doubt = *place;
    *place = doubt->next;
    plan(holds, doubts);
    int64_t answer_by_ms = rli_watchdog_tidy_by(watchdog);
    pthread_mutex_unlock(&holds->mutex);
    int64_t found = give_back(watchdog, doubt, answer_by_ms);
    pthread_mutex_lock(&holds->mutex);
    doubt->no_answer = found < 0;
    rli_watchdog_note_undo(watchdog, found >= 0);
    doubt->pause_ms = rli_watchdog_tidy_pause(doubt->pause_ms, found >= 0);
    if (doubt->pause_ms > LONGEST_PAUSE_MS)
        doubt->pause_ms = LONGEST_PAUSE_MS;
    doubt->at_ms = rli_after_ms(doubt->pause_ms);
    bool settled = found > 0 && doubt->unanswered == 1; /* that one request has run now */
    if (settled || doubt->at_ms >= doubt->until_ms) {
        rli_doubt_drop(doubt);
        return;
    }
    doubt->next = doubts->first;
    doubts->first = doubt;
    plan(holds, doubts);
}

rlock_status rli_doubts_prepare(rlock_client *client)
{
    rli_holds *holds = &client->holds;
    rli_doubts *doubts = &client->watchdog.doubts;
    pthread_mutex_lock(&holds->mutex);
    doubts->reserved = doubts->reserved || rli_agenda_reserve(&holds->agenda);
    bool reserved = doubts->reserved;
    pthread_mutex_unlock(&holds->mutex);
    return reserved ? RLOCK_OK : rli_fail(RLOCK_NO_MEMORY, "out of memory for a semaphore");
}

rli_doubt *rli_doubt_make(const rli_names *names, int count)
{
    rli_doubt *doubt = malloc(sizeof *doubt + names->length + 1 + (size_t)count * RLI_PERMIT_ID);
    if (!doubt)
        return NULL;
    *doubt = (rli_doubt){.count = count, .ids = doubt->name + names->length + 1};
    memcpy(doubt->name, names->name, names->length + 1);
    return doubt;
}

void rli_doubt_drop(rli_doubt *doubt)
{
    free(doubt);
}

void rli_doubts_add(rlock_client *client, rli_doubt *doubt, int64_t lease_ms, int unanswered)
{
    rli_holds *holds = &client->holds;
    rli_doubts *doubts = &client->watchdog.doubts;
    doubt->unanswered = unanswered;
    doubt->at_ms = rli_now_ms();
    doubt->until_ms = rli_after_ms(lease_ms > 0 ? lease_ms : WITHOUT_LEASE_MS);
    pthread_mutex_lock(&holds->mutex);
    doubt->next = doubts->first;
    doubts->first = doubt;
    plan(holds, doubts);
    /* Can't be started: the next one may be, and finds this doubt as well. */
    (void)rli_watchdog_start(&client->watchdog);
    pthread_mutex_unlock(&holds->mutex);
}

void rli_doubts_destroy(rli_doubts *doubts)
{
    while (doubts->first) {
        rli_doubt *doubt = doubts->first;
        doubts->first = doubt->next;
        rli_doubt_drop(doubt);
    }
}
