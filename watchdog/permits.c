/* Permits: gives back permits that are in doubt. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/permits.h"

#include "base/clock.h"
#include "engine/departure.h"
#include "engine/kinds/permit.h"
#include "engine/permit_id.h"
#include "net/reply.h"
#include "watchdog/clean_up.h"

#include <string.h>

#define LONGEST_PAUSE_MS 3600000

/* Returns how many of the permits there were; -1: the request was not answered, or not even sent. */
static int64_t give_back(rli_watchdog *watchdog, const rli_doubtful_permits *in_doubt, int64_t answer_by_ms)
{
    rli_call call;
    rli_names names;
    int64_t found = 0;
    rlock_status status = rli_names_make(&names, NULL, in_doubt->name, &rli_permit_naming);
    if (status == RLOCK_OK) {
        rli_permit_call(&call, &names, &rli_script_permit_semaphore_undo);
        rli_call_add_number(&call, in_doubt->count);
        rli_call_add(&call, in_doubt->ids, (size_t)in_doubt->count * RLI_PERMIT_ID);
        call.by_text = in_doubt->no_answer;
        status = rli_clean_up_send(watchdog, &call, answer_by_ms);
        if (status == RLOCK_OK && !rli_reply_integer(call.reply, &found))
            found = 0;
        rli_call_clear(&call);
        rli_names_free(&names);
    }
    return status == RLOCK_OK || status == RLOCK_SERVER ? found : -1;
}

/* Sets when they are given back again. While nothing is answered, the last time is just before the end, as of locks. */
static void plan(const rli_watchdog *watchdog, rli_doubtful_permits *in_doubt, bool answered)
{
    int64_t last_ms = in_doubt->until_ms - 1;
    in_doubt->pause_ms = rli_earlier(rli_clean_up_pause(watchdog, in_doubt->pause_ms, answered), LONGEST_PAUSE_MS);
    in_doubt->at_ms = rli_after_ms(in_doubt->pause_ms);
    if (!answered && rli_now_ms() < last_ms)
        in_doubt->at_ms = rli_earlier(in_doubt->at_ms, last_ms);
}

/* Whether nothing is in doubt any more, or it has ended by itself. */
static bool is_over(const rli_doubtful_permits *in_doubt, int64_t found)
{
    bool settled = found > 0 && in_doubt->unanswered == 1; /* the one unanswered request has run now */
    return settled || in_doubt->at_ms >= in_doubt->until_ms;
}

void rli_permits_give_back(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_doubtful_permits *in_doubt = rli_permits_in_doubt_take(engine);
    rli_departure_wait_for(engine, &in_doubt->not_given_back); /* which does not find it meanwhile */
    bool departing = engine->departing;
    int64_t began_ms = rli_now_ms(), answer_by_ms = rli_clean_up_answer_by(watchdog);
    rli_engine_unlock(engine);
    int64_t found = give_back(watchdog, in_doubt, answer_by_ms);
    bool answered = found >= 0;
    if (!answered) /* the time for an answer may be too short to connect in, each time anew */
        rli_topology_connect_background(engine->topology, in_doubt->name, strlen(in_doubt->name));
    rli_engine_lock(engine);
    in_doubt->no_answer = !answered;
    rli_clean_up_note(watchdog, in_doubt->name, strlen(in_doubt->name), answered, began_ms);
    plan(watchdog, in_doubt, answered);
    bool again = departing != engine->departing; /* departure asks for it once more */
    if (answered && !again)
        rli_departure_wait_no_more(engine, &in_doubt->not_given_back);
    if (is_over(in_doubt, found)) {
        rli_departure_wait_no_more(engine, &in_doubt->not_given_back);
        rli_doubtful_permits_free(in_doubt);
        return;
    }
    if (again)
        in_doubt->at_ms = rli_now_ms();
    rli_permits_in_doubt_put_back(engine, in_doubt);
}
