/* A node: one server, with all connections to it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/node.h"

#include "base/error.h"

#include <stdlib.h>

rli_node *rli_node_make(const rli_settings *settings, rli_address *address, const _Atomic rli_pubsub_mode *pubsub_mode,
                        const atomic_bool *closed, rli_ear *ear)
{
    rli_node *node = calloc(1, sizeof *node);
    if (node && rli_pool_init(&node->pool, settings, &node->address) != RLOCK_OK) {
        free(node);
        node = NULL;
    }
    if (!node) {
        rli_address_free(address);
        rli_fail(RLOCK_NO_MEMORY, "out of memory for the connections to a server");
        return NULL;
    }
    node->address = *address;
    *address = (rli_address){0};
    rli_pipeline_init_synced(&node->synced, settings, &node->address, &node->replicas);
    /* no receive-timeout thread: its deadlines are too short for one */
    rli_pipeline_init(&node->background, settings, &node->address, NULL);
    rli_subscriber_init(&node->subscriber, settings, &node->address, pubsub_mode, closed, ear);
    rli_signals_init(&node->signals, settings, &node->address, closed);
    return node;
}

bool rli_node_has_script(const rli_node *node, const rli_script *script)
{
    for (int i = 0; i < RLI_NODE_KNOWN; i++) {
        if (atomic_load_explicit(&node->known[i], memory_order_relaxed) == script)
            return true;
    }
    return false;
}

void rli_node_note_script(rli_node *node, const rli_script *script)
{
    for (int i = 0; i < RLI_NODE_KNOWN; i++) {
        const rli_script *there = NULL;
        if (atomic_compare_exchange_strong(&node->known[i], &there, script) || there == script)
            return;
    }
}

bool rli_node_collect(rli_node *node, int64_t until_ms)
{
    bool more = rli_pool_collect(&node->pool, until_ms);
    return rli_pipeline_collect(&node->synced, until_ms) || more;
}

void rli_node_flush(rli_node *node)
{
    rli_pool_flush(&node->pool);
    rli_pipeline_flush(&node->synced);
}

void rli_node_watch(rli_node *node, int epoll_fd)
{
    rli_pool_watch(&node->pool, epoll_fd);
    rli_pipeline_watch(&node->synced, epoll_fd);
}

void rli_node_poll(rli_node *node, rli_polls *polls)
{
    rli_pool_poll(&node->pool, polls);
    rli_polls_add(polls, &node->synced);
}

bool rli_node_ping_if_idle(rli_node *node, rli_operation *op, int64_t idle_ms)
{
    return rli_pool_ping_if_idle(&node->pool, op, idle_ms) && rli_pipeline_ping_if_idle(&node->synced, op, idle_ms) &&
           rli_pipeline_ping_if_idle(&node->background, op, idle_ms);
}

void rli_node_renew(rli_node *node)
{
    rli_pool_renew(&node->pool);
    rli_pipeline_renew(&node->synced);
    rli_pipeline_renew(&node->background);
    rli_subscriber_drop(&node->subscriber);
    rli_signals_drop(&node->signals);
}

void rli_node_abandon(rli_node *node)
{
    for (int twice = 0; twice < 2; twice++) { /* a single drop would still let present requests be answered */
        rli_pool_drop(&node->pool);
        rli_pipeline_drop(&node->synced);
        rli_pipeline_drop(&node->background);
    }
    rli_subscriber_drop(&node->subscriber);
    rli_signals_drop(&node->signals);
}

void rli_node_ref(rli_node *node)
{
    atomic_fetch_add(&node->users, 1);
}

void rli_node_unref(rli_node *node)
{
    if (node)
        atomic_fetch_sub(&node->users, 1);
}

void rli_node_retire(rli_node *node)
{
    rli_pool_shut(&node->pool);
    rli_pipeline_shut(&node->synced);
    rli_pipeline_shut(&node->background);
    rli_subscriber_stop(&node->subscriber);
    rli_signals_stop(&node->signals, false);
}

void rli_node_revive(rli_node *node, rli_address *address)
{
    rli_address_free(&node->address);
    node->address = *address;
    *address = (rli_address){0};
    node->configured = node->left = node->replica = false;
    node->naming = 0;
    node->needed_until_ms = node->mute_until_ms = 0;
    node->spublish = RLI_SPUBLISH_UNASKED;
    node->id[0] = 0;
    atomic_store(&node->replicas, 0);
    for (int i = 0; i < RLI_NODE_KNOWN; i++)
        atomic_store(&node->known[i], NULL);
    rli_pool_reopen(&node->pool);
    rli_pipeline_reopen(&node->synced);
    rli_pipeline_reopen(&node->background);
    rli_subscriber_reopen(&node->subscriber);
    rli_signals_reopen(&node->signals);
}

void rli_node_close(rli_node *node)
{
    rli_pool_close(&node->pool);
    rli_pipeline_close(&node->synced);
    rli_pipeline_close(&node->background);
}

void rli_node_rouse(rli_node *node)
{
    rli_subscriber_rouse(&node->subscriber);
    rli_signals_rouse(&node->signals);
}

void rli_node_stop(rli_node *node)
{
    rli_subscriber_stop(&node->subscriber);
    rli_signals_stop(&node->signals, true);
}

void rli_node_free(rli_node *node)
{
    rli_signals_destroy(&node->signals);
    rli_subscriber_destroy(&node->subscriber);
    rli_pipeline_destroy(&node->background);
    rli_pipeline_destroy(&node->synced);
    rli_pool_destroy(&node->pool);
    rli_address_free(&node->address);
    free(node);
}
