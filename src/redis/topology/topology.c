/* The topology: which server serves a key now. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/topology.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "redis/topology/slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The time between two rounds while something is wrong. */
#define HURRY_MS 100
/* The same while sentinels publish switches: the first is looked into at once, and a flood of them is not a flood of
 * rounds. */
#define HEARD_MS 20

static const rli_discovery *const discoveries[] = {
    [RLI_SINGLE] = &rli_discovery_single,           [RLI_SENTINEL] = &rli_discovery_sentinel,
    [RLI_CLUSTER] = &rli_discovery_cluster,         [RLI_REPLICATED] = &rli_discovery_replicated,
    [RLI_MASTER_SLAVE] = &rli_discovery_replicated,
};

void rli_topology_init(rli_topology *topology, const rli_settings *settings, rli_gate *gate, rli_ear *ear)
{
    *topology = (rli_topology){
        .gate = gate, .ear = ear, .settings = settings, .discovery = discoveries[settings->mode]};
    /* Outside single mode, listeners may be connected to a replica. */
    atomic_init(&topology->pubsub_mode, settings->mode == RLI_SINGLE ? RLI_COUNTED : RLI_SCATTERED);
    topology->slot_count = settings->mode == RLI_CLUSTER ? RLI_SLOTS : 1;
    rli_nodes_init(&topology->nodes, settings, &topology->pubsub_mode, &gate->closed, ear);
    rli_nodes_init(&topology->sentinels, settings, &topology->pubsub_mode, &gate->closed, NULL);
    pthread_mutex_init(&topology->mutex, NULL);
    rli_parker_init(&topology->parker);
    rli_connector_init(&topology->connector, gate);
}

/* --- which node serves what --- */

unsigned rli_topology_slot(const rli_topology *topology, const char *key, size_t length)
{
    return topology->slot_count == 1 ? 0 : rli_slot_of(key, length);
}

rli_node *rli_topology_server_of(const rli_topology *topology, unsigned slot)
{
    return atomic_load(&topology->owners[slot]);
}

/* Takes a reference first, then checks that the node still owns the slot. If it does, it was in service when the
 * reference was taken, so it stays the same node now (nodes.h). */
rli_node *rli_topology_ref_server(const rli_topology *topology, unsigned slot)
{
    for (;;) {
        rli_node *node = rli_topology_server_of(topology, slot);
        if (!node)
            return NULL;
        rli_node_ref(node);
        if (rli_topology_server_of(topology, slot) == node)
            return node;
        rli_node_unref(node);
    }
}

rli_node *rli_topology_ref_server_for(const rli_topology *topology, const char *key, size_t length)
{
    return rli_topology_ref_server(topology, rli_topology_slot(topology, key, length));
}

bool rli_topology_has_replicas(const rli_topology *topology, unsigned slot)
{
    const rli_node *node = rli_topology_server_of(topology, slot);
    return node && atomic_load_explicit(&node->replicas, memory_order_relaxed) > 0;
}

bool rli_topology_collect(rli_topology *topology, int64_t until_ms)
{
    bool more = false;
    for (rli_node *node = NULL; (node = rli_nodes_next_of_all(&topology->nodes, node));)
        more |= rli_node_collect(node, until_ms);
    return more;
}

/* No longer: while one attempt is under way, to a server that was stopped perhaps, nobody else begins another. */
#define BACKGROUND_MS 2000

void rli_topology_connect_background(rli_topology *topology, const char *key, size_t length)
{
    rli_node *node = rli_topology_ref_server_for(topology, key, length);
    if (node)
        (void)rli_connector_connect(&topology->connector, node, &node->background,
                                    rli_pipeline_connects(&node->background), BACKGROUND_MS);
    rli_node_unref(node);
}

void rli_topology_flush(rli_topology *topology)
{
    for (rli_node *node = NULL; (node = rli_nodes_next_of_all(&topology->nodes, node));)
        rli_node_flush(node);
}

void rli_topology_watch(rli_topology *topology, int epoll_fd)
{
    for (rli_node *node = NULL; (node = rli_nodes_next_of_all(&topology->nodes, node));)
        rli_node_watch(node, epoll_fd);
}

void rli_topology_poll(rli_topology *topology, struct rli_polls *polls)
{
    for (rli_node *node = NULL; (node = rli_nodes_next_of_all(&topology->nodes, node));)
        rli_node_poll(node, polls);
}

bool rli_topology_serves_anything(const rli_topology *topology, const rli_node *node)
{
    for (size_t slot = 0; slot < topology->slot_count; slot++) {
        if (rli_topology_server_of(topology, (unsigned)slot) == node)
            return true;
    }
    return false;
}

void rli_topology_set_server(rli_topology *topology, unsigned first, unsigned last, rli_node *node)
{
    pthread_mutex_lock(&topology->mutex);
    bool may = !node || atomic_load(&node->in_service); /* an owner must be in service (nodes.h) */
    for (unsigned slot = first; may && slot <= last; slot++) {
        rli_node *before = topology->owners[slot]; /* written under the mutex alone */
        if (before == node)
            continue;
        atomic_store(&topology->owners[slot], node);
        topology->changed = true;
        if (before)
            before->left = true;
        if (node)
            node->gained = true;
    }
    pthread_mutex_unlock(&topology->mutex);
}

void rli_topology_announce(rli_topology *topology)
{
    pthread_mutex_lock(&topology->mutex);
    bool changed = topology->changed;
    if (changed) {
        topology->changed = false;
        atomic_fetch_add(&topology->version, 1);
        for (rli_node *node = NULL; (node = rli_nodes_next(&topology->nodes, node));) {
            if (node->gained)
                atomic_store(&node->tracking.gained, true);
            node->gained = false;
            if (!node->left)
                continue;
            node->left = false;
            if (rli_topology_serves_anything(topology, node))
                rli_node_rouse(node);
            else
                rli_node_abandon(node);
        }
        rli_turn_wake_all(topology->waiting);
    }
    pthread_mutex_unlock(&topology->mutex);
    if (changed)
        topology->ear->servers_changed(topology->ear);
}

/* --- the nodes --- */

rlock_status rli_topology_meet(rli_topology *topology, rli_nodes *list, const char *host, size_t length, int port,
                               const rli_address *like, rli_node **node)
{
    if (length == 0 && like) {
        host = like->host;
        length = strlen(host);
    }
    if (!rli_nodes_may_be_at(host, length, port))
        return rli_fail(RLOCK_SERVER, "a server reported an invalid address of another server");
    pthread_mutex_lock(&topology->mutex);
    rlock_status status = rli_nodes_meet(list, host, length, port, like, node);
    pthread_mutex_unlock(&topology->mutex);
    return status;
}

rlock_status rli_topology_meet_configured(rli_topology *topology, rli_nodes *list, const rli_address *address,
                                          rli_node **node)
{
    const char *host = address->host ? address->host : "";
    pthread_mutex_lock(&topology->mutex);
    rlock_status status = rli_nodes_meet(list, host, strlen(host), address->port, address, node);
    if (status == RLOCK_OK)
        (*node)->configured = true;
    pthread_mutex_unlock(&topology->mutex);
    return status;
}

rlock_status rli_topology_meet_all_configured(rli_topology *topology, rli_nodes *list)
{
    const rli_settings *settings = topology->settings;
    rlock_status status = RLOCK_OK;
    rli_node *node;
    for (size_t i = 0; i < settings->address_count && status == RLOCK_OK; i++)
        status = rli_topology_meet_configured(topology, list, &settings->addresses[i], &node);
    return status;
}

void rli_topology_begin_naming(rli_topology *topology, rli_nodes *list)
{
    pthread_mutex_lock(&topology->mutex);
    rli_nodes_begin_naming(list);
    pthread_mutex_unlock(&topology->mutex);
}

void rli_topology_name(rli_topology *topology, rli_nodes *list, rli_node *node)
{
    pthread_mutex_lock(&topology->mutex);
    rli_nodes_name(list, node);
    pthread_mutex_unlock(&topology->mutex);
}

/* Takes one node that is no longer needed out of service and returns it, for rli_nodes_end. NULL: there is none. */
static rli_node *give_up_one(rli_topology *topology, const rli_nodes *list)
{
    int64_t now_ms = rli_now_ms();
    pthread_mutex_lock(&topology->mutex);
    rli_node *node = rli_nodes_next(list, NULL);
    while (node && (rli_nodes_is_current(list, node) || now_ms < node->needed_until_ms ||
                    rli_topology_serves_anything(topology, node)))
        node = rli_nodes_next(list, node);
    if (node)
        rli_nodes_give_up(node);
    pthread_mutex_unlock(&topology->mutex);
    return node;
}

/* Ends all nodes that are no longer needed. Only discovery calls this, after a round: its pointers to nodes are valid
 * until here. */
static void forget(rli_topology *topology, const rli_nodes *list)
{
    for (rli_node *node; (node = give_up_one(topology, list));)
        rli_nodes_end(node);
}

/* --- discovery rounds --- */

static void note_trouble(rli_topology *topology)
{
    pthread_mutex_lock(&topology->mutex);
    snprintf(topology->trouble, sizeof topology->trouble, "%s", rlock_last_error());
    pthread_mutex_unlock(&topology->mutex);
}

/* After the first round, operations that a client which was opened lazily has begun go on. */
static void note_look(rli_topology *topology)
{
    pthread_mutex_lock(&topology->mutex);
    if (!atomic_exchange(&topology->looked, true))
        rli_turn_wake_all(topology->waiting);
    pthread_mutex_unlock(&topology->mutex);
}

/* Servers that answer soon come first. As long as none ever has, all may be busy: then every second round is
 * patient. */
static void note_patience(rli_topology *topology, rlock_status status)
{
    topology->found = topology->found || status == RLOCK_OK;
    topology->patient = status == RLOCK_UNAVAILABLE && !topology->found && !topology->patient;
}

static rlock_status look(rli_topology *topology)
{
    rli_operation op;
    rlock_status status = rli_operation_begin(&op, topology->gate, topology->news);
    if (status != RLOCK_OK)
        return status;
    rli_topology_ignore_news(&op);
    topology->looks++;
    status = topology->discovery->look(topology, &op);
    topology->cut_short = rli_topology_ended_by_news(&op);
    if (!topology->cut_short)
        topology->whole_look = topology->looks;
    if (status != RLOCK_OK)
        note_trouble(topology);
    note_patience(topology, status);
    rli_topology_announce(topology);
    note_look(topology);
    forget(topology, &topology->nodes);
    forget(topology, &topology->sentinels);
    rli_operation_end(&op);
    return status;
}

bool rli_topology_lasts(const rli_topology *topology, rli_lasting *lasting, int64_t long_ms)
{
    bool first = lasting->look == 0 || lasting->look < topology->whole_look;
    lasting->for_ms = first ? 0 : lasting->for_ms + rli_earlier(topology->looked_ms - lasting->at_ms, long_ms / 4);
    lasting->at_ms = first ? rli_now_ms() : topology->looked_ms;
    lasting->look = topology->looks;
    return lasting->for_ms >= long_ms;
}

/* --- the thread --- */

static void ping(rli_topology *topology)
{
    rli_operation op;
    if (rli_operation_begin(&op, topology->gate, topology->news) != RLOCK_OK)
        return;
    for (rli_node *node = NULL; (node = rli_nodes_next(&topology->nodes, node));)
        rli_node_ping_if_idle(node, &op, topology->settings->ping_interval_ms);
    rli_operation_end(&op);
}

/* When the next round is due. */
static int64_t look_at(const rli_topology *topology, bool heard)
{
    int64_t interval_ms = topology->discovery->interval_ms(topology->settings);
    int64_t due_ms = interval_ms > 0 ? topology->looked_ms + interval_ms : RLI_NEVER;
    int64_t soon_ms = topology->looked_ms + (heard ? HEARD_MS : HURRY_MS);
    return (heard || topology->troubled) && soon_ms < due_ms ? soon_ms : due_ms;
}

/* When to ping next. An idle connection is pinged at most a quarter of the interval late. */
static int64_t ping_at(const rli_topology *topology)
{
    int64_t interval_ms = topology->settings->ping_interval_ms;
    return interval_ms > 0 && !topology->settings->addresses[0].socket_path ? topology->pinged_ms + interval_ms / 4 + 1
                                                                            : RLI_NEVER;
}

/* Prepares one step of the thread. *heard: messages call for a round, now or since an earlier step. False: stop. */
static bool go_on(rli_topology *topology, bool *heard)
{
    pthread_mutex_lock(&topology->mutex);
    bool stopping = topology->stopping;
    topology->troubled = topology->wanted || *heard;
    pthread_mutex_unlock(&topology->mutex);
    *heard |= !stopping && topology->discovery->has_heard && topology->discovery->has_heard(topology);
    return !stopping;
}

static void look_again(rli_topology *topology)
{
    pthread_mutex_lock(&topology->mutex);
    topology->wanted = false;
    pthread_mutex_unlock(&topology->mutex);
    topology->looked_ms = rli_now_ms();
    if (look(topology) != RLOCK_OK)
        rli_topology_suspect(topology); /* still wrong: try again soon */
}

static void *run(void *argument)
{
    rli_topology *topology = argument;
    bool heard = false;
    while (go_on(topology, &heard)) {
        int64_t look_ms = look_at(topology, heard), ping_ms = ping_at(topology);
        if (rli_now_ms() >= look_ms) {
            heard = false;
            look_again(topology);
        } else if (rli_now_ms() >= ping_ms) {
            topology->pinged_ms = rli_now_ms();
            ping(topology);
        } else {
            rli_park(&topology->parker, rli_earlier(look_ms, ping_ms));
        }
    }
    return NULL;
}

static rlock_status connect_to(rli_topology *topology, rli_node *node)
{
    rli_operation op;
    rlock_status status = rli_operation_begin(&op, topology->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    status = rli_pipeline_connect(&node->pool.pipelines[0], &op);
    rli_operation_end(&op);
    return status;
}

/* Connects to the node that answered last if it serves anything, else to the first possible node that does: in a
 * cluster some may be down. */
static rlock_status connect_to_one(rli_topology *topology)
{
    bool any = false;
    rlock_status status = RLOCK_UNAVAILABLE;
    if (topology->asked && rli_topology_serves_anything(topology, topology->asked))
        return connect_to(topology, topology->asked);
    for (rli_node *node = NULL; status == RLOCK_UNAVAILABLE && (node = rli_nodes_next(&topology->nodes, node));) {
        if (!rli_topology_serves_anything(topology, node))
            continue;
        any = true;
        status = connect_to(topology, node);
    }
    return any ? status : rli_fail(RLOCK_UNAVAILABLE, "no server serves any slot");
}

static rlock_status start(rli_topology *topology)
{
    rlock_status status = rli_thread_start(&topology->thread, "rlock-topology", run, topology);
    topology->running = status == RLOCK_OK;
    return status;
}

/* Starts the thread, if there is anything to watch. */
static rlock_status watch(rli_topology *topology)
{
    topology->looked_ms = topology->pinged_ms = rli_now_ms();
    if (look_at(topology, false) == RLI_NEVER && ping_at(topology) == RLI_NEVER)
        return RLOCK_OK;
    return start(topology);
}

/* Leaves the first round to the thread, at once. A single server needs no search. */
static rlock_status open_lazily(rli_topology *topology)
{
    if (topology->settings->mode == RLI_SINGLE) {
        rlock_status status = look(topology);
        return status == RLOCK_OK ? watch(topology) : status;
    }
    topology->pinged_ms = rli_now_ms();
    topology->looked_ms = topology->pinged_ms - HURRY_MS;
    topology->wanted = true;
    return start(topology);
}

rlock_status rli_topology_open(rli_topology *topology)
{
    topology->owners = calloc(topology->slot_count, sizeof *topology->owners);
    if (!topology->owners)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the topology");
    if (topology->settings->mode == RLI_SENTINEL)
        topology->news = rlock_cancel_new(); /* NULL: then a silent server is waited for all the same */
    if (topology->settings->lazy)
        return open_lazily(topology);
    rlock_status status = look(topology);
    if (topology->patient)
        status = look(topology);
    for (rli_node *node = NULL; (node = rli_nodes_next_of_all(&topology->nodes, node));)
        atomic_store(&node->tracking.gained, false); /* nobody holds anything there yet */
    /* Connect at once, so that a wrong address or password shows here. */
    if (status == RLOCK_OK)
        status = connect_to_one(topology);
    return status == RLOCK_OK ? watch(topology) : status;
}

void rli_topology_suspect(rli_topology *topology)
{
    pthread_mutex_lock(&topology->mutex);
    topology->wanted = true;
    pthread_mutex_unlock(&topology->mutex);
    rli_unpark(&topology->parker);
}

/* --- the end --- */

static void each_of(const rli_nodes *list, void (*act)(rli_node *))
{
    for (rli_node *node = rli_nodes_next_of_all(list, NULL), *next; node; node = next) {
        next = rli_nodes_next_of_all(list, node);
        act(node);
    }
}

static void each_node(const rli_topology *topology, void (*act)(rli_node *))
{
    each_of(&topology->nodes, act);
    each_of(&topology->sentinels, act);
}

void rli_topology_close(rli_topology *topology)
{
    pthread_mutex_lock(&topology->mutex);
    bool running = topology->running;
    topology->stopping = true;
    topology->running = false;
    each_node(topology, rli_node_close);
    pthread_mutex_unlock(&topology->mutex);
    rli_unpark(&topology->parker);
    if (running)
        pthread_join(topology->thread, NULL);
}

void rli_topology_stop(rli_topology *topology)
{
    rli_connector_stop(&topology->connector);
    each_node(topology, rli_node_stop);
}

void rli_topology_destroy(rli_topology *topology)
{
    if (topology->discovery->end)
        topology->discovery->end(topology);
    rli_connector_destroy(&topology->connector);
    each_node(topology, rli_node_free);
    free(topology->owners);
    pthread_mutex_destroy(&topology->mutex);
}
