/* Redirects: following MOVED and ASK to the node where a slot, or one of its keys, is served. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/topology.h"

#include "base/clock.h"
#include "base/error.h"

#include <string.h>

/* The longest time that a request that follows a redirect takes: connecting, its answer, and the replicas'
 * acknowledgement. */
static int64_t needed_ms(const rli_settings *settings)
{
    return settings->connect_timeout_ms + 2 * settings->timeout_ms + 2 * settings->sync_timeout_ms;
}

/* Until the cluster's map is read again, a node that was not known as a master is taken to have as many replicas as the
 * one that redirects to it. Writes there are acknowledged then: the server tells how many there are. */
static void assume_replicas(const rli_node *from, rli_node *to)
{
    int none = 0, as_many = atomic_load(&from->replicas);
    atomic_compare_exchange_strong(&to->replicas, &none, as_many);
}

/* Finds the node to which the slot's owner redirects. RLOCK_OK: *to, with a reference; NULL if `from` is not the
 * owner. */
static rlock_status follow(rli_topology *topology, unsigned slot, const rli_node *from, const char *host, size_t length,
                           int port, rli_node **to)
{
    const rli_address *own = &from->address;
    *to = NULL;
    if (length == 0) {
        host = own->host;
        length = strlen(host);
    }
    if (rli_topology_server_of(topology, slot) != from)
        return RLOCK_OK;
    if (!rli_nodes_may_be_at(host, length, port))
        return rli_fail(RLOCK_SERVER, "%s redirected to an invalid address", own->text);
    pthread_mutex_lock(&topology->mutex);
    rlock_status status = rli_nodes_meet_redirected(&topology->nodes, host, length, port, own,
                                                    rli_after_ms(needed_ms(topology->settings)), to);
    if (*to)
        assume_replicas(from, *to);
    pthread_mutex_unlock(&topology->mutex);
    return status;
}

bool rli_topology_follow_moved(rli_topology *topology, unsigned slot, rli_node *from, const char *host, size_t length,
                               int port)
{
    rli_node *to;
    rlock_status status = follow(topology, slot, from, host, length, port, &to);
    if (to) {
        rli_topology_set_server(topology, slot, slot, to);
        rli_topology_announce(topology);
        rli_topology_suspect(topology); /* other slots may have moved there, too */
    }
    rli_node_unref(to);
    return status == RLOCK_OK;
}

/* A migrating slot's keys move one by one, so ASK redirects keep coming until it is done. */
#define AHEAD_MS 1000

bool rli_topology_is_migrating(const rli_topology *topology)
{
    int64_t ahead_ms = atomic_load(&topology->ahead_ms);
    return ahead_ms && rli_now_ms() - ahead_ms < AHEAD_MS;
}

bool rli_topology_follow_ask(rli_topology *topology, unsigned slot, rli_node *from, const char *host, size_t length,
                             int port, rli_node **to)
{
    rlock_status status = follow(topology, slot, from, host, length, port, to);
    if (!*to)
        return status == RLOCK_OK;
    bool known = rli_topology_is_migrating(topology);
    atomic_store(&topology->ahead_ms, rli_now_ms());
    if (!known) /* listeners here will not hear from the other node */
        rli_node_rouse(from);
    return true;
}
