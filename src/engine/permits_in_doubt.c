/* Permits in doubt: permits that an unanswered request may have taken, or may still take. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/permits_in_doubt.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/departure.h"
#include "engine/engine.h"
#include "engine/permit_id.h"

#include <stdlib.h>
#include <string.h>

/* How long permits without a lease are given back. A request runs late only while its server is frozen or the
 * network holds it back. */
#define WITHOUT_LEASE_MS 86400000

static rli_doubtful_permits **soonest(rli_permits_in_doubt *permits_in_doubt)
{
    rli_doubtful_permits **found = &permits_in_doubt->first;
    for (rli_doubtful_permits **each = &permits_in_doubt->first; *each; each = &(*each)->next) {
        if ((*each)->at_ms < (*found)->at_ms)
            found = each;
    }
    return found;
}

static void plan(rli_engine *engine, rli_permits_in_doubt *permits_in_doubt)
{
    rli_doubtful_permits *first = *soonest(permits_in_doubt);
    if (first)
        rli_timer_heap_set(&engine->timers, &permits_in_doubt->timer, first->at_ms);
    else
        rli_timer_heap_remove(&engine->timers, &permits_in_doubt->timer);
}

rli_doubtful_permits *rli_permits_in_doubt_take(rli_engine *engine)
{
    rli_doubtful_permits **place = soonest(&engine->permits_in_doubt), *in_doubt = *place;
    *place = in_doubt->next;
    plan(engine, &engine->permits_in_doubt);
    return in_doubt;
}

void rli_permits_in_doubt_put_back(rli_engine *engine, rli_doubtful_permits *in_doubt)
{
    in_doubt->next = engine->permits_in_doubt.first;
    engine->permits_in_doubt.first = in_doubt;
    plan(engine, &engine->permits_in_doubt);
}

bool rli_permits_in_doubt_hasten(rli_engine *engine)
{
    rli_permits_in_doubt *permits_in_doubt = &engine->permits_in_doubt;
    int64_t now_ms = rli_now_ms();
    for (rli_doubtful_permits *each = permits_in_doubt->first; each; each = each->next) {
        each->at_ms = rli_earlier(each->at_ms, now_ms);
        rli_departure_wait_for(engine, &each->not_given_back);
    }
    if (permits_in_doubt->first)
        plan(engine, permits_in_doubt);
    return permits_in_doubt->first;
}

rlock_status rli_permits_in_doubt_prepare(rli_engine *engine)
{
    rli_permits_in_doubt *permits_in_doubt = &engine->permits_in_doubt;
    rli_engine_lock(engine);
    permits_in_doubt->reserved = permits_in_doubt->reserved || rli_timer_heap_reserve(&engine->timers);
    bool reserved = permits_in_doubt->reserved;
    rli_engine_unlock(engine);
    return reserved ? RLOCK_OK : rli_fail(RLOCK_NO_MEMORY, "out of memory for a semaphore");
}

rli_doubtful_permits *rli_doubtful_permits_make(const rli_names *names, int count)
{
    rli_doubtful_permits *in_doubt = malloc(sizeof *in_doubt + names->length + 1 + (size_t)count * RLI_PERMIT_ID);
    if (!in_doubt)
        return NULL;
    *in_doubt = (rli_doubtful_permits){.count = count, .ids = in_doubt->name + names->length + 1};
    memcpy(in_doubt->name, names->name, names->length + 1);
    return in_doubt;
}

void rli_doubtful_permits_free(rli_doubtful_permits *in_doubt)
{
    free(in_doubt);
}

void rli_permits_in_doubt_add(rli_engine *engine, rli_doubtful_permits *in_doubt, int64_t lease_ms, int unanswered)
{
    in_doubt->unanswered = unanswered;
    in_doubt->at_ms = rli_now_ms();
    in_doubt->until_ms = rli_after_ms(lease_ms > 0 ? lease_ms : WITHOUT_LEASE_MS);
    rli_engine_lock(engine);
    rli_departure_wait_for(engine, &in_doubt->not_given_back);
    rli_permits_in_doubt_put_back(engine, in_doubt);
    /* If the watchdog cannot be started now, a later start finds these permits, too. */
    (void)engine->attend(engine);
    rli_engine_unlock(engine);
}

void rli_permits_in_doubt_destroy(rli_permits_in_doubt *permits_in_doubt)
{
    while (permits_in_doubt->first) {
        rli_doubtful_permits *in_doubt = permits_in_doubt->first;
        permits_in_doubt->first = in_doubt->next;
        rli_doubtful_permits_free(in_doubt);
    }
}
