/* Object: the client and names of a semaphore or latch, one call to it, and a wait for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/object.h"

#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "net/reply.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- handles --- */

void *rli_object_new(size_t size, rlock_client *client, const char *name, const rli_naming *naming)
{
    if (rli_client_check(client) != RLOCK_OK)
        return NULL;
    rli_object *object = calloc(1, size);
    if (!object) {
        rli_fail(RLOCK_NO_MEMORY, "out of memory for a %s's handle", naming->what);
        return NULL;
    }
    if (rli_names_make(&object->names, &client->settings, name, naming) != RLOCK_OK) {
        free(object);
        return NULL;
    }
    object->client = client;
    object->what = naming->what;
    rli_gate_ref(&client->gate);
    return object;
}

void rli_object_free(rli_object *object)
{
    if (!object)
        return;
    rli_names_free(&object->names);
    rli_gate_unref(&object->client->gate);
    free(object);
}

const char *rli_object_name(const rli_object *object)
{
    return object ? object->names.name + object->names.prefix_length : NULL;
}

rlock_status rli_object_check(const rli_object *object, const char *what)
{
    if (!object)
        return rli_fail(RLOCK_INVALID, "the %s is NULL; did the call that gets it fail?", what);
    return rli_client_check(object->client);
}

rlock_status rli_object_check_place(const rli_object *object, const char *what, const void *place, const char *answer)
{
    rlock_status status = rli_object_check(object, what);
    if (status == RLOCK_OK && !place)
        return rli_fail(RLOCK_INVALID, "the pointer for %s must not be NULL", answer);
    return status;
}

/* Adds the object's name to the message of a failure, because a message from a lower layer names only the connection.
 */
static rlock_status told(const rli_object *object, rlock_status status)
{
    return status == RLOCK_OK ? status : rli_fail_prefix(status, object->what, rli_object_name(object));
}

/* --- one call --- */

rlock_status rli_object_run(const rli_object *object, rli_call *call)
{
    rli_operation op;
    rlock_status status = rli_operation_begin(&op, &object->client->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    status = rli_call_run(call, &object->client->topology, &op, NULL);
    rli_operation_end(&op);
    return told(object, status);
}

rlock_status rli_object_ask(const rli_object *object, rli_call *call, int64_t *answer)
{
    int64_t number = 0;
    rlock_status status = rli_object_run(object, call);
    if (status == RLOCK_OK && !rli_reply_integer(call->reply, &number))
        status = rli_reply_unexpected(call->reply, object->names.name);
    if (status == RLOCK_OK)
        *answer = number;
    rli_call_clear(call);
    return status;
}

rlock_status rli_object_ask_flag(const rli_object *object, rli_call *call, bool *answer)
{
    int64_t number;
    rlock_status status = rli_object_ask(object, call, &number);
    if (status == RLOCK_OK && answer)
        *answer = number == 1;
    return status;
}

rlock_status rli_object_int(const rli_object *object, int64_t number, int *answer)
{
    char shown[RLI_NAME_SHOWN];
    if (number < INT_MIN || number > INT_MAX)
        return rli_fail(RLOCK_SERVER, "%s \"%s\" has %lld permits, which no int holds; nothing was changed",
                        object->what, rli_show_name(object->names.name, shown), (long long)number);
    *answer = (int)number;
    return RLOCK_OK;
}

/* --- a wait --- */

static rlock_status wait_for_messages(rli_waiting *waiting)
{
    rli_wait *wait = &waiting->wait;
    const rli_names *names = &waiting->object->names;
    rlock_status status = rli_wait_join(wait, names->name, names->length, names->channel, names->channel_length);
    if (status != RLOCK_OK)
        return status;
    wait->asked = true;
    status = rli_wait_run(wait);
    rli_wait_leave(wait);
    return status;
}

rlock_status rli_object_wait(rli_waiting *waiting, const rli_object *object, int64_t wait_ms, rlock_cancel *cancel)
{
    rli_wait *wait = &waiting->wait;
    rlock_status status = rli_operation_begin(&waiting->op, &object->client->gate, cancel);
    if (status != RLOCK_OK)
        return status;
    waiting->object = object;
    waiting->wait_ms = wait_ms;
    wait->op = &waiting->op;
    wait->topology = &object->client->topology;
    wait->deadline_ms = wait_ms > 0 ? rli_after_ms(wait_ms) : RLI_NEVER;
    status = rli_operation_check(&waiting->op);
    if (status == RLOCK_OK)
        status = wait->ask(wait, &wait->again_ms);
    if (status == RLOCK_TIMEOUT && wait_ms > 0)
        status = wait_for_messages(waiting);
    rli_operation_end(&waiting->op);
    return told(object, status);
}
