/* The topology: which server serves a key now. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/topology.h"

#include "client.h"
#include "clock.h"
#include "error.h"
#include "redis/sync.h"
#include "redis/topology/slot.h"
#include "thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between two looks while something is wrong, and how long one server is given to answer in one. */
#define HURRY_MS 100
#define ASK_MS 1000

static const rli_scout *const scouts[] = {
    [RLI_SINGLE] = &rli_scout_single,         [RLI_SENTINEL] = &rli_scout_sentinel,
    [RLI_CLUSTER] = &rli_scout_cluster,       [RLI_REPLICATED] = &rli_scout_replicated,
    [RLI_MASTER_SLAVE] = &rli_scout_replicated,
};

void rli_topology_init(rli_topology *topology, rlock_client *client)
{
    const rli_settings *settings = &client->settings;
    *topology = (rli_topology){.client = client, .settings = settings, .scout = scouts[settings->mode]};
    /* Who listens may do so at a replica. */
    topology->spread = settings->mode == RLI_SINGLE ? RLI_COUNTED : RLI_SCATTERED;
    topology->slot_count = settings->mode == RLI_CLUSTER ? RLI_SLOTS : 1;
    pthread_mutex_init(&topology->mutex, NULL);
    rli_parker_init(&topology->parker);
}

/* --- who serves what --- */

unsigned rli_topology_slot(const rli_topology *topology, const char *key, size_t length)
{
    return topology->slot_count == 1 ? 0 : rli_slot_of(key, length);
}

rli_node *rli_topology_node(const rli_topology *topology, unsigned slot)
{
    return atomic_load_explicit(&topology->owners[slot], memory_order_acquire);
}

bool rli_topology_has_replicas(const rli_topology *topology, unsigned slot)
{
    rli_node *node = rli_topology_node(topology, slot);
    return node && atomic_load_explicit(&node->replicas, memory_order_relaxed) > 0;
}

void rli_topology_collect(rli_topology *topology, int64_t until_ms)
{
    for (rli_node *node = atomic_load(&topology->nodes); node; node = atomic_load(&node->next))
        rli_node_collect(node, until_ms);
}

static bool serves_anything(const rli_topology *topology, const rli_node *node)
{
    for (size_t slot = 0; slot < topology->slot_count; slot++) {
        if (rli_topology_node(topology, (unsigned)slot) == node)
            return true;
    }
    return false;
}

void rli_topology_serve(rli_topology *topology, unsigned first, unsigned last, rli_node *node)
{
    pthread_mutex_lock(&topology->mutex);
    for (unsigned slot = first; slot <= last; slot++) {
        rli_node *before = atomic_exchange(&topology->owners[slot], node);
        if (before == node)
            continue;
        topology->changed = true;
        if (before)
            before->left = true;
    }
    pthread_mutex_unlock(&topology->mutex);
}

/* Everybody who waits for a change, or for a message from a server that serves less now, looks again. */
static void announce(rli_topology *topology)
{
    pthread_mutex_lock(&topology->mutex);
    if (topology->changed) {
        topology->changed = false;
        atomic_fetch_add(&topology->version, 1);
        for (rli_node *node = atomic_load(&topology->nodes); node; node = atomic_load(&node->next)) {
            if (!node->left)
                continue;
            node->left = false;
            if (serves_anything(topology, node))
                rli_subscriber_rouse(&node->subscriber);
            else
                rli_node_abandon(node);
        }
        rli_turn_wake_all(topology->waiting);
    }
    pthread_mutex_unlock(&topology->mutex);
}

void rli_topology_moved(rli_topology *topology, unsigned slot, rli_node *node)
{
    rli_topology_serve(topology, slot, slot, node);
    announce(topology);
    rli_topology_suspect(topology); /* where one slot went, others may have gone */
}

/* A slot's keys go one by one, so that there are more such answers as long as it is on its way. */
#define AHEAD_MS 1000

bool rli_topology_is_moving(const rli_topology *topology)
{
    int64_t ahead_ms = atomic_load(&topology->ahead_ms);
    return ahead_ms && rli_now_ms() - ahead_ms < AHEAD_MS;
}

void rli_topology_gone_ahead(rli_topology *topology, rli_node *node)
{
    bool known = rli_topology_is_moving(topology);
    atomic_store(&topology->ahead_ms, rli_now_ms());
    if (!known) /* those who sleep do so for too long */
        rli_subscriber_rouse(&node->subscriber);
}

/* --- the nodes --- */

static bool is_at(const rli_node *node, const char *host, size_t length, int port)
{
    const rli_address *address = &node->address;
    return address->host && address->port == port && strlen(address->host) == length &&
           memcmp(address->host, host, length) == 0;
}

static rlock_status copy_address(rli_address *to, const char *host, size_t length, int port, const rli_address *like)
{
    *to = (rli_address){.port = port, .sentinel = like && like->sentinel};
    rlock_status status = rli_settings_copy(&to->host, host, length);
    if (status == RLOCK_OK && like && like->username)
        status = rli_settings_copy(&to->username, like->username, strlen(like->username));
    if (status == RLOCK_OK && like && like->password)
        status = rli_settings_copy(&to->password, like->password, strlen(like->password));
    if (status == RLOCK_OK && like && like->socket_path)
        status = rli_settings_copy(&to->socket_path, like->socket_path, strlen(like->socket_path));
    if (status != RLOCK_OK)
        rli_address_free(to);
    else if (like && like->socket_path)
        snprintf(to->text, sizeof to->text, "%s", like->text);
    else
        snprintf(to->text, sizeof to->text, "%.120s:%d", to->host, port);
    return status;
}

rli_node *rli_topology_meet(rli_topology *topology, rli_node *_Atomic *list, const char *host, size_t length, int port,
                            const rli_address *like)
{
    rli_nat_map(&topology->settings->nat, &host, &length, &port);
    pthread_mutex_lock(&topology->mutex);
    rli_node *node = atomic_load(list);
    while (node && !is_at(node, host, length, port)) {
        list = &node->next;
        node = atomic_load(list);
    }
    rli_address address;
    if (!node && copy_address(&address, host, length, port, like) == RLOCK_OK) {
        node = rli_node_make(topology->settings, &address, &topology->spread, &topology->client->closed);
        if (node && atomic_load(&topology->client->closed))
            rli_node_close(node); /* the closing thread may have gone through the list before */
        atomic_store(list, node);
    }
    pthread_mutex_unlock(&topology->mutex);
    return node;
}

rlock_status rli_topology_meet_configured(rli_topology *topology, rli_node *_Atomic *list)
{
    const rli_settings *settings = topology->settings;
    for (size_t i = 0; i < settings->address_count; i++) {
        const rli_address *address = &settings->addresses[i];
        if (!rli_topology_meet(topology, list, address->host, strlen(address->host), address->port, address))
            return RLOCK_NO_MEMORY;
    }
    return RLOCK_OK;
}

rli_node *rli_topology_node_at(rli_topology *topology, const rli_node *from, const char *host, size_t length, int port)
{
    if (length == 0) {
        host = from->address.host;
        length = strlen(host);
    }
    return rli_topology_meet(topology, &topology->nodes, host, length, port, &from->address);
}

/* --- asking --- */

rlock_status rli_topology_ask(rli_topology *topology, rli_caller *caller, rli_node *node, const char *const words[],
                              redisReply **reply)
{
    size_t lengths[8], count = 0;
    for (; words[count]; count++)
        lengths[count] = strlen(words[count]);
    int64_t timeout_ms = topology->settings->timeout_ms < ASK_MS ? topology->settings->timeout_ms : ASK_MS;
    rli_command command = {.count = count, .words = words, .lengths = lengths};
    rli_answer answer;
    caller->deadline_ms = rli_after_ms(ASK_MS);
    rli_outcome outcome = rli_lane_call(&node->background, caller, &command, timeout_ms, &answer);
    caller->deadline_ms = RLI_NEVER;
    *reply = NULL;
    if (outcome == RLI_UNSENT)
        return answer.status;
    if (outcome != RLI_ANSWERED)
        return rli_fail(RLOCK_UNAVAILABLE, "the server at %s does not answer", node->address.text);
    *reply = answer.reply;
    return RLOCK_OK;
}

rlock_status rli_topology_ask_role(rli_topology *topology, rli_caller *caller, rli_node *node, bool *master)
{
    redisReply *reply;
    rlock_status status =
        rli_topology_ask(topology, caller, node, (const char *const[]){"INFO", "replication", NULL}, &reply);
    if (status != RLOCK_OK)
        return status;
    if (reply->type == REDIS_REPLY_STRING) {
        *master = strstr(reply->str, "role:master");
        atomic_store(&node->replicas, rli_sync_online(reply->str));
    } else {
        status = rli_fail(RLOCK_SERVER, "the server at %s does not say whether it is a master: %.150s; the user needs "
                          "the right to INFO", node->address.text, reply->str ? reply->str : "");
    }
    freeReplyObject(reply);
    return status;
}

/* --- looking --- */

static rlock_status look(rli_topology *topology)
{
    rli_caller caller;
    rlock_status status = rli_caller_begin(&caller, topology->client, NULL);
    if (status != RLOCK_OK)
        return status;
    status = topology->scout->look(topology, &caller);
    announce(topology);
    rli_caller_end(&caller);
    return status;
}

/* --- the thread --- */

static void ping(rli_topology *topology)
{
    rli_caller caller;
    if (rli_caller_begin(&caller, topology->client, NULL) != RLOCK_OK)
        return;
    for (rli_node *node = atomic_load(&topology->nodes); node; node = atomic_load(&node->next))
        rli_node_ping_if_idle(node, &caller, topology->settings->ping_interval_ms);
    rli_caller_end(&caller);
}

/* When it is due to look, while nothing gives reason to do so earlier. */
static int64_t look_at(const rli_topology *topology)
{
    int64_t interval_ms = topology->scout->interval_ms(topology->settings);
    int64_t due_ms = interval_ms > 0 ? topology->looked_ms + interval_ms : RLI_NEVER;
    int64_t soon_ms = topology->looked_ms + HURRY_MS;
    return topology->troubled && soon_ms < due_ms ? soon_ms : due_ms;
}

/* A connection is idle for a quarter more than it should be at most. */
static int64_t ping_at(const rli_topology *topology)
{
    int64_t interval_ms = topology->settings->ping_interval_ms;
    return interval_ms > 0 && !topology->settings->addresses[0].socket_path
               ? topology->pinged_ms + interval_ms / 4 + 1 : RLI_NEVER;
}

/* False: the end. */
static bool go_on(rli_topology *topology, bool *heard)
{
    pthread_mutex_lock(&topology->mutex);
    bool stopping = topology->stopping;
    topology->troubled = topology->wanted;
    pthread_mutex_unlock(&topology->mutex);
    *heard = !stopping && topology->scout->has_heard && topology->scout->has_heard(topology);
    return !stopping;
}

static void look_again(rli_topology *topology)
{
    pthread_mutex_lock(&topology->mutex);
    topology->wanted = false;
    pthread_mutex_unlock(&topology->mutex);
    topology->looked_ms = rli_now_ms();
    if (look(topology) != RLOCK_OK)
        rli_topology_suspect(topology); /* it is not over yet */
}

static void *run(void *argument)
{
    rli_topology *topology = argument;
    bool heard;
    while (go_on(topology, &heard)) {
        int64_t look_ms = look_at(topology), ping_ms = ping_at(topology);
        if (heard || rli_now_ms() >= look_ms) {
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
    rli_caller caller;
    rlock_status status = rli_caller_begin(&caller, topology->client, NULL);
    if (status != RLOCK_OK)
        return status;
    status = rli_lane_connect(&node->pool.lanes[0], &caller);
    rli_caller_end(&caller);
    return status;
}

/* Who has just answered, if that one serves anything; else any that does. In a cluster one may be down. */
static rlock_status connect_to_one(rli_topology *topology)
{
    bool any = false;
    rlock_status status = RLOCK_UNAVAILABLE;
    if (topology->asked && serves_anything(topology, topology->asked))
        return connect_to(topology, topology->asked);
    for (rli_node *node = atomic_load(&topology->nodes); node && status == RLOCK_UNAVAILABLE;
         node = atomic_load(&node->next)) {
        if (!serves_anything(topology, node))
            continue;
        any = true;
        status = connect_to(topology, node);
    }
    return any ? status : rli_fail(RLOCK_UNAVAILABLE, "no server serves anything");
}

/* A thread only where there is something to watch. */
static rlock_status start(rli_topology *topology)
{
    topology->looked_ms = topology->pinged_ms = rli_now_ms();
    if (look_at(topology) == RLI_NEVER && ping_at(topology) == RLI_NEVER)
        return RLOCK_OK;
    rlock_status status = rli_thread_start(&topology->thread, "rlock-topology", run, topology);
    topology->running = status == RLOCK_OK;
    return status;
}

rlock_status rli_topology_open(rli_topology *topology)
{
    topology->owners = calloc(topology->slot_count, sizeof *topology->owners);
    if (!topology->owners)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the topology");
    rlock_status status = look(topology);
    /* One attempt, so that a wrong address or password shows at once. */
    if (status == RLOCK_OK)
        status = connect_to_one(topology);
    return status == RLOCK_OK ? start(topology) : status;
}

void rli_topology_suspect(rli_topology *topology)
{
    pthread_mutex_lock(&topology->mutex);
    topology->wanted = true;
    pthread_mutex_unlock(&topology->mutex);
    rli_unpark(&topology->parker);
}

void rli_topology_await_change(rli_topology *topology, rli_caller *caller, unsigned version, int64_t until_ms)
{
    pthread_mutex_lock(&topology->mutex);
    rli_turn_join(&topology->waiting, &caller->turn);
    pthread_mutex_unlock(&topology->mutex);
    while (atomic_load(&topology->version) == version && rli_now_ms() < until_ms &&
           rli_now_ms() < caller->deadline_ms && rli_caller_check(caller) == RLOCK_OK)
        rli_caller_sleep(caller, rli_earlier(until_ms, caller->deadline_ms));
    pthread_mutex_lock(&topology->mutex);
    rli_turn_leave(&topology->waiting, &caller->turn);
    pthread_mutex_unlock(&topology->mutex);
}

/* --- the end --- */

static void each_node(rli_topology *topology, void (*act)(rli_node *))
{
    rli_node *next;
    for (rli_node *node = atomic_load(&topology->nodes); node; node = next) {
        next = atomic_load(&node->next);
        act(node);
    }
    for (rli_node *node = atomic_load(&topology->sentinels); node; node = next) {
        next = atomic_load(&node->next);
        act(node);
    }
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
    each_node(topology, rli_node_stop);
}

void rli_topology_destroy(rli_topology *topology)
{
    if (topology->scout->end)
        topology->scout->end(topology);
    each_node(topology, rli_node_free);
    free(topology->owners);
    pthread_mutex_destroy(&topology->mutex);
}
