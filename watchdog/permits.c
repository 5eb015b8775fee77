/* Giving back permits that are in doubt. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/permits.h"

#include "base/clock.h"
#include "engine/kinds/permit.h"
#include "engine/permit_id.h"
#include "net/reply.h"

#define LONGEST_PAUSE_MS 3600000

/* How many of the permits there were; -1: not answered, or not even sent. */
static int64_t give_back(rli_watchdog *watchdog, const rli_doubt *doubt, int64_t answer_by_ms)
{
    rli_call call;
    rli_operation op;
    rli_names names;
    int64_t found = 0;
    if (rli_operation_begin(&op, watchdog->engine->gate, NULL) != RLOCK_OK)
        return -1;
    rlock_status status = rli_names_make(&names, NULL, doubt->name, &rli_permit_naming);
    if (status == RLOCK_OK) {
        rli_permit_call(&call, &names, &rli_script_permit_semaphore_undo);
        rli_call_add_number(&call, doubt->count);
        rli_call_add(&call, doubt->ids, (size_t)doubt->count * RLI_PERMIT_ID);
        call.background = true;
        call.whole = doubt->no_answer;
        call.attempts = 1;
        op.deadline_ms = answer_by_ms;
        status = rli_call_run(&call, watchdog->engine->topology, &op, NULL);
        if (status == RLOCK_OK && !rli_reply_integer(call.reply, &found))
            found = 0;
        rli_call_clear(&call);
        rli_names_free(&names);
    }
    rli_operation_end(&op);
    return status == RLOCK_OK || status == RLOCK_SERVER ? found : -1;
}

void rli_permits_give_back(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    int64_t put_off_ms = rli_watchdog_put_off(watchdog);
    if (put_off_ms) {
        rli_agenda_set(&engine->agenda, &engine->doubts.due, put_off_ms);
        return;
    }
    rli_doubt *doubt = rli_doubts_take(engine);
    int64_t answer_by_ms = rli_watchdog_tidy_by(watchdog);
    pthread_mutex_unlock(&engine->mutex);
    int64_t found = give_back(watchdog, doubt, answer_by_ms);
    pthread_mutex_lock(&engine->mutex);
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
    rli_doubts_put_back(engine, doubt);
}
