/* rlock_inspect: reads what a server stores under a name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/inspect.h>

#include "base/error.h"
#include "client/client.h"
#include "engine/kind.h"
#include "locks/inspect/inspection.h"
#include "locks/inspect/processes.h"
#include "locks/inspect/servers.h"
#include "net/reply.h"
#include "redis/call.h"

#include <string.h>

#define PERMITS_SUFFIX "timeout"

/* Two namings, because one cannot list all keys that any object has besides its name. */
static const rli_naming fair = {.what = "lock", .key_prefixes = {"redisson_lock_queue", "redisson_lock_timeout"}};
static const rli_naming others = {
    .what = "lock", .key_prefixes = {NULL, "redisson_lock_token"}, .key_suffix = PERMITS_SUFFIX};

/* Nothing but the key of a signal-list lock: a user who may take such locks need not have the right to more. */
static const rli_naming signal_alone = {.what = "lock", .name_prefix = RLI_SIGNAL_LOCK};

static rlock_status ask(rli_topology *topology, rli_operation *op, const rli_names *queue, const rli_names *more,
                        rlock_inspection **inspection)
{
    rli_call call;
    rli_call_script(&call, &rli_script_inspect_look, 5);
    rli_call_add(&call, queue->name, queue->length);
    for (int i = 0; i < 2; i++)
        rli_call_add(&call, queue->keys[i], queue->key_lengths[i]);
    for (int i = 0; i < 2; i++)
        rli_call_add(&call, more->keys[i], more->key_lengths[i]);
    /* The prefix of read holds' timeout keys is the permits' key without its suffix. */
    rli_call_add(&call, more->keys[0], more->key_lengths[0] - strlen(PERMITS_SUFFIX));
    rlock_status status = rli_call_run(&call, topology, op, NULL);
    if (status == RLOCK_OK)
        status = rli_inspection_read(call.reply, queue->name, inspection);
    rli_call_clear(&call);
    return status;
}

/* Reads what stands under the name and the keys that go with it. */
static rlock_status look(rlock_client *client, rli_operation *op, const char *name, rlock_inspection **inspection)
{
    rli_names queue, more;
    rlock_status status = rli_names_make(&queue, &client->settings, name, &fair);
    if (status != RLOCK_OK)
        return status;
    status = rli_names_make(&more, &client->settings, name, &others);
    if (status == RLOCK_OK) {
        status = ask(&client->topology, op, &queue, &more, inspection);
        rli_names_free(&more);
    }
    rli_names_free(&queue);
    return status;
}

/* Reads what stands under that key alone, which is no other object's. */
static rlock_status ask_alone(rli_topology *topology, rli_operation *op, const rli_names *names,
                              rlock_inspection **inspection)
{
    rli_call call;
    rli_call_script(&call, &rli_script_inspect_look, 5);
    for (int i = 0; i < 5; i++)
        rli_call_add(&call, names->name, names->length);
    rli_call_add_text(&call, "");
    rlock_status status = rli_call_run(&call, topology, op, NULL);
    if (status == RLOCK_OK)
        status = rli_inspection_read(call.reply, names->name, inspection);
    rli_call_clear(&call);
    return status;
}

/* Nothing stands under the name itself: a signal-list lock has something before it. */
static rlock_status look_for_signal_lock(rlock_client *client, rli_operation *op, const char *name,
                                         rlock_inspection **inspection)
{
    rli_names names;
    rlock_inspection *found;
    rlock_status status = rli_names_make(&names, &client->settings, name, &signal_alone);
    if (status != RLOCK_OK)
        return status;
    status = ask_alone(&client->topology, op, &names, &found);
    rli_names_free(&names);
    if (status != RLOCK_OK)
        return status == RLOCK_SERVER ? RLOCK_OK : status; /* what stands there is no lock */
    if (strcmp(found->kind, "token") != 0) {
        rlock_inspection_free(found);
        return RLOCK_OK;
    }
    rlock_inspection_free(*inspection);
    found->kind = rli_kind_signal.name;
    *inspection = found;
    return RLOCK_OK;
}

static rlock_status inspect(rlock_client *client, rli_operation *op, const char *name, rlock_inspection **inspection)
{
    rlock_inspection *found = NULL;
    rlock_status status = look(client, op, name, &found);
    if (status == RLOCK_OK && strcmp(found->kind, "free") == 0)
        status = look_for_signal_lock(client, op, name, &found);
    if (status == RLOCK_OK)
        *inspection = found;
    else
        rlock_inspection_free(found);
    return status;
}

rlock_status rlock_inspect(rlock_client *client, const char *name, rlock_inspection **inspection)
{
    rlock_status status = rli_client_check(client);
    rli_operation op;
    if (status == RLOCK_OK && !inspection)
        status = rli_fail(RLOCK_INVALID, "the pointer for the inspection must not be NULL");
    if (status == RLOCK_OK)
        status = rli_operation_begin(&op, &client->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    status = inspect(client, &op, name, inspection);
    if (status != RLOCK_OK && status != RLOCK_INVALID)
        rli_fail_prefix(status, "inspection of", name);
    rli_operation_end(&op);
    return status;
}

/* --- processes --- */

/* Sends CLIENT LIST to the node that serves `names`, once: the processes are additional information. RLOCK_OK: the
 * caller frees *reply. */
static rlock_status list_clients(rli_topology *topology, rli_operation *op, const rli_names *names, redisReply **reply)
{
    unsigned slot = rli_topology_slot(topology, names->name, names->length);
    (void)rli_topology_await_look(topology, op, RLI_NEVER);
    rli_node *node = rli_topology_ref_server(topology, slot);
    if (!node)
        return rli_topology_fail_unserved(topology, slot, names->name);
    rlock_status status = rli_servers_ask(node, op, (const char *const[]){"CLIENT", "LIST", NULL}, reply);
    rli_node_unref(node);
    return status;
}

static rlock_status find_processes(rli_topology *topology, rli_operation *op, const rli_names *names,
                                   rlock_inspection *inspection)
{
    redisReply *reply = NULL;
    rlock_status status = list_clients(topology, op, names, &reply);
    if (status != RLOCK_OK)
        return status;
    if (reply->type == REDIS_REPLY_ERROR)
        status = rli_fail(RLOCK_SERVER, "Redis refused CLIENT LIST: %.200s; it needs the right to client|list",
                          reply->str);
    else if (reply->type == REDIS_REPLY_STRING)
        status = rli_processes_read(inspection, reply->str);
    else
        status = rli_reply_unexpected(reply, names->name);
    freeReplyObject(reply);
    return status;
}

rlock_status rlock_inspect_processes(rlock_client *client, const char *name, rlock_inspection *inspection)
{
    rlock_status status = rli_client_check(client);
    rli_names names;
    rli_operation op;
    if (status == RLOCK_OK && !inspection)
        status = rli_fail(RLOCK_INVALID, "inspection must not be NULL");
    if (status == RLOCK_OK)
        status = rli_names_make(&names, &client->settings, name, &fair);
    if (status != RLOCK_OK)
        return status;
    status = rli_operation_begin(&op, &client->gate, NULL);
    if (status == RLOCK_OK) {
        status = find_processes(&client->topology, &op, &names, inspection);
        rli_operation_end(&op);
    }
    rli_names_free(&names);
    return status;
}
