/* Doubts: permits that may have been taken, or may be taken yet, without anybody's knowing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/doubts.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/permit_id.h"

#include <stdlib.h>
#include <string.h>

/* A request can't run late for longer than its server is frozen, or the network holds it. */
#define WITHOUT_LEASE_MS 86400000

static rli_doubt **soonest(rli_doubts *doubts)
{
    rli_doubt **found = &doubts->first;
    for (rli_doubt **each = &doubts->first; *each; each = &(*each)->next) {
        if ((*each)->at_ms < (*found)->at_ms)
            found = each;
    }
    return found;
}

static void plan(rli_engine *engine, rli_doubts *doubts)
{
    rli_doubt *first = *soonest(doubts);
    if (first)
        rli_agenda_set(&engine->agenda, &doubts->due, first->at_ms);
    else
        rli_agenda_remove(&engine->agenda, &doubts->due);
}

rli_doubt *rli_doubts_take(rli_engine *engine)
{
    rli_doubt **place = soonest(&engine->doubts), *doubt = *place;
    *place = doubt->next;
    plan(engine, &engine->doubts);
    return doubt;
}

void rli_doubts_put_back(rli_engine *engine, rli_doubt *doubt)
{
    doubt->next = engine->doubts.first;
    engine->doubts.first = doubt;
    plan(engine, &engine->doubts);
}

rlock_status rli_doubts_prepare(rli_engine *engine)
{
    rli_doubts *doubts = &engine->doubts;
    pthread_mutex_lock(&engine->mutex);
    doubts->reserved = doubts->reserved || rli_agenda_reserve(&engine->agenda);
    bool reserved = doubts->reserved;
    pthread_mutex_unlock(&engine->mutex);
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

void rli_doubts_add(rli_engine *engine, rli_doubt *doubt, int64_t lease_ms, int unanswered)
{
    doubt->unanswered = unanswered;
    doubt->at_ms = rli_now_ms();
    doubt->until_ms = rli_after_ms(lease_ms > 0 ? lease_ms : WITHOUT_LEASE_MS);
    pthread_mutex_lock(&engine->mutex);
    rli_doubts_put_back(engine, doubt);
    /* Can't be started: the next one may be, and finds this doubt as well. */
    (void)engine->attend(engine);
    pthread_mutex_unlock(&engine->mutex);
}

void rli_doubts_destroy(rli_doubts *doubts)
{
    while (doubts->first) {
        rli_doubt *doubt = doubts->first;
        doubts->first = doubt->next;
        rli_doubt_drop(doubt);
    }
}
