/* Renewed permits: the permits of this client whose leases the watchdog extends until they are released. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/renewed_permits.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/session.h"

#include <stdlib.h>
#include <string.h>

/* Shared by the permits that were acquired together. */
typedef struct rli_semaphore_name {
    int references;
    char name[]; /* with the client's prefix */
} semaphore_name;

static uint32_t hash_of_id(const char id[RLI_PERMIT_ID])
{
    return rli_hash(id, RLI_PERMIT_ID, 0);
}

static uint32_t hash_of(const rli_link *link)
{
    return hash_of_id(RLI_ITEM(rli_renewed_permit, link, link)->id);
}

void rli_renewed_permits_init(rli_renewed_permits *permits)
{
    *permits = (rli_renewed_permits){.by_id.hash = hash_of};
    rli_timer_heap_init(&permits->timers);
}

void rli_renewed_permits_destroy(rli_renewed_permits *permits)
{
    for (rli_renewed_permit *permit; (permit = rli_renewed_permits_first(permits));) {
        rli_timer_heap_remove(&permits->timers, &permit->timer);
        rli_renewed_permit_free(permit);
    }
    for (rli_renewed_permit *permit; (permit = rli_renewed_permits_take_lost(permits));)
        rli_renewed_permit_free(permit);
    rli_table_free(&permits->by_id);
    rli_timer_heap_destroy(&permits->timers);
}

/* --- making them --- */

void rli_renewed_permit_free(rli_renewed_permit *permit)
{
    if (--permit->semaphore->references == 0)
        free(permit->semaphore);
    free(permit);
}

/* One permit, ahead of `list`. Returns false when out of memory. */
static bool add_one(rli_renewed_permits *permits, semaphore_name *semaphore, rli_renewed_permit **list)
{
    rli_renewed_permit *permit = malloc(sizeof *permit);
    if (!permit || !rli_timer_heap_reserve(&permits->timers)) {
        free(permit);
        return false;
    }
    *permit = (rli_renewed_permit){.next = *list, .semaphore = semaphore};
    semaphore->references++;
    *list = permit;
    return true;
}

/* Ensures that permits can be added later without memory. */
static bool make_room(rli_engine *engine)
{
    rli_renewed_permits *permits = &engine->renewed_permits;
    rli_renewed_permit first = {.reason = RLOCK_LOST_GONE};
    if (!atomic_load(&permits->reserved))
        atomic_store(&permits->reserved, rli_timer_heap_reserve(&engine->timers));
    if (!atomic_load(&permits->reserved) || permits->by_id.buckets)
        return atomic_load(&permits->reserved);
    if (!rli_table_add(&permits->by_id, &first.link))
        return false;
    rli_table_remove(&permits->by_id, &first.link); /* the buckets stay */
    return true;
}

static void drop(rli_engine *engine, rli_renewed_permit *list)
{
    for (rli_renewed_permit *permit = list, *next; permit; permit = next) {
        next = permit->next;
        rli_timer_heap_unreserve(&engine->renewed_permits.timers);
        rli_renewed_permit_free(permit);
    }
}

/* Mutex held. */
static rlock_status make(rli_engine *engine, semaphore_name *semaphore, int count, rli_renewed_permit **made)
{
    rli_renewed_permit *list = NULL;
    bool all = make_room(engine);
    for (int i = 0; all && i < count; i++)
        all = add_one(&engine->renewed_permits, semaphore, &list);
    rlock_status status = !all               ? rli_fail(RLOCK_NO_MEMORY, "out of memory for %d permits", count)
                          : engine->attended ? RLOCK_OK
                                             : engine->attend(engine);
    if (status != RLOCK_OK)
        drop(engine, list);
    else
        *made = list;
    return status;
}

rlock_status rli_renewed_permits_make(rli_engine *engine, const rli_names *names, int count, rli_renewed_permit **made)
{
    semaphore_name *semaphore = malloc(sizeof *semaphore + names->length + 1);
    if (!semaphore)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for %d permits", count);
    semaphore->references = 1;
    memcpy(semaphore->name, names->name, names->length + 1);
    rli_engine_lock(engine);
    rlock_status status = make(engine, semaphore, count, made);
    if (--semaphore->references == 0)
        free(semaphore);
    rli_engine_unlock(engine);
    return status;
}

void rli_renewed_permits_drop(rli_engine *engine, rli_renewed_permit *made)
{
    rli_engine_lock(engine);
    drop(engine, made);
    rli_engine_unlock(engine);
}

/* --- their times --- */

/* Sets the engine's timer to that of the permit that is due first. */
static void plan(rli_engine *engine)
{
    rli_renewed_permits *permits = &engine->renewed_permits;
    const rli_timer *first = rli_timer_heap_first(&permits->timers);
    if (!first)
        rli_timer_heap_remove(&engine->timers, &permits->timer);
    else if (!permits->timer.place || permits->timer.at_ms != first->at_ms)
        rli_timer_heap_set(&engine->timers, &permits->timer, first->at_ms);
}

static void set(rli_engine *engine, rli_renewed_permit *permit, int64_t at_ms)
{
    rli_timer_heap_set(&engine->renewed_permits.timers, &permit->timer, rli_earlier(at_ms, permit->deadline_ms));
}

static void extend(rli_engine *engine, rli_renewed_permit *permit, int64_t sent_ms)
{
    int64_t valid_until_ms = rli_valid_until(sent_ms, engine->settings->watchdog_timeout_ms);
    if (valid_until_ms > permit->deadline_ms)
        permit->deadline_ms = valid_until_ms;
    set(engine, permit, sent_ms + rli_renewal_period_ms(engine->settings));
}

/* It is not renewed any more; the caller frees it or reports it. */
static void take_out(rli_engine *engine, rli_renewed_permit *permit)
{
    rli_renewed_permits *permits = &engine->renewed_permits;
    rli_timer_heap_remove(&permits->timers, &permit->timer);
    rli_timer_heap_unreserve(&permits->timers);
    rli_table_remove(&permits->by_id, &permit->link);
}

void rli_renewed_permits_begin(rli_engine *engine, rli_renewed_permit *made, const char *ids, int64_t sent_ms)
{
    rli_engine_lock(engine);
    for (rli_renewed_permit *permit = made, *next; permit; permit = next, ids += RLI_PERMIT_ID) {
        next = permit->next;
        memcpy(permit->id, ids, RLI_PERMIT_ID);
        (void)rli_table_add(&engine->renewed_permits.by_id, &permit->link); /* make_room */
        extend(engine, permit, sent_ms);
    }
    plan(engine);
    rli_engine_unlock(engine);
}

void rli_renewed_permits_end(rli_engine *engine, const char *ids, int count)
{
    if (!atomic_load(&engine->renewed_permits.reserved))
        return; /* most releases: they need no mutex */
    rli_engine_lock(engine);
    for (int i = 0; engine->renewed_permits.by_id.count && i < count; i++) {
        rli_renewed_permit *permit = rli_renewed_permits_find(&engine->renewed_permits, ids + i * RLI_PERMIT_ID);
        if (!permit)
            continue;
        take_out(engine, permit);
        rli_renewed_permit_free(permit);
    }
    plan(engine);
    rli_engine_unlock(engine);
}

int64_t rli_renewed_permits_deadline(rli_engine *engine, const char id[RLI_PERMIT_ID])
{
    rli_engine_lock(engine);
    const rli_renewed_permit *permit = rli_renewed_permits_find(&engine->renewed_permits, id);
    int64_t deadline_ms = permit ? permit->deadline_ms : 0;
    rli_engine_unlock(engine);
    return deadline_ms;
}

rli_renewed_permit *rli_renewed_permits_first(const rli_renewed_permits *permits)
{
    rli_timer *first = rli_timer_heap_first(&permits->timers);
    return first ? RLI_ITEM(rli_renewed_permit, first, timer) : NULL;
}

rli_renewed_permit *rli_renewed_permits_find(const rli_renewed_permits *permits, const char id[RLI_PERMIT_ID])
{
    for (rli_link *link = rli_table_chain(&permits->by_id, hash_of_id(id)); link; link = link->next) {
        rli_renewed_permit *permit = RLI_ITEM(rli_renewed_permit, link, link);
        if (memcmp(permit->id, id, RLI_PERMIT_ID) == 0)
            return permit;
    }
    return NULL;
}

const char *rli_renewed_permit_name(const rli_renewed_permit *permit)
{
    return permit->semaphore->name;
}

void rli_renewed_permit_put_off(rli_engine *engine, rli_renewed_permit *permit, int64_t until_ms)
{
    set(engine, permit, until_ms);
    plan(engine);
}

void rli_renewed_permit_extend(rli_engine *engine, rli_renewed_permit *permit, int64_t sent_ms)
{
    extend(engine, permit, sent_ms);
    plan(engine);
}

/* --- their loss --- */

void rli_renewed_permit_lose(rli_engine *engine, rli_renewed_permit *permit, rlock_lost_reason reason)
{
    rli_renewed_permits *permits = &engine->renewed_permits;
    take_out(engine, permit);
    plan(engine);
    if (!engine->reports_wanted) {
        rli_renewed_permit_free(permit);
        return;
    }
    permit->reason = reason;
    permit->next = NULL;
    if (permits->last_lost)
        permits->last_lost->next = permit;
    else
        permits->first_lost = permit;
    permits->last_lost = permit;
    pthread_cond_broadcast(&engine->reports);
}

rli_renewed_permit *rli_renewed_permits_take_lost(rli_renewed_permits *permits)
{
    rli_renewed_permit *permit = permits->first_lost;
    if (permit && !(permits->first_lost = permit->next))
        permits->last_lost = NULL;
    return permit;
}
