/* Synced grant: a grant that at least one replica must confirm. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/synced.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"

static rlock_status not_synced(const rli_settings *settings, int done)
{
    return rli_fail(RLOCK_NOT_SYNCED,
                    "no replica confirmed the acquisition within %lld ms (%d %s), so it was undone; check that the "
                    "replicas keep up with their master, raise slavesSyncTimeout, or set checkLockSyncedSlaves to "
                    "false",
                    (long long)settings->sync_timeout_ms, done, done == 1 ? "attempt" : "attempts");
}

static const bool legal[RLI_SYNCED_STAGES][RLI_SYNCED_STAGES] = {
    [RLI_SYNCED_ASKS] = {[RLI_SYNCED_TAKES_BACK] = true},
    [RLI_SYNCED_TAKES_BACK] = {[RLI_SYNCED_PAUSES] = true},
    [RLI_SYNCED_PAUSES] = {[RLI_SYNCED_ASKS] = true},
};

static void become(rli_synced *synced, rli_synced_stage stage)
{
    rli_check(legal[synced->stage][stage]);
    synced->stage = stage;
}

/* --- taking it back, even when the caller's time is up: otherwise nobody would know of the hold --- */

static void begin_taking_back(rli_synced *synced, const rli_grantable *grantable, const rli_call *call,
                              rli_operation *op, int64_t timeout_ms)
{
    int64_t answer_by_ms = rli_after_ms(timeout_ms);
    become(synced, RLI_SYNCED_TAKES_BACK);
    synced->deadline_ms = op->deadline_ms;
    synced->cancel = op->cancel;
    grantable->take_back(&synced->back, grantable->what);
    /* A server that has taken over, or was restarted, may have lost the grant: it would be given more than was
     * taken. */
    if (grantable->adds)
        synced->back.only_run_id = call->run_id;
    if (op->deadline_ms < answer_by_ms)
        op->deadline_ms = answer_by_ms;
    op->cancel = NULL;
    op->outlives_whole = true;
}

/* Returns RLI_WAITING or the request's status. */
static rlock_status take_back(rli_synced *synced, rli_topology *topology, rli_operation *op, rli_route *route)
{
    rlock_status status = rli_call_run(&synced->back, topology, op, route);
    if (status == RLI_WAITING)
        return status;
    synced->late += synced->back.unanswered;
    rli_call_clear(&synced->back);
    op->cancel = synced->cancel;
    op->outlives_whole = false;
    op->deadline_ms = synced->deadline_ms;
    return status;
}

/* --- asking until it is confirmed --- */

static rlock_status ask(rli_synced *synced, const rli_grantable *grantable, rli_call *call, rli_topology *topology,
                        rli_operation *op, rli_route *route)
{
    if (!synced->begun) {
        synced->begun = true;
        grantable->ask(call, grantable->what);
        call->synced = true;
    }
    return rli_call_run(call, topology, op, route);
}

/* The grant was taken back, or that was tried. Begins the pause before it is asked for again; false: it is not. */
static bool begin_pause(rli_synced *synced, const rli_grantable *grantable, const rli_call *call,
                        rlock_status taken_back, const rli_topology *topology, const rli_operation *op)
{
    synced->left += call->unanswered + (taken_back != RLOCK_OK);
    synced->done++;
    if (synced->late > 0 || (grantable->adds && synced->left > 0))
        return false;
    if (synced->done > topology->settings->retry_attempts || rli_now_ms() >= rli_operation_attempts_until(op))
        return false;
    synced->pause = rli_pause_begin(topology, op, synced->done);
    become(synced, RLI_SYNCED_PAUSES);
    return true;
}

void rli_synced_begin(rli_synced *synced)
{
    synced->stage = RLI_SYNCED_ASKS;
    synced->begun = false;
    synced->done = synced->left = synced->late = 0;
}

rlock_status rli_synced_run(rli_synced *synced, const rli_grantable *grantable, rli_call *call, rli_topology *topology,
                            rli_operation *op, rli_route *route)
{
    const rli_settings *settings = topology->settings;
    for (;;) {
        rlock_status status = RLOCK_OK;
        if (synced->stage == RLI_SYNCED_ASKS) {
            status = ask(synced, grantable, call, topology, op, route);
            if (status == RLI_WAITING)
                return status;
            if (status != RLOCK_OK || !call->unconfirmed || !settings->check_synced ||
                !grantable->granted(call->reply, grantable->what)) {
                call->unanswered += synced->left;
                return status;
            }
            begin_taking_back(synced, grantable, call, op, settings->timeout_ms);
        }
        if (synced->stage == RLI_SYNCED_TAKES_BACK) {
            status = take_back(synced, topology, op, route);
            if (status == RLI_WAITING)
                return status;
            if (!begin_pause(synced, grantable, call, status, topology, op)) {
                call->unanswered = synced->left + synced->late;
                return not_synced(settings, synced->done);
            }
        }
        status = rli_pause_wait(&synced->pause, topology, op);
        if (status == RLI_WAITING)
            return status;
        if (status != RLOCK_OK) {
            call->unanswered = synced->left;
            return status;
        }
        rli_call_clear(call);
        become(synced, RLI_SYNCED_ASKS);
        synced->begun = false;
    }
}

int64_t rli_synced_patience_ms(const rli_topology *topology, const char *key, size_t length)
{
    unsigned slot = rli_topology_slot(topology, key, length);
    return rli_topology_has_replicas(topology, slot) ? topology->settings->sync_timeout_ms : 0;
}
