/* Renew permits: extends the leases of permits, in batches like those of holds. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/renew_permits.h"

#include "base/clock.h"
#include "engine/kinds/permit.h"
#include "engine/renewed_permits.h"
#include "net/reply.h"
#include "watchdog/renew.h"

#include <stdlib.h>
#include <string.h>

void rli_permit_batch_free(rli_permit_batch *batch)
{
    if (!batch)
        return;
    rli_names_free(&batch->names);
    free(batch);
}

/* Moves what is due of one semaphore to the batch. Until the answer comes, the timers stand at the deadlines. */
static void fill(rli_watchdog *watchdog, rli_renewal_batch *batch, const char *name)
{
    rli_engine *engine = watchdog->engine;
    int64_t due_ms = rli_now_ms() + rli_watchdog_timeout_part(watchdog, 60);
    rli_renewed_permit *permit;
    while (batch->count < engine->settings->batch_size &&
           (permit = rli_renewed_permits_first(&engine->renewed_permits)) && permit->timer.at_ms <= due_ms &&
           permit->timer.at_ms < permit->deadline_ms && rli_now_ms() < permit->deadline_ms &&
           strcmp(rli_renewed_permit_name(permit), name) == 0) {
        memcpy(batch->permits->ids + batch->count++ * RLI_PERMIT_ID, permit->id, RLI_PERMIT_ID);
        batch->ends_ms = rli_earlier(batch->ends_ms, permit->deadline_ms);
        rli_renewed_permit_put_off(engine, permit, permit->deadline_ms);
    }
}

static rli_permit_batch *make_permits(const rli_watchdog *watchdog, const char *name)
{
    size_t most = (size_t)watchdog->engine->settings->batch_size;
    rli_permit_batch *permits = malloc(sizeof *permits + most * RLI_PERMIT_ID);
    if (permits && rli_names_make(&permits->names, NULL, name, &rli_permit_naming) == RLOCK_OK)
        return permits;
    free(permits);
    return NULL;
}

/* Takes over the caller's hold on the node. NULL: out of memory. */
static rli_renewal_batch *make(rli_watchdog *watchdog, rli_node *node, const char *name)
{
    rli_permit_batch *permits = make_permits(watchdog, name);
    rli_renewal_batch *batch = permits ? rli_renewal_batch_make(watchdog, node) : NULL;
    if (batch)
        batch->permits = permits;
    else
        rli_permit_batch_free(permits);
    return batch;
}

void rli_renew_permits_due(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_renewed_permit *first = rli_renewed_permits_first(&engine->renewed_permits);
    if (rli_now_ms() >= first->deadline_ms) {
        rli_renewed_permit_lose(engine, first, first->reason);
        return;
    }
    const char *name = rli_renewed_permit_name(first);
    int64_t until_ms;
    rli_node *node = rli_topology_ref_server_for(engine->topology, name, strlen(name));
    bool may = rli_renew_await_room(watchdog, node, first->timer.at_ms, &until_ms);
    rli_renewal_batch *batch = may ? make(watchdog, node, name) : NULL;
    if (may && !batch)
        until_ms = rli_after_ms(rli_watchdog_timeout_part(watchdog, 30) + 1);
    if (batch) {
        fill(watchdog, batch, batch->permits->names.name);
        rli_renew_dispatch(batch);
        return;
    }
    if (until_ms > 0)
        rli_renewed_permit_put_off(engine, first, until_ms);
    rli_node_unref(node);
}

void rli_renew_permits_word(const rli_renewal_batch *batch, rli_call *call)
{
    const rli_names *names = &batch->permits->names;
    rli_call_script(call, &rli_script_permit_semaphore_renew, 1);
    rli_call_add(call, names->keys[0], names->key_lengths[0]);
    rli_call_add_number(call, batch->count);
    rli_call_add(call, batch->permits->ids, (size_t)batch->count * RLI_PERMIT_ID);
    rli_call_add_number(call, batch->watchdog->engine->settings->watchdog_timeout_ms);
}

void rli_renew_permits_apply(const rli_renewal_batch *batch, const redisReply *answers, int64_t sent_ms,
                             int64_t again_ms)
{
    rli_engine *engine = batch->watchdog->engine;
    for (int i = 0; i < batch->count; i++) {
        rli_renewed_permit *permit = rli_renewed_permits_find(&engine->renewed_permits,
                                                              batch->permits->ids + i * RLI_PERMIT_ID);
        int64_t there = 0;
        if (!permit)
            continue; /* released or declared lost while the renewal was under way */
        permit->refused = batch->refused;
        permit->reason = batch->refused ? RLOCK_LOST_REFUSED : RLOCK_LOST_EXPIRED;
        if (!answers)
            rli_renewed_permit_put_off(engine, permit, again_ms);
        else if (rli_reply_integer(answers->element[i], &there) && there == 1)
            rli_renewed_permit_extend(engine, permit, sent_ms);
        else
            rli_renewed_permit_lose(engine, permit, RLOCK_LOST_GONE);
    }
}
