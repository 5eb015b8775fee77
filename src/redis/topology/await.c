/* How operations wait for the topology: for a server that serves their key, and for the first search. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "redis/topology/topology.h"

#include <stdio.h>

bool rli_topology_has_looked(const rli_topology *topology)
{
    return atomic_load(&topology->looked);
}

static bool has_changed(const rli_topology *topology, unsigned version)
{
    return atomic_load(&topology->version) != version;
}

static bool has_looked(const rli_topology *topology, unsigned version)
{
    (void)version;
    return rli_topology_has_looked(topology);
}

/* Waits until `is_over`, the end of the operation, or `until_ms`. False: the operation has no thread and must wait. */
static bool await(rli_topology *topology, rli_operation *op, bool (*is_over)(const rli_topology *, unsigned),
                  unsigned version, int64_t until_ms)
{
    bool goes_on = true;
    pthread_mutex_lock(&topology->mutex);
    rli_turn_join(&topology->waiting, &op->turn);
    pthread_mutex_unlock(&topology->mutex);
    while (goes_on && !is_over(topology, version) && rli_now_ms() < until_ms && rli_now_ms() < op->deadline_ms &&
           rli_operation_check(op) == RLOCK_OK)
        goes_on = rli_operation_sleep(op, rli_earlier(until_ms, op->deadline_ms));
    if (!goes_on)
        return false;
    pthread_mutex_lock(&topology->mutex);
    rli_turn_leave(&topology->waiting, &op->turn);
    pthread_mutex_unlock(&topology->mutex);
    return true;
}

bool rli_topology_await_change(rli_topology *topology, rli_operation *op, unsigned version, int64_t until_ms)
{
    return await(topology, op, has_changed, version, until_ms);
}

bool rli_topology_await_look(rli_topology *topology, rli_operation *op, int64_t until_ms)
{
    bool waits = op->turn.joined; /* an earlier call has returned false */
    return (!waits && rli_topology_has_looked(topology)) || await(topology, op, has_looked, 0, until_ms);
}

rlock_status rli_topology_fail_unserved(rli_topology *topology, unsigned slot, const char *key)
{
    char shown[RLI_NAME_SHOWN], why[sizeof topology->trouble];
    pthread_mutex_lock(&topology->mutex);
    snprintf(why, sizeof why, "%s", topology->trouble);
    pthread_mutex_unlock(&topology->mutex);
    if (atomic_load(&topology->version) > 0 && !key)
        return rli_fail(RLOCK_UNAVAILABLE, "no node of the cluster serves slot %u; see CLUSTER SLOTS", slot);
    if (atomic_load(&topology->version) > 0)
        return rli_fail(RLOCK_UNAVAILABLE,
                        "no node of the cluster serves slot %u, which \"%s\" belongs to; see CLUSTER SLOTS", slot,
                        rli_show_name(key, shown));
    return rli_fail(RLOCK_UNAVAILABLE, "no server has been found yet: %.300s",
                    *why ? why : "the search has just begun");
}
