/* Listener: checks that the server tells of what happens to an object's key, and listens to that. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/listener.h>

#include "base/error.h"
#include "client/client.h"
#include "locks/handle.h"
#include "locks/inspect/servers.h"
#include "locks/object.h"

#include <hiredis/hiredis.h>
#include <string.h>

#define WHAT "semaphore or latch"

/* Whether the letters of notify-keyspace-events make the server tell of deleted and expired keys, on a channel of the
 * key. */
static bool are_enough(const char *letters)
{
    bool all = strchr(letters, 'A');
    return strchr(letters, 'K') && (all || (strchr(letters, 'g') && strchr(letters, 'x')));
}

static rlock_status judge(const rli_node *node, const redisReply *reply)
{
    bool known = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                 reply->element[1]->type == REDIS_REPLY_STRING;
    if (!known || are_enough(reply->element[1]->str)) /* not everybody may read the configuration */
        return RLOCK_OK;
    return rli_fail(
        RLOCK_UNSUPPORTED,
        "Redis at %s tells nobody when a key is deleted or expires: its notify-keyspace-events is \"%.20s\"; "
        "listeners need K, g and x in it (CONFIG SET notify-keyspace-events Kgx, and the same in redis.conf)",
        node->address.text, reply->element[1]->str);
}

/* Asks the server that has the key. */
static rlock_status check_server(rlock_client *client, const char *key, size_t length)
{
    rli_topology *topology = &client->topology;
    rli_operation op;
    rlock_status status = rli_operation_begin(&op, &client->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    (void)rli_topology_await_look(topology, &op, RLI_NEVER);
    unsigned slot = rli_topology_slot(topology, key, length);
    rli_node *node = rli_topology_ref_server(topology, slot);
    redisReply *reply = NULL;
    status = node ? rli_servers_ask(node, &op, (const char *const[]){"CONFIG", "GET", "notify-keyspace-events", NULL},
                                    &reply)
                  : rli_topology_fail_unserved(topology, slot, key);
    if (status == RLOCK_OK)
        status = judge(node, reply);
    if (reply)
        freeReplyObject(reply);
    rli_node_unref(node);
    rli_operation_end(&op);
    return status;
}

static rlock_status add(rlock_client *client, const char *key, size_t length, size_t prefix_length, rlock_event_fn *fn,
                        void *arg, rlock_listener **listener)
{
    if (!fn)
        return rli_fail(RLOCK_INVALID, "the function of a listener must not be NULL");
    if (!listener)
        return rli_fail(RLOCK_INVALID, "the pointer for %s must not be NULL", "the listener");
    rlock_status status = check_server(client, key, length);
    return status == RLOCK_OK ? rli_key_events_add(client, key, length, prefix_length, fn, arg, listener) : status;
}

rlock_status rlock_add_listener(rlock *lock, rlock_event_fn *fn, void *arg, rlock_listener **listener)
{
    rlock_status status = rli_handle_check(lock);
    if (status != RLOCK_OK)
        return status;
    rli_identity at = lock->methods->place(lock);
    const char *own = lock->methods->name(lock);
    if (at.several || !own)
        return rli_fail(RLOCK_UNSUPPORTED, "a listener to several locks is not supported; add one to each of them");
    return rli_handle_told(lock, add(at.client, at.name, at.length, at.length - strlen(own), fn, arg, listener));
}

rlock_status rlock_object_add_listener(rlock_object *object, rlock_event_fn *fn, void *arg, rlock_listener **listener)
{
    rlock_status status = rli_object_check(object, WHAT);
    if (status != RLOCK_OK)
        return status;
    const rli_names *names = &object->names;
    return rli_object_told(object,
                           add(object->client, names->name, names->length, names->prefix_length, fn, arg, listener));
}
