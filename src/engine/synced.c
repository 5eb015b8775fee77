/* Synced grant: a grant that at least one replica must confirm. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/synced.h"

#include "base/clock.h"
#include "base/error.h"

/* Takes the grant back, even when the caller's time is up: otherwise nobody would know of the hold. */
static bool take_back(const rli_grantable *grantable, rli_topology *topology, rli_operation *op, rli_route *route)
{
    rli_call call;
    int64_t deadline_ms = op->deadline_ms, answer_by_ms = rli_after_ms(topology->settings->timeout_ms);
    rlock_cancel *cancel = op->cancel;
    grantable->take_back(&call, grantable->what);
    if (op->deadline_ms < answer_by_ms)
        op->deadline_ms = answer_by_ms;
    op->cancel = NULL;
    rlock_status status = rli_call_run(&call, topology, op, route);
    rli_call_clear(&call);
    op->cancel = cancel;
    op->deadline_ms = deadline_ms;
    return status == RLOCK_OK;
}

static rlock_status not_synced(const rli_settings *settings, int done)
{
    return rli_fail(RLOCK_NOT_SYNCED,
                    "no replica confirmed within %lld ms what was taken (%d %s), so it was given back; see "
                    "whether they keep up with their master, raise slavesSyncTimeout, or set checkLockSyncedSlaves to "
                    "false",
                    (long long)settings->sync_timeout_ms, done, done == 1 ? "attempt" : "attempts");
}

rlock_status rli_synced_run(const rli_grantable *grantable, rli_call *call, rli_topology *topology, rli_operation *op,
                            rli_route *route)
{
    const rli_settings *settings = topology->settings;
    int left = 0;
    for (int done = 1;; done++) {
        grantable->ask(call, grantable->what);
        call->synced = true;
        rlock_status status = rli_call_run(call, topology, op, route);
        if (status != RLOCK_OK || !call->unconfirmed || !settings->check_synced ||
            !grantable->granted(call->reply, grantable->what)) {
            call->unanswered += left;
            return status;
        }
        left += call->unanswered + !take_back(grantable, topology, op, route);
        if (done > settings->retry_attempts || rli_now_ms() >= rli_operation_attempts_until(op)) {
            call->unanswered = left;
            return not_synced(settings, done);
        }
        status = rli_call_rest(topology, op, done);
        if (status != RLOCK_OK) {
            call->unanswered = left;
            return status;
        }
        rli_call_clear(call);
    }
}

int64_t rli_synced_patience_ms(const rli_topology *topology, const char *key, size_t length)
{
    unsigned slot = rli_topology_slot(topology, key, length);
    return rli_topology_has_replicas(topology, slot) ? topology->settings->sync_timeout_ms : 0;
}
