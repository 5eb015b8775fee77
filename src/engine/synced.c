/* Synced: a grant that replicas have to confirm. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/synced.h"

#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"

/* Also when the caller's time is up by now: it would be held by nobody who knows. */
static bool take_back(const rli_grantable *grantable, rli_caller *caller, rli_route *route)
{
    rli_call call;
    int64_t deadline_ms = caller->deadline_ms, answer_by_ms = rli_after_ms(caller->client->settings.timeout_ms);
    rlock_cancel *cancel = caller->cancel;
    grantable->take_back(&call, grantable->what);
    if (caller->deadline_ms < answer_by_ms)
        caller->deadline_ms = answer_by_ms;
    caller->cancel = NULL;
    rlock_status status = rli_call_run(&call, caller, route);
    rli_call_clear(&call);
    caller->cancel = cancel;
    caller->deadline_ms = deadline_ms;
    return status == RLOCK_OK;
}

static rlock_status not_synced(const rli_settings *settings, int done)
{
    return rli_fail(RLOCK_NOT_SYNCED, "no replica confirmed within %lld ms what was taken (%d %s), so it was given back; see "
                    "whether they keep up with their master, raise slavesSyncTimeout, or set checkLockSyncedSlaves to "
                    "false", (long long)settings->sync_timeout_ms, done, done == 1 ? "attempt" : "attempts");
}

rlock_status rli_synced_run(const rli_grantable *grantable, rli_call *call, rli_caller *caller, rli_route *route)
{
    const rli_settings *settings = &caller->client->settings;
    int left = 0;
    for (int done = 1;; done++) {
        grantable->ask(call, grantable->what);
        call->synced = true;
        rlock_status status = rli_call_run(call, caller, route);
        if (status != RLOCK_OK || !call->unconfirmed || !settings->check_synced ||
            !grantable->granted(call->reply, grantable->what)) {
            call->unanswered += left;
            return status;
        }
        left += call->unanswered + !take_back(grantable, caller, route);
        if (done > settings->retry_attempts || rli_now_ms() >= rli_caller_attempts_until(caller)) {
            call->unanswered = left;
            return not_synced(settings, done);
        }
        status = rli_call_rest(caller, done);
        if (status != RLOCK_OK) {
            call->unanswered = left;
            return status;
        }
        rli_call_clear(call);
    }
}

int64_t rli_synced_patience_ms(const rli_caller *caller, const char *key, size_t length)
{
    const rli_topology *topology = &caller->client->topology;
    unsigned slot = rli_topology_slot(topology, key, length);
    return rli_topology_has_replicas(topology, slot) ? topology->settings->sync_timeout_ms : 0;
}
